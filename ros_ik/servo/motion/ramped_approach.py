# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Step of one tick towards a target where accelerations need time, for limits of jerk.

A joint gains its acceleration limit in a / j. A task's acceleration is asked for no faster than
in the longest of these times, T, so with j = a / T. What is asked for begins at the speed v that
was achieved, and at the change A that was asked for: so it is never more than a little from what
the joints do already. (If it were not, a joint would still gain speed where it has to lose it, and
swing about its target for ever.) Along the way to the target the speed is the largest after which
the motion can end there; from v and A a motion under a and j goes on by

    D(v + A^2 / (2 j)) + v A / j + A^3 / (3 j^2),
    D(v) = v^2 / (2 a) + v a / (2 j)  where v >= a^2 / j,  else v sqrt(v / j)

Across it the speed goes to nothing. All numbers here are per tick.
"""

from __future__ import annotations

import dataclasses
import math

from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import float_less
from ros_ik.servo.motion.pose_math import float_scaled
from ros_ik.servo.motion.pose_math import float_sum
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.pose_math import ZERO

# Halvings of the interval of speeds.
_HALVINGS = 24


@dataclasses.dataclass(frozen=True)
class ApproachLimits:
    """Bounds on one kind of motion, linear or angular.

    Attributes:
        speed: Largest speed [m/s or rad/s].
        acceleration: Largest change of speed [m/s^2 or rad/s^2].
        gain: Part of the remaining distance that one tick may cover, in (0, 1].
        max_distance: Distance beyond which the target counts as this far away [m or rad].
        ramp: Time in which an acceleration is there, T [s]; 0 for at once.
    """

    speed: float
    acceleration: float
    gain: float
    max_distance: float
    ramp: float = 0.0

    def is_ramped(self, dt: float) -> bool:
        """Return whether a tick of ``dt`` [s] is too short for any change of acceleration."""
        return 2.0 * self.ramp > dt

    def with_acceleration(self, part: float) -> ApproachLimits:
        """Return the bounds with a part of the acceleration."""
        return ApproachLimits(
            self.speed, part * self.acceleration, self.gain, self.max_distance, self.ramp
        )

    def full_acceleration(self, way: Vector, dt: float) -> Vector:
        """Return the acceleration asked for along a way; less for one shorter than it makes.

        Args:
            way: The way, three numbers [m or rad].
            dt: Duration of a tick [s].
        """
        shortest = self.acceleration * dt * dt
        return float_scaled(way, self.acceleration / (float_length(way) + shortest))

    def likely_acceleration(self, way: Vector, speed: float, time: float) -> float:
        """Return the acceleration that a motion is likely to need, no more than the bound.

        Args:
            way: What is left, three numbers [m or rad].
            speed: Speed now [m/s or rad/s].
            time: Time in which the way is made or the speed is lost [s].
        """
        return min(self.acceleration, (float_length(way) / time + speed) / time)

    def changes(self, dt: float) -> tuple[float, float]:
        """Return the largest change of a displacement per tick, and the largest change of it."""
        loss = self.acceleration * dt * dt
        return loss, loss * dt / self.ramp


def ramped_approach(
    difference: Vector,
    achieved: Vector,
    change: Vector,
    limits: ApproachLimits,
    dt: float,
) -> Vector:
    """Return the displacement of this tick.

    Args:
        difference: Vector to the target, three numbers, m or rad.
        achieved: Displacement in the previous tick.
        change: How much more than in the previous tick that was asked for then.
        limits: Bounds on the motion.
        dt: Duration of a tick [s].
    """
    loss, growth = limits.changes(dt)
    distance = float_length(difference)
    along = float_scaled(difference, 1.0 / distance) if distance > 0.0 else ZERO
    speed, gain = _dot(along, achieved), _dot(along, change)
    near = min(distance, limits.max_distance)
    longest = min(limits.speed * dt, limits.gain * near)
    ahead = _next_speed(speed, gain, near, longest, loss, growth)
    across = ramped_step(
        ZERO,
        float_less(achieved, float_scaled(along, speed)),
        float_less(change, float_scaled(along, gain)),
        loss,
        growth,
    )
    return float_sum(float_scaled(along, ahead), across) if distance > 0.0 else across


def ramped_step(
    wanted: Vector,
    last: Vector,
    change: Vector,
    loss: float,
    growth: float,
) -> Vector:
    """Return the displacement of a tick on the way from one displacement per tick to another.

    Args:
        wanted: Displacement to come to, three numbers, m or rad.
        last: Displacement in the previous tick.
        change: How much more than in the previous tick that was asked for then.
        loss: Largest change.
        growth: Largest change of the change.
    """
    gap = float_less(wanted, last)
    size = float_length(gap)
    if size > 0.0:
        gap = float_scaled(gap, min(loss, braking_length(size, growth)) / size)
    turn = float_less(gap, change)
    size = float_length(turn)
    if size > growth:
        turn = float_scaled(turn, growth / size)
    return float_sum(float_sum(last, change), turn)


def braking_length(distance: float, loss: float) -> float:
    """Return :func:`braking_step` of one distance; ``loss`` is what each tick takes off [m]."""
    ticks = math.floor((math.sqrt(1.0 + 8.0 * distance / loss) - 1.0) / 2.0)
    return loss * (ticks / 2.0) + distance / (ticks + 1.0)


def _next_speed(
    speed: float, change: float, distance: float, longest: float, loss: float, growth: float
) -> float:
    """Return the largest speed after which a motion can end at a distance, ``longest`` at most."""
    most = min(loss, braking_length(abs(speed), growth))
    low = speed + min(max(-math.copysign(most, speed), change - growth), change + growth)
    room = braking_length(longest - speed, growth) if longest > speed else 0.0
    high = speed + min(change + growth, loss, room)
    if high <= low:
        return low
    if _way(high, high - speed, loss, growth) <= distance:
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _way(middle, middle - speed, loss, growth) <= distance:
            low = middle
        else:
            high = middle
    return low


def _way(speed: float, change: float, loss: float, growth: float) -> float:
    """Return how far a motion goes from a tick at ``speed`` on, that tick included."""
    peak = speed + 0.5 * change * change / growth
    if peak <= 0.0:
        return speed
    if peak >= loss * loss / growth:
        braking = 0.5 * peak * (peak / loss + loss / growth)
    else:
        braking = peak * math.sqrt(peak / growth)
    ramp = change / growth
    return speed + braking + speed * ramp + change * change * ramp / (3.0 * growth)


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
