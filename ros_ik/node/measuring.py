# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint states merged joint by joint: a message may hold any of the joints, in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState

from ros_ik.node.drops import Drop
from ros_ik.node.drops import Drops
from ros_ik.servo import Measurement
from ros_ik.servo import Rejection
from ros_ik.servo import Servo

_TOPIC = 'joint_states'


class JointStateMerger:
    """Collects joint states of one robot.

    What is wrong with one joint costs that joint alone: its last state stays, and grows old.
    """

    def __init__(self, servo: Servo, drops: Drops) -> None:
        """Start without any joint known; ``drops`` counts what is of no use."""
        self._coord_of, self._drops = servo.robot.coord_of, drops
        model = servo.robot.model
        self._q = model.neutral_joint_q()
        self._received = np.full(model.joint_coord_count, -np.inf)
        # Publishers repeat their names in one order: what they mean is found once for each.
        self._names: list[str] = []
        self._entries = self._coords = np.zeros(0, dtype=int)
        self._repeated = 0

    def measurement(self) -> Measurement:
        """Return the state so far."""
        return Measurement(self._q.copy(), self._received.copy())

    def merge(self, message: JointState, now: float) -> Measurement | None:
        """Take a message received at ``now`` [s]; joints that the model lacks are passed over.

        Returns:
            The state, None where the message adds nothing to it.
        """
        if len(message.position) != len(message.name):
            if len(message.position):
                sizes = f'{len(message.name)} names, {len(message.position)} positions'
                self._drops.add(_TOPIC, Rejection.WRONG_SIZE, lambda: sizes)
            # Broadcasters of velocities or efforts alone are no error, and of no use.
            return None
        if message.name != self._names:
            self._learn(message.name)
        if self._repeated:
            self._drops.add(
                _TOPIC, Drop.REPEATED_JOINT, lambda: str(list(message.name)), self._repeated
            )
        positions = np.asarray(message.position, dtype=np.float64)[self._entries]
        finite = np.isfinite(positions)
        coords = self._coords
        if not finite.all():
            wrong = [message.name[entry] for entry in self._entries[~finite]]
            self._drops.add(_TOPIC, Rejection.NON_FINITE, lambda: ', '.join(wrong), len(wrong))
            positions, coords = positions[finite], coords[finite]
        if not len(coords):
            return None
        self._q[coords] = positions
        self._received[coords] = now
        return self.measurement()

    def _learn(self, names: Sequence[str]) -> None:
        """Find the joints of the model among names; of one named twice the first entry counts."""
        found: dict[int, int] = {}
        self._repeated = 0
        for entry, name in enumerate(names):
            coord = self._coord_of.get(name)
            if coord is not None:
                self._repeated += coord in found
                found.setdefault(coord, entry)
        self._names = list(names)
        self._coords = np.array(list(found), dtype=int)
        self._entries = np.array(list(found.values()), dtype=int)
