# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint states merged joint by joint: a message may hold any of the joints, in any order."""

from __future__ import annotations

import math

import numpy as np
from sensor_msgs.msg import JointState

from ros_ik.servo import Measurement
from ros_ik.servo import Rejection
from ros_ik.servo import Servo


class JointStateMerger:
    """Collects joint states of one robot."""

    def __init__(self, servo: Servo) -> None:
        """Start without any joint known."""
        self._coord_of = servo.robot.coord_of
        model = servo.robot.model
        self._q = model.neutral_joint_q()
        self._received = np.full(model.joint_coord_count, -np.inf)

    def measurement(self) -> Measurement:
        """Return the state so far."""
        return Measurement(self._q.copy(), self._received.copy())

    def merge(self, message: JointState, now: float) -> Measurement | Rejection:
        """Take a message received at ``now`` [s]; joints that the model lacks are passed over."""
        if len(message.position) != len(message.name):
            # Broadcasters of velocities or efforts alone are no error, and of no use.
            return self.measurement() if not message.position else Rejection.WRONG_SIZE
        if not all(map(math.isfinite, message.position)):
            return Rejection.NON_FINITE
        for name, position in zip(message.name, message.position, strict=True):
            coord = self._coord_of.get(name)
            if coord is not None:
                self._q[coord] = position
                self._received[coord] = now
        return self.measurement()
