# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses and seeds of a batch, copied and checked for the kernels of a chain.

Device arrays of Warp and other libraries are read in place; NumPy arrays and sequences are copied
to the device. Kernels check the numbers, which for a single pose takes a tenth of the time of
NumPy.
"""

from collections.abc import Callable
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.kinematics.runtime.batch_arrays import as_numbers
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.batch_arrays import cast_into
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.lanes import lanes_on
from ros_ik.kinematics.runtime.lanes import threads_of
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.model.conventions.poses import MAX_NORM
from ros_ik.model.conventions.poses import MIN_NORM
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.pose_ik.search.setup import checked_rows

_ARRAY, _FLOAT64 = np.ndarray, np.dtype(np.float64)


@no_type_check
@functools.cache
def read_functions(scalar: type) -> SimpleNamespace:
    """Build the functions that read numbers of a type, by name.

    ``read_pose(row, given) -> pose`` normalises the quaternion; an invalid pose becomes NaN.
    ``read_variable(row, k, coordinate, given) -> number`` of a seed. One beyond 1e9 becomes NaN,
    and the first variable also where any other coordinate of the row is beyond that.
    """

    @wp.func
    def read_pose(row: int, given: wp.array2d(dtype=scalar)) -> wp.transformd:
        read = wp.transformd()
        is_valid = bool(True)
        for k in range(7):
            value = wp.float64(given[row, k])
            read[k] = value
            # NaN fails the comparison.
            is_valid = is_valid and wp.abs(value) <= wp.static(wp.float64(MAX_MAGNITUDE))
        rotation = wp.transform_get_rotation(read)
        norm = wp.length(rotation)
        is_valid = is_valid and norm >= wp.static(wp.float64(MIN_NORM))
        is_valid = is_valid and norm <= wp.static(wp.float64(MAX_NORM))
        if is_valid:
            read = wp.transformd(wp.transform_get_translation(read), rotation / norm)
        else:
            for k in range(7):
                read[k] = wp.float64(wp.nan)
        return read

    @wp.func
    def is_valid_number(value: wp.float64) -> bool:
        return wp.abs(value) <= wp.static(wp.float64(MAX_MAGNITUDE))

    @wp.func
    def read_variable(
        row: int, k: int, coordinate: wp.array(dtype=wp.int32), given: wp.array2d(dtype=scalar)
    ) -> wp.float64:
        value = wp.float64(given[row, coordinate[k]])
        is_valid = is_valid_number(value)
        if k == 0:
            # Results contain the other coordinates, too.
            for column in range(given.shape[1]):
                is_valid = is_valid and is_valid_number(wp.float64(given[row, column]))
        return wp.where(is_valid, value, wp.float64(wp.nan))

    return SimpleNamespace(read_pose=read_pose, read_variable=read_variable)


@no_type_check
@functools.cache
def read_poses_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel that reads poses."""
    read_pose = read_functions(scalar).read_pose

    @compiled_kernel()
    def read_poses(
        given: wp.array2d(dtype=scalar),  # [n, 7]
        pose: wp.array(dtype=wp.transformd),  # [n]
    ):
        row = wp.tid()
        pose[row] = read_pose(row, given)

    return read_poses


@no_type_check
@functools.cache
def read_seeds_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel that reads seeds of a chain's variables."""
    read_variable = read_functions(scalar).read_variable

    @compiled_kernel()
    def read_seeds(
        given: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        coordinate: wp.array(dtype=wp.int32),  # [m]
        seed: wp.array2d(dtype=wp.float64),  # [n, m]
    ):
        row, k = wp.tid()
        seed[row, k] = read_variable(row, k, coordinate, given)

    return read_seeds


@no_type_check
@functools.cache
def read_problems_kernel(lanes: int) -> wp.Kernel:
    """Build the kernel that reads both, which for a single pose saves the time of a launch.

    With lanes, one thread reads all problems, which takes 40 % less time on a CPU; see
    :mod:`ros_ik.kinematics.runtime.lanes`.
    """
    functions = read_functions(wp.float64)
    read_pose, read_variable = functions.read_pose, functions.read_variable

    @compiled_kernel()
    def read_problems(
        poses: wp.array2d(dtype=wp.float64),  # [n, 7]
        seeds: wp.array2d(dtype=wp.float64),  # [n, joint_coord_count]
        coordinate: wp.array(dtype=wp.int32),  # [m]
        pose: wp.array(dtype=wp.transformd),  # [n]
        seed: wp.array2d(dtype=wp.float64),  # [n, m]
    ):
        row = wp.tid()
        more = bool(True)
        while more:
            pose[row] = read_pose(row, poses)
            for k in range(seed.shape[1]):
                seed[row, k] = read_variable(row, k, coordinate, seeds)
            row += 1
            more = wp.static(lanes > 1) and row < pose.shape[0]

    return read_problems


