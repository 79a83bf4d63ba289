# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings of a control step's solver."""

from __future__ import annotations

import dataclasses

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.arguments import MAX_ITERATIONS
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.solvers.differential_ik.checks.enforce_mode import EnforceMode


@dataclasses.dataclass(frozen=True)
class DifferentialIKSettings:
    """Settings of :class:`DifferentialIK`.

    Attributes:
        dt: Duration of a step [s].
        max_iterations: Bound on the constraints that the dual method adds and drops in one
            solution. Together with the twelve rounds of the active-set method before it, it bounds
            the worst tick. If barriers must be relaxed, there are several solutions, at most 34.
            With strict priorities, each level has as many again. If the bound is too small, the
            robot stops: a humanoid with many deeply violated barriers needs several hundred.
        feasibility_tolerance: Tolerated violation of a barrier row that is scaled to unit length
            [rad or m]. Limits are met exactly.
        warm_start: True to start from the constraints that were active in the last step of the
            same tasks, limits and barriers. This is faster, with the same result up to rounding.
        barrier_lead: Time [s] by which barriers act ahead, for joints whose accelerations build
            up slowly: 1.5 times the time that takes. A barrier then bounds the velocity that the
            robot would have if its acceleration lasted for this time, and gains count as at most
            1 / (4 barrier_lead). It needs an :class:`~ros_ik.AccelerationLimit`.
        level_feedforward: True if tasks of later priorities allow for the motion that earlier ones
            impose on them, as it was in the last step. A step then hardly changes with the order
            of priorities if the tasks agree on it. It needs an :class:`~ros_ik.AccelerationLimit`
            wherever priorities differ. False is the formula of roboplan.
        curvature_feedforward: True if tasks allow for the curvature of their motion, as it was
            along the last step. A task of an early priority then hardly leaves its target while
            later ones move the joints fast. It acts where priorities differ, and needs an
            :class:`~ros_ik.AccelerationLimit` there. False is the formula of roboplan.
        strict_priorities: True if a task of a later priority never displaces one of an earlier
            priority. False is the formula of roboplan: where limits or barriers are active, the
            step is a compromise between all tasks.
        enforce_mode: Cut made by :meth:`DifferentialIK.enforce_barriers`.
    """

    dt: float = 0.01
    max_iterations: int = 500
    feasibility_tolerance: float = 1e-10
    warm_start: bool = True
    enforce_mode: EnforceMode = EnforceMode.STOP
    barrier_lead: float = 0.0
    level_feedforward: bool = False
    curvature_feedforward: bool = False
    strict_priorities: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ArgumentError: A value outside its range, or an unknown mode.
        """
        checked_number('dt', self.dt, positive=True)
        checked_count('max_iterations', self.max_iterations, 1, MAX_ITERATIONS)
        checked_number('feasibility_tolerance', self.feasibility_tolerance, positive=True)
        checked_number('barrier_lead', self.barrier_lead)
        checked_flag('warm_start', self.warm_start)
        checked_flag('level_feedforward', self.level_feedforward)
        checked_flag('curvature_feedforward', self.curvature_feedforward)
        checked_flag('strict_priorities', self.strict_priorities)
        try:
            object.__setattr__(self, 'enforce_mode', EnforceMode(self.enforce_mode))
        except ValueError:
            modes = ', '.join(mode.value for mode in EnforceMode)
            raise ArgumentError(
                f'enforce_mode must be one of {modes}, got {self.enforce_mode!r}'
            ) from None
