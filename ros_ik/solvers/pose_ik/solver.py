# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of a frame on a chain, by a search with random restarts and verification.

One kernel searches, see :mod:`ros_ik.solvers.pose_ik.kernels.kernel`, and another one verifies.
:meth:`ChainIK.bytes_per_problem` gives the memory of a problem.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.array_exchange import checked_namespace
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.kinematics.serial_chain import serial_chain
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import link_index
from ros_ik.model.model_argument import require_model
from ros_ik.solvers.default_tolerances import POSITION_TOLERANCE
from ros_ik.solvers.default_tolerances import ROTATION_TOLERANCE
from ros_ik.solvers.pose_ik.interface.result import ChainIKResult
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.interface.result import checked_chain_settings
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.search.collisions import make_collision_retries
from ros_ik.solvers.pose_ik.search.pairs import chain_pairs
from ros_ik.solvers.pose_ik.search.problem_input import ProblemInput
from ros_ik.solvers.pose_ik.search.search import ChainProblem
from ros_ik.solvers.pose_ik.search.search import ChainSearch
from ros_ik.solvers.pose_ik.search.search import RowChecker
from ros_ik.solvers.pose_ik.search.search import thread_count

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model


# Largest number of joints. Loops over joints are unrolled, so 32 compile in a minute, and twice as
# many in ten.
MAX_JOINTS = 32


