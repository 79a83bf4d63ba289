# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One degree of freedom of a joint: axis, limits and target."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import math
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions.checks import as_number
from ros_ik.model.conventions.checks import checked_amount
from ros_ik.model.conventions.checks import checked_axis

# Newton's value for a missing limit, instead of infinity in float32 arrays.
UNLIMITED = 1e10


@dataclasses.dataclass(frozen=True)
class DofData:
    """One degree of freedom of one coordinate: axis and limits, +-inf where there is none.

    Attributes:
        axis: Axis in the joint's frame on the parent; normalised by the builder.
        lower: Lower position limit [rad or m].
        upper: Upper position limit [rad or m].
        velocity: Limit of the speed [rad/s or m/s].
        effort: Limit of the effort [Nm or N].
        target_q: Position target [rad or m]; outside the limits it becomes their middle.
        target_qd: Velocity target [rad/s or m/s].
        armature: Inertia added about the axis [kg m^2 or kg].
        friction: Friction [Nm or N].
    """

    axis: Sequence[float] | np.ndarray
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    target_q: float = 0.0
    target_qd: float = 0.0
    armature: float = 0.0
    friction: float = 0.0


@dataclasses.dataclass(kw_only=True)
class JointDofConfig:
    """The same under the names of ``newton.ModelBuilder.JointDofConfig``.

    A limit of None, infinity or beyond 1e10 is no limit. Newton's default of 1e6 for velocity and
    effort means the same; here the default is None. Gains, damping, springs and actuator modes are
    accepted and ignored.

    Attributes:
        axis: Axis as three numbers, 0, 1, 2 or 'x', 'y', 'z'.
        limit_lower: Lower position limit [rad or m].
        limit_upper: Upper position limit [rad or m].
        velocity_limit: Limit of the speed [rad/s or m/s].
        effort_limit: Limit of the effort [Nm or N].
        target_q: Position target [rad or m]; outside the limits it becomes their middle.
        target_qd: Velocity target [rad/s or m/s].
        armature: Inertia added about the axis [kg m^2 or kg].
        friction: Friction [Nm or N].
        target_pos: Older name of ``target_q``.
        target_vel: Older name of ``target_qd``.
    """

    axis: Any = 0
    limit_lower: float | None = None
    limit_upper: float | None = None
    velocity_limit: float | None = None
    effort_limit: float | None = None
    target_q: float | None = None
    target_qd: float | None = None
    armature: float | None = None
    friction: float | None = None
    target_pos: float | None = None
    target_vel: float | None = None
    # Ignored.
    limit_ke: float | None = None
    limit_kd: float | None = None
    target_ke: float | None = None
    target_kd: float | None = None
    damping: float | None = None
    stiffness: float | None = None
    rest_q: float | None = None
    actuator_mode: Any = None

    @classmethod
    def create_unlimited(cls, axis: Any) -> JointDofConfig:
        """Return a degree of freedom without limits."""
        return cls(axis=axis)

    def dof_data(self) -> DofData:
        """Return the same as :class:`DofData`."""
        names = ('lower', 'upper', 'velocity', 'effort', 'target_q', 'target_qd')
        values = (
            self.limit_lower, self.limit_upper, self.velocity_limit, self.effort_limit,
            self.target_pos if self.target_q is None else self.target_q,
            self.target_vel if self.target_qd is None else self.target_qd,
        )  # fmt: skip
        given: dict[str, Any] = dict(zip(names, values, strict=True))
        given |= {'armature': self.armature, 'friction': self.friction}
        return DofData(self.axis, **{k: v for k, v in given.items() if v is not None})


def checked_dof(where: str, dof: DofData | JointDofConfig | Any) -> DofData:
    """Return a degree of freedom with a unit axis and consistent limits.

    Args:
        where: Name in an error.
        dof: The degree of freedom, or its axis alone.

    Raises:
        ArgumentError: A zero axis, a limit that is NaN, lower above upper, a negative velocity or
            effort limit, or a target that is not finite.
    """
    if isinstance(dof, JointDofConfig):
        dof = dof.dof_data()
    elif not isinstance(dof, DofData):
        dof = DofData(dof)
    lower, upper = _limit(where, 'lower', dof.lower), _limit(where, 'upper', dof.upper)
    if lower > upper:
        raise ArgumentError(f'{where}: lower limit {lower:g} lies above upper limit {upper:g}')
    if lower == np.inf or upper == -np.inf:
        raise ArgumentError(f'{where}: limits {lower:g} and {upper:g} leave nothing between them')
    target = _finite(where, 'target_q', dof.target_q)
    return DofData(
        axis=checked_axis(f'{where} axis', dof.axis),
        lower=lower,
        upper=upper,
        velocity=_speed_or_effort(f'{where} velocity limit', dof.velocity),
        effort=_speed_or_effort(f'{where} effort limit', dof.effort),
        target_q=target if lower <= target <= upper else _middle(lower, upper),
        target_qd=_finite(where, 'target_qd', dof.target_qd),
        armature=checked_amount(f'{where} armature', dof.armature),
        friction=checked_amount(f'{where} friction', dof.friction),
    )


def _speed_or_effort(where: str, value: float) -> float:
    """Return a symmetric limit, infinity for none."""
    amount = checked_amount(where, value, finite=False)
    return math.inf if amount >= UNLIMITED else amount


def _limit(where: str, name: str, value: float) -> float:
    """Return a limit; one beyond a useful size counts as none."""
    value = as_number(f'{where} {name} limit', value)
    if math.isnan(value):
        raise ArgumentError(f'{where}: {name} limit must be a number, got {value}')
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def _finite(where: str, name: str, value: float) -> float:
    """Return a finite number, or raise ArgumentError."""
    value = as_number(f'{where} {name}', value)
    if not math.isfinite(value):
        raise ArgumentError(f'{where}: {name} must be finite, got {value}')
    return value


def _middle(lower: float, upper: float) -> float:
    """Return the middle of two limits, or the one that is finite."""
    if math.isinf(lower) or math.isinf(upper):
        return upper if math.isinf(lower) else lower
    return 0.5 * (lower + upper)
