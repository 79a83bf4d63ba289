# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order between the requests of planners, which come by DDS, and the pipe from the node.

A client that saw a change confirmed, by ``~/current_obstacles`` or the answer to a new parameter,
must get answers that include it. So each request first waits for a reply of the node, which the
pipe delivers after every earlier change. The state that the node measures then comes before it.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
import time

from ros_ik.node.services.process_link import SyncReply
from ros_ik.node.services.process_link import SyncRequest
from ros_ik.planning import Budget

# Time between two checks for a cancellation, and time in which the time limit of a request does
# not count [s]; a reply takes a millisecond.
_CHECK_PERIOD, _USUAL = 0.1, 1.0


class PipeSync:
    """Wait for all that the node sent before."""

    def __init__(self, send: Callable[[object], None]) -> None:
        """Start without a request; ``send`` writes an object to the node."""
        self._send = send
        self._news = threading.Condition()
        self._asked = self._heard = 0

    def catch_up(self, budget: Budget) -> None:
        """Wait until everything that the node has sent so far was processed; in one thread.

        Args:
            budget: Budget of the request that waits.

        Raises:
            RequestError: The request was cancelled, or the node did not reply within its time.
        """
        self._asked += 1
        self._send(SyncRequest(self._asked))
        usual_end = time.monotonic() + _USUAL
        with self._news:
            while not self._news.wait_for(lambda: self._heard >= self._asked, _CHECK_PERIOD):
                budget.check()
                if time.monotonic() > usual_end:
                    budget.check_time()

    def note(self, reply: SyncReply) -> None:
        """Process a reply of the node; for the thread that reads the pipe."""
        with self._news:
            self._heard = reply.number
            self._news.notify()
