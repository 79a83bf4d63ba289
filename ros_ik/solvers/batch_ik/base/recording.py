# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Recording of launches as graphs, by solvers in different threads.

Making a solver excludes other threads, as tapes are recorded meanwhile; solvers run side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import contextlib
from typing import Any

import warp as wp

from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.solvers.graph import Graph


def hold_launches(
    device: wp.Device, *, use_graph: bool
) -> contextlib.AbstractContextManager[None]:
    """Return the lock of a solve, shared if it replays graphs, exclusive if it may record a tape.

    Args:
        device: Device of the solve; during a capture by the caller, nothing is replayed.
        use_graph: True if there are graphs to replay.
    """
    return LAUNCH_LOCK.shared() if use_graph and not device.is_capturing else LAUNCH_LOCK.alone()


class Recording:
    """Launches that are replayed as a graph, or repeated one by one if they cannot be replayed.

    A solve inside a capture of the caller becomes part of that capture. Launches are repeated with
    ``use_graph`` False, and for objectives that do more than launch kernels and copies.
    """

    def __init__(
        self,
        launch: Callable[[], None],
        device: wp.Device,
        *,
        use_graph: bool = True,
        parts: Iterable[Any] = (),
    ) -> None:
        """Record; the caller must hold ``LAUNCH_LOCK`` exclusively.

        Args:
            launch: Function that launches the kernels.
            device: Device they run on.
            use_graph: True to capture them.
            parts: Users' objects whose methods it runs, as in :class:`Graph`.
        """
        self._launch = launch
        self._device = device
        self._graph = Graph(launch, device, parts) if use_graph else None

    @property
    def is_replayed(self) -> bool:
        """True if a graph is replayed."""
        return self._graph is not None and self._graph.is_replayed

    def run(self) -> None:
        """Enqueue the launches; the caller must hold the lock of :func:`hold_launches`."""
        if self._graph is None or self._device.is_capturing:
            self._launch()
        else:
            self._graph.enqueue()
