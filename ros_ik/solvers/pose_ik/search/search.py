# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Search and verification of a batch of poses, the launches of ChainIK.

One kernel searches, see :mod:`ros_ik.solvers.pose_ik.kernels.kernel`, and another one verifies. If
there are shapes to check, a third finds the configurations that collide. A GPU searches in phases,
see :mod:`ros_ik.solvers.pose_ik.search.lane_plan`, and batches that more than fill it in float32
first, see :mod:`ros_ik.solvers.pose_ik.search.float32_search`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
import dataclasses
import functools
import math
import os
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.kinematics.runtime.arguments import check_memory
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.numbers import as_integer
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.kernels.collect import collect_kernel
from ros_ik.solvers.pose_ik.kernels.kernel import chain_ik_kernel
from ros_ik.solvers.pose_ik.kernels.phase import NEVER
from ros_ik.solvers.pose_ik.search.float32_search import Float32Search
from ros_ik.solvers.pose_ik.search.float32_search import is_worth_float32
from ros_ik.solvers.pose_ik.search.float32_search import refinement_plan
from ros_ik.solvers.pose_ik.search.lane_plan import lane_plan
from ros_ik.solvers.pose_ik.search.phases import bytes_per_lane
from ros_ik.solvers.pose_ik.search.phases import SearchPhases
from ros_ik.solvers.pose_ik.search.setup import cost_weights
from ros_ik.solvers.pose_ik.search.setup import make_chain
from ros_ik.solvers.pose_ik.search.setup import make_placement
from ros_ik.solvers.pose_ik.search.setup import make_search

if TYPE_CHECKING:
    from ros_ik.model import Model

# Least number of problems that a CPU thread takes at a time; in large batches, a quarter of the
# thread's share.
CPU_CHUNK = 256
# Least number of problems for which several threads pay off, without a recorded graph.
_WORTH_SHARING = 16
# Number of configurations that a GPU checks for collisions at a time; bounds the memory.
_GPU_CHECKED = 8_192


@dataclasses.dataclass(frozen=True)
class ChainProblem:
    """Problem of a pose search: model, link, chain, tool and tolerances.

    Attributes:
        model: The model.
        link: Index of the link that carries the tool.
        chain: The chain to the tool.
        locked_joint_q: Configuration at which the other joints are locked, [joint_coord_count].
        offset: Pose of the tool in the link, [7].
        tolerance: Tolerances of a solution.
    """

    model: Model
    link: int
    chain: SerialChain
    locked_joint_q: np.ndarray
    offset: np.ndarray
    tolerance: PoseTolerance = PoseTolerance(0.0, 0.0)


class RowChecker:
    """Collision checker of rows of coordinates, with bounded memory.

    Attributes:
        checker: The checker, in float64.
    """

    def __init__(
        self, model: Model, pairs: np.ndarray, margins: np.ndarray, n_threads: int
    ) -> None:
        """Allocate work space for several threads.

        Args:
            model: The model.
            pairs: Pairs of shapes, [n_pairs, 2].
            margins: Margins of the pairs [m], [n_pairs].
            n_threads: Threads that check at the same time.
        """
        self._size = _GPU_CHECKED if wp.get_device(model.device).is_cuda else CPU_CHUNK
        self.checker = CollisionChecker(
            model, self._size * n_threads, margin=margins, pairs=pairs, scalar=wp.float64
        )

    def launch(self, joint_q: wp.array, collides: wp.array, thread: int) -> None:
        """Write 1 for the rows that collide, else 0; allocates nothing.

        Args:
            joint_q: Coordinates, float64 [n, joint_coord_count].
            collides: Output, int32 [n].
            thread: Index of the work space to use.
        """
        first = thread * self._size
        for row in range(0, joint_q.shape[0], self._size):
            rows = slice(row, min(row + self._size, joint_q.shape[0]))
            self.checker.launch(joint_q[rows], collides[rows], first=first)


