# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal control: the motion to the configuration of least cost, inside limits and barriers.

1. A search (:mod:`ros_ik.solvers.optimal_control.search`) moves from the start to the nearest
   minimum of the command's cost inside position limits and barriers; ``stop_cost``,
   ``min_delta_cost`` and ``patience`` end it.
2. The way there becomes a motion (:mod:`ros_ik.solvers.optimal_control.motion`): knots every dt
   with a constant acceleration between them, from the present velocity to rest, within velocity
   and acceleration limits, and free of the barriers at and between the knots.

rby1 solves a velocity program in each control tick instead and ends where it happens to be; here
the end is known before the motion, so it is reached without overshoot.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.arguments import checked_count
from ros_ik.kinematics.arguments import checked_number
from ros_ik.kinematics.arguments import checked_numbers
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.model.joint_group import checked_joint_group
from ros_ik.solvers.graph_cache import GraphCache
from ros_ik.solvers.optimal_control.arrays import SearchArrays
from ros_ik.solvers.optimal_control.limits import GroupLimits
from ros_ik.solvers.optimal_control.limits import VariableLimits
from ros_ik.solvers.optimal_control.motion import Motion
from ros_ik.solvers.optimal_control.motion import MotionPlanner
from ros_ik.solvers.optimal_control.problem import OptimalControlProblem
from ros_ik.solvers.optimal_control.result import make_result
from ros_ik.solvers.optimal_control.result import OptimalControlResult
from ros_ik.solvers.optimal_control.result import refused
from ros_ik.solvers.optimal_control.search import Search
from ros_ik.solvers.optimal_control.search import SearchResult
from ros_ik.solvers.optimal_control.search import SearchSettings
from ros_ik.solvers.optimal_control.search import StopReason
from ros_ik.solvers.optimal_control.targets import check_joints
from ros_ik.solvers.optimal_control.targets import check_names
from ros_ik.solvers.optimal_control.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.targets import structure_of
from ros_ik.solvers.status import SolveStatus

# What the search keeps beyond the margins of barriers [units of h]: on the way, so that the
# straight ways between its steps stay clear, and at the end.
_ROOM, _LAST_ROOM = 1e-3, 1e-5
# Largest change of a joint in one step of the search [rad or m]; the second where the way was not
# free with the first.
_RADII = (0.5, 0.05)


