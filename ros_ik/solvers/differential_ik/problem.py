# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control step as a quadratic program: tasks -> H, c; limits -> box; barriers -> rows; solve.

The constructor allocates all arrays and captures graphs. A step writes the joint coordinates and
changed parameters, and replays the graphs. On a CPU, a large batch is recorded in parts, which
several threads process.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.limits import Limit
from ros_ik.objectives.recording.snapshot import Snapshots
from ros_ik.solvers.differential_ik.quadratic_program.lead import gains_with_lead
from ros_ik.solvers.differential_ik.settings import DifferentialIKSettings
from ros_ik.solvers.differential_ik.shared_graphs import HelperThreads
from ros_ik.solvers.differential_ik.shared_graphs import shared_parts
from ros_ik.solvers.differential_ik.shared_graphs import SharedGraphs
from ros_ik.solvers.differential_ik.step_arrays import ScratchArrays
from ros_ik.solvers.differential_ik.step_arrays import StepArrays
from ros_ik.solvers.differential_ik.step_parts import StepParts
from ros_ik.solvers.differential_ik.step_recorder import StepRecorder
from ros_ik.solvers.differential_ik.tasks.arguments import REGULARIZATION
from ros_ik.solvers.differential_ik.tasks.task import Task
from ros_ik.solvers.differential_ik.tasks.tasks import every_objective
from ros_ik.solvers.differential_ik.tasks.tasks import has_levels
from ros_ik.solvers.graph import Graph


