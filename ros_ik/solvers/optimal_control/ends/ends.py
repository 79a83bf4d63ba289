# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""End of a motion, the minimum nearest to the start or a better one from other seeds.

A search only descends, so it may end at a local minimum, where a pose target is missed although
the robot could meet it elsewhere. An end may also miss targets because of the weights of joint
targets or a stopping rule of the command. To distinguish these cases, a second search from the end
minimises the costs of poses and centre of mass only. Unless it meets them, the end is a local
minimum, and searches restart from the ends of a batch of seeds
(:mod:`ros_ik.solvers.optimal_control.ends.restarts`).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.solvers.graph_cache import GraphCache
from ros_ik.solvers.optimal_control.commands.reached import target_errors
from ros_ik.solvers.optimal_control.commands.reached import TargetError
from ros_ik.solvers.optimal_control.commands.settings import OptimalControlSettings
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.commands.targets import structure_of
from ros_ik.solvers.optimal_control.commands.targets import variable_of
from ros_ik.solvers.optimal_control.ends.restarts import BatchRestarts
from ros_ik.solvers.optimal_control.least_cost.arrays import SearchArrays
from ros_ik.solvers.optimal_control.least_cost.problem import OptimalControlProblem
from ros_ik.solvers.optimal_control.least_cost.search import Search
from ros_ik.solvers.optimal_control.least_cost.search import SearchResult
from ros_ik.solvers.optimal_control.least_cost.search import SearchSettings
from ros_ik.solvers.optimal_control.least_cost.search import StopReason
from ros_ik.solvers.optimal_control.timing.limits import VariableLimits

# Clearance of the search beyond the margins of barriers [units of h], on the path, so that
# straight motions between its steps stay clear, and at the end.
_ROOM, _LAST_ROOM = 1e-3, 1e-5
# Largest change of a joint in one step of the search [rad or m]; the second is used if the path is
# not free with the first.
STEP_RADII = (0.5, 0.05)
# Fraction of the cost of a local minimum below which another end is preferred.
_BETTER_COST = 0.9
# Tolerance for rounding between two costs of the same configuration.
_ROUNDING = 1e-12
# Number of ends of the batch from which searches start.
_MAX_RESTARTS = 8


@dataclasses.dataclass(frozen=True)
class UnmetTargets:
    """Targets that a motion misses, and that no descent from its end meets.

    Attributes:
        errors: Their errors at the end; empty if every target is met.
        at_limits: True if limits or barriers are active at the end.
    """

    errors: tuple[TargetError, ...] = ()
    at_limits: bool = False


def _may_prevent_targets(command: OptimalControlCommand) -> bool:
    """Return True if joint targets or stopping rules may prevent a command from meeting poses."""
    weighs = any(target.weight > 0.0 for target in command.joint_position_targets)
    rules = (command.stop_cost, command.min_delta_cost, command.patience)
    return weighs or any(rule is not None for rule in rules)


