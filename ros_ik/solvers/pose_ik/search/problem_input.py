# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses and seeds of a batch, brought to where the kernels of a chain read them.

Arrays of Warp and of other libraries are read on the device. NumPy arrays and sequences are
checked on the host, which is quicker for a few of them, and copied.
"""

import functools
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.model.conventions.poses import LEAST_NORM
from ros_ik.model.conventions.poses import MOST_NORM
from ros_ik.model.conventions.poses import pose_rows
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.solvers.pose_ik.search.setup import checked_rows


@no_type_check
@functools.cache
def read_poses_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel that reads poses as ``pose_rows`` does: NaN in each that is none."""

    @compiled_kernel()
    def read_poses(
        given: wp.array2d(dtype=scalar),  # [n, 7]
        pose: wp.array(dtype=wp.transformd),  # [n]
    ):
        row = wp.tid()
        read = wp.transformd()
        good = bool(True)
        for k in range(7):
            value = wp.float64(given[row, k])
            read[k] = value
            # NaN fails the comparison.
            good = good and wp.abs(value) <= wp.static(wp.float64(MAX_MAGNITUDE))
        rotation = wp.transform_get_rotation(read)
        norm = wp.length(rotation)
        good = good and norm >= wp.static(wp.float64(LEAST_NORM))
        good = good and norm <= wp.static(wp.float64(MOST_NORM))
        if good:
            pose[row] = wp.transformd(wp.transform_get_translation(read), rotation / norm)
        else:
            for k in range(7):
                read[k] = wp.float64(wp.nan)
            pose[row] = read

    return read_poses


@no_type_check
@functools.cache
def read_seeds_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel that reads seeds of a chain's variables: NaN for what is too large."""

    @compiled_kernel()
    def read_seeds(
        given: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        coordinate: wp.array(dtype=wp.int32),  # [m]
        seed: wp.array2d(dtype=wp.float64),  # [n, m]
    ):
        row, k = wp.tid()
        value = wp.float64(given[row, coordinate[k]])
        if not wp.abs(value) <= wp.static(wp.float64(MAX_MAGNITUDE)):
            value = wp.float64(wp.nan)
        seed[row, k] = value

    return read_seeds


class ProblemInput:
    """Buffers of poses [n] and seeds [n, m] of a chain, which :meth:`write` fills."""

    def __init__(
        self, poses: HostBuffer, seeds: HostBuffer, chain: SerialChain, n_coords: int
    ) -> None:
        """Take the buffers.

        Args:
            poses: Transforms [n].
            seeds: Seeds of the chain's variables [n, m].
            chain: The chain.
            n_coords: Coordinates of the model.
        """
        self._poses, self._seeds, self._n_coords = poses, seeds, n_coords
        self._columns = chain.coordinates
        self._default = 0.5 * np.sum(chain.sampling_range(), axis=0)

    def write(self, poses: Any, seeds: Any) -> bool:
        """Read poses and seeds.

        Args:
            poses: Poses [n, 7]; a row that is no pose becomes NaN.
            seeds: Configurations [n, joint_coord_count], whose numbers beyond 1e9 become NaN; None
                for the middle of the limits.

        Returns:
            Whether they were read on the device. Otherwise they are on the host.

        Raises:
            ArgumentError: A wrong shape, type or device.
        """
        if is_exchanged(poses) or is_exchanged(seeds):
            self._read(poses, seeds)
            return True
        n = len(self._poses.host)
        self._poses.host[:] = pose_rows(checked_rows('poses', poses, n, 7))
        if seeds is None:
            self._seeds.host[:] = self._default
        else:
            rows = checked_rows('seeds', seeds, n, self._n_coords)[:, self._columns]
            self._seeds.host[:] = np.where(np.abs(rows) <= MAX_MAGNITUDE, rows, np.nan)
        return False

    def _read(self, poses: Any, seeds: Any) -> None:
        """Launch the kernels that read poses and seeds."""
        n, device = len(self._poses.host), self._poses.array.device
        given, scalar = _rows('poses', poses, n, 7, device)
        wp.launch(
            read_poses_kernel(scalar), dim=n, inputs=[given], outputs=[self._poses.array],
            device=device,
        )  # fmt: skip
        if seeds is None:
            wp.copy(self._seeds.array, self._default_seeds)
            return
        given, scalar = _rows('seeds', seeds, n, self._n_coords, device)
        wp.launch(
            read_seeds_kernel(scalar), dim=(n, len(self._columns)),
            inputs=[given, self._coordinate], outputs=[self._seeds.array], device=device,
        )  # fmt: skip

    @functools.cached_property
    def _coordinate(self) -> wp.array:
        device = self._seeds.array.device
        return wp.array(self._columns, dtype=wp.int32, device=device)

    @functools.cached_property
    def _default_seeds(self) -> wp.array:
        rows = np.tile(self._default, (len(self._seeds.host), 1))
        return wp.array(rows, dtype=wp.float64, device=self._seeds.array.device)


def _rows(name: str, given: Any, n: int, columns: int, device: Any) -> tuple[wp.array, type]:
    """Return an array of any kind as a Warp array [n, columns], and its type."""
    if not is_exchanged(given):
        given = checked_rows(name, given, n, columns)
    return batch_input(name, given, columns, device, n=n)
