# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Autostart of a node, instead of a lifecycle manager.

It ends with the first activation, deactivation or cleanup, also one that a user asks for, and with
a configuration that fails: the parameters for it cannot change any more.
"""

from __future__ import annotations

import numpy as np
from rclpy.lifecycle import LifecycleNode
from rclpy.lifecycle import TransitionCallbackReturn

from ros_ik.node.control.control_loop import ControlLoop
from ros_ik.node.node_stage import NodeStage
from ros_ik.servo import StatusCode


class Autostart:
    """Configuration of a node once it has a model, and activation once it has joint states.

    Attributes:
        is_pending: True until the node is activated, or the autostart is cancelled.
    """

    def __init__(self, node: LifecycleNode, loop: ControlLoop, *, is_enabled: bool) -> None:
        """Prepare the autostart, if it is enabled."""
        self._node, self._loop = node, loop
        self.is_pending = is_enabled

    def cancel(self) -> None:
        """Leave further transitions to the user."""
        self.is_pending = False

    def advance(self, stage: NodeStage) -> None:
        """Trigger the transition that is due at a stage of the node, if any."""
        if stage is NodeStage.READY:
            if self._node.trigger_configure() != TransitionCallbackReturn.SUCCESS:
                self.cancel()
        elif (
            self._loop.output.code != StatusCode.WAITING_FOR_JOINT_STATES
            and self._has_fresh_states()
        ):
            self._node.trigger_activate()
            self.cancel()

    def _has_fresh_states(self) -> bool:
        """Return True if a servo has joint states, and none is stale."""
        controlled = self._loop.inbox.controlled.get()
        if controlled is None:
            return False
        servo, measurement = controlled.servo, controlled.measurement.get()
        received = measurement.received[servo.robot.needed_coords]
        # A time in the future is from before a backward jump of the clock.
        age = np.abs(self._loop.now() - received)
        return bool((age <= servo.settings.joint_state_timeout).all())
