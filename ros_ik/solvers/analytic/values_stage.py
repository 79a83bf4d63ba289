# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches that solve chains of seven joints at values of the redundant joint."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.solvers.analytic.redundancy.redundant_joint import redundancy_struct
from ros_ik.solvers.analytic.redundancy.redundant_kernels import six_joint_poses_kernel
from ros_ik.solvers.analytic.stage import SolutionStage
from ros_ik.solvers.analytic.stage import StageArrays


class ValueRows(NamedTuple):
    """Rows of values of n poses: row k n + i of a slice is for value k of pose i.

    Attributes:
        given: Values that are given or sampled.
        local: Values that a search from the seeds finds, if no others are sampled.
        unsolved: Values at which poses without a solution are solved again.
        nearest: Values of the solutions nearest to the seeds, along the curves of solutions.
        beside_nearest: The same values, for the other branches there.
    """

    given: slice
    local: slice
    unsolved: slice
    nearest: slice
    beside_nearest: slice

    @classmethod
    def of(cls, n: int, given: int, local: int, unsolved: int, nearest: int) -> ValueRows:
        """Return the rows of n poses for numbers of values of each."""
        stops = n * np.cumsum([0, given, local, unsolved, nearest, nearest])
        return cls(*(slice(int(a), int(b)) for a, b in zip(stops, stops[1:], strict=False)))

    @property
    def total(self) -> int:
        """Number of all rows."""
        return self.beside_nearest.stop

    @property
    def longest(self) -> int:
        """Largest number of rows of a launch."""
        return max(rows.stop - rows.start for rows in self)


def redundancy_of(
    chain: SerialChain, index: int, locked_joint_q: np.ndarray, separation: float
) -> Any:
    """Return the redundant joint as a struct for kernels.

    Args:
        chain: The chain of seven joints.
        index: Index of the redundant joint in the chain, the first or the last one.
        locked_joint_q: Configuration in which the chain of the other six locks it.
        separation: Least distance of distinct values.
    """
    redundancy = redundancy_struct()()
    # In the world for the first joint, in the tool for the last.
    frame = chain.constants[0]
    if index:
        frame = np.linalg.inv(chain.constants[-1])
    redundancy.index, redundancy.slides = index, int(chain.slides[index])
    redundancy.axis, redundancy.pivot = wp.vec3d(*frame[:3, 2]), wp.vec3d(*frame[:3, 3])
    redundancy.locked_value = float(locked_joint_q[chain.coordinates[index]])
    redundancy.separation = separation
    return redundancy


class ValuesStage:
    """Kernels that compute the solutions of n poses at values of the redundant joint.

    Attributes:
        redundancy: The redundant joint as a struct for kernels.
        poses: Poses of the tool, a buffer [n].
        seeds: Seeds of all seven joints, a buffer [n, 7].
        rows: Rows of the following arrays.
        values: Values of the redundant joint, [rows].
        arrays: Solutions of the other six joints, [rows, ..].
        n_exist: Number of solutions at each value, a buffer [rows].
    """

    def __init__(
        self,
        six_joints: SolutionStage,
        redundancy: Any,
        poses: HostBuffer,
        seeds: HostBuffer,
        rows: ValueRows,
        n_entries: int,
    ) -> None:
        """Allocate.

        Args:
            six_joints: Kernels for the other six joints; they take this many rows at a time.
            redundancy: The redundant joint, see :func:`redundancy_of`.
            poses: Poses of the tool.
            seeds: Seeds.
            rows: Rows of the values.
            n_entries: Number of entries for solutions at each value.
        """
        self._six_joints = six_joints
        self.redundancy, self.rows = redundancy, rows
        self.poses, self.seeds = poses, seeds
        self._device = poses.array.device
        others = seeds.host.shape[1] - 1
        self.n_exist = HostBuffer((rows.total,), wp.int32, self._device)
        self.values = self._zeros(rows.total)
        self._moved = self._zeros(rows.longest, dtype=wp.transformd)
        self._moved_seeds = self._zeros(rows.longest, others)
        self.arrays = StageArrays.allocate(
            rows.total, n_entries, others, self._device, n_exist=self.n_exist.array
        )
        self.arrays.least_cost.fill_(np.inf)

    def _zeros(self, *shape: int, dtype: type = wp.float64) -> Any:
        return wp.zeros(shape, dtype=dtype, device=self._device)

    def launch(self, rows: slice, *, least_error: bool = False) -> None:
        """Enqueue the solution at some values, and the download of the numbers of solutions.

        Args:
            rows: Rows of the values.
            least_error: True to find the configuration of least error if there is no solution.
        """
        moved, seeds = self._launch_poses(rows)
        arrays, n, at_once = self.arrays.rows(rows), moved.shape[0], self._six_joints.n_problems
        for first in range(0, n, at_once):
            some = slice(first, min(first + at_once, n))
            self._six_joints.launch(
                moved[some], seeds[some], arrays.rows(some), least_error=least_error
            )
        self.n_exist.download()

    def launch_turns(self, rows: slice) -> None:
        """Enqueue the addition of all turns to the only solution at some values, if wanted."""
        if self._six_joints.all_turns:
            moved, seeds = self._launch_poses(rows)
            self._six_joints.launch_turns(moved, seeds, self.arrays.rows(rows))

    def _launch_poses(self, rows: slice) -> tuple[Any, Any]:
        """Enqueue the poses of the other six joints at some values; return these and seeds."""
        values = self.values[rows]
        count = values.shape[0]
        moved, seeds = self._moved[:count], self._moved_seeds[:count]
        launch(
            six_joint_poses_kernel(),
            dim=count,
            inputs=[self.redundancy, values, self.poses.array, self.seeds.array],
            outputs=[moved, seeds],
            device=self._device,
        )
        return moved, seeds