@dataclasses.dataclass(frozen=True)
class OptimalControlSettings:
    """Settings of :class:`OptimalControl`, for what a command leaves open.

    Attributes:
        stop_cost: Cost below which a command is solved. The default is 0.01 mm or 0.01 mrad of one
            error of weight 1.
        min_delta_cost: Improvement between iterations that counts.
        min_delta_ratio: The same as a part of the cost: the larger of the two is asked for, unless
            the command says what counts. Ten iterations below it leave about a thousandth.
        patience: Iterations without such an improvement that are tolerated.
        max_iterations: Bound on the iterations of a search.
        max_duration: Longest motion [s]; it bounds the size of the result.
    """

    stop_cost: float = 1e-10
    min_delta_cost: float = 1e-9
    min_delta_ratio: float = 1e-5
    patience: int = 10
    max_iterations: int = 300
    max_duration: float = 60.0

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ArgumentError: A value outside its range.
        """
        for name in ('stop_cost', 'min_delta_cost', 'min_delta_ratio'):
            checked_number(name, getattr(self, name))
        for name in ('patience', 'max_iterations'):
            checked_count(name, getattr(self, name), 1)
        checked_number('max_duration', self.max_duration, positive=True)


class OptimalControl:
    """Motions of one robot to the least cost of commands.

    One instance belongs to one thread. Its barriers belong to it. Commands of one structure (the
    same links and kinds of costs) share their arrays and graphs.

    Attributes:
        model: The model.
        group: The joints that may move.
        dt: Time between knots [s].
        settings: The settings.
    """

    def __init__(
        self,
        model: Model,
        group: JointGroup | str | Sequence[str] = '',
        *,
        dt: float = 0.01,
        velocity: np.ndarray | None = None,
        acceleration: np.ndarray | None = None,
        position_margin: float | np.ndarray = 0.0,
        barriers: Sequence[Barrier] = (),
        settings: OptimalControlSettings | None = None,
    ) -> None:
        """Create the solver; graphs are made at the first command of a structure.

        Args:
            model: The model; its device is the solver's.
            group: A joint group or what :meth:`Model.joint_group` takes; free and ball joints
                cannot be in it.
            dt: Time between knots [s].
            velocity: Velocity limits [joint_dof_count], rad/s or m/s, inf for none; None for those
                of the model.
            acceleration: Acceleration limits [joint_dof_count], rad/s^2 or m/s^2, inf for none;
                None for the velocity limit within 0.2 s, 10 where there is none.
            position_margin: Distance kept from position limits [rad or m], one or
                [joint_dof_count].
            barriers: Barriers, kept as h >= 0; the search keeps their margin as well. Their
                gains are for control steps and play no part.
            settings: Settings; None for the defaults.

        Raises:
            ArgumentError: A value outside its range, an unknown group, a free or ball joint in it,
                a barrier that belongs to another solver.
        """
        self.model, self.dt = model, checked_number('dt', dt, positive=True)
        self.group = checked_joint_group(model, group, 'group')
        self.settings = settings or OptimalControlSettings()
        if self.group.n_variables < 1:
            raise ArgumentError(f'joint group {self.group.name!r} holds no movable joint')
        self._limits = GroupLimits(model, self.group, velocity, acceleration, position_margin)
        self._arrays = SearchArrays(model, self.group, barriers, self.dt)
        self._problems: GraphCache[OptimalControlProblem] = GraphCache()

    def solve(
        self,
        command: OptimalControlCommand,
        joint_q: np.ndarray,
        joint_qd: np.ndarray | None = None,
    ) -> OptimalControlResult:
        """Find the motion from a state to the least cost of a command.

        Args:
            command: What to minimise.
            joint_q: Coordinates at the start [joint_coord_count], rad and m.
            joint_qd: Velocities at the start [joint_dof_count], rad/s and m/s; None for rest.
                Those of joints outside the group are ignored.

        Returns:
            The motion, why it ends where it ends, and the costs there.

        Raises:
            ArgumentError: A wrong shape, a link or joint that the model lacks, or a target of a
                joint outside the group.
        """
        if not isinstance(command, OptimalControlCommand):
            raise ArgumentError(
                'command must be an OptimalControlCommand, which the build() of an '
                f'OptimalControlCommandBuilder returns, got {type(command).__name__}'
            )
        joint_q = self._vector('joint_q', joint_q, self.model.joint_coord_count)
        joint_qd = self._vector(
            'joint_qd',
            np.zeros(self.model.joint_dof_count) if joint_qd is None else joint_qd,
            self.model.joint_dof_count,
        )
        problem = self._problem(command)
        if not (np.all(np.isfinite(joint_q)) and np.all(np.isfinite(joint_qd))):
            return refused(self.model, command)
        self._arrays.start_q.host[0] = joint_q
        limits = self._limits.at(
            joint_q, command.velocity_limit_scaling, command.acceleration_limit_scaling
        )
        problem.low[:], problem.high[:] = limits.low, limits.high
        velocity = joint_qd[self.group.variable_dof]
        max_ticks = max(1, int(self.settings.max_duration / self.dt))
        planner = MotionPlanner(self._arrays, limits, self.dt, max_ticks)
        found, motion = self._plan(command, problem, planner, limits, velocity)
        costs = problem.costs(command, motion.positions[-1])
        return make_result(
            self.model, self._limits, limits, command, joint_q, found, motion, costs, self.dt
        )

    def _plan(
        self,
        command: OptimalControlCommand,
        problem: OptimalControlProblem,
        planner: MotionPlanner,
        limits: VariableLimits,
        velocity: np.ndarray,
    ) -> tuple[SearchResult, Motion]:
        """Return what the search came to and the motion that follows from it."""
        origin = np.zeros(len(velocity))
        found = self._search(command, problem, limits, origin, _RADII[0])
        if found.reason is StopReason.FAILED:
            return found, planner.stop(velocity)
        motion = planner.straight(found.path[-1], velocity)
        if planner.is_free(motion):
            return found, dataclasses.replace(motion, crosses=planner.starts_violated())
        halt = planner.stop(velocity)
        crosses = planner.starts_violated() or not planner.is_free(halt)
        for radius in _RADII:
            if np.any(velocity) or radius != _RADII[0]:
                found = self._search(command, problem, limits, halt.positions[-1], radius)
            detour = planner.along(found.path, halt)
            if detour is not None:
                return found, dataclasses.replace(detour, crosses=crosses)
        found = dataclasses.replace(
            found, reason=StopReason.FAILED, status=SolveStatus.HALTED_BY_BARRIER
        )
        return found, dataclasses.replace(halt, crosses=crosses)

    def _search(
        self,
        command: OptimalControlCommand,
        problem: OptimalControlProblem,
        limits: VariableLimits,
        start: np.ndarray,
        radius: float,
    ) -> SearchResult:
        """Search from a displacement [n]; near barriers once more, closer to them."""
        margins = self._arrays.margins
        settings = self._search_settings(command)
        problem.u[:] = np.clip(start, limits.low, limits.high)
        found = Search(problem, settings, margins, _ROOM, radius).run()
        path = found.path if np.array_equal(found.path[0], start) else [start, *found.path]
        near = np.any(self._arrays.sample(path[-1]) < margins + 2.0 * _ROOM)
        if near and found.reason is not StopReason.FAILED:
            problem.u[:] = path[-1]
            closer = Search(problem, settings, margins, _LAST_ROOM, radius).run()
            path = path + closer.path[1:]
            found = dataclasses.replace(closer, iterations=found.iterations + closer.iterations)
        return dataclasses.replace(found, path=path)

    def _search_settings(self, command: OptimalControlCommand) -> SearchSettings:
        """Return when to stop: what the command says, else the settings."""
        own, least = self.settings, command.min_delta_cost
        return SearchSettings(
            stop_cost=own.stop_cost if command.stop_cost is None else command.stop_cost,
            min_delta_cost=own.min_delta_cost if least is None else least,
            min_delta_ratio=own.min_delta_ratio if least is None else 0.0,
            patience=own.patience if command.patience is None else command.patience,
            max_iterations=own.max_iterations,
        )

    def _problem(self, command: OptimalControlCommand) -> OptimalControlProblem:
        """Return the problem of the command's structure with the command loaded."""
        check_names(command, self.model)
        check_joints(command, self.model, self.group)
        key = structure_of(command)
        problem = self._problems.get(key, lambda: OptimalControlProblem(self._arrays, command))
        problem.load(command)
        return problem

    @staticmethod
    def _vector(name: str, value: np.ndarray, count: int) -> np.ndarray:
        vector = checked_numbers(name, value)
        if vector.shape != (count,):
            raise ArgumentError(f'{name} must have shape [{count}], got {list(vector.shape)}')
        return vector
