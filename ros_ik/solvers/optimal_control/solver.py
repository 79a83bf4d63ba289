# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal control, the motion to the configuration of least cost within limits and barriers.

1. A search (:mod:`ros_ik.solvers.optimal_control.least_cost.search`) moves from the start to the
   nearest minimum of the command's cost within position limits and barriers. ``stop_cost``,
   ``min_delta_cost`` and ``patience`` end it. If it ends at a local minimum, other ends are found
   from a batch of seeds (:mod:`ros_ik.solvers.optimal_control.ends.ends`).
2. The path to the end becomes a motion (:mod:`ros_ik.solvers.optimal_control.timing.motion`) with
   a knot every dt, from the current velocity to rest. It respects velocity and acceleration
   limits, and the barriers at and between the knots.

rby1 instead solves a velocity program in each control tick. Here the end is known before the
motion, so it is reached without overshoot.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.model.joint_group import checked_joint_group
from ros_ik.model.model_argument import require_model
from ros_ik.numbers import real_value
from ros_ik.solvers.graph_cache import GraphCache
from ros_ik.solvers.optimal_control.commands.reached import TargetError
from ros_ik.solvers.optimal_control.commands.settings import OptimalControlSettings
from ros_ik.solvers.optimal_control.commands.targets import check_joints
from ros_ik.solvers.optimal_control.commands.targets import check_names
from ros_ik.solvers.optimal_control.commands.targets import JointPositionTarget
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.commands.targets import structure_of
from ros_ik.solvers.optimal_control.ends.ends import EndSearch
from ros_ik.solvers.optimal_control.ends.ends import STEP_RADII
from ros_ik.solvers.optimal_control.ends.ends import UnmetTargets
from ros_ik.solvers.optimal_control.ends.path_constraints import ConstrainedPathPlanner
from ros_ik.solvers.optimal_control.ends.path_constraints import PathConstraints
from ros_ik.solvers.optimal_control.least_cost.arrays import SearchArrays
from ros_ik.solvers.optimal_control.least_cost.problem import OptimalControlProblem
from ros_ik.solvers.optimal_control.least_cost.search import SearchResult
from ros_ik.solvers.optimal_control.least_cost.search import StopReason
from ros_ik.solvers.optimal_control.result import make_result
from ros_ik.solvers.optimal_control.result import OptimalControlResult
from ros_ik.solvers.optimal_control.result import refused
from ros_ik.solvers.optimal_control.timing.limits import GroupLimits
from ros_ik.solvers.optimal_control.timing.limits import VariableLimits
from ros_ik.solvers.optimal_control.timing.motion import Motion
from ros_ik.solvers.optimal_control.timing.motion import MotionEnd
from ros_ik.solvers.optimal_control.timing.motion import MotionPlanner
from ros_ik.solvers.status import SolveStatus

# Fraction of the tolerances up to which a straight motion may violate a target that it should
# keep.
_STRAIGHT_TOLERANCE = 0.1
# Largest number of ticks of a motion; no memory holds more.
_MAX_TICKS = 2**31


