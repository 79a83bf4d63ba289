# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches of a search, one or a phase after the other."""

from __future__ import annotations

from collections.abc import Sequence
import itertools
import math
from typing import Any

import warp as wp

from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.kernel_launch import listed_threads
from ros_ik.kinematics.runtime.kernel_launch import max_resident_threads
from ros_ik.kinematics.runtime.row_list import BYTES_PER_ROW
from ros_ik.kinematics.runtime.row_list import RowList
from ros_ik.kinematics.runtime.row_list import spacing_function
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.solvers.pose_ik.kernels.phase import mark_lanes_kernel
from ros_ik.solvers.pose_ik.kernels.phase import NEVER
from ros_ik.solvers.pose_ik.kernels.phase import phase_struct
from ros_ik.solvers.pose_ik.search.lane_plan import LanePlan
from ros_ik.solvers.pose_ik.search.setup import make_lanes


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
        'running': ((), wp.int32),
    }


class SearchPhases:
    """Phases of a search, allocated once."""

    def __init__(
        self,
        plan: LanePlan,
        n_problems: int,
        m: int,
        device: wp.Device,
        *,
        shared: SearchPhases | None = None,
    ) -> None:
        """Allocate the state of the lanes between phases, if there are several.

        Args:
            plan: Lanes of a problem and ends of the phases.
            n_problems: Number of problems of the whole batch.
            m: Number of variables.
            device: Device of the search.
            shared: Phases of another search of as many lanes that never runs at the same time,
                whose arrays are used; None to allocate them.
        """
        self._plan, self._lanes, self._device = plan, make_lanes(plan), device
        n_lanes = n_problems * plan.lanes
        self._threads = listed_threads(device, n_lanes)
        self._resident = max_resident_threads(device)
        self._spacing = spacing_function()(n_problems * plan.launched, self._resident)
        self._list: RowList | None = None
        self._arrays: dict[str, wp.array] = {}
        if shared is not None:
            self._list, self._arrays = shared._list, shared._arrays
        elif plan.ends:
            self._list = RowList(n_lanes, device)
            self._arrays = {
                name: wp.zeros((n_lanes, *columns), dtype=dtype, device=device)
                for name, (columns, dtype) in _state_shapes(m).items()
            }
        turns = itertools.pairwise((0, *plan.ends, NEVER))
        self._phases = [self._phase(begin, end) for begin, end in turns]

    def launch(
        self,
        kernel: wp.Kernel,
        count: int,
        first: int,
        problem: Sequence[Any],
        found: Sequence[Any],
    ) -> None:
        """Launch the search, and list the lanes of the next phase between two of them.

        Args:
            kernel: Kernel of the search.
            count: Number of problems.
            first: Index of the first problem; 0 for a search in several phases.
            problem: Arguments of the kernel before the phase, and its inputs after ``count``.
            found: Arguments of the kernel that follow, its outputs: ``solved`` first, and
                ``found``, ``lane_cost`` and ``iterations`` last.
        """
        chain, search, *inputs = problem
        dim = count * self._plan.launched * self._spacing
        for k, phase in enumerate(self._phases):
            if k == 0 and self._plan.launched < self._plan.lanes:
                self._reset(*found[-3:])
            if k > 0 and self._list is not None:
                self._list_lanes(self._list, phase, count, found[0], found[-1])
                dim = self._threads
            launch(
                kernel,
                dim=dim,
                inputs=[chain, search, phase, first, count, *inputs],
                outputs=found,
                device=self._device,
            )

    def _reset(self, found: wp.array, lane_cost: wp.array, iterations: wp.array) -> None:
        """Write the results of lanes that never begin."""
        with LAUNCH_LOCK.shared():
            found.zero_()
            lane_cost.fill_(math.inf)
            iterations.zero_()

    def _list_lanes(
        self, lanes: RowList, phase: Any, count: int, solved: wp.array, iterations: wp.array
    ) -> None:
        """List the lanes that a phase continues or begins."""
        launch(
            mark_lanes_kernel(),
            dim=lanes.marked.shape[0],
            inputs=[
                self._lanes, count * self._plan.lanes, phase.begin, phase.end, solved,
                iterations, self._arrays['running'],
            ],
            outputs=[lanes.marked],
            device=self._device,
        )  # fmt: skip
        lanes.gather()

    def _phase(self, begin: int, end: int) -> Any:
        """Return a phase as a struct for the kernel."""
        phase = phase_struct()()
        phase.begin, phase.end = begin, end
        phase.threads, phase.spacing = self._threads, self._spacing
        phase.resident = self._resident
        for name, array in self._arrays.items():
            setattr(phase, name, array)
        if begin > 0 and self._list is not None:
            phase.rows = self._list.rows
        return phase
