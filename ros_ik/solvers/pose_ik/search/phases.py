# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches of a search, one or a phase after the other."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

import warp as wp

from ros_ik.kinematics.runtime.kernel_launch import exceeds_device
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.row_list import BYTES_PER_ROW
from ros_ik.kinematics.runtime.row_list import RowList
from ros_ik.solvers.pose_ik.kernels.phase import NEVER
from ros_ik.solvers.pose_ik.kernels.phase import phase_struct

# Iterations after which lanes pause. A warp of 32 lanes ends with its slowest. Per Panda pose from
# the middle of the limits, this takes 17.6 iterations instead of 73.5, of which 12.4 are needed;
# from random configurations 31.7 instead of 88.9. More phases would save another tenth, as much as
# their launches take with 65,536 poses.
_ENDS = (8, 16, 32, 64, 128)


def phase_ends(device: wp.Device, n_lanes: int) -> tuple[int, ...]:
    """Return the iterations after which the lanes of a batch pause, none for a single phase.

    Args:
        device: Device of the search.
        n_lanes: Number of lanes of the whole batch.
    """
    return _ENDS if exceeds_device(device, n_lanes) else ()


def bytes_per_lane(ends: Sequence[int], m: int) -> int:
    """Return the memory of a lane for its state between phases [bytes].

    Args:
        ends: Iterations after which lanes pause; none for a single phase.
        m: Number of variables.
    """
    if not ends:
        return 0
    shapes = _state_shapes(m).values()
    sizes = [math.prod(columns) * wp.types.type_size_in_bytes(dtype) for columns, dtype in shapes]
    return sum(sizes) + BYTES_PER_ROW


def _state_shapes(m: int) -> dict[str, tuple[tuple[int, ...], type]]:
    """Return shape and type of the state of a lane between phases, by the name of its field."""
    return {
        'q': ((m,), wp.float64),
        'mark': ((), wp.float64),
        'random': ((), wp.uint32),
        'attempt': ((), wp.int32),
        'step': ((), wp.int32),
    }


class SearchPhases:
    """Phases of a search, allocated once."""

    def __init__(
        self, kernel: wp.Kernel, ends: Sequence[int], n_lanes: int, m: int, device: wp.Device
    ) -> None:
        """Allocate the state of the lanes between phases, if there are several.

        Args:
            kernel: Kernel of the search, in float64.
            ends: Iterations after which lanes pause; none for a single phase.
            n_lanes: Number of lanes of the whole batch.
            m: Number of variables.
            device: Device of the search.
        """
        self._kernel, self._device = kernel, device
        self._list: RowList | None = None
        self._arrays: dict[str, wp.array] = {}
        if ends:
            self._list = RowList(n_lanes, device)
            self._arrays = {
                name: wp.zeros((n_lanes, *columns), dtype=dtype, device=device)
                for name, (columns, dtype) in _state_shapes(m).items()
            }
            self._arrays['running'] = self._list.marked
        self._phases = [self._phase(end, k > 0) for k, end in enumerate((*ends, NEVER))]

    def launch(self, dim: int, first: int, problem: Sequence[Any], found: Sequence[Any]) -> None:
        """Launch the search, and list the lanes that are still running between its phases.

        Args:
            dim: Number of lanes.
            first: Index of the first problem; 0 for a search in several phases.
            problem: Arguments of the kernel before the phase, and after ``first``, its inputs.
            found: Arguments of the kernel that follow, its outputs.
        """
        chain, search, *inputs = problem
        for k, phase in enumerate(self._phases):
            if k > 0 and self._list is not None:
                self._list.gather()
            launch(
                self._kernel,
                dim=dim,
                inputs=[chain, search, phase, first, *inputs],
                outputs=found,
                device=self._device,
            )

    def _phase(self, end: int, is_continued: bool) -> Any:
        """Return a phase as a struct for the kernel."""
        phase = phase_struct(wp.float64)()
        phase.end = end
        for name, array in self._arrays.items():
            setattr(phase, name, array)
        if is_continued and self._list is not None:
            phase.rows = self._list.rows
        return phase