class ProblemInput:
    """Buffers of poses [n] and seeds [n, m] of a chain, which :meth:`write` fills."""

    def __init__(
        self,
        poses: HostBuffer,
        seeds: HostBuffer,
        chain: SerialChain,
        n_coords: int,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Store the buffers.

        Args:
            poses: Transforms [n].
            seeds: Seeds of the chain's variables [n, m].
            chain: The chain.
            n_coords: Number of coordinates of the model.
            then: Launches that follow the reading of host numbers, in one graph with it.
        """
        self._poses, self._seeds = poses.array, seeds.array
        self._then = then
        self._columns = chain.coordinates
        n, device = len(poses.host), self._poses.device
        # Poses are read where the host writes them.
        self._given_poses, self._pose_numbers = poses, as_numbers(poses.array)
        self._given_seeds = HostBuffer((n, n_coords), wp.float64, device)
        self._host_poses, self._host_seeds = poses.host, self._given_seeds.host
        self._pose_shape, self._seed_shape = self._host_poses.shape, self._host_seeds.shape
        self._is_host, self._is_followed = not poses.needs_copies, then is not None
        self._default = np.zeros(n_coords)
        self._default[self._columns] = 0.5 * np.sum(chain.sampling_range(), axis=0)
        self._read_given = Graph(self._launch_given, device)

    @staticmethod
    def bytes_per_problem(n_coords: int) -> int:
        """Return the memory that one more problem takes beside those buffers [bytes]."""
        return n_coords * wp.types.type_size_in_bytes(wp.float64)

    def write(self, poses: Any, seeds: Any) -> bool:
        """Read poses and seeds into the arrays on the device, without waiting.

        Args:
            poses: Poses [n, 7]; an invalid row becomes NaN.
            seeds: Configurations [n, joint_coord_count], whose numbers beyond 1e9 become NaN; None
                for the middle of the limits.

        Returns:
            True if ``then`` has been enqueued, too.

        Raises:
            ArgumentError: A wrong shape, type or device.
        """
        # NumPy arrays of the shapes and type of buffers without copies: the usual case on a CPU,
        # apart from the rest, whose calls take a tenth of a solve. So would a method of its own
        # and attributes of attributes.
        if (
            self._is_host
            and type(poses) is _ARRAY
            and type(seeds) is _ARRAY
            and poses.dtype is _FLOAT64
            and seeds.dtype is _FLOAT64
            and poses.shape == self._pose_shape
            and seeds.shape == self._seed_shape
        ):
            self._host_poses[...] = poses  # in half of the time of [:]
            self._host_seeds[...] = seeds
            self._read_given.enqueue()
            return self._is_followed
        if not is_exchanged(poses) and not is_exchanged(seeds):
            # A solve with results on the device may still have to read the last ones.
            self._given_poses.wait_for_uploads()
            _fill('poses', self._given_poses.host, poses)
            _fill('seeds', self._given_seeds.host, self._default_rows if seeds is None else seeds)
            self._given_poses.upload()
            self._given_seeds.upload()
            self._read_given.enqueue()
            return self._then is not None
        n, device = len(self._given_poses.host), self._poses.device
        self._read_poses(*_rows('poses', poses, n, 7, device))
        if seeds is None:
            cast_into(self._seeds, self._default_seeds)
        else:
            self._read_seeds(*_rows('seeds', seeds, n, len(self._default), device))
        return False

    def _launch_given(self) -> None:
        """Enqueue the kernel that reads the numbers of the host, and what follows it."""
        device = self._seeds.device
        # Any number above one: the kernel has no loop over lanes.
        lanes = lanes_on(device, 2)
        launch(
            read_problems_kernel(lanes), dim=threads_of(lanes, self._seeds.shape[0]),
            inputs=[self._pose_numbers, self._given_seeds.array, self._coordinate],
            outputs=[self._poses, self._seeds], device=device,
        )  # fmt: skip
        if self._then is not None:
            self._then()

    def _read_poses(self, given: wp.array, scalar: type) -> None:
        """Launch the kernel that reads poses."""
        launch(
            read_poses_kernel(scalar), dim=self._poses.shape, inputs=[given],
            outputs=[self._poses], device=self._poses.device,
        )  # fmt: skip

    def _read_seeds(self, given: wp.array, scalar: type) -> None:
        """Launch the kernel that reads seeds."""
        launch(
            read_seeds_kernel(scalar), dim=self._seeds.shape, inputs=[given, self._coordinate],
            outputs=[self._seeds], device=self._seeds.device,
        )  # fmt: skip

    @functools.cached_property
    def _coordinate(self) -> wp.array:
        return wp.array(self._columns, dtype=wp.int32, device=self._seeds.device)

    @functools.cached_property
    def _default_rows(self) -> np.ndarray:
        return np.tile(self._default, (len(self._given_seeds.host), 1))

    @functools.cached_property
    def _default_seeds(self) -> wp.array:
        rows = np.ascontiguousarray(self._default_rows[:, self._columns])
        return wp.array(rows, dtype=wp.float64, device=self._seeds.device)


def _fill(name: str, buffer: np.ndarray, given: Any) -> None:
    """Write host numbers to a buffer [n, columns]."""
    # Nearly always the type of the buffer; a check of other types takes longer than the copy.
    known = type(given) is np.ndarray and given.dtype is buffer.dtype
    if not known or given.shape != buffer.shape:
        n, columns = buffer.shape
        given = checked_rows(name, given, n, columns)
    buffer[...] = given


def _rows(name: str, given: Any, n: int, columns: int, device: Any) -> tuple[wp.array, type]:
    """Return an array of any kind as a Warp array [n, columns], and its type."""
    if not is_exchanged(given):
        given = checked_rows(name, given, n, columns)
    return batch_input(name, given, columns, device, n=n)