class StepProblem:
    """Captured quadratic program of one combination of tasks, limits and barriers.

    Attributes:
        delta_q: Step of all degrees of freedom, shape [n, joint_dof_count].
        first_step: Row 0 of ``delta_q``.
        x: Step of the variables of the group, shape [n, n_variables].
        status: :class:`SolveStatus` codes, shape [n].
        rounds: Rounds of the active-set method, shape [n]; -1 if the dual method was used.
        regularization: Present weight of |dq|^2.
        snapshots: Snapshots of objectives, limits and barriers at recording.
    """

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        max_iterations: wp.array,
        tasks: Sequence[Task],
        limits: Sequence[Limit],
        barriers: Sequence[Barrier],
        *,
        rules: DifferentialIKSettings,
        helpers: HelperThreads | None = None,
        n_threads: int = 1,
    ) -> None:
        """Allocate every array and capture the graphs.

        Args:
            state: Arrays that limits and barriers read.
            tree: Kinematic tree of the model.
            joint_q: Buffer of ``state.joint_q``, filled by the caller before each solve.
            max_iterations: Bound of the dual method, int32 [1], read at each solve.
            tasks: The tasks, at least one.
            limits: Hard limits.
            barriers: Barriers.
            rules: Tolerances and other settings of the solution.
            helpers: Threads that share a large batch.
            n_threads: Number of threads that share it, including the calling thread.

        Raises:
            ArgumentError: No task, an objective without an analytic Jacobian, a task, limit or
                barrier that does not fit the model, or a lead without an acceleration limit.
        """
        if not tasks:
            raise ArgumentError('tasks must hold at least one task')
        self._device, self._joint_q = state.device, joint_q
        self._tasks, self._barriers = tuple(tasks), tuple(barriers)
        self._by_level = has_levels(tasks)
        self._revision, self._versions = -1, [-1] * len(tasks)
        self._gains_revision = -1
        parts = StepParts.bind(state, tasks, limits, barriers)
        self._fused, self._rows = parts.fused, parts.rows
        self._arrays = arrays = StepArrays(parts, rules)
        self._stops = arrays.stops
        self.delta_q, self.x = arrays.delta_q.host, arrays.x.host
        self.first_step = self.delta_q[0]
        self.status, self.rounds = arrays.status.host, arrays.rounds.host
        self.load_regularization(REGULARIZATION)
        whole = [[(0, state.n_robots)]]
        batches = shared_parts(state.n_robots, n_threads) if parts.splits else whole
        self._scratch = [
            ScratchArrays(max(size for _, size in batch), parts, arrays)
            for batch in batches
        ]
        # Graphs of a GPU do not keep alive what they use.
        self._recorder = recorder = StepRecorder(parts, arrays, tree, rules, max_iterations)
        self._box_revision = Limit.changes
        record_box = functools.partial(recorder.record_constant_box, self._scratch)
        self._box_graph = Graph(record_box, state.device, parts.limits)
        self.load_parameters()
        own = [*every_objective(tasks), *parts.limits, *parts.barriers]
        graphs = {
            is_near: [
                Graph(
                    functools.partial(recorder.record, scratch, batch, is_near), state.device, own
                )
                for scratch, batch in zip(self._scratch, batches, strict=True)
            ]
            for is_near in ((False, True) if self._stops else (False,))
        }
        self._graphs = {
            is_near: SharedGraphs(some, helpers, n_threads) for is_near, some in graphs.items()
        }
        self._runs_host_code = not all(graph.is_replayed for graph in graphs[False])
        self.snapshots = Snapshots(every_objective(tasks), (*parts.limits, *parts.barriers))

    @property
    def fits_priorities(self) -> bool:
        """True unless tasks of one priority got different ones since recording, or vice versa."""
        return self._revision == Task.changes or has_levels(self._tasks) == self._by_level

    @property
    def is_current(self) -> bool:
        """True if objectives, limits and barriers are unchanged since recording."""
        return self.snapshots.are_current

    def load_regularization(self, regularization: float) -> None:
        """Copy a new weight of |dq|^2 to the device."""
        self.regularization = regularization
        self._arrays.regularization.write(regularization)

    def load_parameters(self) -> None:
        """Copy changed parameters of tasks, limits and barriers to the device."""
        if self._box_revision != Limit.changes:
            self._box_revision = Limit.changes
            self._box_graph.launch()
        if self._gains_revision != Barrier.changes and self._barriers:
            gains = gains_with_lead(self._barriers, self._arrays.lead)
            with LAUNCH_LOCK.shared():
                self._arrays.barriers.gain.assign(gains)
                self._arrays.barriers.evasion.assign([b.evasion.speed for b in self._barriers])
                self._arrays.barriers.shallow.assign([b.evasion.depth for b in self._barriers])
        self._gains_revision = Barrier.changes
        if self._revision == Task.changes:
            return
        self._revision = Task.changes
        versions = [task.version for task in self._tasks]
        if versions != self._versions:
            self._versions = versions
            self._fused.load()
            if self._rows is not None:
                self._rows.load()

    @property
    def is_near(self) -> bool:
        """True if a barrier was near its margin in the last solve."""
        return self._stops and bool(np.count_nonzero(self._arrays.near.host))

    @property
    def recovers(self) -> bool:
        """True if the robot left a violation in the last solve, or shortly before it."""
        return self._stops and bool(np.count_nonzero(self._arrays.recovering.host))

    def solve(self, *, is_near: bool = False, on_device: bool = False) -> None:
        """Solve at the coordinates in the buffer; fills ``x``, ``delta_q`` and ``status``.

        Args:
            is_near: True to include rows at the end of the stop after the last step.
            on_device: True if coordinates and steps stay on the device, in the arrays of
                :meth:`on_device`, without copies to the host.
        """
        arrays = self._arrays
        copies = arrays.delta_q.needs_copies
        if copies and not on_device:
            self._joint_q.upload()
        self._graphs[is_near and self._stops].launch()
        if copies:
            steps = arrays.delta_q, arrays.x, arrays.status, arrays.rounds
            outputs = () if on_device else steps
            needed = (arrays.near, arrays.recovering) if self._stops else ()
            for buffer in (*outputs, *needed):
                buffer.download()
            if outputs or needed:
                wait_for(wp.get_device(self._device))
        if self._runs_host_code:
            self.snapshots.leave_out_own_changes()

    @property
    def recovery(self) -> np.ndarray:
        """Copy of the part of a violation that each robot is still leaving, 1 to 0, shape [n].

        It is negative of a robot that evades an obstacle, and zero without a ``recovery_speed`` or
        an acceleration limit.
        """
        if not self._stops:
            return np.zeros(len(self.status))
        return np.array(self._arrays.recovering.host)

    def continue_from(self, recovery: np.ndarray) -> None:
        """Copy the recovery [n] of the last problem of the same robots, if this one has any."""
        if self._stops:
            self._arrays.recovering.write(recovery)

    @shares_launch_lock
    def forget_steps(self) -> None:
        """Forget which constraints were active, and violations that the robot was leaving."""
        arrays = self._arrays
        for buffer in (arrays.near, arrays.recovering):
            buffer.host.fill(0)
            buffer.upload()
        for array in (arrays.active_bound, arrays.binding):
            array.zero_()

    def on_device(self) -> tuple[wp.array, wp.array, wp.array]:
        """Return the arrays ``delta_q``, ``x`` and ``status`` on the device."""
        arrays = self._arrays
        return arrays.delta_q.array, arrays.x.array, arrays.status.array
