# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Path of the least joint motion over all branches, for chains with a closed form.

Seven joints are solved at values of the redundant joint, and along the curves through these
solutions. The best paths through them are then smoothed and refined.
"""

from __future__ import annotations

import functools

import numpy as np

from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.path.arc_samples import ArcSamples
from ros_ik.solvers.path.branch_follower import BranchFollower
from ros_ik.solvers.path.branch_follower import LOCAL
from ros_ik.solvers.path.branch_follower import SHORT_STEP
from ros_ik.solvers.path.branches import Branches
from ros_ik.solvers.path.branches import Layer
from ros_ik.solvers.path.corrections import Corrections
from ros_ik.solvers.path.layered_graph import LayeredGraph
from ros_ik.solvers.path.problem import path_rank
from ros_ik.solvers.path.problem import PathProblem
from ros_ik.solvers.path.problem import PathResult
from ros_ik.solvers.path.refinement import COARSE
from ros_ik.solvers.path.refinement import FINE
from ros_ik.solvers.path.refinement import PathRules
from ros_ik.solvers.path.refinement import refined
from ros_ik.solvers.path.singular_poses import with_solutions_between
from ros_ik.solvers.path.smoothing import smoothed
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

# A local search that ends this close to a solution has found it, because it stops within a
# tolerance [rad or m].
_SAME = 1e-2
# With seven joints, a step may be longer by this factor before smoothing, because the sampled
# values of the redundant joint are some distance apart.
_STEP_BEFORE_SMOOTHING = 2.0
# Number of paths that are smoothed, to choose the best.
_SMOOTHED_PATHS = 4


def shortest_path(problem: PathProblem, form: ClosedForm, n_branches: int) -> PathResult:
    """Choose among all branches.

    Args:
        problem: The problem.
        form: Closed form of the chain.
        n_branches: Number of solutions of a pose with seven joints that are followed.
    """
    return _ShortestPath(problem, form, n_branches).solve()


class _ShortestPath:
    """Solution of a problem, segment by segment between breaks."""

    def __init__(self, problem: PathProblem, form: ClosedForm, n_branches: int) -> None:
        self._problem, self._form, self._n_branches = problem, form, n_branches
        self._chain, self._check = problem.solvers.chain, problem.check
        self._branches = Branches(problem, form)
        local = problem.solver(settings=LOCAL)
        self._follower = BranchFollower(local, self._check, problem.max_joint_step)
        self._corrections = Corrections(problem, form)

    def solve(self) -> PathResult:
        """Return the path."""
        targets, start = self._problem.targets, self._problem.start
        begin = before = None
        if start is not None:
            before = start[self._chain.coordinates]
            begin = self._follower.advance(
                start, self._problem.start_pose(), targets[0], is_bounded=False
            )
        first = None if begin is None else begin[self._chain.coordinates]
        layers = list(self._branches.layers(targets, first))
        if self._form.redundant_joint:
            layers = self._more_solutions(layers)
        graph = self._graph(layers)
        if not self._form.redundant_joint:
            layers = with_solutions_between(
                layers, first, self._problem.max_joint_step,
                lambda k, seeds: self._branches.nearest_solutions(targets[k], seeds),
                graph.nearest_turn,
            )  # fmt: skip
        path: list[np.ndarray] = []
        breaks: list[int] = []
        status = np.array([layer.status for layer in layers])
        if first is not None:
            nodes = self._solution_in_layer(graph, first, layers[0])[None]
            solution = np.zeros(1, dtype=int)
            path = self._segment(
                graph, layers, 0, nodes, solution, np.zeros(1), is_start_fixed=True
            )
            before, status[0] = path[-1], SolveStatus.CONVERGED
        while len(path) < len(targets):
            layer = layers[len(path)]
            nodes, solution, cost = layer.joint_q, np.zeros(1, dtype=int), np.zeros(1)
            if layer.is_solved:
                middle = 0.5 * np.sum(self._chain.sampling_range(), axis=0)
                nodes, solution = graph.all_turns(nodes, middle if before is None else before)
                cost = np.zeros(len(nodes))
                if before is not None:
                    cost = np.linalg.norm(nodes - before, axis=1)
            if before is not None or not layer.is_solved:
                breaks.append(len(path))
            path += self._segment(
                graph, layers, len(path), nodes, solution, cost, is_start_fixed=False
            )
            before = path[-1]
        fraction = (breaks[0] if breaks else len(targets)) / len(targets)
        # Solutions at a limit, and whole turns, round.
        inside = np.clip(path, self._chain.lower, self._chain.upper)
        rows = self._problem.rows(inside)
        pair = self._check.colliding_links(start)
        return PathResult(rows, status, tuple(breaks), fraction, pair)

    def _more_solutions(self, layers: list[Layer]) -> list[Layer]:
        """Return the layers with solutions between the values of the redundant joint."""
        layers = list(layers)
        unsolved = np.array([k for k, layer in enumerate(layers) if not layer.is_solved], int)
        for k, row in self._corrections.searched(unsolved):
            layers[k] = Layer(row[None], int(SolveStatus.CONVERGED), is_singular=False)
        step = min(self._problem.max_joint_step, SHORT_STEP)
        corrections = self._corrections
        return ArcSamples(
            layers, self._chain.slides, step, corrections.tangents, corrections.at
        ).filled()

    def _segment(
        self,
        graph: LayeredGraph,
        layers: list[Layer],
        first: int,
        nodes: np.ndarray,
        solution: np.ndarray,
        cost: np.ndarray,
        *,
        is_start_fixed: bool,
    ) -> list[np.ndarray]:
        """Return the variables of the poses from ``first`` up to the next break.

        Args:
            graph: Graph of the solutions.
            layers: Solutions of each pose.
            first: First pose.
            nodes: Start variables, [a, n].
            solution: Number of each; those of the same number differ by whole turns, [a].
            cost: Joint motion up to them, [a].
            is_start_fixed: True if the first configuration is given.
        """
        paths = graph.furthest_paths(layers, first, nodes, solution, cost, _SMOOTHED_PATHS)
        last = min(first + len(paths[0]), len(layers) - 1)
        if not self._form.redundant_joint and not any(
            layer.is_singular for layer in layers[first : last + 1]
        ):
            return list(paths[0])
        # The values of the redundant joint, like the solutions of a singular pose, are some
        # distance apart. The shortest path after smoothing need not be the shortest before it, and
        # a path may exist only between them.
        if not layers[first].is_solved:
            # The path goes on from the configuration of least error, which nothing replaces.
            if len(paths[0]) == 1:
                return list(paths[0])
            is_start_fixed = True
        begins = paths[0][:1] if is_start_fixed else self._start_solutions(first, paths[0][0])
        followed = max((self._followed(begin, first) for begin in begins), key=path_rank)
        paths.append(self._exact(followed, first))
        options = [self._smoothed(path, first, is_start_fixed=is_start_fixed) for path in paths]
        if self._form.redundant_joint:
            options = [
                self._refined(path, first, COARSE, is_start_fixed=is_start_fixed)
                for path in options
            ]
        best = self._up_to_long_step(max(options, key=self._rank))
        if self._form.redundant_joint:
            best = self._refined(best, first, FINE, is_start_fixed=is_start_fixed)
        return list(best)

    def _refined(
        self, path: np.ndarray, first: int, distances: tuple[float, ...], *, is_start_fixed: bool
    ) -> np.ndarray:
        """Return the shortest path [n, v] through self-motions beside one from pose ``first``."""
        if len(path) < 2:
            return path
        rows, step = self._problem.rows, self._problem.max_joint_step
        longest = np.max(np.abs(np.diff(path, axis=0)), axis=1)
        return refined(
            path,
            PathRules(
                self._corrections.tangents, self._corrections.along(first, len(path)),
                lambda nodes: self._check.is_free(rows(nodes)),
                lambda before, after: self._check.is_free_to(rows(before), rows(after)),
                step, np.maximum(longest, min(step, SHORT_STEP)), is_start_fixed,
            ),
            distances,
        )  # fmt: skip

    def _up_to_long_step(self, path: np.ndarray) -> np.ndarray:
        """Return the part of a path [n, v] before a step that is longer than allowed."""
        steps = np.max(np.abs(np.diff(path, axis=0)), axis=1, initial=0.0)
        long = np.flatnonzero(steps > self._problem.max_joint_step)
        return path[: long[0] + 1] if len(long) else path

    def _rank(self, path: np.ndarray) -> tuple[int, float]:
        """Return the sort key of the part of a path [n, v] that is allowed."""
        return path_rank(self._up_to_long_step(path))

    def _start_solutions(self, pose: int, near: np.ndarray) -> np.ndarray:
        """Return the solutions [a, n] of a pose by a search, or ``near`` if there is none."""
        found = self._start_solver.solve(
            self._problem.targets[pose, None], self._problem.rows(near[None])
        )
        rows = found.joint_q.reshape(self._n_branches, -1)[: int(found.n_found[0])]
        return rows[:, self._chain.coordinates].copy() if len(rows) else near[None]

    @functools.cached_property
    def _start_solver(self) -> ChainIK:
        return self._problem.free_solver(n_solutions=self._n_branches)

    def _followed(self, begin: np.ndarray, first: int) -> np.ndarray:
        """Return the variables [k, n] on the branch of ``begin`` for the poses from ``first``."""
        targets = self._problem.targets
        path = [self._problem.rows(begin[None])[0]]
        for k in range(first, len(targets) - 1):
            after = self._follower.advance(path[-1], targets[k], targets[k + 1], is_bounded=True)
            if after is None:
                break
            path.append(after)
        return np.array(path)[:, self._chain.coordinates]

    def _exact(self, path: np.ndarray, first: int) -> np.ndarray:
        """Return a path [k, n] that a search followed from pose ``first`` on, without its errors.

        The search ends within the tolerances. Near a singular pose that would shorten the path.
        """
        exact, solved = self._corrections.along(first, len(path))(path)
        solved[0] = False
        exact = np.where(solved[:, None], exact, path)
        is_free = self._check.is_free_along(self._problem.rows(exact))
        return exact if is_free.all() else path

    def _graph(self, layers: list[Layer]) -> LayeredGraph:
        """Return an empty graph with the checks and the local search of this problem."""
        targets = self._problem.targets

        def are_free(before: np.ndarray, after: np.ndarray) -> np.ndarray:
            if self._check.checker is None:
                return np.ones(len(before), dtype=bool)
            rows = self._problem.rows
            return self._check.is_free_to(rows(before), rows(after))

        def local_search(variables: np.ndarray, k: int) -> np.ndarray | None:
            row = self._problem.rows(variables[None])[0]
            after = self._follower.advance(row, targets[k], targets[k + 1], is_bounded=True)
            return None if after is None else after[self._chain.coordinates]

        step = self._problem.max_joint_step
        # Longer steps are subdivided, and a singular solution represents many.
        needed = step > SHORT_STEP or any(layer.is_singular for layer in layers)
        longest = min(step, SHORT_STEP)
        if self._form.redundant_joint and step <= SHORT_STEP:
            longest = _STEP_BEFORE_SMOOTHING * step
        return LayeredGraph(self._chain, longest, are_free, local_search if needed else None)

    def _solution_in_layer(
        self, graph: LayeredGraph, joint_q: np.ndarray, layer: Layer
    ) -> np.ndarray:
        """Return the exact solution of the layer at which a local search ended."""
        near = graph.nearest_turn(layer.joint_q, joint_q)
        away = np.max(np.abs(near - joint_q), axis=1)
        return near[np.argmin(away)] if layer.is_solved and away.min() < _SAME else joint_q

    def _smoothed(self, path: np.ndarray, first: int, *, is_start_fixed: bool) -> np.ndarray:
        """Smooth a part of the path from pose ``first`` on by motions of the redundant joint.

        Its steps may still be longer than allowed.
        """
        if len(path) <= 2:
            return path
        rows = self._problem.rows
        longest = np.max(np.abs(np.diff(path, axis=0)), axis=1)
        longest = np.maximum(longest, min(self._problem.max_joint_step, SHORT_STEP))

        def allowed(changed: np.ndarray) -> np.ndarray:
            here = self._check.is_free_along(rows(changed))
            motions = here[1:] & (np.max(np.abs(np.diff(changed, axis=0)), axis=1) <= longest)
            here[:-1] &= motions
            here[1:] &= motions
            return here

        return smoothed(
            path, self._corrections.tangents, self._corrections.along(first, len(path)), allowed,
            is_start_fixed=is_start_fixed,
        )  # fmt: skip
