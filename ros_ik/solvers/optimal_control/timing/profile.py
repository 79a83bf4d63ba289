# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocity profiles of motions, with constant acceleration between two ticks.

    x_{k+1} = x_k + dt (v_k + v_{k+1}) / 2,   |v_k| <= v_max,   |v_{k+1} - v_k| <= a dt

The limits therefore hold between the ticks too. Averaged over one tick
(:func:`average_over_tick`), the motions have continuous accelerations, linear between ticks, which
begin and end with zero:

    x_{k+1} = x_k + dt (v_k + v_{k+1}) / 2 - dt^2 (a_{k+1} - a_k) / 12

The mean of allowed values is allowed, so the limits still hold. Between ticks the positions are
now cubics. A cubic spline through positions and velocities, or a quintic one through accelerations
too, reproduces them. There are two kinds of motions:

- Between two points, from any velocity to rest (:func:`reach`). With a cruising velocity c, the
  fastest motion is v_k = clip(c, low_k, high_k). The bounds low_k = max(v_0 - a k dt,
  -a (N - k) dt) and high_k = min(v_0 + a k dt, a (N - k) dt) contain the velocities that can be
  reached from the start and stopped before the end. The distance grows with c, so each joint has
  a unique c. N is the least number of ticks for which every joint has one. A joint reverses only
  if it cannot stop before its target.
- Along a polyline, from rest to rest (:func:`follow`). The polyline is traversed at constant joint
  velocities between its points, and averaged over the last m ticks. The velocity is then
  (P_k - P_{k-m}) / (m dt), a mean of allowed ones, and the acceleration decreases with 1 / m
  (Biagiotti and Melchiorri, "FIR filters for online trajectory planning", 2012).
"""

from __future__ import annotations

import numpy as np

# Relative tolerance for rounding when a distance is compared with the largest possible one.
_ROUNDING = 1e-12
_SEARCHES = 80


def average_over_tick(velocities: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Average a motion that ends at rest over one tick, which makes it one tick longer.

    The result covers v_0 dt / 2 more than the given motion, with the velocity v_0 at the start.

    Args:
        velocities: Velocities at the ticks [knots, n], rad/s or m/s.
        dt: Duration of a tick [s].

    Returns:
        Velocities and accelerations at the ticks, [knots + 1, n] each; a single knot stays one.
    """
    if len(velocities) == 1:
        return velocities, np.zeros_like(velocities)
    rest = np.zeros((1, velocities.shape[1]))
    means = 0.5 * (velocities[1:] + velocities[:-1])
    changes = np.diff(velocities, axis=0) / dt
    return (
        np.concatenate([velocities[:1], means, rest]),
        np.concatenate([rest, changes, rest]),
    )


def positions_of(
    start: np.ndarray, velocities: np.ndarray, accelerations: np.ndarray, dt: float
) -> np.ndarray:
    """Return the positions of a motion whose accelerations are linear between ticks, [knots, n].

    Args:
        start: Positions at the start [n], rad or m.
        velocities: At the ticks [knots, n], rad/s or m/s.
        accelerations: At the ticks [knots, n], rad/s^2 or m/s^2.
        dt: Duration of a tick [s].
    """
    steps = 0.5 * dt * (velocities[1:] + velocities[:-1])
    steps -= dt * dt / 12.0 * np.diff(accelerations, axis=0)
    return start + np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])


