# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closed-form solver for batches of one size, allocated by the constructor."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.arguments import check_memory
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.array_exchange import checked_namespace
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.row_list import BYTES_PER_ROW
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import link_index
from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.candidates.general_axes.kernel import GENERAL_CANDIDATES
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.result import checked_settings
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.solution_buffers import SolutionBuffers
from ros_ik.solvers.analytic.stage import poses_at_once
from ros_ik.solvers.analytic.stage import SolutionStage
from ros_ik.solvers.analytic.stage import StageArrays
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.analytic.structure.form import free_axes
from ros_ik.solvers.analytic.structure.form import recognised
from ros_ik.solvers.analytic.structure.form import without_form
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.search.problem_input import ProblemInput
from ros_ik.solvers.pose_ik.search.setup import has_direct_path
from ros_ik.solvers.pose_ik.search.setup import make_placement

if TYPE_CHECKING:
    from ros_ik.model import JointGroup


class ClosedFormIK:
    """Solver for all solutions of poses of a link, for arms with a closed form.

    Attributes:
        model: The model.
        link: Link whose frame reaches the poses.
        chain: The chain to this link.
        form: Its closed form.
        settings: Tolerances and other settings.
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
        joint_group: JointGroup | str | Sequence[str] | None = None,
        joint_q: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        free_rotation: str = '',
        all_turns: bool = False,
        least_error: bool = True,
        settings: ClosedFormSettings | None = None,
    ) -> None:
        """Recognise the structure, compile and allocate.

        Args:
            model: The model.
            link: Name or index of the link whose frame is to reach the poses.
            n_problems: Number of poses per solve.
            max_solutions: Largest number of solutions per pose, those nearest to the seed.
            joint_group: Joints that may move, a group or an argument of :meth:`Model.joint_group`;
                None for all joints between world and link.
            joint_q: Configuration at which the other joints are locked, shape [joint_coord_count];
                None for the neutral one.
            offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
            free_rotation: Axes of the tool about which it may rotate freely, see
                :func:`closed_form`.
            all_turns: True to return all turns of a joint within its limits as separate
                solutions; otherwise only the turn nearest to the seed. Joints without limits
                always get one turn.
            least_error: True to find a configuration of least error for a pose without a
                solution; otherwise the result is the seed.
            settings: Tolerances and other settings.

        Raises:
            ArgumentError: A chain without a closed form, with the reason; an unknown link; a size
                below one.
        """
        n_problems = checked_count('n_problems', n_problems, 1)
        max_solutions = checked_count('max_solutions', max_solutions, 1)
        all_turns = checked_flag('all_turns', all_turns)
        settings = checked_settings(settings)
        self.chain, locked_joint_q = folded_chain(model, link, joint_group, joint_q, offset)
        index = link_index(model, link, least=0)
        self.model, self.link = model, model.body_label[index]
        free = free_axes(free_rotation)
        self.form, made = recognised(model, self.chain, free_rotation, settings.structure)
        if self.form.family is ClosedFormFamily.NONE:
            raise without_form(self.link, self.form.reason)
        self.settings, self.n_problems, self.max_solutions = settings, n_problems, max_solutions
        room = MAX_CANDIDATES if made[0].chart is not None else GENERAL_CANDIDATES
        room *= len(made)
        bytes_per_problem = 56 * room + 140 * max_solutions + BYTES_PER_ROW
        bytes_per_problem += 8 * model.joint_coord_count * (1 + max_solutions)
        check_memory('n_problems', n_problems, bytes_per_problem, model.device)
        self.n_bytes = n_problems * bytes_per_problem
        self._device = wp.get_device(model.device)
        self._block = poses_at_once(n_problems, self._device)
        self._stage = SolutionStage(
            self.chain, self.form, made, settings, self._block, free=free, all_turns=all_turns,
            device=self._device, is_direct=has_direct_path(model, index, self.chain),
        )  # fmt: skip
        self._placement = make_placement(
            model, index, self.chain, locked_joint_q, checked_pose('offset', offset),
            PoseTolerance(self._stage.position_tolerance, settings.rotation_tolerance),
            (1.0, self._stage.length), settings.separation, free,
        )  # fmt: skip
        self._least_error = checked_flag('least_error', least_error)
        self._tree = kinematic_tree(model, wp.float64)
        self._allocate()
        # A single block leaves out the launches for listed poses if there are none. They take a
        # sixth of the time of a pose even then.
        self._n_listed: Any = self._stage.n_listed if len(self._blocks) == 1 else None
        self._graph = Graph(self._launch, self._device)
        self._rest = None if self._n_listed is None else Graph(self._launch_rest, self._device)
        self._input = ProblemInput(
            self._poses, self._seeds, self.chain, model.joint_coord_count, self._launch
        )  # fmt: skip

    def solve(self, poses: Any, seeds: Any = None, *, xp: Any = None) -> AllSolutions:
        """Find all configurations that bring the tool to each pose.

        Arrays may be of any library. On a GPU, arrays of Warp, PyTorch, JAX or CuPy are used
        without copies to the host or waiting, unless NumPy arrays are returned.

        Args:
            poses: Targets in the world, shape [n_problems, 7], x y z qx qy qz qw. The status is
                NON_FINITE_INPUT for a row with a number that is not finite or beyond 1e9, or a
                quaternion whose norm is outside [0.99, 1.01].
            seeds: Configurations by whose distance solutions are sorted, shape [n_problems,
                joint_coord_count]; None for the middle of the limits. The status is
                NON_FINITE_INPUT for a row with a number that is not finite or beyond 1e9.
            xp: Module of the arrays of the result, such as torch or warp. None for the module of
                ``poses``, or NumPy for Warp arrays.

        Returns:
            The solutions; the next solve overwrites their arrays.

        Raises:
            ArgumentError: A wrong shape or type.
        """
        xp = checked_namespace(xp, poses)
        if not self._input.write(poses, seeds):
            self._graph.enqueue()
        if self._rest is not None and self._n_listed[0]:
            self._rest.enqueue()
        if xp is not np:
            return self._on_device.in_arrays_of(xp)
        if self._out.joint_q.needs_copies:
            self._out.download()
            wait_for(self._device)
        return self._result

    def _launch(self) -> None:
        """Enqueue the kernels, without those of :meth:`_launch_rest` for a single block."""
        for block in self._blocks:
            self._stage.launch_usual(*block, least_error=self._least_error)
            if self._n_listed is None:
                self._stage.launch_rest(*block)

    def _launch_rest(self) -> None:
        """Enqueue the kernels for the listed poses of a single block."""
        self._stage.launch_rest(*self._blocks[0])

    def _block_arrays(self, first: int) -> tuple[Any, Any, StageArrays, list[Any], list[Any]]:
        """Return what the kernels of a block read and write, as arguments of their launches."""
        s, out = self.max_solutions, self._out
        rows = slice(first, min(first + self._block, self.n_problems))
        arrays = dataclasses.replace(
            self._arrays.rows(slice(0, rows.stop - first)),
            directions=out.free_direction.array[rows],
            singular=out.singular.array[rows],
            n_exist=out.n_exist.array[rows],
        )
        outputs = [
            out.joint_q.array[first * s : rows.stop * s], out.position_error.array[rows],
            out.rotation_error.array[rows], out.n_found.array[rows], out.status.array[rows],
        ]  # fmt: skip
        model = [self._tree.arrays, self._placement]
        return self._poses.array[rows], self._seeds.array[rows], arrays, model, outputs

    def _allocate(self) -> None:
        n, s, device = self.n_problems, self.max_solutions, self._device
        joints = self.chain.n_variables
        self._poses = HostBuffer((n,), wp.transformd, device)
        self._seeds = HostBuffer((n, joints), wp.float64, device)
        self._out = SolutionBuffers.allocate(n, s, self.model.joint_coord_count, joints, device)
        self._arrays = StageArrays.allocate(
            self._block, s, joints, device, directions=self._out.free_direction.array,
            singular=self._out.singular.array, n_exist=self._out.n_exist.array,
        )  # fmt: skip
        self._blocks = [self._block_arrays(first) for first in range(0, n, self._block)]
        self._result, self._on_device = self._out.on_host(), self._out.on_device()
