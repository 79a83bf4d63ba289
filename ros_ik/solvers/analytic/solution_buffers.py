# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers of the solutions that a closed-form solver returns, on its device and on the host."""

from __future__ import annotations

import dataclasses
from typing import Any

import warp as wp

from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.solvers.analytic.result import AllSolutions


@dataclasses.dataclass(frozen=True)
class SolutionBuffers:
    """Buffers of the arrays of :class:`AllSolutions`, which have the same names.

    ``joint_q`` has a row for each solution, [n * s, joint_coord_count].
    """

    joint_q: HostBuffer
    n_found: HostBuffer
    n_exist: HostBuffer
    status: HostBuffer
    position_error: HostBuffer
    rotation_error: HostBuffer
    singular: HostBuffer
    free_direction: HostBuffer

    @classmethod
    def allocate(
        cls, n: int, s: int, n_coords: int, joints: int, device: wp.DeviceLike
    ) -> SolutionBuffers:
        """Allocate zeros.

        Args:
            n: Number of poses.
            s: Largest number of solutions of a pose.
            n_coords: Number of coordinates of the model.
            joints: Number of joints of the chain.
            device: Warp device.
        """
        return cls(
            joint_q=HostBuffer((n * s, n_coords), wp.float64, device),
            n_found=HostBuffer((n,), wp.int32, device),
            n_exist=HostBuffer((n,), wp.int32, device),
            status=HostBuffer((n,), wp.int32, device),
            position_error=HostBuffer((n, s), wp.float64, device),
            rotation_error=HostBuffer((n, s), wp.float64, device),
            singular=HostBuffer((n, s), wp.bool, device),
            free_direction=HostBuffer((n, s, joints), wp.float64, device),
        )

    def download(self) -> None:
        """Enqueue copies to the host."""
        for buffer in self._all():
            buffer.download()

    def on_host(self) -> AllSolutions:
        """Return views of the arrays on the host."""
        return self._shaped([buffer.host for buffer in self._all()])

    def on_device(self) -> AllSolutions:
        """Return views of the arrays on the device."""
        return self._shaped([buffer.array for buffer in self._all()])

    def _all(self) -> list[HostBuffer]:
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def _shaped(self, arrays: list[Any]) -> AllSolutions:
        """Return arrays in the order of the attributes as solutions."""
        joint_q, *others = arrays
        return AllSolutions(joint_q.reshape((*self.singular.host.shape, -1)), *others)
