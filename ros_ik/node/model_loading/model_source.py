# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Received robot descriptions, and the servos built from them."""

from __future__ import annotations

from collections.abc import Callable
import time

from rclpy.node import Node
from rclpy.subscription import Subscription
from std_msgs.msg import String

from ros_ik.node.execution.missed_events import take_message
from ros_ik.node.model_loading.model_builder import Built
from ros_ik.node.model_loading.model_builder import Job
from ros_ik.node.model_loading.model_builder import ModelBuilder
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.qos_profiles import LATCHED
from ros_ik.node.transport.size_limited_subscription import DESCRIPTION_BYTES
from ros_ik.node.transport.size_limited_subscription import subscribe
from ros_ik.settings import Settings

# Polling period of builds while the executor is blocked [s].
_WAIT = 0.05
# Number of earlier descriptions that are kept: the last one that gave a model, and one that was
# replaced before it was tried.
_FORMER = 2


class ModelSource:
    """Subscriptions to descriptions, and their builds; used in the executor's thread.

    The main thread calls ``end`` when the node shuts down.

    Attributes:
        builder: The thread that builds.
        error: Reason why the newest description gave no model, or ''.
        ready: Result with a servo that waits for the node to be configured, or None.
    """

    def __init__(
        self,
        node: Node,
        settings: Callable[[], Settings | None],
        prepare_build: Callable[[], bool],
        is_resting: Callable[[], bool],
        report: Callable[[str], None],
        message_stats: MessageStats,
    ) -> None:
        """Subscribe to the descriptions.

        Args:
            node: The node.
            settings: Function that returns the current settings, None if nothing can be built.
            prepare_build: Function called before a new description is built; False ignores it.
            is_resting: Function that tells whether the control thread leaves the device alone.
            report: Function called with the progress of a build whenever it changes.
            message_stats: Counter of empty and oversized messages.
        """
        self._report, self._reported = report, ''
        self._node, self._message_stats = node, message_stats
        self._settings, self._prepare_build, self._is_resting = settings, prepare_build, is_resting
        self.builder = ModelBuilder(settings())
        self.error = ''
        self.ready: Built | None = None
        # Pairs of URDF and SRDF: the newest, the one that is built, the last one accepted,
        # and those to build if the newest gives none, the first choice last.
        self._newest = self._building = self._good = ('', '')
        self._former: list[tuple[str, str]] = []
        self._rest_requested = False
        self._subscriptions = self._listen()

    @property
    def has_description(self) -> bool:
        """True if a description has arrived."""
        return bool(self._newest[0])

    def listen_again(self) -> None:
        """Subscribe again: a new reader receives latched descriptions once more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions = self._listen()

    def begin(self) -> None:
        """Start the build of the newest description; a result that is ready is discarded."""
        self._former = [] if self._good == self._newest else [self._good]
        self._build(self._newest)

    def begin_former(self) -> None:
        """Start the build of an earlier description that the node needs, if there is one.

        The newest one has given no model. A node with a servo needs only what it had not tried.
        """
        if self._former:
            self._build(self._former.pop())

    def accept(self, built: Built) -> None:
        """Remember the description of a result that the node can use."""
        self._good = built.job.urdf, built.job.srdf

    def rest_requested(self) -> bool:
        """Return True once after the builder has asked the control thread to rest."""
        requested, self._rest_requested = self._rest_requested, False
        return requested

    def collect(self, timeout: float = 0.0) -> Built | None:
        """Return the result for the newest description, or None.

        Args:
            timeout: Longest wait [s].
        """
        built = self.builder.collect(timeout)
        if self.builder.is_ending:
            return None
        progress = str(self.builder.progress.latest.get())
        if progress != self._reported:
            self._reported = progress
            if self.builder.busy:
                self._report(progress)
        if built is None or self.builder.busy:
            return None
        self.error = built.error
        # The request for rest is over, even if it was never read.
        self._rest_requested = False
        return built

    def wait(self, timeout: float) -> Built | None:
        """Wait for a description and its result; blocks the executor.

        Args:
            timeout: Longest wait [s].
        """
        give_up = time.monotonic() + timeout
        while time.monotonic() < give_up and not self.builder.is_ending:
            if not self.builder.busy:
                self._take()
            built = self.collect(_WAIT)
            if built is not None:
                return built
        return None

    def end(self, timeout: float) -> bool:
        """Stop building, end every wait and discard a result that is ready; for any thread.

        Args:
            timeout: Longest wait for the builder [s].

        Returns:
            True if the builder has ended; a compilation cannot be stopped.
        """
        self.ready = None
        return self.builder.end(timeout)

    def _listen(self) -> list[Subscription]:
        listeners = (
            ('robot_description', self._on_urdf),
            ('robot_description_semantic', self._on_srdf),
        )
        return [
            subscribe(
                self._node, String, topic, listener, self._message_stats,
                most_bytes=DESCRIPTION_BYTES, qos=LATCHED,
            )
            for topic, listener in listeners
        ]  # fmt: skip

    def _request_rest(self) -> None:
        """Record a request of the builder's thread."""
        self._rest_requested = True

    def _take(self) -> None:
        """Read the descriptions that arrive while the executor is blocked."""
        for subscription in self._subscriptions:
            take_message(subscription)

    def _on_urdf(self, message: String) -> None:
        if not message.data:
            # Empty, for instance because a publisher did not find its file; the previous
            # description stays.
            self._message_stats.add('robot_description', Drop.UNREADABLE, lambda: 'it is empty')
        elif message.data != self._newest[0]:
            self._change((message.data, self._newest[1]))

    def _on_srdf(self, message: String) -> None:
        if message.data != self._newest[1]:
            self._change((self._newest[0], message.data))

    def _change(self, newest: tuple[str, str]) -> None:
        if self.builder.is_ending or (newest[0] and not self._prepare_build()):
            return
        if self.builder.busy:
            self._former = [*self._former, self._building][-_FORMER:]
        else:
            self._former = [] if self.ready is None else [self._good]
        self._newest = newest
        self._build(newest)

    def _build(self, description: tuple[str, str]) -> None:
        settings = self._settings()
        if settings is None or not description[0]:
            return
        self.error, self.ready = '', None
        self._building = description
        self.builder.start(Job(*description, settings, self._request_rest, self._is_resting))
