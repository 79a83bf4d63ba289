# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closed-form solver for chains of seven joints, at given values of the first or last joint.

With this redundant joint at t, the other six must move the tool to a pose that depends on t. For
the last joint, with its frame C relative to the tool and its motion Z about or along its axis,

    X = F(q_1 .. q_6) C^-1 Z(t) C,  so that  F(q_1 .. q_6) = X C^-1 Z(-t) C

and for the first joint, with its frame C in the world, G(q_2 .. q_7) = C Z(-t) C^-1 X. The closed
form of the six joints is the same for every t.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import check_memory
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.array_exchange import checked_namespace
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import link_index
from ros_ik.model.conventions.poses import pose_rows
from ros_ik.model.joint_group import group_of_joints
from ros_ik.numbers import host_array
from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.nearest_search import NearestSearch
from ros_ik.solvers.analytic.redundancy.redundant_kernels import merge_kernel
from ros_ik.solvers.analytic.redundancy.redundant_kernels import sampled_values_kernel
from ros_ik.solvers.analytic.redundancy.redundant_values import checked_values
from ros_ik.solvers.analytic.redundancy.redundant_values import SampledRange
from ros_ik.solvers.analytic.refinement.verify import launch_verification
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.result import checked_settings
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.result import ROUNDING
from ros_ik.solvers.analytic.solution_buffers import SolutionBuffers
from ros_ik.solvers.analytic.stage import poses_at_once
from ros_ik.solvers.analytic.stage import SolutionStage
from ros_ik.solvers.analytic.structure.form import closed_form
from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.analytic.structure.form import free_axes
from ros_ik.solvers.analytic.structure.form import recognised
from ros_ik.solvers.analytic.structure.form import variable_joints
from ros_ik.solvers.analytic.structure.form import without_form
from ros_ik.solvers.analytic.structure.structure import joint_axes
from ros_ik.solvers.analytic.unsolved_poses import SearchedPoses
from ros_ik.solvers.analytic.unsolved_poses import UnsolvedPoses
from ros_ik.solvers.analytic.unsolved_poses import VALUE_OFFSETS
from ros_ik.solvers.analytic.unsolved_seeds import UnsolvedSeeds
from ros_ik.solvers.analytic.values_stage import redundancy_of
from ros_ik.solvers.analytic.values_stage import ValueRows
from ros_ik.solvers.analytic.values_stage import ValuesStage
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.search.problem_input import ProblemInput
from ros_ik.solvers.pose_ik.search.setup import checked_rows
from ros_ik.solvers.pose_ik.search.setup import make_placement
from ros_ik.solvers.pose_ik.solver import ChainIK

if TYPE_CHECKING:
    from ros_ik.model import JointGroup

# Largest distance outside the limits at which solutions are starts of the search for the nearest
# one [rad, reaches], because their curve may enter the limits between two samples.
_LIMIT_MARGIN = 0.3
# Tolerances of the search for a value if the samples have no solution [m, rad].
_SEARCH_TOLERANCE = 1e-8