class EndSearch:
    """Search for the ends of motions of one robot, from the start in ``arrays``."""

    def __init__(self, arrays: SearchArrays, settings: OptimalControlSettings) -> None:
        """Start without batch solvers."""
        self._arrays, self._settings = arrays, settings
        self._batches: GraphCache[BatchRestarts] = GraphCache()

    def search(
        self,
        command: OptimalControlCommand,
        problem: OptimalControlProblem,
        limits: VariableLimits,
        start: np.ndarray,
        radius: float = STEP_RADII[0],
    ) -> SearchResult:
        """Search from a displacement [n]; near barriers, search again closer to them."""
        margins = self._arrays.margins
        settings = self._search_settings(command)
        check = self._arrays.check if self._arrays.is_violated(start) else None
        problem.u[:] = np.clip(start, limits.low, limits.high)
        found = Search(problem, settings, margins, _ROOM, radius, check).run()
        path = found.path if np.array_equal(found.path[0], start) else [start, *found.path]
        near = np.any(self._arrays.sample(path[-1]) < margins + 2.0 * _ROOM)
        if near and found.reason is not StopReason.FAILED:
            problem.u[:] = path[-1]
            closer = Search(problem, settings, margins, _LAST_ROOM, radius, check).run()
            path = path + closer.path[1:]
            found = dataclasses.replace(closer, iterations=found.iterations + closer.iterations)
        return dataclasses.replace(found, path=path)

    def unmet_targets(
        self,
        command: OptimalControlCommand,
        problem: OptimalControlProblem,
        limits: VariableLimits,
        end: np.ndarray,
    ) -> UnmetTargets:
        """Return the targets that are missed at a displacement [n] and after a descent from it.

        Args:
            command: The command, loaded into ``problem``.
            problem: The problem of its structure.
            limits: Limits of the variables.
            end: The end of a motion, at the minimum of the command or before it.
        """
        errors = self._unmet_errors(command, problem, end)
        if not errors:
            return UnmetTargets()
        bare = dataclasses.replace(
            command,
            joint_position_targets=tuple(
                dataclasses.replace(target, weight=0.0)
                for target in command.joint_position_targets
            ),
            stop_cost=None,
            min_delta_cost=None,
            patience=None,
        )
        problem.load(bare)
        found = self.search(bare, problem, limits, end)
        out_of_reach = {error.rows for error in self._unmet_errors(bare, problem, found.path[-1])}
        problem.load(command)
        if _may_prevent_targets(command):
            errors = tuple(error for error in errors if error.rows in out_of_reach)
        return UnmetTargets(errors, found.reason is StopReason.LIMIT)

    def better_ends(
        self,
        command: OptimalControlCommand,
        problem: OptimalControlProblem,
        limits: VariableLimits,
        found: SearchResult,
    ) -> list[SearchResult]:
        """Return better ends than that of the search from the start.

        If that end is a local minimum, these are ends of lower cost. Otherwise this is the same
        end without whole turns of joints, if it has any. A joint target may be nearer to the same
        posture in another turn, which a search from there reaches.

        Args:
            command: The command, loaded into ``problem``.
            problem: The problem of its structure.
            limits: Limits of the variables.
            found: A search from the start.

        Returns:
            Searches with their ends as paths. Those that meet every target come first, in the
            order of their distance from the start; then the others, in the order of their costs.
        """
        end, moves = found.path[-1], limits.low < limits.high
        worth = _BETTER_COST * problem.costs(command, end).total
        turned = self._turned_to_targets(command, limits, limits.without_turns(end))
        if found.reason is not StopReason.STOP_COST and not np.array_equal(turned, end):
            other = self.search(command, problem, limits, turned)
            other = dataclasses.replace(other, path=other.path[-1:])
            cost = problem.costs(command, other.path[-1]).total
            if other.reason is not StopReason.FAILED and cost < worth:
                return [*self.better_ends(command, problem, limits, other), other]
        done = found.reason in (StopReason.STOP_COST, StopReason.ITERATION_LIMIT)
        if (
            done
            or not np.any(moves)
            or not self.unmet_targets(command, problem, limits, end).errors
        ):
            return self._without_whole_turns(command, problem, limits, found)
        state = self._arrays.state
        batch = self._batches.get(
            structure_of(command),
            lambda: BatchRestarts(state.model, state.group, moves, command),
        )
        better = []
        joint_q = self._arrays.start_q.host[0]
        # A search that got stuck may continue from its own end.
        starts = [end, *batch.ends(command, joint_q, limits, worth)[:_MAX_RESTARTS]]
        for start in starts:
            other = self.search(command, problem, limits, start)
            last = limits.without_turns(other.path[-1])
            other = dataclasses.replace(other, path=[last])
            cost = problem.costs(command, last).total
            if other.reason is not StopReason.FAILED and cost < worth:
                away = float(np.linalg.norm(last))
                met = not self._unmet_errors(command, problem, last)
                better.append(((not met, away if met else cost), other))
        return [other for _, other in sorted(better, key=lambda entry: entry[0])]

    def _turned_to_targets(
        self, command: OptimalControlCommand, limits: VariableLimits, u: np.ndarray
    ) -> np.ndarray:
        """Return a displacement [n] with joints in the turns nearest to their targets, clamped."""
        state, turned = self._arrays.state, u.copy()
        coords = dof_coordinates(state.model)[state.group.variable_dof]
        own = self._arrays.start_q.host[0, coords]
        for target in command.joint_position_targets:
            k = variable_of(target, state.model, state.group)
            if target.weight > 0.0 and k >= 0:
                away = target.target_position - own[k] - u[k]
                if limits.turns[k] and abs(away) > np.pi:
                    other = u[k] + 2.0 * np.pi * np.round(away / (2.0 * np.pi))
                    turned[k] = np.clip(other, limits.low[k], limits.high[k])
        return turned

    def _without_whole_turns(
        self,
        command: OptimalControlCommand,
        problem: OptimalControlProblem,
        limits: VariableLimits,
        found: SearchResult,
    ) -> list[SearchResult]:
        """Return the end of a search without whole turns, if that does not cost more."""
        end = found.path[-1]
        nearer = limits.without_turns(end)
        if np.array_equal(nearer, end):
            return []
        least = problem.costs(command, end).total
        if problem.costs(command, nearer).total > least + _ROUNDING * (1.0 + least):
            return []
        return [dataclasses.replace(found, path=[nearer])]

    def _unmet_errors(
        self, command: OptimalControlCommand, problem: OptimalControlProblem, u: np.ndarray
    ) -> tuple[TargetError, ...]:
        """Return the errors above the tolerances at a displacement [n]."""
        own = self._settings
        return tuple(
            error
            for error in target_errors(command, problem.residuals_at(u))
            if not error.within(own.position_tolerance, own.rotation_tolerance)
        )

    def _search_settings(self, command: OptimalControlCommand) -> SearchSettings:
        """Return the stopping rules, from the command or else from the settings."""
        own, least = self._settings, command.min_delta_cost
        return SearchSettings(
            stop_cost=own.stop_cost if command.stop_cost is None else command.stop_cost,
            min_delta_cost=own.min_delta_cost if least is None else least,
            min_delta_ratio=own.min_delta_ratio if least is None else 0.0,
            patience=own.patience if command.patience is None else command.patience,
            max_iterations=own.max_iterations,
        )
