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
from ros_ik.kinematics.runtime.array_exchange import checked_namespace
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.lanes import lanes_on
from ros_ik.kinematics.runtime.launch_lock import shares_launch_lock
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import link_index
from ros_ik.model.conventions.poses import pose_rows
from ros_ik.numbers import host_array
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.numbers import real_value
from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.redundancy.nearest_kernel import CURVES
from ros_ik.solvers.analytic.redundancy.nearest_kernel import nearest_kernel
from ros_ik.solvers.analytic.redundancy.redundant_kernels import merge_kernel
from ros_ik.solvers.analytic.redundancy.redundant_kernels import redundancy_struct
from ros_ik.solvers.analytic.redundancy.redundant_kernels import sampled_values_kernel
from ros_ik.solvers.analytic.redundancy.redundant_kernels import six_joint_poses_kernel
from ros_ik.solvers.analytic.redundancy.redundant_kernels import unsolved_kernel
from ros_ik.solvers.analytic.refinement.verify import SOLUTION_LANES
from ros_ik.solvers.analytic.refinement.verify import verify_kernel
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.result import checked_settings
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.stage import SolutionStage
from ros_ik.solvers.analytic.stage import StageArrays
from ros_ik.solvers.analytic.structure.form import closed_form
from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.analytic.structure.form import free_axes
from ros_ik.solvers.analytic.structure.form import recognised
from ros_ik.solvers.analytic.structure.form import without_form
from ros_ik.solvers.analytic.structure.structure import joint_axes
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.search.problem_input import ProblemInput
from ros_ik.solvers.pose_ik.search.setup import checked_rows
from ros_ik.solvers.pose_ik.search.setup import make_chain
from ros_ik.solvers.pose_ik.search.setup import make_placement
from ros_ik.solvers.pose_ik.solver import ChainIK

if TYPE_CHECKING:
    from ros_ik.model import JointGroup

