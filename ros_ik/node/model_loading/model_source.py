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
from ros_ik.node.model_loading.description_history import DescriptionHistory
from ros_ik.node.model_loading.description_history import RobotDescription
from ros_ik.node.model_loading.model_builder import Built
from ros_ik.node.model_loading.model_builder import Job
from ros_ik.node.model_loading.model_builder import ModelBuilder
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.qos_profiles import LATCHED
from ros_ik.node.transport.size_limited_subscription import DESCRIPTION_BYTES
from ros_ik.node.transport.size_limited_subscription import subscribe
from ros_ik.servo import Servo
from ros_ik.settings import Settings

# Polling period of builds while the executor is blocked [s].
_WAIT = 0.05


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
        misfit: Callable[[Servo], str],
        is_resting: Callable[[], bool],
        report: Callable[[str], None],
        message_stats: MessageStats,
    ) -> None:
        """Subscribe to the descriptions.

        Args:
            node: The node.
            settings: Function that returns the current settings, None if nothing can be built.
            prepare_build: Function called before a new description is built; False ignores it.
            misfit: Function that returns why a new servo cannot be used, or ''.
            is_resting: Function that tells whether the control thread leaves the device alone.
            report: Function called with the progress of a build whenever it changes.
            message_stats: Counter of empty and oversized messages.
        """
        self._report, self._reported = report, ''
        self._node, self._message_stats = node, message_stats
        self._settings, self._prepare_build, self._is_resting = settings, prepare_build, is_resting
        self._misfit = misfit
        self.builder = ModelBuilder(settings())
        self.error = ''
        self.ready: Built | None = None
        self._history = DescriptionHistory()
        self._rest_requested = False
        self._subscriptions = self._listen()

    @property
    def has_description(self) -> bool:
        """True if a description has arrived."""
        return bool(self._history.newest.urdf)

    def listen_again(self) -> None:
        """Subscribe again: a new reader receives latched descriptions once more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions = self._listen()

    def begin(self) -> None:
        """Start the build of the newest description; a result that is ready is discarded."""
        self._build(self._history.again())

    def begin_former(self) -> None:
        """Start the build of a former description that the node needs, if there is one.

        The newest one has given no model. A node with a servo needs only what it had not tried.
        """
        self._build(self._history.former())

    def accept(self, built: Built, *, waits: bool = False) -> None:
        """Remember the description of a result that the node can use.

        Args:
            built: The result.
            waits: True to keep the result, as ``ready``, until the node is configured.
        """
        self._history.accept(RobotDescription(built.job.urdf, built.job.srdf))
        self.ready = built if waits else None

    def release(self) -> None:
        """Keep the result that was ready no longer: the node has it, or ends."""
        self.ready = None

    def rest_requested(self) -> bool:
        """Return True once after the builder has asked the control thread to rest."""
        # Otherwise it is left as it is: the builder may set it in this moment.
        if not self._rest_requested:
            return False
        self._rest_requested = False
        return True

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
        # Parameters may have changed since the build began.
        self.error = built.error if built.servo is None else self._misfit(built.servo)
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
        self.release()
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
        else:
            self._change(RobotDescription(message.data, self._history.newest.srdf))

    def _on_srdf(self, message: String) -> None:
        self._change(RobotDescription(self._history.newest.urdf, message.data))

    def _change(self, newest: RobotDescription) -> None:
        history = self._history
        if newest == history.newest or self.builder.is_ending:
            return
        if newest.urdf and not self._prepare_build():
            return
        is_building, is_used = self.builder.busy, self.ready is None
        self._build(history.replace(newest, is_building=is_building, is_used=is_used))

    def _build(self, description: RobotDescription) -> None:
        settings = self._settings()
        if settings is None or not description.urdf:
            return
        self.error, self.ready = '', None
        self.builder.start(
            Job(
                description.urdf, description.srdf, settings, self._request_rest, self._is_resting
            )
        )  # fmt: skip