class ChainIK(ChainSearch):
    """Solver for batches of one size, allocated and compiled by the constructor.

    Attributes:
        model: The model.
        link: Link whose frame reaches the poses.
        chain: The chain to this link.
        collision_pairs: Pairs of shapes that the chain moves relative to each other and that are
            checked, int [n_pairs, 2]; empty without ``check_collisions``.
        collision_margins: Distance that the shapes of each pair must keep [m], [n_pairs].
    """

    read_once = ChainSearch.read_once | {
        'model', 'link', 'chain', 'collision_pairs', 'collision_margins',
    }  # fmt: skip

    @shares_launch_lock
    def __init__(
        self,
        model: Model,
        link: str | int,
        n_problems: int = 1,
        *,
        joint_group: JointGroup | str | Sequence[str] | None = None,
        joint_q: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        position_tolerance: float | Sequence[float] | np.ndarray = POSITION_TOLERANCE,
        rotation_tolerance: float | Sequence[float] | np.ndarray = ROTATION_TOLERANCE,
        tolerance_frame: str = 'target',
        n_solutions: int = 1,
        check_collisions: bool = False,
        collision_pairs: Sequence[Sequence[int]] | np.ndarray | None = None,
        collision_margin: float = 0.0,
        settings: ChainIKSettings | None = None,
        n_lanes: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        """Build the chain, compile and allocate.

        Args:
            model: The model.
            link: Name or index of the link whose frame is to reach the poses.
            n_problems: Number of poses per solve.
            joint_group: Joints that may move, a group or an argument of :meth:`Model.joint_group`;
                None for all joints between world and link.
            joint_q: Configuration at which the other joints are locked, shape [joint_coord_count];
                None for the neutral one.
            offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
            position_tolerance: Largest distance of a solution [m], or largest error along each of
                three axes; inf leaves the position or the axis free.
            rotation_tolerance: Largest angle of a solution [rad], or largest error about each
                axis; inf leaves the rotation or the axis free.
            tolerance_frame: 'target' or 'tool', the frame of those axes.
            n_solutions: Number of distinct solutions per pose.
            check_collisions: True to return only collision-free solutions, and to search for
                one if a solution collides; see :func:`inverse_kinematics`.
            collision_pairs: Pairs of shapes to check, int [n_pairs, 2]; None for pairs of the
                model; see :func:`inverse_kinematics`.
            collision_margin: Distance [m] that the shapes of a pair must keep.
            settings: Settings of the search.
            n_lanes: Number of parallel searches per problem, which share its attempts; None for
                one on a CPU, and on a GPU 4 to 32, the more the smaller the batch.
            n_threads: CPU threads that share a batch; None for one per core.

        Raises:
            ArgumentError: An unknown link; a chain without a movable joint, with a free or ball
                joint or with more than 32 joints; a tolerance that is not positive; a size below
                one; or pairs of shapes that cannot be checked.
        """
        n_problems = checked_count('n_problems', n_problems, 1)
        n_solutions = checked_count('n_solutions', n_solutions, 1)
        n_lanes = None if n_lanes is None else checked_count('n_lanes', n_lanes, 1)
        tolerance = PoseTolerance.checked(position_tolerance, rotation_tolerance, tolerance_frame)
        check_collisions = checked_flag('check_collisions', check_collisions)
        settings = checked_chain_settings(settings)
        index = link_index(require_model(model), link, least=0)
        coords = model.joint_coord_count
        locked_joint_q = model.locked_joint_q('joint_q', joint_q)
        tool = checked_pose('offset', offset)
        self.model, self.link = model, model.body_label[index]
        self.chain = serial_chain(
            model, index, group=joint_group, joint_q=locked_joint_q, offset=tool
        )
        if len(self.chain.slides) > MAX_JOINTS:
            raise ArgumentError(
                f'link {self.link!r} is moved by {len(self.chain.slides)} joints, more than the '
                f'{MAX_JOINTS} of one kernel; choose a joint_group, or use IKSolver'
            )
        problem = ChainProblem(model, index, self.chain, locked_joint_q, tool, tolerance)
        threads = thread_count(model, n_threads)
        checker = None
        pairs, margins = np.zeros((0, 2), dtype=int), np.zeros(0)
        if check_collisions:
            pairs, margins = chain_pairs(problem, collision_pairs, collision_margin)
            checker = RowChecker(model, pairs, margins, threads)
        self.collision_pairs, self.collision_margins = read_only(pairs), read_only(margins)
        super().__init__(
            problem, n_problems, n_solutions, settings, n_lanes=n_lanes, n_threads=threads,
            checker=checker,
        )  # fmt: skip
        self._collision_retries = (
            None if checker is None else make_collision_retries(self, checker, threads)
        )
        self._input = ProblemInput(
            self.poses, self.seeds, self.chain, coords, self.whole_launch
        )  # fmt: skip
        several = (n_solutions,) if n_solutions > 1 else ()
        self._result = ChainIKResult(
            joint_q=self.joint_q.host.reshape(n_problems, *several, -1),
            status=self.status.host,
            n_found=self.n_found.host,
            position_error=self.position_error.host.reshape(n_problems, *several),
            rotation_error=self.rotation_error.host.reshape(n_problems, *several),
        )

    def bytes_per_problem(self) -> int:
        """Return the memory for another problem [bytes]."""
        coords = self.model.joint_coord_count
        return super().bytes_per_problem() + ProblemInput.bytes_per_problem(coords)

    def solve(self, poses: Any, seeds: Any = None, *, xp: Any = None) -> ChainIKResult:
        """Find configurations that bring the tool to poses.

        Arrays may be of any library. On a GPU, arrays of Warp, PyTorch, JAX or CuPy are used
        without copies to the host or waiting, unless collisions are checked or NumPy arrays are
        returned.

        Args:
            poses: Targets in the world, shape [n_problems, 7], x y z qx qy qz qw. The status is
                NON_FINITE_INPUT for a row with a number that is not finite or beyond 1e9, or a
                quaternion whose norm is outside [0.99, 1.01].
            seeds: Start configurations, shape [n_problems, joint_coord_count]; None for the middle
                of the limits. The status is NON_FINITE_INPUT for a row with a number that is not
                finite or beyond 1e9.
            xp: Module of the arrays of the result, such as torch or warp. None for the module of
                ``poses``, or NumPy for Warp arrays.

        Returns:
            The results; the next solve overwrites their arrays.

        Raises:
            ArgumentError: A wrong shape or type.
        """
        xp = checked_namespace(xp, poses)
        if not self._input.write(poses, seeds):
            self.run(on_device=True)
        if self._collision_retries is not None:
            self.poses.download()
            self.seeds.download()
        if xp is np or self._collision_retries is not None:
            self.download()
        if self._collision_retries is not None:
            self._collision_retries.replace_colliding(self)
        if xp is np:
            return self._result
        if self._collision_retries is not None:
            self.upload_answers()
        return self._on_device.in_arrays_of(xp)

    @functools.cached_property
    def _on_device(self) -> ChainIKResult:
        """Results on the device, as Warp arrays."""
        shape = self._result.joint_q.shape
        arrays: list[Any] = [
            self.joint_q.array.reshape(shape), self.status.array, self.n_found.array,
            self.position_error.array.reshape(shape[:-1]),
            self.rotation_error.array.reshape(shape[:-1]),
        ]  # fmt: skip
        return ChainIKResult(*arrays)
