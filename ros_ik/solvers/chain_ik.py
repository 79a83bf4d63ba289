# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of one frame on a chain: random restarts inside the limits, verified answers.

One kernel searches and one verifies; see ``chain_ik_kernel`` for how. What a problem needs of
memory is bounded: :meth:`ChainIK.bytes_per_problem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
import dataclasses
import os
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.serial_chain import joints_to
from ros_ik.kinematics.serial_chain import serial_chain
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.solvers.chain_ik_collect import collect_kernel
from ros_ik.solvers.chain_ik_collect import placement_struct
from ros_ik.solvers.chain_ik_functions import chain_struct
from ros_ik.solvers.chain_ik_kernel import chain_ik_kernel
from ros_ik.solvers.chain_ik_kernel import search_struct
from ros_ik.solvers.graph import Graph

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Below this many threads a GPU is not full: then several lanes work on each problem.
_FULL_GPU = 65_536
_MAX_LANES = 32
# Problems that one thread of the CPU takes at a time; small enough to share the work evenly.
_CPU_CHUNK = 256
_IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@dataclasses.dataclass(frozen=True)
class ChainIKSettings:
    """How a chain is searched. The defaults were tuned on Panda, UR10, xArm7 and Tiago.

    Attributes:
        max_attempts: Starts of one problem, the first from its seed.
        max_iterations: Iterations of one attempt.
        window: Iterations between two looks at the progress of an attempt.
        patient_window: The same for the last tenth of the attempts: poses near a singularity
            converge slowly from everywhere.
        progress: Factor by which the cost must shrink in a window for the attempt to go on.
        damping: Levenberg-Marquardt damping over the cost, dimensionless.
        relative_length: What an error of one radian counts for, over the reach of the chain.
        separation: Distance between solutions that count as two, in the joint that differs most
            [rad or m].
        seed: Seed of the random restarts; the same one gives the same answers.
    """

    max_attempts: int = 200
    max_iterations: int = 60
    window: int = 4
    patient_window: int = 12
    progress: float = 0.5
    damping: float = 0.1
    relative_length: float = 0.2
    separation: float = 0.1
    seed: int = 12345


@dataclasses.dataclass(frozen=True)
class ChainIKResult:
    """Answers to n problems; arrays of a :class:`ChainIK` are overwritten by its next solve.

    Attributes:
        joint_q: Configurations of the whole model, shape [n, joint_coord_count], or [n,
            n_solutions, joint_coord_count] where more than one was asked for: the nearest to the
            seed first, places without a solution of their own repeat the first.
        status: :class:`SolveStatus` codes, shape [n]: CONVERGED; UNREACHABLE and AT_LIMITS, with
            the best configuration found; NON_FINITE_INPUT, with the configuration that joints
            outside the chain have; NUMERICAL_FAILURE where the verification disagrees.
        n_found: Solutions found, shape [n].
        position_error: Distance to the pose [m] by an independent forward kinematics, shape [n]
            or [n, n_solutions].
        rotation_error: Angle to the pose [rad], same shape.
    """

    joint_q: np.ndarray
    status: np.ndarray
    n_found: np.ndarray
    position_error: np.ndarray
    rotation_error: np.ndarray

    def copy(self) -> ChainIKResult:
        """Return a result whose arrays the solver does not overwrite."""
        return ChainIKResult(*(array.copy() for array in self._arrays()))

    @classmethod
    def concatenate(cls, parts: Sequence[ChainIKResult]) -> ChainIKResult:
        """Return the results of several batches as one."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part._arrays() for part in parts), strict=True)
        return cls(*(np.concatenate(arrays) for arrays in columns))

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))


class ChainIK:
    """Solver for batches of one size; everything is allocated and compiled at construction."""

    def __init__(
        self,
        model: Model,
        link: str,
        n_problems: int = 1,
        *,
        joint_group: JointGroup | None = None,
        joint_q: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        position_tolerance: float = 1e-3,
        rotation_tolerance: float = 1e-2,
        n_solutions: int = 1,
        settings: ChainIKSettings | None = None,
        n_lanes: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        """Fold the chain, compile and allocate.

        Args:
            model: The model.
            link: Link whose frame is to reach the poses.
            n_problems: Poses per solve.
            joint_group: Joints that may move; None for every joint between world and link.
            joint_q: Configuration that holds the other joints, shape [joint_coord_count]; None
                for the neutral one.
            offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
            position_tolerance: Largest distance of a solution [m]; inf leaves the position free.
            rotation_tolerance: Largest angle of a solution [rad]; inf leaves the rotation free.
            n_solutions: Distinct solutions wanted per pose.
            settings: How to search.
            n_lanes: Searches side by side per problem; None: one on a CPU and on a full GPU.
            n_threads: CPU threads that share a batch; None for one per core.

        Raises:
            ArgumentError: An unknown link, a chain without a moving joint or with a free or ball
                joint, a tolerance that is not positive, or a size below one.
        """
        self.settings = settings or ChainIKSettings()
        _check_sizes(n_problems=n_problems, n_solutions=n_solutions, n_lanes=n_lanes)
        _check_tolerances(position_tolerance, rotation_tolerance)
        self.model, self.link = model, link
        self.n_problems, self.n_solutions = n_problems, n_solutions
        self._device = wp.get_device(model.device)
        self._lanes = n_lanes or self._default_lanes()
        self._threads = 1 if self._device.is_cuda else n_threads or os.cpu_count() or 1
        self.chain = serial_chain(model, link, group=joint_group, joint_q=joint_q, offset=offset)
        self._tolerances = position_tolerance, rotation_tolerance
        held = model.neutral_joint_q() if joint_q is None else np.asarray(joint_q)
        self._tree = kinematic_tree(model, wp.float64)
        self._chain_arrays = self._make_chain_arrays()
        self._search = self._make_search()
        self._placement = self._make_placement(held, _IDENTITY if offset is None else offset)
        self._kernel = chain_ik_kernel(wp.float64, self.chain.slides, self.chain.variables)
        self._allocate()
        self._default_seed = 0.5 * np.sum(self.chain.sampling_range(), axis=0)
        self._graph: Graph | None = None
        if n_problems <= _CPU_CHUNK or self._threads == 1:
            self._graph = Graph(lambda: self._launch(0, n_problems), self._device)
        else:
            self._launch(0, 1)  # compiles and loads, before threads share the work

    def bytes_per_problem(self) -> int:
        """Return the memory that one more problem takes [bytes]."""
        arrays = (
            self._poses.array, self._seeds.array, self._solved, self._solutions, self._found,
            self._lane_cost, self.iterations, *(b.array for b in self._outputs),
        )  # fmt: skip
        return sum(array.capacity for array in arrays) // self.n_problems

    def solve(self, poses: np.ndarray, seeds: np.ndarray | None = None) -> ChainIKResult:
        """Find configurations that bring the tool to poses.

        Args:
            poses: Targets in the world, shape [n_problems, 7], x y z qx qy qz qw; quaternions
                need not be unit. NaN or a zero quaternion in a row gives it NON_FINITE_INPUT.
            seeds: Configurations to start from and to be near to, shape [n_problems,
                joint_coord_count]; None for the middle of the limits.

        Returns:
            The answers; the arrays are views that the next solve overwrites.

        Raises:
            ArgumentError: A wrong shape or type.
        """
        self._poses.host[:] = _rows('poses', poses, self.n_problems, 7)
        if seeds is None:
            self._seeds.host[:] = self._default_seed
        else:
            rows = _rows('seeds', seeds, self.n_problems, self.model.joint_coord_count)
            self._seeds.host[:] = rows[:, self.chain.coordinates]
        if self._graph is not None:
            self._graph.launch()
        else:
            self._solve_in_threads()
        return self._result

    def _solve_in_threads(self) -> None:
        """Share the batch among threads; a kernel on the CPU uses one core and frees the GIL."""
        chunks = range(0, self.n_problems, _CPU_CHUNK)
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(lambda k: self._launch(k, min(_CPU_CHUNK, self.n_problems - k)), chunks))

    def _launch(self, first: int, count: int) -> None:
        """Search and verify ``count`` problems from ``first`` on."""
        self._poses.upload()
        self._seeds.upload()
        poses, seeds = self._poses.array, self._seeds.array
        found = [self._solutions, self._found, self._lane_cost]
        wp.launch(
            self._kernel,
            dim=count * self._lanes,
            inputs=[self._chain_arrays, self._search, first, poses, seeds],
            outputs=[self._solved, *found, self.iterations],
            device=self._device,
        )
        wp.launch(
            collect_kernel(),
            dim=count,
            inputs=[
                self._tree.arrays, self._placement, self._lanes, first, poses, seeds, *found,
            ],
            outputs=[*(buffer.array for buffer in self._outputs), self._solved],
            device=self._device,
        )  # fmt: skip
        for buffer in self._outputs:
            buffer.download()

    def _allocate(self) -> None:
        n, s, m = self.n_problems, self.n_solutions, self.chain.n_variables
        rows, device = n * self._lanes, self._device
        self._poses = HostBuffer((n,), wp.transformd, device)
        self._seeds = HostBuffer((n, m), wp.float64, device)
        self._solved = wp.zeros(n, dtype=wp.int32, device=device)
        self._solutions = wp.zeros((rows, s, m), dtype=wp.float64, device=device)
        self._found = wp.zeros(rows, dtype=wp.int32, device=device)
        self._lane_cost = wp.zeros(rows, dtype=wp.float64, device=device)
        self.iterations = wp.zeros(rows, dtype=wp.int32, device=device)
        joint_q = HostBuffer((n * s, self.model.joint_coord_count), wp.float64, device)
        position_error = HostBuffer((n, s), wp.float64, device)
        rotation_error = HostBuffer((n, s), wp.float64, device)
        n_found = HostBuffer((n,), wp.int32, device)
        status = HostBuffer((n,), wp.int32, device)
        self._outputs = (joint_q, position_error, rotation_error, n_found, status)
        several = (s,) if s > 1 else ()
        self._result = ChainIKResult(
            joint_q=joint_q.host.reshape(n, *several, -1),
            status=status.host,
            n_found=n_found.host,
            position_error=position_error.host.reshape(n, *several),
            rotation_error=rotation_error.host.reshape(n, *several),
        )

    def _default_lanes(self) -> int:
        if not self._device.is_cuda:
            return 1
        return max(1, min(_MAX_LANES, _FULL_GPU // self.n_problems))

    def _make_chain_arrays(self) -> object:
        chain, device = self.chain, self._device
        types = chain_struct(wp.float64)
        arrays = types.Chain()
        rotation, position = chain.constants[:, :3, :3], chain.constants[:, :3, 3]
        arrays.rotation = wp.array(rotation, dtype=types.mat33, device=device)
        arrays.position = wp.array(position, dtype=types.vec3, device=device)
        low, high = chain.sampling_range()
        for name, values in (
            ('coef0', chain.coef0), ('coef1', chain.coef1), ('lower', chain.lower),
            ('upper', chain.upper), ('sample_lower', low), ('sample_upper', high),
        ):  # fmt: skip
            setattr(arrays, name, wp.array(values, dtype=wp.float64, device=device))
        return arrays

    def _make_search(self) -> object:
        settings, (position, rotation) = self.settings, self._tolerances
        reach = float(np.sum(np.linalg.norm(self.chain.constants[:, :3, 3], axis=1)))
        # A chain of turning joints in one point has no reach; any length does there.
        reach = reach if reach > 1e-3 else 1.0
        search = search_struct(wp.float64)()
        search.position_tolerance, search.rotation_tolerance = position, rotation
        search.position_weight = 1.0 if np.isfinite(position) else 0.0
        search.length = settings.relative_length * reach if np.isfinite(rotation) else 0.0
        search.damping = settings.damping
        search.least_damping = 1e-7 * reach * reach
        for name in (
            'separation', 'max_iterations', 'max_attempts', 'window', 'patient_window', 'progress',
            'seed',
        ):  # fmt: skip
            setattr(search, name, getattr(settings, name))
        search.lanes = self._lanes
        return search

    def _make_placement(self, held: np.ndarray, offset: np.ndarray) -> object:
        model, device, chain = self.model, self._device, self.chain
        mimics = model.mimic_driver
        start = model.joint_q_start.numpy()
        drivers = [driver for driver, _, _ in mimics.values()]
        placement = placement_struct()()
        for name, indices in (
            ('path', joints_to(model, model.body_index(self.link))),
            ('coordinate', chain.coordinates),
            ('follower', start[list(mimics)]),
            ('driver', start[drivers]),
        ):
            values = np.asarray(indices, dtype=np.int32)
            setattr(placement, name, wp.array(values, dtype=wp.int32, device=device))
        for name, numbers in (
            ('coef0', [coef0 for _, coef0, _ in mimics.values()]),
            ('coef1', [coef1 for _, _, coef1 in mimics.values()]),
            ('base', held),
            ('lower', chain.lower),
            ('upper', chain.upper),
        ):
            values = np.asarray(numbers, dtype=np.float64)
            setattr(placement, name, wp.array(values, dtype=wp.float64, device=device))
        placement.offset = wp.transformd(*np.asarray(offset, dtype=np.float64))
        placement.separation = self.settings.separation
        placement.position_tolerance, placement.rotation_tolerance = self._tolerances
        return placement


def _check_sizes(**sizes: int | None) -> None:
    for name, size in sizes.items():
        if size is not None and size < 1:
            raise ArgumentError(f'{name} must be at least 1, got {size}')


def _check_tolerances(position: float, rotation: float) -> None:
    for name, value in (('position_tolerance', position), ('rotation_tolerance', rotation)):
        if not value > 0.0:
            raise ArgumentError(f'{name} must be positive, got {value}')
    if np.isinf(position) and np.isinf(rotation):
        raise ArgumentError('position_tolerance and rotation_tolerance cannot both be inf')


def _rows(name: str, values: np.ndarray, n: int, width: int) -> np.ndarray:
    """Return ``values`` as float64 [n, width], or raise ArgumentError naming it."""
    try:
        rows = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} must be numbers: {error}') from None
    if rows.shape != (n, width):
        raise ArgumentError(f'{name} must have shape [{n}, {width}], got {list(rows.shape)}')
    return rows
