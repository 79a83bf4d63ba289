# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Halt of the command: braking steps to rest, within limits and clear of barriers."""

from __future__ import annotations

import numpy as np

from ros_ik.servo.motion.deceleration import Deceleration
from ros_ik.servo.motion.path_deceleration import PathDeceleration
from ros_ik.servo.motion.position_range import PositionRange
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.step_solver import StepSolver
from ros_ik.settings import Settings


class Halt:
    """Steps of all joints to rest, by the laws of ``halt_mode`` and of the jerk limits."""

    def __init__(self, robot: ControlledRobot, solver: StepSolver) -> None:
        """Start without a halt."""
        self._robot, self._solver = robot, solver
        self._deceleration, self._range = Deceleration(), PositionRange(robot)
        self._path = PathDeceleration()

    def end(self) -> None:
        """End the halt; the next one begins at its own position."""
        self._deceleration.end()
        self._path.end()

    def is_turning(self, joint_q: np.ndarray, settings: Settings) -> bool:
        """Return True if joints at rest moved in the tick before and ``halt_mode`` returns them.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            settings: The settings.
        """
        if settings.halt_mode != 'hold' or not self._solver.limits.step_before_last.any():
            return False
        return self._deceleration.is_away(joint_q[self._robot.coords])

    def return_to(self, position: np.ndarray) -> None:
        """Return to a given position; see :meth:`Deceleration.return_to`."""
        self._deceleration.return_to(position)

    def advance(
        self,
        joint_q: np.ndarray,
        step: np.ndarray,
        settings: Settings,
        *,
        may_return: bool,
        returns: bool | np.ndarray,
        keeps_path: bool,
    ) -> np.ndarray:
        """Make one step towards rest within the limits.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            step: Previous step [joint_dof_count], replaced by this one.
            settings: The settings.
            may_return: True if ``halt_mode`` may return to the position at which the halt began.
            returns: True to return to the position of :meth:`return_to`, in any mode.
            keeps_path: True if frames keep their paths where no joint returns and jerk limits are
                not strict; otherwise each joint brakes independently.

        Returns:
            The commanded coordinates after the step.
        """
        goes_back = may_return and settings.halt_mode == 'hold'
        # A joint outside its limits must not return to that position.
        back = self._range.inside(joint_q) if goes_back else False
        returns = returns or back
        if keeps_path and returns is False and not self._keeps_own_law:
            joints = self._path_steps(joint_q, step, settings)
        else:
            self._path.end()
            joints = self._joint_steps(joint_q, step, settings, returns)
        last = step.copy()
        step[:] = 0.0
        self._robot.group.write_steps(joints, step)
        if step.any():
            if self._solver.limit_to_stoppable(joint_q, step, last):
                self._deceleration.block()
            self._range.clamp(joint_q, step)
            joint_q = self._solver.commanded_state.advance(joint_q, step)
        self._solver.limits.shift_steps(last)
        return joint_q

    @property
    def _keeps_own_law(self) -> bool:
        """True if each joint brakes independently in any halt."""
        return self._solver.limits.is_strict or self._deceleration.is_blocked

    def _path_steps(
        self, joint_q: np.ndarray, step: np.ndarray, settings: Settings
    ) -> np.ndarray:
        """Return the step of each controlled joint; see :meth:`PathDeceleration.step`."""
        robot, dofs, limits = self._robot, self._robot.group.variable_dof, self._solver.limits
        lower, upper = robot.inner_driver_limits(robot.position_margin(settings))
        position, last = joint_q[robot.coords], step[dofs]
        ahead = np.where(last > 0.0, upper[dofs] - position, position - lower[dofs])
        return self._path.step(
            last,
            limits.step_before_last[dofs],
            np.maximum(ahead, 0.0),
            limits.acceleration,
            settings.period,
        )

    def _joint_steps(
        self,
        joint_q: np.ndarray,
        step: np.ndarray,
        settings: Settings,
        returns: bool | np.ndarray,
    ) -> np.ndarray:
        """Return the step of each controlled joint; see :meth:`Deceleration.step`."""
        robot, dofs, limits = self._robot, self._robot.group.variable_dof, self._solver.limits
        position = joint_q[robot.coords]
        if limits.is_strict:
            displacement = self._deceleration.return_displacement(position, returns=returns)
            if displacement is None:
                displacement = np.full(len(dofs), np.nan)
            return limits.jerk_limited_steps(joint_q, step, displacement)
        return self._deceleration.step(
            step[dofs],
            position,
            robot.scaled_velocity(settings)[dofs],
            limits.acceleration,
            settings.period,
            returns=returns,
        )
