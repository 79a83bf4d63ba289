# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Events of DDS, such as a publisher of incompatible quality of service, that a timer polls.

The events executor of rclpy 9 ends the process with a segmentation fault if an event of a
publisher or subscription is queued while that is destroyed: the queue then holds the last
reference to it, and drops it without the lock of the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.waitable import Waitable

from ros_ik.node.transport.dds_events import EventHandler

# Time between two polls [s]; one takes 4 us per event.
_PERIOD = 1.0


class PolledEventsMixin(Node):
    """Mixin for nodes of the events executor, before the class of the node among the bases.

    Such nodes destroy their publishers and subscriptions when they end, or earlier.

    Callbacks of events are called up to a second late, and only for events that are counted:
    those of an incompatible type are not.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create the node with the arguments of its class in rclpy."""
        super().__init__(*args, **kwargs)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_PERIOD, self._poll_events, clock=steady)

    @property
    def waitables(self) -> Iterator[Waitable]:
        """Return the other entities of the executor: all except events."""
        return (each for each in super().waitables if not isinstance(each, EventHandler))

    def _poll_events(self) -> None:
        """Call the callbacks of new events."""
        for each in tuple(super().waitables):
            if isinstance(each, EventHandler):
                # Stands for a wait set, which says that there may be an event.
                each._ready_to_take_data = True
                event = each.take_data()
                if getattr(event, 'total_count_change', 0) > 0:
                    each.callback(event)
