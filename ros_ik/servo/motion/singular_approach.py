# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Approach of a singular configuration: no faster than the joints can brake.

Along the direction u that a frame is about to lose, joints turn at w = v / sigma for a speed v of
the frame, and sigma falls by c w. They come to the singularity after d = sigma / |c|, and are to
stop there: with half their acceleration a / 2, which is there after a time T,

    w = sqrt((a T / 4)^2 + a d) - a T / 4 - a dt / 4,    w <= d / (6 T)

Half, because sigma is no line but bends, and what is kept back is there for the rest of the task.
The second bound lets the last of the way fade: accelerations that are late would swing about it.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import math
import operator

from ros_ik.servo.motion.pose_math import Vector

# Part of the acceleration that is used [1].
_PART = 0.5
# Times of a ramp in which what is left of the way falls to 1 / e.
_RAMPS = 6.0


@dataclasses.dataclass(slots=True)
class SingularDirection:
    """The direction in which a frame moves the least for a motion of its joints.

    Attributes:
        direction: u, a unit vector in weighted axes, linear first, six numbers.
        sigma: Speed of the frame along it for a motion w = 1 of the joints [m/rad].
        slope: Change of sigma with that motion, c [m/rad^2].
        acceleration: Largest acceleration of that motion, a [rad/s^2].
    """

    direction: Sequence[float]
    sigma: float
    slope: float
    acceleration: float

    def speed_bound(self, ramp: float, dt: float) -> float:
        """Return the largest speed along ``direction`` from which the joints can stop [m/s].

        Args:
            ramp: Time in which an acceleration is there, T [s].
            dt: Duration of a tick [s].
        """
        if self.slope == 0.0 or not math.isfinite(self.acceleration):
            return math.inf
        way, loss = self.sigma / abs(self.slope), _PART * self.acceleration
        late = 0.5 * loss * ramp
        rate = math.sqrt(late * late + 2.0 * loss * way) - late - 0.5 * loss * dt
        if ramp > 0.0:
            rate = min(rate, way / (_RAMPS * ramp))
        return self.sigma * max(rate, 0.0)


def slowed_approach(
    shift: Vector,
    turn: Vector,
    weights: Sequence[float],
    singular: SingularDirection,
    ramp: float,
    dt: float,
) -> tuple[Vector, Vector] | None:
    """Return a step of a frame that nears its singularity no faster than the joints can brake.

    Args:
        shift: Displacement of this tick [m].
        turn: Rotation vector of this tick [rad].
        weights: Weights of the axes, linear first, six numbers; 0 for an axis that is free.
        singular: The singular direction, in the axes of the displacement times the weights.
        ramp: Time in which an acceleration is there [s].
        dt: Duration of a tick [s].

    Returns:
        The step; None where it needs no change.
    """
    u = singular.direction
    a, b, c, d, e, f = map(operator.mul, u, weights)
    along = a * shift[0] + b * shift[1] + c * shift[2] + d * turn[0] + e * turn[1] + f * turn[2]
    if along * singular.slope >= 0.0:
        return None  # sigma grows
    bound = singular.speed_bound(ramp, dt) * dt
    if abs(along) <= bound:
        return None
    excess = along - math.copysign(bound, along)
    a, b, c, d, e, f = (
        x - excess * n / w if w > 0.0 else x
        for x, n, w in zip((*shift, *turn), u, weights, strict=True)
    )
    return (a, b, c), (d, e, f)
