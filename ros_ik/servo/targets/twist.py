# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion of a frame by a target velocity: the frame follows an integrated reference pose.

The velocity changes towards the target velocity g within the acceleration limits. On each axis the
change starts from

    min(v, F (v - l) + f max(g, v))

v is the velocity requested last, and l the part of the last step that was not achieved. F is
below 1, so where an arm cannot follow, the recursion is a contraction and the request converges.
If the change started from the achieved velocity plus a part of v, two requests would last. An arm
at the edge of its reach would swing between them.

The reference pose is integrated from itself, so that axes without a velocity do not drift. The
lead, the displacement from the frame to the reference, is added to the step. It is limited to one
tick of motion on the moving axes and to a short distance in total, so that a frame held back by a
barrier or a limit reverses at once, and does not catch up when it is released.
"""

from __future__ import annotations

from collections.abc import Callable
import copy
import math

import numpy as np

from ros_ik.servo.motion.approach import Approach
from ros_ik.servo.motion.pose_math import float_less
from ros_ik.servo.motion.pose_math import move_pose
from ros_ik.servo.motion.pose_math import pose_difference
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.motion.ramped_approach import ramped_step

# Part of the achieved velocity from which the next request starts, F [1].
_ACHIEVED_PART = 0.9
# Part of the target velocity that is added to it, f [1]. A frame that achieves 8/9 of its velocity
# or more, because of damping, is requested the whole target velocity.
_TARGET_PART = 0.2
# Maximum lead on the moving axes, in ticks of motion. A larger one makes an arm oscillate about a
# singularity.
_LEAD_TICKS = 1.0
# Maximum total lead: linear [m], angular [rad].
_MAX_LEAD = (0.02, 0.05)
# Speed below which the requested velocity is one at rest [m/s or rad/s], and the time after that
# for which the frame is kept there [s]: its joints come to rest later than the request.
_REST, _KEPT = 1e-4, 0.5
# Time constant of the removal of a lead with limited jerk, in durations of an acceleration ramp.
# Joints lag by about one ramp, and an arm still oscillates with a constant of two.
_RAMPS = 3.0


class TwistMotion:
    """Motion of one frame by velocities, along the axes of its reference link."""

    def __init__(self, dt: float) -> None:
        """Start at rest; ``dt`` is the duration of a tick [s]."""
        self._dt = dt
        self._reference: np.ndarray | None = None
        self._lead_approaches = (Approach(dt), Approach(dt))
        self.velocity = (np.zeros(3), np.zeros(3))
        # Displacement requested last, and the last change of the displacement of a tick.
        self._requested = (np.zeros(3), np.zeros(3))
        self._change: tuple[Vector, Vector] = (ZERO, ZERO)
        # Time since the request came to rest by a target velocity of zero [s].
        self._resting = 0.0

    @property
    def has_come_to_rest(self) -> bool:
        """True if a target velocity of zero has brought the frame to rest."""
        return self._resting >= _KEPT

    def branch(self) -> TwistMotion:
        """Return an independent copy."""
        other = copy.copy(self)
        linear, angular = self._lead_approaches
        other._lead_approaches = copy.copy(linear), copy.copy(angular)
        return other

    def rest(self) -> None:
        """Reset the reference pose and the velocity."""
        self._reference = None
        self.velocity = (np.zeros(3), np.zeros(3))
        self._change = (ZERO, ZERO)
        self._resting = 0.0
        for approach in self._lead_approaches:
            approach.reset()

    def step(
        self,
        pose: np.ndarray,
        achieved: tuple[np.ndarray, np.ndarray],
        wanted: tuple[np.ndarray, np.ndarray],
        axes: tuple[np.ndarray, np.ndarray],
        limits_along: Callable[[tuple[Vector, Vector]], tuple[ApproachLimits, ApproachLimits]],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the displacement of this tick, [m] and [rad]. Pairs are linear and angular.

        Args:
            pose: Commanded pose [7].
            achieved: Displacement of the previous tick.
            wanted: Target velocity.
            axes: 1.0 for active axes, 0.0 for free ones.
            limits_along: Function that returns the limits of a motion along displacements [m] and
                [rad].
        """
        dt = self._dt
        if self._reference is None:
            self.velocity = (achieved[0] * axes[0] / dt, achieved[1] * axes[1] / dt)
            self._requested = achieved
            lead = (np.zeros(3), np.zeros(3))
        else:
            behind = pose_difference(self._reference, pose)
            lead = (
                _limited_lead(behind[0] * axes[0], self.velocity[0] * dt, _MAX_LEAD[0]),
                _limited_lead(behind[1] * axes[1], self.velocity[1] * dt, _MAX_LEAD[1]),
            )
        target = (wanted[0] * axes[0], wanted[1] * axes[1])
        limits = limits_along(
            (
                tuple((lead[0] + (target[0] - self.velocity[0]) * dt).tolist()),
                tuple((lead[1] + (target[1] - self.velocity[1]) * dt).tolist()),
            )
        )
        target = _limited(target, limits)
        self.velocity = self._accelerated(target, achieved, limits)
        rests = not _moves(wanted) and not _moves(self.velocity, _REST)
        self._resting = self._resting + dt if rests else 0.0
        ahead = (lead[0] + self.velocity[0] * dt, lead[1] + self.velocity[1] * dt)
        self._reference = move_pose(pose, *ahead)
        step = [
            velocity * dt + _lead_step(approach, part, dt, bounds)
            for velocity, approach, part, bounds in zip(
                self.velocity, self._lead_approaches, lead, limits, strict=True
            )
        ]
        self._requested = (
            _clamped(step[0], limits[0].speed * dt), _clamped(step[1], limits[1].speed * dt)
        )  # fmt: skip
        return self._requested

    def _accelerated(
        self,
        target: tuple[np.ndarray, np.ndarray],
        achieved: tuple[np.ndarray, np.ndarray],
        limits: tuple[ApproachLimits, ApproachLimits],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocity of this tick; linear and angular part arrive together."""
        dt = self._dt
        base = [
            _base_velocity(velocity, (requested - moved) / dt, want)
            for velocity, requested, moved, want in zip(
                self.velocity, self._requested, achieved, target, strict=True
            )
        ]
        if limits[0].is_ramped(dt):
            return self._ramped(target, base, limits)
        change = [want - have for want, have in zip(target, base, strict=True)]
        part = 1.0
        for vector, bounds in zip(change, limits, strict=True):
            size = math.hypot(*vector)
            if size > bounds.acceleration * dt:
                part = min(part, bounds.acceleration * dt / size)
        return base[0] + part * change[0], base[1] + part * change[1]

    def _ramped(
        self,
        target: tuple[np.ndarray, np.ndarray],
        base: list[np.ndarray],
        limits: tuple[ApproachLimits, ApproachLimits],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocity of this tick with limited jerk, starting from ``base``."""
        dt, velocities, changes = self._dt, [], []
        for want, have, change, bounds in zip(target, base, self._change, limits, strict=True):
            last: Vector = tuple((have * dt).tolist())
            wanted: Vector = tuple((want * dt).tolist())
            step = ramped_step(wanted, last, change, *bounds.changes(dt, change))
            changes.append(float_less(step, last))
            velocities.append(np.array(step) / dt)
        self._change = (changes[0], changes[1])
        return velocities[0], velocities[1]


def _moves(velocity: tuple[np.ndarray, np.ndarray], slowest: float = 0.0) -> bool:
    """Return True if a part of a velocity is faster than ``slowest`` [m/s or rad/s]."""
    return max(math.hypot(*part) for part in velocity) > slowest


def _lead_step(
    approach: Approach, lead: np.ndarray, dt: float, limits: ApproachLimits
) -> np.ndarray:
    """Return the part of the lead that this tick removes."""
    if limits.is_ramped(dt):
        return lead * min(dt / (_RAMPS * limits.ramp), limits.gain)
    x, y, z = approach.velocity
    return np.array(approach.step(lead.tolist(), (x * dt, y * dt, z * dt), limits))


def _base_velocity(asked: np.ndarray, lag: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the velocity from which the next one starts: less than ``asked`` if it lags."""
    axes = zip(asked.tolist(), lag.tolist(), target.tolist(), strict=True)
    return np.array([_base_on_axis(*axis) for axis in axes])


def _base_on_axis(asked: float, lag: float, target: float) -> float:
    """Return :func:`_base_velocity` of one axis."""
    if asked < 0.0:
        return -_base_on_axis(-asked, -lag, -target)
    bound = _ACHIEVED_PART * (asked - lag) + _TARGET_PART * max(target, asked)
    # A motion along an axis that was not requested is not continued.
    return min(max(bound, 0.0), asked)


def _limited_lead(lead: np.ndarray, motion: np.ndarray, longest: float) -> np.ndarray:
    """Return a lead limited on the axes of a tick's motion, and in total length."""
    tick = _LEAD_TICKS * math.hypot(*motion)
    forward = np.where(motion > 0.0, tick, longest)
    backward = np.where(motion < 0.0, tick, longest)
    return _clamped(np.clip(lead, -backward, forward), longest)


def _limited(
    twist: tuple[np.ndarray, np.ndarray], limits: tuple[ApproachLimits, ApproachLimits]
) -> tuple[np.ndarray, np.ndarray]:
    """Scale a velocity to the speed limits, by one factor, which keeps the path."""
    factor = 1.0
    for vector, bounds in zip(twist, limits, strict=True):
        speed = math.hypot(*vector)
        if speed > bounds.speed:
            factor = min(factor, bounds.speed / speed)
    return twist[0] * factor, twist[1] * factor


def _clamped(vector: np.ndarray, longest: float) -> np.ndarray:
    """Return a vector limited to a length."""
    size = math.hypot(*vector)
    return vector * (longest / size) if size > longest else vector
