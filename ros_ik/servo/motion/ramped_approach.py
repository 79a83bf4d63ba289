# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Step towards a target with limited jerk.

A joint reaches its acceleration limit a in a / j. The acceleration of a task changes no faster
than in the longest of these times, T, so its jerk limit is j = a / T. A step starts from a
speed v near the achieved one and from the change of speed A requested last, so that the request
stays close to the motion of the joints. (Otherwise joints would still accelerate where they have
to brake, and oscillate about the target.) Along the direction to the target the speed is the
largest from which the motion can end there. From v and A, the stopping distance under a and j is

    D(v + A^2 / (2 j)) + v A / j + A^3 / (3 j^2),
    D(v) = v^2 / (2 a) + v a / (2 j)  where v >= a^2 / j,  else v sqrt(v / j)

The speed across this direction decreases to zero. All numbers here are per tick.

Beside a singularity a may fall far below |A| in a few ticks. With a / T the motion would keep A
for many times T, long past its target. Joints can end any acceleration in T. Then

    j = 2 (|A| - a) / T  where it is larger than a / T

With it the excess of A decreases exponentially, and the speed changes as by a linear decrease to
a in T.
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

# Number of bisections of the interval of speeds.
_HALVINGS = 24


@dataclasses.dataclass(slots=True)
class ApproachLimits:
    """Limits of one kind of motion, linear or angular.

    Attributes:
        speed: Largest speed [m/s or rad/s].
        acceleration: Largest change of speed [m/s^2 or rad/s^2].
        gain: Fraction of the remaining distance that one tick may cover, in (0, 1].
        max_distance: Largest distance that the approach takes into account [m or rad].
        ramp: Time in which an acceleration builds up, T [s]; 0 for immediate changes.
        reserve: Factor on the acceleration, 1 or more, for a motion that can no longer stop at its
            target with the acceleration alone.
    """

    speed: float
    acceleration: float
    gain: float
    max_distance: float
    ramp: float = 0.0
    reserve: float = 1.0

    def is_ramped(self, dt: float) -> bool:
        """Return True if accelerations take longer than a tick of ``dt`` [s] to build up."""
        return 2.0 * self.ramp > dt

    def with_acceleration(self, part: float, hardest: float) -> ApproachLimits:
        """Return these limits with a fraction of the acceleration, and one for late braking."""
        return ApproachLimits(
            self.speed, part * self.acceleration, self.gain, self.max_distance, self.ramp,
            min(hardest, 1.0) / part,
        )  # fmt: skip

    def full_acceleration(self, displacement: Vector, dt: float, moved: Vector = ZERO) -> Vector:
        """Return the acceleration along a displacement; less for a short one.

        Where accelerations build up slowly, a motion close to its end still needs all of it to
        lose its speed. The distance that it goes in the time T then counts, if that is longer.

        Args:
            displacement: Displacement, three numbers [m or rad].
            dt: Duration of a tick [s].
            moved: Displacement of the previous tick, if the motion is to end after
                ``displacement``.
        """
        if moved != ZERO and self.is_ramped(dt):
            coming = float_scaled(moved, self.ramp / dt)
            if float_length(coming) > float_length(displacement):
                displacement = coming
        length, shortest = float_length(displacement), self.acceleration * dt * dt
        return float_scaled(displacement, self.acceleration / (length + shortest))

    def likely_acceleration(self, displacement: Vector, speed: float, time: float) -> float:
        """Return the acceleration that a motion is likely to need, within the limit.

        Args:
            displacement: Remaining displacement, three numbers [m or rad].
            speed: Current speed [m/s or rad/s].
            time: Time in which the motion is made or the speed is lost [s].
        """
        return min(self.acceleration, (float_length(displacement) / time + speed) / time)

    def changes(self, dt: float, change: Vector) -> tuple[float, float]:
        """Return the limits of the change of a tick's displacement, and of the change of that.

        Args:
            dt: Duration of a tick [s].
            change: Change of the displacement that was requested in the previous tick.
        """
        slowdown = self.acceleration * dt * dt
        return slowdown, max(slowdown, 2.0 * (float_length(change) - slowdown)) * dt / self.ramp