class RedundantClosedFormIK:
    """Solver for all solutions of poses of a link, for chains of seven joints.

    The redundant joint may be prismatic.

    Attributes:
        model: The model.
        link: Link whose frame reaches the poses.
        chain: The chain to it.
        form: Its closed form, see :class:`ClosedForm`.
        n_problems: Number of poses per solve.
        max_solutions: Largest number of solutions per pose.
        n_bytes: Approximate memory of its arrays.
    """

    @shares_launch_lock
    def __init__(
        self,
        model: Model,
        link: str | int,
        n_problems: int = 1,
        max_solutions: int = 16,
        *,
        redundant_values: int | Sequence[float] | np.ndarray = 64,
        joint_group: JointGroup | str | Sequence[str] | None = None,
        joint_q: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        all_turns: bool = False,
        settings: ClosedFormSettings | None = None,
        form: ClosedForm | None = None,
    ) -> None:
        """Choose the redundant joint, compile and allocate.

        Args:
            model: The model.
            link: Name or index of the link whose frame is to reach the poses.
            n_problems: Number of poses per solve.
            max_solutions: Largest number of solutions per pose, those nearest to the seed.
            redundant_values: Values of the redundant joint, see :func:`all_solutions`.
            joint_group: Joints that may move; None for all joints between world and link.
            joint_q: Configuration at which the other joints are locked, shape [joint_coord_count];
                None for the neutral one.
            offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
            all_turns: True to return all turns of a joint within its limits as separate
                solutions.
            settings: Tolerances and other settings.
            form: Result of :func:`closed_form` for the same chain, if known.

        Raises:
            ArgumentError: A chain with another number of joints, or without a closed form, with
                the reason; an unknown link; a size below one; values that are not numbers.
        """
        self.n_problems = n = checked_count('n_problems', n_problems, 1)
        self.max_solutions = checked_count('max_solutions', max_solutions, 1)
        all_turns = checked_flag('all_turns', all_turns)
        settings = checked_settings(settings)
        self.chain, locked_joint_q = folded_chain(model, link, joint_group, joint_q, offset)
        self._link_index = index = link_index(model, link, least=0)
        self.model, self.link = model, model.body_label[index]
        if form is None:
            form = closed_form(
                model, link, joint_group, joint_q=locked_joint_q, offset=offset,
                tolerances=settings.structure,
            )  # fmt: skip
        self.form = checked_instance('form', ClosedForm, form)
        if not self.form.redundant_joint:
            raise without_form(self.link, self.form.reason or 'six joints leave none redundant')
        tool = checked_pose('offset', offset)
        self._joint_index = self.form.redundant_variable
        given, self._n_sampled = checked_values(redundant_values)
        self._given = given.copy()
        self._range = SampledRange(
            self.chain.lower[self._joint_index], self.chain.upper[self._joint_index],
            is_whole=all_turns or self.chain.slides[self._joint_index],
        )  # fmt: skip
        self._range.check(self._given, self.form.redundant_joint)
        n_entries = max(self.max_solutions, MAX_CANDIDATES) if all_turns else MAX_CANDIDATES
        self._device = wp.get_device(model.device)
        rows = self._value_rows()
        at_once = poses_at_once(rows.longest, self._device)
        self.n_bytes = self._checked_bytes(rows, n_entries, at_once)
        common: dict[str, Any] = {'joint_q': locked_joint_q, 'offset': offset}
        six_joints = self._six_joints(settings, at_once, all_turns=all_turns, **common)
        reach = joint_axes(self.chain).reach
        length = settings.length * reach
        position = settings.position_tolerance_at(reach) + ROUNDING * reach
        self._placement = make_placement(
            model, index, self.chain, locked_joint_q, tool,
            PoseTolerance(position, settings.rotation_tolerance + ROUNDING),
            (1.0, length), settings.separation,
        )  # fmt: skip
        self._tree = kinematic_tree(model, wp.float64)
        self._default_seed = 0.5 * np.sum(self.chain.sampling_range(), axis=0)
        self._poses = HostBuffer((n,), wp.transformd, self._device)
        self._seeds = HostBuffer((n, len(self.chain.slides)), wp.float64, self._device)
        redundancy = redundancy_of(
            self.chain, self._joint_index, locked_joint_q, settings.separation
        )
        self._stage = ValuesStage(
            six_joints, redundancy, self._poses, self._seeds, rows, n_entries
        )
        self._allocate()
        self._nearest: NearestSearch | None = None
        if self._n_sampled > 1:
            # A tenth of the tolerances of the verification.
            finest = min(six_joints.position_tolerance, settings.rotation_tolerance * length)
            self._nearest = NearestSearch(self._stage, self.chain, length, 0.1 * finest)
        self._unsolved = self._unsolved_poses(joint_group=joint_group, **common)
        self._solve_first = Graph(self._launch_first, self._device)
        self._input = ProblemInput(
            self._poses, self._seeds, self.chain, model.joint_coord_count,
            None if self._follows_seeds else self._launch_first,
        )  # fmt: skip
        self._finish = {
            end: Graph(functools.partial(self._launch_finish, end), self._device)
            for end in self._unsolved.ends
        }

    def _checked_bytes(self, rows: ValueRows, n_entries: int, at_once: int) -> int:
        """Return the memory of all arrays, or raise ArgumentError if there is not as much.

        Args:
            rows: Rows of all values.
            n_entries: Largest number of solutions of a row.
            at_once: Number of rows whose candidates are in memory together.
        """
        per_solution = 260 + 8 * self.model.joint_coord_count
        per_problem = rows.total // self.n_problems * (120 * n_entries + 64)
        per_problem += per_solution * self.max_solutions
        n_bytes = self.n_problems * per_problem + 60 * MAX_CANDIDATES * at_once
        check_memory('n_problems', self.n_problems, n_bytes // self.n_problems, self.model.device)
        return n_bytes

    def _value_rows(self) -> ValueRows:
        """Return the rows of all values."""
        given = again = self._n_sampled or len(self._given)
        if self._n_sampled:
            again = len(VALUE_OFFSETS)
        local, nearest = int(self._searches_locally), int(self._n_sampled > 1)
        return ValueRows.of(self.n_problems, given, local, again, nearest)

    def _six_joints(
        self,
        settings: ClosedFormSettings,
        n: int,
        *,
        joint_q: np.ndarray,
        offset: np.ndarray | None,
        all_turns: bool,
    ) -> SolutionStage:
        """Return the kernels of the other six joints for n poses."""
        others = variable_joints(self.model, self.chain)
        del others[self._joint_index]
        group = group_of_joints(self.model, others)
        chain, _ = folded_chain(self.model, self._link_index, group, joint_q, offset)
        form, made = recognised(self.model, chain, '', settings.structure)
        return SolutionStage(
            chain, form, made, settings, n, free=free_axes(''), all_turns=all_turns,
            device=self._device, sparse=True,
            beside=_LIMIT_MARGIN if self._n_sampled > 1 else 0.0,
        )  # fmt: skip

    def _unsolved_poses(self, **chain: Any) -> UnsolvedPoses:
        """Return the second solution of poses, with the arguments of a :class:`ChainIK`."""
        if not self._n_sampled:
            return UnsolvedPoses(self._stage, self._given)
        search = ChainIK(
            self.model, self._link_index, self.n_problems, **chain,
            position_tolerance=_SEARCH_TOLERANCE, rotation_tolerance=_SEARCH_TOLERANCE,
        )  # fmt: skip
        stage, joint, bounds = self._stage, self._joint_index, self._bounds
        if not self._searches_locally:
            return SearchedPoses(stage, search, joint, bounds)
        return UnsolvedSeeds(stage, search, self.chain, joint, bounds, self._launch_finish)

    @property
    def _searches_locally(self) -> bool:
        """True if a search of several starts together precedes the search with restarts."""
        return self._n_sampled == 1 and bool(self._device.is_cpu)

    @property
    def _follows_seeds(self) -> bool:
        """True if the range of the samples depends on the seeds."""
        return bool(self._n_sampled) and self._range.follows_seeds

    def _allocate(self) -> None:
        n, s, device = self.n_problems, self.max_solutions, self._device
        joints, given = len(self.chain.slides), self._stage.rows.given
        self._bounds = HostBuffer((n,), wp.vec2d, device)
        if not self._follows_seeds:
            self._bounds.host[:] = self.redundant_range()
        self._given_values = HostBuffer((given.stop,), wp.float64, device)
        self._distances = wp.zeros((n, s), dtype=wp.float64, device=device)
        self._origin = wp.zeros((n, s), dtype=wp.int32, device=device)
        self._merged = wp.zeros((n, s, joints), dtype=wp.float64, device=device)
        self._n_merged = wp.zeros(n, dtype=wp.int32, device=device)
        self._n_branches = wp.zeros(n, dtype=wp.int32, device=device)
        self._out = SolutionBuffers.allocate(n, s, self.model.joint_coord_count, joints, device)
        self._result = self._out.on_host()

    def set_redundant_values(self, values: np.ndarray) -> None:
        """Replace the values of the redundant joint.

        Args:
            values: As many values [rad or m] as the constructor was given; NaN has no solutions.

        Raises:
            ArgumentError: Another number of values, a solver that samples, or a value outside the
                limits of the joint.
        """
        values = host_array(values, 'values')
        if values.shape != self._given.shape or self._n_sampled:
            raise ArgumentError(
                f'values must have shape {list(self._given.shape)}, got {list(values.shape)}'
            )
        self._range.check(values, self.form.redundant_joint)
        self._given[:] = values

    def solve(self, poses: Any, seeds: Any = None, *, xp: Any = None) -> AllSolutions:
        """Find configurations that bring the tool to each pose.

        Arrays may be of any library.

        Args:
            poses: Targets in the world, shape [n_problems, 7], x y z qx qy qz qw.
            seeds: Configurations by whose distance solutions are sorted, shape [n_problems,
                joint_coord_count]; None for the middle of the limits.
            xp: Module of the arrays of the result, such as torch or warp. None for the module of
                ``poses``, or NumPy for Warp arrays.

        Returns:
            The solutions, with ``free_direction`` for all seven joints; the next solve overwrites
            their arrays.

        Raises:
            ArgumentError: A wrong shape or type.
        """
        xp = checked_namespace(xp, poses)
        if not self._n_sampled:
            # ``solved_at`` leaves others.
            self._given_values.host[:] = np.repeat(self._given, self.n_problems)
        if not self._input.write(poses, seeds):
            if self._follows_seeds:
                self._seeds.download()
                wait_for(self._device)
                self._bounds.host[:] = self._range.near(self._seeds.host[:, self._joint_index])
            self._solve_first.enqueue()
        wait_for(self._device)
        end = self._unsolved.solve()
        if end:
            self._finish[end].launch()
        return self._result if xp is np else self._result.in_arrays_of(xp, self._device)

    def redundant_range(self) -> tuple[float, float]:
        """Return the range of the redundant joint, its limits or a turn about their middle."""
        low, high = self._range.near(self._default_seed[None, self._joint_index])[0]
        return float(low), float(high)

    def solved_at(self, poses: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return True if there are solutions at values of the redundant joint.

        Args:
            poses: Targets in the world, shape [n_problems, 7].
            values: Values for each pose, shape [n_problems, k]; NaN has no solution.

        Raises:
            ArgumentError: Arrays of other shapes.
        """
        values = host_array(values, 'values')
        if values.ndim != 2 or len(values) != self.n_problems:
            raise ArgumentError(
                f'values must have shape [{self.n_problems}, k], got {list(values.shape)}'
            )
        self._poses.write(pose_rows(checked_rows('poses', poses, self.n_problems, 7)))
        self._seeds.write(self._default_seed)
        given = self._stage.rows.given
        at_once = given.stop // self.n_problems
        found = []
        for first in range(0, values.shape[1], at_once):
            some = values[:, first : first + at_once]
            self._given_values.host[:] = np.nan
            self._given_values.host[: some.size] = some.T.ravel()
            self._solve_given.launch()
            solved = self._stage.n_exist.host[given].reshape(-1, self.n_problems) > 0
            found.append(solved[: some.shape[1]].T)
        return np.concatenate(found, axis=1)

    @functools.cached_property
    def _solve_given(self) -> Graph:
        """Launches that solve at values written by the host."""
        return Graph(self._launch_given, self._device)

    def _launch_first(self) -> None:
        """Enqueue the solution at the sampled or given values, and what follows it."""
        if self._n_sampled:
            self._launch_samples()
        else:
            self._launch_given()
        self._unsolved.launch_after_given()

    def _launch_samples(self) -> None:
        """Enqueue the sampling of values and the solution at these values."""
        stage = self._stage
        self._bounds.upload()
        launch(
            sampled_values_kernel(),
            dim=stage.rows.given.stop,
            inputs=[stage.redundancy, self._seeds.array, self._bounds.array],
            outputs=[stage.values[stage.rows.given]],
            device=self._device,
        )
        stage.launch(stage.rows.given)

    def _launch_given(self) -> None:
        """Enqueue the solution at values written by the host."""
        stage = self._stage
        self._given_values.upload()
        wp.copy(stage.values[stage.rows.given], self._given_values.array)
        stage.launch(stage.rows.given)

    def _launch_finish(self, end: int) -> None:
        """Enqueue search for the nearest, sorting and verification of the solutions.

        Args:
            end: End of the rows whose solutions count.
        """
        if self._nearest is not None:
            self._nearest.launch()
        stage, out = self._stage, self._out
        arrays = stage.arrays.rows(slice(0, end))
        launch(
            merge_kernel(),
            dim=self.n_problems,
            inputs=[
                stage.redundancy, self._seeds.array, stage.values[:end], arrays.solutions,
                arrays.distances, arrays.directions, arrays.singular, arrays.n_exist,
                arrays.n_branches, arrays.least_cost,
            ],
            outputs=[
                self._distances, self._origin, self._merged, out.free_direction.array,
                out.singular.array, out.n_exist.array, self._n_merged, self._n_branches,
            ],
            device=self._device,
        )  # fmt: skip
        launch_verification(
            [
                self._tree.arrays, self._placement, self._poses.array, self._seeds.array,
                self._merged, self._n_merged, self._n_branches,
            ],
            [
                out.joint_q.array, out.position_error.array, out.rotation_error.array,
                out.n_found.array, out.status.array,
            ],
            self._device,
        )  # fmt: skip
        out.download()