# Largest distance outside the limits at which solutions are starts of the search for the nearest
# one [rad, reaches], because their curve may enter the limits between two samples.
_LIMIT_MARGIN = 0.3
# Rounding of the verification [m over the reach, rad].
_ROUNDING = 1e-14
# Tolerances of the search for a value if the samples have no solution [m, rad].
_SEARCH_TOLERANCE = 1e-8
# Offsets from the value that was found. Solutions end where two branches meet, and only one side
# has some.
_VALUE_OFFSETS = np.array([0.0, -1e-8, 1e-8, -1e-6, 1e-6, -1e-4, 1e-4])


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
        self.n_problems = checked_count('n_problems', n_problems, 1)
        self.max_solutions = checked_count('max_solutions', max_solutions, 1)
        settings = checked_settings(settings)
        self.chain, locked_joint_q = folded_chain(model, link, joint_group, joint_q, offset)
        index = link_index(model, link, least=0)
        self.model, self.link = model, model.body_label[index]
        self.form = form or closed_form(
            model, link, joint_group, joint_q=locked_joint_q, offset=offset,
            tolerances=settings.structure,
        )
        if not self.form.redundant_joint:
            raise without_form(self.link, self.form.reason or 'six joints leave none redundant')
        tool = checked_pose('offset', offset)
        joints = self.form.joints
        self._place = joints.index(self.form.redundant_joint)
        self._column = int(self.chain.coordinates[self._place])
        self._values, self._n_sampled = checked_values(redundant_values)
        self._check_values()
        self._all_turns = all_turns
        rest = [name for name in joints if name != self.form.redundant_joint]
        six, _ = folded_chain(model, link, rest, locked_joint_q, offset)
        form, made = recognised(model, six, '', settings.structure)
        places = max(self.max_solutions, MAX_CANDIDATES) if all_turns else MAX_CANDIDATES
        self._count_rows()
        bytes_per_problem = self._rows.stop // n_problems * (60 * MAX_CANDIDATES + 120 * places)
        bytes_per_problem += (260 + 8 * model.joint_coord_count) * self.max_solutions
        check_memory('n_problems', n_problems, bytes_per_problem, model.device)
        self.n_bytes = n_problems * bytes_per_problem
        self._device = wp.get_device(model.device)
        most = max(rows.stop - rows.start for rows in (self._given, self._unsolved))
        self._stage = SolutionStage(
            six, form, made, settings, most, free=free_axes(''), all_turns=all_turns,
            device=self._device, sparse=True,
            beside=_LIMIT_MARGIN if self._n_sampled > 1 else 0.0,
        )  # fmt: skip
        reach = joint_axes(self.chain).reach
        position = settings.position_tolerance * min(1.0, reach) + _ROUNDING * reach
        self._placement = make_placement(
            model, index, self.chain, locked_joint_q, tool,
            PoseTolerance(position, settings.rotation_tolerance + _ROUNDING),
            (1.0, settings.length * reach), settings.separation,
        )  # fmt: skip
        self._tree = kinematic_tree(model, wp.float64)
        self._redundancy = self._redundant_joint(locked_joint_q, settings.separation)
        self._chain, self._length = make_chain(self.chain, self._device), settings.length * reach
        # A tenth of the tolerances of the verification.
        self._tolerance = 0.1 * min(
            self._stage.position_tolerance, settings.rotation_tolerance * self._length
        )
        if self._n_sampled:
            self._search = ChainIK(
                model, link, n_problems, joint_group=joint_group, joint_q=locked_joint_q,
                offset=offset,
                position_tolerance=_SEARCH_TOLERANCE, rotation_tolerance=_SEARCH_TOLERANCE,
            )  # fmt: skip
            self._search_seeds = np.zeros((n_problems, model.joint_coord_count))
        self._default_seed = 0.5 * np.sum(self.chain.sampling_range(), axis=0)
        self._allocate(most, places)
        launch_first = self._launch_samples if self._n_sampled else self._launch_given
        self._solve_first = Graph(launch_first, self._device)
        self._input = ProblemInput(
            self._poses, self._seeds, self.chain, model.joint_coord_count,
            None if self._follows_seeds else launch_first,
        )  # fmt: skip
        self._search_unsolved = Graph(self._launch_unsolved, self._device)
        self._solve_unsolved = Graph(
            functools.partial(self._launch_unsolved, least_error=True), self._device
        )
        self._finish = Graph(self._launch_finish, self._device)

    def _check_values(self) -> None:
        """Raise ArgumentError if a given value is outside the limits."""
        lower, upper = self.chain.lower[self._place], self.chain.upper[self._place]
        outside = self._values[(self._values < lower) | (self._values > upper)]
        if outside.size:
            raise ArgumentError(
                f'redundant_values: {outside[0]:g} is outside the limits of '
                f'{self.form.redundant_joint!r}, {lower:g} to {upper:g}'
            )

    def _count_rows(self) -> None:
        """Assign rows to values, to poses without a solution, and to nearest solutions."""
        n, count = self.n_problems, self._n_sampled or len(self._values)
        unsolved = len(_VALUE_OFFSETS) if self._n_sampled else count
        nearest = int(self._n_sampled > 1)
        self._given = slice(0, count * n)
        self._unsolved = slice(self._given.stop, (count + unsolved) * n)
        self._nearest = slice(self._unsolved.stop, (count + unsolved + nearest) * n)
        self._tried = slice(self._nearest.stop, (count + unsolved + 2 * nearest) * n)
        self._rows = slice(0, self._tried.stop)

    def _redundant_joint(self, locked_joint_q: np.ndarray, separation: float) -> Any:
        """Return the redundant joint as a struct for kernels."""
        joint = redundancy_struct()()
        # In the world for the first joint, in the tool for the last.
        frame = self.chain.constants[0]
        if self._place:
            frame = np.linalg.inv(self.chain.constants[-1])
        joint.place, joint.slides = self._place, int(self.chain.slides[self._place])
        joint.axis, joint.pivot = wp.vec3d(*frame[:3, 2]), wp.vec3d(*frame[:3, 3])
        joint.locked_value, joint.separation = float(locked_joint_q[self._column]), separation
        return joint

    def _allocate(self, most: int, places: int) -> None:
        n, s, device = self.n_problems, self.max_solutions, self._device
        joints, rows = len(self.chain.slides), self._rows.stop

        def zeros(*shape: int, dtype: type = wp.float64) -> Any:
            return wp.zeros(shape, dtype=dtype, device=device)

        self._poses = HostBuffer((n,), wp.transformd, device)
        self._seeds = HostBuffer((n, joints), wp.float64, device)
        self._bounds = HostBuffer((n,), wp.vec2d, device)
        # True if the range of the samples depends on the seeds.
        self._follows_seeds = bool(self._n_sampled) and not self._has_one_range()
        if not self._follows_seeds:
            self._bounds.host[:] = self._range(np.full(n, self._default_seed[self._place]))
        self._given_values = HostBuffer((self._given.stop,), wp.float64, device)
        self._unsolved_values = HostBuffer(
            (self._unsolved.stop - self._unsolved.start,), wp.float64, device
        )
        self._given_values.host[:] = np.repeat(self._values, n) if len(self._values) else 0.0
        self._row_exist = HostBuffer((rows,), wp.int32, device)
        self._is_unsolved = HostBuffer((n,), wp.int32, device)
        self._all_values = zeros(rows)
        self._moved, self._moved_seeds = zeros(most, dtype=wp.transformd), zeros(most, joints - 1)
        self._arrays = StageArrays.allocate(
            rows, places, joints - 1, device, n_exist=self._row_exist.array
        )
        self._arrays.least_cost.fill_(np.inf)
        self._had_unsolved = False
        self._distances, self._origin = zeros(n, s), zeros(n, s, dtype=wp.int32)
        self._merged, self._n_branches = zeros(n, s, joints), zeros(n, dtype=wp.int32)
        self._joint_q = HostBuffer((n * s, self.model.joint_coord_count), wp.float64, device)
        self._n_exist, self._n_found, self._status = (
            HostBuffer((n,), wp.int32, device) for _ in range(3)
        )
        self._position_error, self._rotation_error = (
            HostBuffer((n, s), wp.float64, device) for _ in range(2)
        )
        self._singular = HostBuffer((n, s), wp.bool, device)
        self._directions = HostBuffer((n, s, joints), wp.float64, device)
        self._result = AllSolutions(
            joint_q=self._joint_q.host.reshape(n, s, -1),
            n_found=self._n_found.host,
            n_exist=self._n_exist.host,
            status=self._status.host,
            position_error=self._position_error.host,
            rotation_error=self._rotation_error.host,
            singular=self._singular.host,
            free_direction=self._directions.host,
        )

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
        if not self._input.write(poses, seeds):
            if self._follows_seeds:
                self._read_back(self._seeds)
                self._bounds.host[:] = self._range(self._seeds.host[:, self._place])
            self._solve_first.enqueue()
        wait_for(self._device)
        has_unsolved = bool(np.count_nonzero(self._is_unsolved.host))
        if self._had_unsolved or has_unsolved:
            self._solve_at_other_values(self._is_unsolved.host > 0)
            self._had_unsolved = has_unsolved
        self._finish.launch()
        return self._result if xp is np else self._result.in_arrays_of(xp, self._device)

    def _solve_at_other_values(self, unsolved: np.ndarray) -> None:
        """Solve poses without a solution [n] at other values, or with the least error."""
        self._read_back(self._poses, self._seeds)
        n, values = self.n_problems, self._unsolved_values.host
        if self._n_sampled:
            found = self._searched_values(unsolved)
            # Most are solved at the value that was found; only others need those beside it.
            values[:n] = np.where(unsolved, self._in_range(found), np.nan)
            values[n:] = np.nan
            self._search_unsolved.launch()
            unsolved &= self._row_exist.host[self._unsolved][:n] == 0
            if unsolved.any():
                beside = self._in_range(found + _VALUE_OFFSETS[1:, None])
                values[n:] = np.where(unsolved, beside, np.nan).ravel()
                self._search_unsolved.launch()
                exist = self._row_exist.host[self._unsolved].reshape(-1, n)
                unsolved &= ~exist.any(axis=0)
        else:
            values[:] = np.where(unsolved, self._values[:, None], np.nan).ravel()
        # The configuration of least error is dear: only where some pose needs it.
        if not self._n_sampled or unsolved.any():
            self._solve_unsolved.launch()

    def _read_back(self, *buffers: HostBuffer) -> None:
        """Copy what a kernel has written to the host."""
        for buffer in buffers:
            buffer.download()
        wait_for(self._device)

    def redundant_range(self) -> tuple[float, float]:
        """Return the range of the redundant joint, its limits or a turn about their middle."""
        low, high = self._range(self._default_seed[None, self._place])[0]
        return float(low), float(high)

    def solved_at(self, poses: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return True if there are solutions at values of the redundant joint.

        Args:
            poses: Targets in the world, shape [n_problems, 7].
            values: Values for each pose, shape [n_problems, k]; NaN has no solution.
        """
        values = host_array(values)
        self._poses.host[:] = pose_rows(checked_rows('poses', poses, self.n_problems, 7))
        self._seeds.host[:] = self._default_seed
        self._poses.upload()
        self._seeds.upload()
        at_once = len(self._given_values.host) // self.n_problems
        found = []
        for first in range(0, values.shape[1], at_once):
            some = values[:, first : first + at_once]
            self._given_values.host[:] = np.nan
            self._given_values.host[: some.size] = some.T.ravel()
            self._solve_given.launch()
            solved = self._row_exist.host[self._given].reshape(-1, self.n_problems) > 0
            found.append(solved[: some.shape[1]].T)
        return np.concatenate(found, axis=1)

    def _has_one_range(self) -> bool:
        """Return True if the redundant joint is sampled in the whole range of its limits."""
        width = self.chain.upper[self._place] - self.chain.lower[self._place]
        whole = self._all_turns or self.chain.slides[self._place]
        return bool(np.isfinite(width) and (whole or width <= 2.0 * np.pi))

    def _range(self, seeds: np.ndarray) -> np.ndarray:
        """Return the sampling range of the redundant joint for its seeds [n], shape [n, 2].

        This is the range of its limits, or a turn within them as near to the seed as possible. A
        prismatic joint without limits is sampled pi metres to either side.
        """
        lower, upper = self.chain.lower[self._place], self.chain.upper[self._place]
        if self._has_one_range():
            return np.tile([lower, upper], (len(seeds), 1))
        seeds = np.clip(seeds, lower, upper)
        low = np.maximum(lower, np.minimum(seeds - np.pi, upper - 2.0 * np.pi))
        return np.stack([low, low + 2.0 * np.pi], axis=1)

    def _searched_values(self, unsolved: np.ndarray) -> np.ndarray:
        """Return values of the redundant joint [n] that the search finds for marked poses [n]."""
        poses = self._poses.host
        if not unsolved.all():
            poses = np.where(unsolved[:, None], poses, np.nan)
        seeds = self._search_seeds
        seeds[:, self.chain.coordinates] = self._seeds.host
        return self._search.solve(poses, seeds).joint_q[:, self._column]

    def _in_range(self, values: np.ndarray) -> np.ndarray:
        """Return values [.., n] of the redundant joint, clipped to its range for each pose."""
        low, high = self._bounds.host.T
        return np.minimum(np.maximum(values, low), high)

    @functools.cached_property
    def _solve_given(self) -> Graph:
        """Launches that solve at values written by the host."""
        return Graph(self._launch_given, self._device)

    def _launch_samples(self) -> None:
        """Enqueue the sampling of values and the solution at these values."""
        self._bounds.upload()
        launch(
            sampled_values_kernel(),
            dim=self._given.stop,
            inputs=[self._redundancy, self._seeds.array, self._bounds.array],
            outputs=[self._all_values[self._given]],
            device=self._device,
        )
        self._launch_first_rows()

    def _launch_given(self) -> None:
        """Enqueue the solution at values written by the host."""
        self._given_values.upload()
        wp.copy(self._all_values[self._given], self._given_values.array)
        self._launch_first_rows()

    def _launch_first_rows(self) -> None:
        """Enqueue the solution at the given or sampled values, and mark poses without any."""
        self._launch_rows(self._given)
        launch(
            unsolved_kernel(),
            dim=self.n_problems,
            inputs=[self._row_exist.array[self._given]],
            outputs=[self._is_unsolved.array],
            device=self._device,
        )
        self._is_unsolved.download()

    def _launch_unsolved(self, *, least_error: bool = False) -> None:
        """Enqueue the configurations of poses without a solution, at values from the host."""
        self._unsolved_values.upload()
        wp.copy(self._all_values[self._unsolved], self._unsolved_values.array)
        self._launch_rows(self._unsolved, least_error=least_error)

    def _launch_rows(self, rows: slice, *, least_error: bool = False) -> None:
        self._launch_at(self._all_values[rows], self._arrays.rows(rows), least_error=least_error)
        self._row_exist.download()

    def _launch_at(self, values: Any, out: StageArrays, *, least_error: bool = False) -> None:
        """Enqueue the solution at values [rows]."""
        rows = values.shape[0]
        moved, seeds = self._moved[:rows], self._moved_seeds[:rows]
        launch(
            six_joint_poses_kernel(),
            dim=rows,
            inputs=[self._redundancy, values, self._poses.array, self._seeds.array],
            outputs=[moved, seeds],
            device=self._device,
        )
        self._stage.launch(moved, seeds, out, least_error=least_error)

    def _launch_nearest(self) -> None:
        """Enqueue the search for the nearest solution between the values."""
        self._launch_search(slice(0, self._unsolved.stop), known=False)
        # Other branches at this value may be nearer.
        wp.copy(self._all_values[self._tried], self._all_values[self._nearest])
        self._launch_rows(self._tried)
        self._launch_search(self._tried, known=True)

    def _launch_search(self, rows: slice, *, known: bool) -> None:
        """Enqueue the search for the nearest solution, from the solutions in some rows."""
        start, nearest = self._arrays.rows(rows), self._arrays.rows(self._nearest)
        launch(
            nearest_kernel(
                len(self.chain.slides), any(self.chain.slides), lanes_on(self._device, CURVES)
            ),
            dim=self.n_problems,
            inputs=[
                self._chain, self._redundancy, self._length, self._tolerance, int(known),
                self._poses.array, self._seeds.array, self._all_values[rows], start.solutions,
                start.distances, start.n_exist, start.n_beside,
            ],
            outputs=[
                self._all_values[self._nearest], nearest.solutions, nearest.distances,
                nearest.n_exist,
            ],
            device=self._device,
        )  # fmt: skip

    def _launch_finish(self) -> None:
        """Enqueue search for the nearest, sorting and verification of the solutions."""
        if self._n_sampled > 1:
            self._launch_nearest()
        arrays = self._arrays
        launch(
            merge_kernel(),
            dim=self.n_problems,
            inputs=[
                self._redundancy, self._seeds.array, self._all_values, arrays.solutions,
                arrays.distances, arrays.directions, arrays.singular, arrays.n_exist,
                arrays.n_branches, arrays.least_cost,
            ],
            outputs=[
                self._distances, self._origin, self._merged, self._directions.array,
                self._singular.array, self._n_exist.array, self._n_found.array, self._n_branches,
            ],
            device=self._device,
        )  # fmt: skip
        launch(
            verify_kernel(lanes_on(self._device, SOLUTION_LANES)),
            dim=self.n_problems,
            inputs=[
                self._tree.arrays, self._placement, self._poses.array,
                self._seeds.array, self._merged, self._n_found.array, self._n_branches,
            ],
            outputs=[
                self._joint_q.array, self._position_error.array, self._rotation_error.array,
                self._status.array,
            ],
            device=self._device,
        )  # fmt: skip
        for buffer in (
            self._joint_q, self._n_exist, self._n_found, self._status, self._position_error,
            self._rotation_error, self._singular, self._directions,
        ):  # fmt: skip
            buffer.download()


def checked_values(values: int | Sequence[float] | np.ndarray) -> tuple[np.ndarray, int]:
    """Return given values and 0, or no values and the number of samples.

    Raises:
        ArgumentError: Neither a number of samples nor finite positions.
    """
    if isinstance(values, int | np.integer):
        return np.zeros(0), checked_count('redundant_values', int(values), 1)
    given = np.atleast_1d(real_value('redundant_values', values))
    if given.ndim != 1 or not given.size or not np.all(np.abs(given) <= MAX_MAGNITUDE):
        raise ArgumentError(
            f'redundant_values must be a count or finite positions [k], got {values!r}'
        )
    return given, 0