class ChainSearch(ReadOnce):
    """Search for batches of up to one size, allocated and compiled by the constructor.

    Attributes:
        problem: The problem.
        settings: Settings of the search.
        n_problems: Largest number of poses of a batch.
        n_solutions: Number of distinct solutions per pose.
        poses: Input poses of the next run, transforms [n_problems].
        seeds: Its seeds, of the chain's variables, [n_problems, m].
        joint_q: Solutions of the last run, [n_problems * n_solutions, joint_coord_count].
        position_error: Their distances to the poses [m], [n_problems, n_solutions].
        rotation_error: Their angles to the poses [rad], [n_problems, n_solutions].
        n_found: Number of solutions found, [n_problems].
        status: SolveStatus codes, [n_problems].
        collides: 1 for solutions that collide, [n_problems * n_solutions]; None without a checker.
        iterations: Iterations of each lane, [n_problems * lanes], 0 for those that never began.
            With several lanes, those after the attempt from the seed count from
            ``max_iterations + 1`` or later.
    """

    read_once = frozenset(('problem', 'settings', 'n_problems', 'n_solutions'))
    poses: HostBuffer
    seeds: HostBuffer
    joint_q: HostBuffer
    position_error: HostBuffer
    rotation_error: HostBuffer
    n_found: HostBuffer
    status: HostBuffer
    collides: HostBuffer | None
    iterations: wp.array
    _start_q: wp.array
    _solved: wp.array
    _solutions: wp.array
    _found_at: wp.array
    _found: wp.array
    _lane_cost: wp.array

    def __init__(
        self,
        problem: ChainProblem,
        n_problems: int,
        n_solutions: int,
        settings: ChainIKSettings,
        *,
        n_lanes: int | None = None,
        n_threads: int = 1,
        checker: RowChecker | None = None,
    ) -> None:
        """Compile and allocate.

        Args:
            problem: The problem.
            n_problems: Largest number of poses of a batch.
            n_solutions: Number of distinct solutions per pose.
            settings: Settings of the search.
            n_lanes: Number of parallel searches per problem, which share its attempts; None for
                one on a CPU, and on a GPU 4 to 32, the more the smaller the batch.
            n_threads: CPU threads that share a batch.
            checker: Collision checker of solutions; None for no check.
        """
        model, chain = problem.model, problem.chain
        self.problem, self.settings = problem, settings
        self.n_problems, self.n_solutions = n_problems, n_solutions
        self._device = wp.get_device(model.device)
        self._threads, self._checker = n_threads, checker
        plan = lane_plan(
            self._device, n_problems, settings.max_iterations, settings.max_attempts, n_lanes
        )
        self._lanes, self._lane_bytes = plan.lanes, bytes_per_lane(plan.ends, chain.n_variables)
        self._is_float32_first = is_worth_float32(
            self._device, n_problems * plan.lanes, n_solutions, problem.tolerance
        )
        check_memory('n_problems', n_problems, self.bytes_per_problem(), self._device)
        self._tree = kinematic_tree(model, wp.float64)
        self._chain = make_chain(chain)
        self._placement = make_placement(
            model, problem.link, chain, problem.locked_joint_q, problem.offset, problem.tolerance,
            cost_weights(chain, settings, problem.tolerance), settings.separation,
        )  # fmt: skip
        self._kernel = chain_ik_kernel(
            wp.float64, chain.slides, chain.variables, chain.is_direct, problem.tolerance.by_axis
        )
        self._float32, shared = None, None
        if self._is_float32_first:
            self._float32 = Float32Search(
                chain, settings, problem.tolerance, plan, n_problems, self._device
            )
            plan, shared = refinement_plan(plan), self._float32.phases
        self._search = make_search(chain, settings, problem.tolerance, plan)
        self._phases = SearchPhases(
            plan, n_problems, chain.n_variables, self._device, shared=shared
        )
        self._allocate()
        self._graph: Graph | None = None
        if n_problems <= CPU_CHUNK or self._threads == 1:
            self._graph = Graph(lambda: self._launch(0, n_problems), self._device)
        else:
            self._launch(0, 1)  # compiles and loads kernels before threads use them

    def bytes_per_problem(self) -> int:
        """Return the memory for another problem [bytes]."""
        shapes = (*self._buffer_shapes().values(), *self._array_shapes().values())
        sizes = [math.prod(shape) * wp.types.type_size_in_bytes(dtype) for shape, dtype in shapes]
        return sum(sizes) + self._lanes * self._lane_bytes

    @functools.cached_property
    def n_bytes(self) -> int:
        """Approximate memory of its arrays [bytes]."""
        return self.n_problems * self.bytes_per_problem()

    def run(self, count: int | None = None, *, on_device: bool = False) -> None:
        """Solve poses from their seeds.

        Args:
            count: Number of poses to solve, from the first; None for all.
            on_device: True if poses, seeds and results stay on the device, without copies or
                waiting.

        Raises:
            ArgumentError: A count that is not an integer, or that the batch does not have.
        """
        count = self._checked_count(count)
        copies = self.poses.needs_copies and not on_device
        if copies:
            self.poses.upload(count)
            self.seeds.upload(count)
        if self._graph is not None and count == self.n_problems:
            self._graph.enqueue()
        elif self._threads > 1 and count >= _WORTH_SHARING:
            share_among_threads(self._launch, count, self._threads)
        else:
            self._launch(0, count)
        if copies:
            self.download(count)

    @property
    def whole_launch(self) -> Callable[[], None] | None:
        """Function that enqueues the search for all poses on the device; None for threads."""
        return None if self._graph is None else functools.partial(self._launch, 0, self.n_problems)

    def download(self, count: int | None = None) -> None:
        """Copy the answers to the host and wait for them; nothing to do on a CPU.

        Args:
            count: Number of poses, from the first; None for all.

        Raises:
            ArgumentError: As :meth:`run`.
        """
        count = self._checked_count(count)
        if self.poses.needs_copies:
            for buffer in self._outputs:
                buffer.download(count * (buffer.array.shape[0] // self.n_problems))
        wait_for(self._device)

    def _checked_count(self, count: int | None) -> int:
        """Return a number of poses, all for None, or raise ArgumentError."""
        number = self.n_problems if count is None else as_integer(count)
        if number is None or not 0 <= number <= self.n_problems:
            raise ArgumentError(
                f'count must be an integer from 0 to {self.n_problems}, got {count!r}'
            )
        return number

    def upload_answers(self) -> None:
        """Copy the results from host to device after changes; does nothing on a CPU."""
        for buffer in self._outputs:
            buffer.upload()

    def _launch(self, first: int, count: int, thread: int = 0) -> None:
        """Search and verify ``count`` problems from ``first`` on."""
        poses, seeds = self.poses.array, self.seeds.array
        found = [self._solutions, self._found_at, self._found, self._lane_cost]
        reached = [self._solved, *found, self.iterations]
        starts = seeds
        if self._float32 is not None:
            starts = self._start_q
            self._float32.launch(count, first, poses, seeds, reached, starts)
        problem = [self._chain, self._search, poses, seeds, starts]
        self._phases.launch(self._kernel, count, first, problem, reached)
        outputs = self.joint_q, self.position_error, self.rotation_error, self.n_found, self.status
        launch(
            collect_kernel(),
            dim=count,
            inputs=[
                self._tree.arrays, self._placement, self._lanes, first, poses, seeds, *found,
            ],
            outputs=[*(buffer.array for buffer in outputs), self._solved],
            device=self._device,
        )  # fmt: skip
        if self._checker is not None and self.collides is not None:
            rows = slice(first * self.n_solutions, (first + count) * self.n_solutions)
            self._checker.launch(self.joint_q.array[rows], self.collides.array[rows], thread)

    def _buffer_shapes(self) -> dict[str, tuple[tuple[int, ...], type]]:
        """Return shape and type of each buffer of the host, for a single problem."""
        s, m = self.n_solutions, self.problem.chain.n_variables
        coords = self.problem.model.joint_coord_count
        return {
            'poses': ((1,), wp.transformd),
            'seeds': ((1, m), wp.float64),
            'joint_q': ((s, coords), wp.float64),
            'position_error': ((1, s), wp.float64),
            'rotation_error': ((1, s), wp.float64),
            'n_found': ((1,), wp.int32),
            'status': ((1,), wp.int32),
            **({} if self._checker is None else {'collides': ((s,), wp.int32)}),
        }

    def _array_shapes(self) -> dict[str, tuple[tuple[int, ...], type]]:
        """Return shape and type of each other array, for a single problem."""
        lanes, s, m = self._lanes, self.n_solutions, self.problem.chain.n_variables
        return {
            '_solved': ((1,), wp.int32),
            '_solutions': ((lanes, s, m), wp.float64),
            '_found_at': ((lanes, s), wp.int32),
            '_found': ((lanes,), wp.int32),
            '_lane_cost': ((lanes,), wp.float64),
            'iterations': ((lanes,), wp.int32),
            **({'_start_q': ((1, m), wp.float64)} if self._is_float32_first else {}),
        }

    def _allocate(self) -> None:
        """Allocate the arrays."""
        n, device = self.n_problems, self._device
        self.collides = None
        for name, ((rows, *columns), dtype) in self._buffer_shapes().items():
            setattr(self, name, HostBuffer((n * rows, *columns), dtype, device))
        for name, ((rows, *columns), dtype) in self._array_shapes().items():
            setattr(self, name, wp.zeros((n * rows, *columns), dtype=dtype, device=device))
        self._solved.fill_(NEVER)
        self._outputs = [
            self.joint_q, self.position_error, self.rotation_error, self.n_found, self.status,
            *([] if self.collides is None else [self.collides]),
        ]  # fmt: skip


def thread_count(model: Model, n_threads: int | None) -> int:
    """Return the number of threads for a batch, one on a GPU, else the CPU threads."""
    if wp.get_device(model.device).is_cuda:
        return 1
    if n_threads is None:
        return os.cpu_count() or 1
    return checked_count('n_threads', n_threads, 1)


def share_among_threads(
    launch_some: Callable[[int, int, int], None], count: int, n_threads: int
) -> None:
    """Share a batch among threads, as a CPU kernel uses one core and releases the GIL.

    Args:
        launch_some: Function that solves some problems: the first, their number, and the index of
            the thread.
        count: Number of problems.
        n_threads: Number of threads.
    """
    # Large enough to amortise a launch, with several parts per thread for an even load.
    least, most = (-(-count // (parts * n_threads)) for parts in (4, 2))
    chunk = max(least, min(CPU_CHUNK, most))
    threads: SimpleQueue[int] = SimpleQueue()
    for k in range(n_threads):
        threads.put(k)

    def solve(first: int) -> None:
        thread = threads.get()
        try:
            launch_some(first, min(chunk, count - first), thread)
        finally:
            threads.put(thread)

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(solve, range(0, count, chunk)))