def ramped_approach(
    difference: Vector,
    last: Vector,
    change: Vector,
    limits: ApproachLimits,
    dt: float,
) -> Vector:
    """Return the displacement of this tick.

    Args:
        difference: Displacement to the target, three numbers, m or rad.
        last: Displacement of the previous tick.
        change: Change of the displacement that was requested in the previous tick.
        limits: Bounds on the motion.
        dt: Duration of a tick [s].
    """
    slowdown, jerk = limits.changes(dt, change)
    distance = float_length(difference)
    along = float_scaled(difference, 1.0 / distance) if distance > 0.0 else ZERO
    speed, speed_change = _dot(along, last), _dot(along, change)
    near = min(distance, limits.max_distance)
    longest = min(limits.speed * dt, limits.gain * near)
    ahead = _next_speed(speed, speed_change, near, longest, slowdown, jerk, limits.reserve)
    across = ramped_step(
        ZERO,
        float_less(last, float_scaled(along, speed)),
        float_less(change, float_scaled(along, speed_change)),
        slowdown,
        jerk,
    )
    return float_sum(float_scaled(along, ahead), across) if distance > 0.0 else across


def ramped_step(
    wanted: Vector,
    last: Vector,
    change: Vector,
    slowdown: float,
    jerk: float,
) -> Vector:
    """Return the displacement of a tick that leads from one displacement to another.

    Args:
        wanted: Final displacement per tick, three numbers, m or rad.
        last: Displacement of the previous tick.
        change: Change of the displacement that was requested in the previous tick.
        slowdown: Largest change of the displacement in a tick.
        jerk: Largest change of that change in a tick.
    """
    gap = float_less(wanted, last)
    size = float_length(gap)
    if size > 0.0:
        gap = float_scaled(gap, min(slowdown, braking_length(size, jerk)) / size)
    turn = float_less(gap, change)
    size = float_length(turn)
    if size > jerk:
        turn = float_scaled(turn, jerk / size)
    return float_sum(float_sum(last, change), turn)


def braking_length(distance: float, slowdown: float) -> float:
    """Return :func:`braking_step` of one distance; ``slowdown`` is the decrease per tick [m]."""
    ticks = math.floor((math.sqrt(1.0 + 8.0 * distance / slowdown) - 1.0) / 2.0)
    return slowdown * (ticks / 2.0) + distance / (ticks + 1.0)


def _next_speed(
    speed: float,
    change: float,
    distance: float,
    longest: float,
    slowdown: float,
    jerk: float,
    reserve: float,
) -> float:
    """Return the largest speed, up to ``longest``, from which a motion can end at a distance."""
    hardest, steepest = reserve * slowdown, reserve * jerk
    most = min(hardest, braking_length(abs(speed), steepest))
    low = speed + min(max(-math.copysign(most, speed), change - steepest), change + steepest)
    room = braking_length(longest - speed, jerk) if longest > speed else 0.0
    high = speed + min(change + jerk, slowdown, room)
    if high <= low:
        return low
    if _stopping_distance(high, high - speed, slowdown, jerk) <= distance:
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _stopping_distance(middle, middle - speed, slowdown, jerk) <= distance:
            low = middle
        else:
            high = middle
    return low


def _stopping_distance(speed: float, change: float, slowdown: float, jerk: float) -> float:
    """Return the distance to rest from a tick at ``speed``, including that tick."""
    peak = speed + 0.5 * change * change / jerk
    if peak <= 0.0:
        return speed
    if peak >= slowdown * slowdown / jerk:
        braking = 0.5 * peak * (peak / slowdown + slowdown / jerk)
    else:
        braking = peak * math.sqrt(peak / jerk)
    ramp = change / jerk
    return speed + braking + speed * ramp + change * change * ramp / (3.0 * jerk)


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
