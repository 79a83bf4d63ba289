# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of steps against barriers: at the configuration after the step, and along its stop."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.kinematics.runtime.array_exchange import as_warp
from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.solvers.differential_ik.checks.barrier_check import BarrierCheck
from ros_ik.solvers.differential_ik.checks.barrier_evaluation import BarrierValues
from ros_ik.solvers.differential_ik.checks.enforce_mode import EnforceMode
from ros_ik.solvers.differential_ik.checks.stopping_check import StoppingCheck
from ros_ik.solvers.differential_ik.configurations import Configurations
from ros_ik.solvers.differential_ik.step_output import check_step_output
from ros_ik.solvers.differential_ik.step_output import returned_status
from ros_ik.solvers.differential_ik.step_output import solved_into
from ros_ik.solvers.differential_ik.step_output import STATUSES
from ros_ik.solvers.differential_ik.tasks.arguments import checked_parts
from ros_ik.solvers.differential_ik.tasks.arguments import on_host
from ros_ik.solvers.graph_cache import GraphCache
from ros_ik.solvers.status import SolveStatus

# Tolerance that robots need to slide along a barrier without a margin [units of h].
_SLIDE_TOLERANCE = 1e-4


class StepChecks:
    """Captured checks of the steps of one solver, by their barriers.

    Attributes:
        may_reach: True if the stop after the last step could have reached a barrier, or no step
            was checked yet.
    """

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        configurations: Configurations,
        mode: EnforceMode,
    ) -> None:
        """Start without a check; the first use of a set of barriers captures graphs.

        Args:
            state: Arrays that barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            configurations: Coordinates of ``state``.
            mode: Behaviour of :meth:`enforce_barriers`.
        """
        self._parts = state, tree, configurations.joint_q
        self._configurations, self._mode = configurations, mode
        self.may_reach = True
        self._known_barriers: tuple[Barrier, ...] = ()
        self._values: GraphCache[BarrierValues] = GraphCache()
        self._checks: GraphCache[BarrierCheck] = GraphCache()
        self._stops: GraphCache[StoppingCheck] = GraphCache()

    def barrier_values(self, joint_q: Any, barriers: Sequence[Barrier]) -> np.ndarray:
        """Return h of every row; see :meth:`DifferentialIK.barrier_values`."""
        joint_q = as_warp('joint_q', joint_q)
        self._configurations.load_checked(joint_q)
        key = self._checked_barriers(barriers)
        values = self._values.get(key, lambda: BarrierValues(*self._parts, key)).evaluate()
        return values if joint_q.ndim == 2 else values[0]

    def enforce_barriers(
        self, joint_q: Any, barriers: Sequence[Barrier], delta_q: Any, tolerance: float
    ) -> SolveStatus | np.ndarray:
        """Check a step at q + dq; see :meth:`DifferentialIK.enforce_barriers`."""
        joint_q = as_warp('joint_q', joint_q)
        if is_exchanged(delta_q):
            return solved_into(
                as_warp('delta_q', delta_q, is_output=True),
                lambda step: self.enforce_barriers(joint_q, barriers, step, tolerance),
            )
        check_step_output(delta_q)
        self._begin(joint_q, tolerance, (('delta_q', delta_q),))
        key = self._checked_barriers(barriers)
        check = self._checks.get(key, lambda: BarrierCheck(*self._parts, key, mode=self._mode))
        check.delta_q[:] = delta_q
        check.run(tolerance)
        delta_q[...] = check.delta_q if joint_q.ndim == 2 else check.delta_q[0]
        return returned_status(check.status, joint_q.ndim)

    def limit_to_stoppable(
        self,
        joint_q: Any,
        barriers: Sequence[Barrier],
        delta_q: Any,
        last_delta_q: Any,
        acceleration: Any,
        tolerance: float | None,
        jerk: Any,
        delta_q_before_last: Any,
    ) -> SolveStatus | np.ndarray:
        """Check that a stop is possible; see :meth:`DifferentialIK.limit_to_stoppable`."""
        joint_q = as_warp('joint_q', joint_q)
        if is_exchanged(delta_q):
            return solved_into(
                as_warp('delta_q', delta_q, is_output=True),
                lambda step: self.limit_to_stoppable(
                    joint_q, barriers, step, last_delta_q, acceleration, tolerance, jerk,
                    delta_q_before_last,
                ),  # fmt: skip
            )
        check_step_output(delta_q)
        last_delta_q = on_host('last_delta_q', last_delta_q)
        before_last = last_delta_q
        if delta_q_before_last is not None:
            before_last = on_host('delta_q_before_last', delta_q_before_last)
        acceleration = checked_numbers('acceleration', acceleration)
        if jerk is None:
            jerk = np.full_like(acceleration, np.inf)
        jerk = checked_numbers('jerk', jerk)
        if tolerance is None:
            tolerance = stop_tolerance(self._checked_barriers(barriers))
        self._begin(
            joint_q,
            tolerance,
            (
                ('delta_q', delta_q),
                ('last_delta_q', last_delta_q),
                ('delta_q_before_last', before_last),
            ),
        )
        check = self._stopping(barriers, acceleration, jerk)
        self._blend_with_stop(check, (delta_q, last_delta_q, before_last), tolerance)
        delta_q[...] = check.delta_q if joint_q.ndim == 2 else check.delta_q[0]
        return returned_status(check.status, joint_q.ndim)

    def blend_with_stop(
        self,
        joint_q: np.ndarray,
        barriers: tuple[Barrier, ...],
        steps: tuple[np.ndarray, np.ndarray, np.ndarray],
        acceleration: np.ndarray,
        jerk: np.ndarray,
        tolerance: float,
    ) -> SolveStatus:
        """Do the same as :meth:`limit_to_stoppable` for one robot, without a check of arguments.

        In each tick of a robot, checks of arguments take half as long as the check of its stop.

        Args:
            joint_q: Coordinates [joint_coord_count].
            barriers: The barriers.
            steps: The step, the last one and the one before it, [joint_dof_count] each; the first
                is changed in place.
            acceleration: Largest decelerations [joint_dof_count], float64.
            jerk: Largest jerks [joint_dof_count], float64.
            tolerance: Tolerated violation of h.
        """
        self._configurations.load(joint_q)
        check = self._stopping(barriers, acceleration, jerk)
        self._blend_with_stop(check, steps, tolerance)
        steps[0][:] = check.delta_q[0]
        return STATUSES[check.status.item(0)]

    def _blend_with_stop(
        self,
        check: StoppingCheck,
        steps: tuple[np.ndarray, np.ndarray, np.ndarray],
        tolerance: float,
    ) -> None:
        """Run a check on steps at the coordinates in the buffer."""
        check.delta_q[:], check.last[:], check.before_last[:] = steps
        check.run(tolerance)
        self.may_reach = not check.was_far and bool(np.count_nonzero(check.delta_q))

    def _begin(
        self,
        joint_q: np.ndarray | wp.array,
        tolerance: float,
        steps: Iterable[tuple[str, np.ndarray]],
    ) -> None:
        """Validate the arguments of a check and copy the coordinates to the buffer."""
        checked_number('tolerance', tolerance, finite=False)
        self._configurations.load_checked(joint_q)
        self._configurations.check_steps(joint_q, steps)

    def _checked_barriers(self, barriers: Sequence[Barrier]) -> tuple[Barrier, ...]:
        """Return barriers as a tuple; the same barriers of successive calls are checked once."""
        if barriers is not self._known_barriers:
            checked_parts((), (), barriers)
            self._known_barriers = tuple(barriers)
        return self._known_barriers

    def _stopping(
        self, barriers: Sequence[Barrier], acceleration: np.ndarray, jerk: np.ndarray
    ) -> StoppingCheck:
        """Return the captured check of stops against these barriers, with these limits."""
        key = self._checked_barriers(barriers)
        check = self._stops.get(
            key, lambda: StoppingCheck(*self._parts, key, acceleration, jerk)
        )
        check.set_limits(acceleration, jerk)
        return check


def stop_tolerance(barriers: Sequence[Barrier]) -> float:
    """Return the violation of h that the check of stops tolerates by default."""
    margin = min((barrier.margin for barrier in barriers), default=_SLIDE_TOLERANCE)
    return max(0.0, _SLIDE_TOLERANCE - margin)