def position_range(
    positions: np.ndarray, velocities: np.ndarray, accelerations: np.ndarray, dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest positions at and between the ticks, [n] each.

    Args:
        positions: At the ticks [knots, n], rad or m.
        velocities: At the ticks [knots, n], rad/s or m/s.
        accelerations: At the ticks, linear between them, [knots, n], rad/s^2 or m/s^2.
        dt: Duration of a tick [s].
    """
    x, v, a = positions[:-1], velocities[:-1], accelerations[:-1]
    jerk = np.diff(accelerations, axis=0) / dt
    extremes = [positions]
    with np.errstate(divide='ignore', invalid='ignore'):
        # Joints turn where v + a t + jerk t^2 / 2 = 0.
        root = -(a + np.copysign(np.sqrt(a * a - 2.0 * jerk * v), a))
        for t in (root / jerk, 2.0 * v / root):
            inside = (t > 0.0) & (t < dt)
            t = np.where(inside, t, 0.0)
            extremes.append(x + t * (v + t * (0.5 * a + t * jerk / 6.0)))
    every = np.concatenate(extremes)
    return every.min(axis=0), every.max(axis=0)


def brake(velocity: np.ndarray, acceleration: np.ndarray, dt: float) -> np.ndarray:
    """Return the velocities [knots, n] of the fastest stop."""
    ticks = np.ceil(np.max(np.abs(velocity) / acceleration, initial=0.0) / dt - _ROUNDING)
    slowdown = np.arange(int(ticks) + 1)[:, None] * (acceleration * dt)
    return np.asarray(np.sign(velocity) * np.maximum(np.abs(velocity) - slowdown, 0.0))


def reach(
    distance: np.ndarray,
    velocity: np.ndarray,
    speed: np.ndarray,
    acceleration: np.ndarray,
    dt: float,
    max_ticks: int,
) -> np.ndarray | None:
    """Return the velocities [knots, n] that cover a distance and end at rest, at the same time.

    From rest, every joint has the same profile, so the path is a straight line.

    Args:
        distance: Distance to cover [n], rad or m.
        velocity: At the start [n], rad/s or m/s.
        speed: Limits [n], positive.
        acceleration: Limits [n], positive.
        dt: Duration of a tick [s].
        max_ticks: Largest number of ticks of the motion.

    Returns:
        The velocities, None where ``max_ticks`` do not suffice.
    """
    if np.any(velocity):
        return _reach_by_joint(distance, velocity, speed, acceleration, dt, max_ticks)
    moving = distance != 0.0
    if not np.any(moving):
        return np.zeros((1, len(distance)))
    length = np.abs(distance[moving])
    profile = _reach_by_joint(
        np.ones(1),
        np.zeros(1),
        np.min(speed[moving] / length, keepdims=True),
        np.min(acceleration[moving] / length, keepdims=True),
        dt,
        max_ticks,
    )
    return None if profile is None else profile * distance


def follow(
    points: np.ndarray, speed: np.ndarray, acceleration: np.ndarray, dt: float, max_ticks: int
) -> np.ndarray | None:
    """Return the velocities [knots, n] along a polyline from rest to rest.

    Args:
        points: The polyline [points, n], rad or m.
        speed: Limits [n], positive.
        acceleration: Limits [n], positive.
        dt: Duration of a tick [s].
        max_ticks: Largest number of ticks of the motion.

    Returns:
        The velocities, None where ``max_ticks`` do not suffice.
    """
    changes = np.diff(points, axis=0)
    ticks = np.ceil(np.max(np.abs(changes) / (speed * dt), axis=1) - _ROUNDING)
    if ticks.sum() > max_ticks:
        return None
    counts = np.maximum(ticks, 1.0).astype(int)
    steps = np.repeat(changes / counts[:, None], counts, axis=0)
    run = np.concatenate([np.zeros((1, points.shape[1])), np.cumsum(steps, axis=0)])

    def averaged(m: int) -> np.ndarray:
        padding = np.zeros((m, run.shape[1]))
        ahead = np.concatenate([run, padding + run[-1]])
        return (ahead - np.concatenate([padding, run])) / (m * dt)

    def fits(m: int) -> bool:
        change = np.abs(np.diff(averaged(m), axis=0))
        return bool(np.all(change <= acceleration * dt * (1.0 + _ROUNDING)))

    few, many = 0, 1
    while not fits(many):
        few, many = many, 2 * many
        if len(run) + few > max_ticks:
            return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if fits(middle) else (middle, many)
    return averaged(many)


def _reach_by_joint(
    distance: np.ndarray,
    velocity: np.ndarray,
    speed: np.ndarray,
    acceleration: np.ndarray,
    dt: float,
    max_ticks: int,
) -> np.ndarray | None:
    """Return :func:`reach` with a profile for each joint."""
    motion = (velocity, speed, acceleration, dt)
    length = np.abs(distance)
    least = np.max([length / np.maximum(speed, np.abs(velocity)), np.abs(velocity) / acceleration])
    few = int(min(max(np.floor(least / dt) - 1, 0), max_ticks))
    ticks = few + 1
    while not _can_cover(distance, ticks, *motion):
        few, ticks = ticks, 2 * ticks
        if few > max_ticks:
            return None
    while ticks - few > 1:
        middle = (few + ticks) // 2
        few, ticks = (few, middle) if _can_cover(distance, middle, *motion) else (middle, ticks)
    if ticks > max_ticks:
        return None
    return _cruising_velocities(distance, ticks, *motion)


def _velocity_bounds(
    ticks: int, velocity: np.ndarray, acceleration: np.ndarray, dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest velocities at the inner ticks, [ticks - 1, n]."""
    k = np.arange(1, ticks)[:, None]
    gain = k * (acceleration * dt)
    stop = (ticks - k) * (acceleration * dt)
    return np.maximum(velocity - gain, -stop), np.minimum(velocity + gain, stop)


def _can_cover(
    distance: np.ndarray,
    ticks: int,
    velocity: np.ndarray,
    speed: np.ndarray,
    acceleration: np.ndarray,
    dt: float,
) -> bool:
    """Return True if every joint can cover its distance in this many ticks."""
    if np.any(np.abs(velocity) > ticks * acceleration * dt * (1.0 + _ROUNDING)):
        return False
    low, high = _velocity_bounds(ticks, velocity, acceleration, dt)
    least = dt * (0.5 * velocity + np.clip(-speed, low, high).sum(axis=0))
    most = dt * (0.5 * velocity + np.clip(speed, low, high).sum(axis=0))
    room = _ROUNDING * (1.0 + np.abs(distance))
    return bool(np.all((least <= distance + room) & (distance <= most + room)))


def _cruising_velocities(
    distance: np.ndarray,
    ticks: int,
    velocity: np.ndarray,
    speed: np.ndarray,
    acceleration: np.ndarray,
    dt: float,
) -> np.ndarray:
    """Return the velocities, with cruising velocities found by a bracketed Newton method."""
    low, high = _velocity_bounds(ticks, velocity, acceleration, dt)
    least = np.maximum(-speed, low.min(axis=0, initial=0.0))
    most = np.minimum(speed, high.max(axis=0, initial=0.0))
    cruise = np.clip(distance / (ticks * dt), least, most)
    for _ in range(_SEARCHES):
        missing = distance - dt * (0.5 * velocity + np.clip(cruise, low, high).sum(axis=0))
        if np.all(np.abs(missing) <= 1e-15 * (1.0 + np.abs(distance))):
            break
        least = np.where(missing > 0.0, cruise, least)
        most = np.where(missing < 0.0, cruise, most)
        slope = dt * ((low < cruise) & (cruise < high)).sum(axis=0)
        with np.errstate(divide='ignore', invalid='ignore'):
            newton = cruise + missing / slope
        inside = (newton > least) & (newton < most)
        cruise = np.where(inside, newton, 0.5 * (least + most))
    return np.concatenate(
        [velocity[None], np.clip(cruise, low, high), np.zeros((1, len(velocity)))]
    )
