# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Speed limit of a frame towards a singularity, from which the joints can still brake.

Along the direction u that a frame is about to lose, joints move at w = v / sigma for a speed v of
the frame, and sigma decreases by c w. The singularity is d = sigma / |c| ahead. To stop there with
half their acceleration, a / 2, which builds up in a time T, joints may move at

    w = sqrt((a T / 4)^2 + a d) - a T / 4 - a dt / 4,    w <= d / (6 T)

Only half of the acceleration is used, because sigma is not linear, and because the rest of the
task needs the other half. The second bound makes the end of the approach exponential: with
accelerations that build up late, joints would oscillate about the singularity.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import math
import operator

from ros_ik.servo.motion.pose_math import Vector

# Fraction of the acceleration that is used [1].
_PART = 0.5
# Time constant of the end of the approach, in durations of an acceleration ramp.
_RAMPS = 6.0


@dataclasses.dataclass(slots=True)
class SingularDirection:
    """Direction in which a frame moves least for a motion of its joints.

    Attributes:
        direction: u, a unit vector in weighted axes, linear first, six numbers.
        sigma: Speed of the frame along it for a unit velocity w of the joints [m/rad].
        slope: Derivative of sigma along that motion, c [m/rad^2].
        acceleration: Largest acceleration of that motion, a [rad/s^2].
    """

    direction: Sequence[float]
    sigma: float
    slope: float
    acceleration: float

    def speed_bound(self, ramp: float, dt: float) -> float:
        """Return the largest speed along ``direction`` from which the joints can stop [m/s].

        Args:
            ramp: Time in which an acceleration builds up, T [s].
            dt: Duration of a tick [s].
        """
        if self.slope == 0.0 or not math.isfinite(self.acceleration):
            return math.inf
        way, braking = self.sigma / abs(self.slope), _PART * self.acceleration
        late = 0.5 * braking * ramp
        rate = math.sqrt(late * late + 2.0 * braking * way) - late - 0.5 * braking * dt
        if ramp > 0.0:
            rate = min(rate, way / (_RAMPS * ramp))
        return self.sigma * max(rate, 0.0)

    def along(self, shift: Vector, turn: Vector, weights: Sequence[float]) -> float:
        """Return the component of a weighted motion along ``direction``.

        Args:
            shift: Displacement [m].
            turn: Rotation vector [rad].
            weights: Weights of the axes, linear first, six numbers.
        """
        a, b, c, d, e, f = map(operator.mul, self.direction, weights)
        x, y, z = shift
        u, v, w = turn
        return a * x + b * y + c * z + d * u + e * v + f * w

    def dominates(self, shift: Vector, turn: Vector, weights: Sequence[float]) -> bool:
        """Return True if the larger part of a weighted motion is along ``direction``.

        The arguments are those of :meth:`along`.
        """
        along = self.along(shift, turn, weights)
        motion = map(operator.mul, weights, (*shift, *turn))
        return along * along > 0.5 * sum(x * x for x in motion)


def slowed_approach(
    shift: Vector,
    turn: Vector,
    weights: Sequence[float],
    singular: SingularDirection,
    ramp: float,
    dt: float,
) -> tuple[Vector, Vector] | None:
    """Return a step that approaches a singularity no faster than the joints can brake.

    Args:
        shift: Displacement of this tick [m].
        turn: Rotation vector of this tick [rad].
        weights: Weights of the axes, linear first, six numbers; 0 for a free axis.
        singular: Singular direction, along the weighted axes.
        ramp: Time in which an acceleration builds up [s].
        dt: Duration of a tick [s].

    Returns:
        The changed step, or None if it needs no change.
    """
    u = singular.direction
    along = singular.along(shift, turn, weights)
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