class OptimalControl(ReadOnce):
    """Solver for motions of one robot to the least cost of commands.

    Use an instance in one thread only, and its barriers in no other solver. Commands of one
    structure (the same links and kinds of costs) share arrays and graphs.

    Attributes:
        model: The model.
        group: The joints that may move.
        dt: Time between knots [s].
        settings: The settings.
    """

    read_once = frozenset(('model', 'dt', 'group', 'settings'))

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
        """Create the solver; the first command of each structure captures graphs.

        Args:
            model: The model; the solver uses its device.
            group: A joint group or an argument of :meth:`Model.joint_group`, without free and
                ball joints.
            dt: Time between knots [s].
            velocity: Velocity limits [joint_dof_count], rad/s or m/s, inf for none; None for those
                of the model.
            acceleration: Acceleration limits [joint_dof_count], rad/s^2 or m/s^2, inf for none.
                None to reach the velocity limit in 0.2 s, or for 10 without a velocity limit.
            position_margin: Distance kept from position limits [rad or m], one or
                [joint_dof_count].
            barriers: Barriers h >= 0; the search also respects their margins. Their gains are for
                control steps and have no effect.
            settings: Settings; None for the defaults.

        Raises:
            ArgumentError: A value outside its range, an unknown group, a free or ball joint in it,
                a barrier that belongs to another solver.
        """
        self.model, self.dt = require_model(model), checked_number('dt', dt, positive=True)
        self.group = checked_joint_group(model, group, 'group')
        self.settings = checked_options('settings', OptimalControlSettings, settings)
        if self.group.n_variables < 1:
            raise ArgumentError(f'group: {self.group.title} has no movable joint')
        self._limits = GroupLimits(model, self.group, velocity, acceleration, position_margin)
        self._arrays = SearchArrays(model, self.group, barriers, self.dt)
        self._ends = EndSearch(self._arrays, self.settings)
        self._problems: GraphCache[OptimalControlProblem] = GraphCache()

    def solve(
        self,
        command: OptimalControlCommand,
        joint_q: np.ndarray,
        joint_qd: np.ndarray | None = None,
    ) -> OptimalControlResult:
        """Find the motion from a state to the least cost of a command.

        Args:
            command: The command, whose cost is minimised.
            joint_q: Coordinates at the start [joint_coord_count], rad and m.
            joint_qd: Velocities at the start [joint_dof_count], rad/s and m/s; None for rest.
                Those of joints outside the group are ignored.

        Returns:
            The motion, the reason for its end, and the costs there.

        Raises:
            ArgumentError: A wrong shape, an unknown link or joint, or a target of a joint outside
                the group.
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
        moving_qd = joint_qd[self.group.dof_variable >= 0]
        if not (np.all(np.isfinite(joint_q)) and np.all(np.isfinite(moving_qd))):
            return refused(self.model, command)
        self._arrays.start_q.host[0] = joint_q
        limits = self._limits.at(
            joint_q, command.velocity_limit_scaling, command.acceleration_limit_scaling
        )
        problem.low[:], problem.high[:] = limits.low, limits.high
        velocity = joint_qd[self.group.variable_dof]
        max_ticks = max(1, int(min(self.settings.max_duration / self.dt, _MAX_TICKS)))
        planner = MotionPlanner(
            self._arrays, limits, self.dt, max_ticks, is_moving=bool(np.any(velocity))
        )
        found, motion = self._plan(command, problem, planner, limits, velocity)
        costs = problem.costs(command, motion.positions[-1])
        unmet = self._unmet_targets(command, problem, limits, found, motion)
        paths = ConstrainedPathPlanner(problem, command, limits, self.settings)
        violated = self._violated_targets(planner, paths, motion)
        return make_result(
            self.model, self._limits, limits, command, joint_q, found, motion, costs, unmet,
            violated, self.dt,
        )  # fmt: skip

    def _plan(
        self,
        command: OptimalControlCommand,
        problem: OptimalControlProblem,
        planner: MotionPlanner,
        limits: VariableLimits,
        velocity: np.ndarray,
    ) -> tuple[SearchResult, Motion]:
        """Return the result of the search and the motion to its end."""
        origin = np.zeros(len(velocity))
        found = self._ends.search(command, problem, limits, origin)
        if found.reason is StopReason.FAILED:
            return found, planner.stop(velocity)
        paths = ConstrainedPathPlanner(problem, command, limits, self.settings)
        others = self._ends.better_ends(command, problem, limits, found)
        choices = []
        for choice in self._free_motions(planner, paths, limits, [*others, found], velocity):
            if self._keeps_constraints(planner, paths, choice[1]):
                return choice
            choices.append(choice)
        if choices:
            return choices[0]
        halt = planner.stop(velocity)
        crosses = planner.starts_violated or not planner.is_free(halt)
        for radius in STEP_RADII:
            if np.any(velocity) or radius != STEP_RADII[0]:
                found = self._ends.search(command, problem, limits, halt.positions[-1], radius)
            detour = planner.along(found.path, halt)
            if detour is not None:
                return found, dataclasses.replace(detour, crosses=crosses)
        found = dataclasses.replace(
            found, reason=StopReason.FAILED, status=SolveStatus.HALTED_BY_BARRIER
        )
        return found, dataclasses.replace(halt, crosses=crosses)

    def _free_motions(
        self,
        planner: MotionPlanner,
        paths: ConstrainedPathPlanner,
        limits: VariableLimits,
        ends: list[SearchResult],
        velocity: np.ndarray,
    ) -> Iterator[tuple[SearchResult, Motion]]:
        """Yield free motions to ends, the best first, and at last along the path of the search.

        Better ends come first even if the motion to them must go around barriers.
        """
        for end in ends[:-1]:
            motion = self._direct_motion(planner, paths, end.path[-1], velocity)
            if motion is not None:
                yield end, motion
        for end in ends[:-1]:
            motion = self._motion_around_barriers(planner, limits, end.path[-1], velocity)
            if motion is not None:
                yield end, motion
        motion = self._direct_motion(planner, paths, ends[-1].path[-1], velocity)
        if motion is not None:
            yield ends[-1], motion

    def _direct_motion(
        self,
        planner: MotionPlanner,
        paths: ConstrainedPathPlanner,
        end: np.ndarray,
        velocity: np.ndarray,
    ) -> Motion | None:
        """Return a direct motion to a displacement [n] that violates no barrier, or None.

        The motion is straight, or near the straight one to keep targets that are met at both ends.
        """
        halt = planner.stop(velocity)
        motions = [planner.straight(end, velocity)]
        constraints = self._constraints_between(paths, halt.positions[-1], end)
        if paths.violations(constraints, planner.sampled(motions[0]), _STRAIGHT_TOLERANCE):
            curved = self._curved_motion(planner, paths, constraints, halt)
            motions = motions if curved is None else [curved, *motions]
        for motion in motions:
            if planner.is_free(motion):
                return dataclasses.replace(motion, crosses=planner.starts_violated)
        return None

    def _curved_motion(
        self,
        planner: MotionPlanner,
        paths: ConstrainedPathPlanner,
        constraints: PathConstraints,
        halt: Motion,
    ) -> Motion | None:
        """Return the fastest motion along a curve that keeps targets, or the fastest; or None."""
        points = paths.plan(constraints)
        fastest = None
        for motion in () if points is None else planner.curved(points, halt):
            if not paths.violations(constraints, planner.sampled(motion)):
                return motion
            fastest = motion if fastest is None else fastest
        return fastest

    def _keeps_constraints(
        self, planner: MotionPlanner, paths: ConstrainedPathPlanner, motion: Motion
    ) -> bool:
        """Return True if every target that is met at the start of a motion holds throughout."""
        start = motion.positions[0]
        constraints = self._constraints_between(paths, start, start)
        return not paths.violations(constraints, planner.sampled(motion))

    def _violated_targets(
        self, planner: MotionPlanner, paths: ConstrainedPathPlanner, motion: Motion
    ) -> tuple[TargetError, ...]:
        """Return the targets that are met at both ends of a motion, but not along it."""
        constraints = self._constraints_between(paths, motion.positions[0], motion.positions[-1])
        return paths.violations(constraints, planner.sampled(motion))

    def _constraints_between(
        self, paths: ConstrainedPathPlanner, start: np.ndarray, end: np.ndarray
    ) -> PathConstraints:
        """Return the targets that are met at two displacements [n]."""
        return paths.constraints_between(
            self.model, self.group, self._arrays.start_q.host[0], start, end
        )

    def _motion_around_barriers(
        self,
        planner: MotionPlanner,
        limits: VariableLimits,
        end: np.ndarray,
        velocity: np.ndarray,
    ) -> Motion | None:
        """Return a motion around barriers to a displacement [n], by a search with joint targets.

        The result is None if the search, or the motion along its path, does not arrive.
        """
        dofs = self.group.variable_dof
        goal = self._arrays.start_q.host[0, dof_coordinates(self.model)[dofs]] + end
        command = OptimalControlCommand(
            joint_position_targets=tuple(
                JointPositionTarget(name, float(position), 1.0, int(dof))
                for name, position, dof in zip(self._limits.names, goal, dofs, strict=True)
            )
        )
        problem = self._problem(command, is_detour=True)
        problem.low[:], problem.high[:] = limits.low, limits.high
        halt = planner.stop(velocity)
        found = self._ends.search(command, problem, limits, halt.positions[-1])
        if found.reason is not StopReason.STOP_COST:
            return None
        motion = planner.along([*found.path, end], halt)
        if motion is None or motion.end is not MotionEnd.GOAL:
            return None
        crosses = planner.starts_violated or not planner.is_free(halt)
        return dataclasses.replace(motion, crosses=crosses)

    def _unmet_targets(
        self,
        command: OptimalControlCommand,
        problem: OptimalControlProblem,
        limits: VariableLimits,
        found: SearchResult,
        motion: Motion,
    ) -> UnmetTargets:
        """Return the targets that are out of reach at the end of the motion or of its search."""
        solved = found.reason is StopReason.STOP_COST and motion.end is MotionEnd.GOAL
        if solved or found.reason is StopReason.FAILED:
            return UnmetTargets()
        end = found.path[-1] if motion.end is MotionEnd.HORIZON else motion.positions[-1]
        return self._ends.unmet_targets(command, problem, limits, end)

    def _problem(
        self, command: OptimalControlCommand, *, is_detour: bool = False
    ) -> OptimalControlProblem:
        """Return the problem of the command's structure with the command loaded.

        Commands for detours have problems of their own, so that the user's stays loaded.
        """
        check_names(command, self.model)
        check_joints(command, self.model, self.group)
        key = structure_of(command), is_detour
        self._arrays.renew()
        problem = self._problems.get(key, lambda: OptimalControlProblem(self._arrays, command))
        problem.load(command)
        return problem

    @staticmethod
    def _vector(name: str, value: np.ndarray, count: int) -> np.ndarray:
        vector = real_value(name, value)
        if vector.shape != (count,):
            raise ArgumentError(f'{name} must have shape [{count}], got {list(vector.shape)}')
        return vector
