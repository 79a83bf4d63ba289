# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint states merged by joint: a message may contain any joints, in any order."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import functools

import numpy as np

from ros_ik.node.transport.cdr_readers import JointSample
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.numbers import is_bounded
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.servo import ControllerReference
from ros_ik.servo import Measurement
from ros_ik.servo import Rejection
from ros_ik.servo import Servo

_TOPIC = 'joint_states'
# The other joints of such a message are used.
_IN_PART = 'dropped a part of a message on'
# Maximum number of cached sets of names, one per publisher.
_MAX_KNOWN = 16


class JointStateMerger:
    """Merged joint states of one robot.

    An invalid state of one joint affects that joint only: its last state stays, and becomes stale.

    Attributes:
        measurement: Current state.
    """

    def __init__(
        self,
        servo: Servo,
        message_stats: MessageStats,
        reference: Callable[[], ControllerReference | None],
    ) -> None:
        """Start without a known joint.

        Args:
            servo: The servo of the robot.
            message_stats: Counter of dropped messages.
            reference: Function that returns the reference of the controllers.
        """
        self._reference = reference
        self._coord_of, self._message_stats = servo.robot.coord_of, message_stats
        model = servo.robot.model
        self._q = model.neutral_joint_q()
        self._received = np.full(model.joint_coord_count, -np.inf)
        self.measurement = Mailbox(self._copy())
        # Each publisher repeats its names in one order, so their indices are cached.
        self._known: dict[tuple[str, ...], _Joints] = {}

    def merge(self, message: JointSample, now: float) -> bool:
        """Process a message received at ``now`` [s]; joints that the model lacks are ignored.

        Returns:
            True if the message contains a state of the robot.
        """
        names, given = message.names, message.positions
        if len(given) != len(names):
            if len(given):
                sizes = f'{len(names)} names, {len(given)} positions'
                self._message_stats.add_in_tick(_TOPIC, Rejection.WRONG_SIZE, lambda: sizes)
            # Messages with velocities or efforts only are valid but unused.
            return False
        joints = self._known.get(names) or self._index_names(names)
        if joints.repeated:
            self._message_stats.add_in_tick(
                _TOPIC,
                Rejection.REPEATED_JOINT,
                functools.partial(_first_counts, joints.repeated),
                len(joints.repeated),
                event=_IN_PART,
            )
        positions, coords = np.array(given)[joints.entries], joints.coords
        # Faster than NumPy for few numbers.
        if not is_bounded(positions.tolist()):
            good = np.abs(positions) <= MAX_MAGNITUDE
            self._drop(names, joints.entries, positions)
            positions, coords = positions[good], coords[good]
        if not len(coords):
            return False
        self._q[coords] = positions
        self._received[coords] = now
        self.measurement.put(self._copy())
        return True

    def _drop(self, names: tuple[str, ...], entries: np.ndarray, positions: np.ndarray) -> None:
        """Count the invalid positions."""
        finite = np.isfinite(positions)
        too_large = finite & (np.abs(positions) > MAX_MAGNITUDE)
        for reason, wrong in (
            (Rejection.NON_FINITE, ~finite),
            (Rejection.TOO_LARGE_NUMBER, too_large),
        ):
            if wrong.any():
                text = ', '.join(names[entry] for entry in entries[wrong])
                self._message_stats.add_in_tick(
                    _TOPIC,
                    reason,
                    functools.partial(str, text),
                    int(wrong.sum()),
                    event=_IN_PART,
                )

    def _copy(self) -> Measurement:
        return Measurement(self._q.copy(), self._received.copy(), self._reference)

    def _index_names(self, names: tuple[str, ...]) -> _Joints:
        """Find the joints of the model among names; of repeated names the first entry is used."""
        found: dict[int, int] = {}
        repeated: list[str] = []
        for entry, name in enumerate(names):
            coord = self._coord_of.get(name)
            if coord is not None:
                if coord in found:
                    repeated.append(name)
                found.setdefault(coord, entry)
        joints = _Joints(
            np.array(list(found.values()), dtype=int),
            np.array(list(found), dtype=int),
            tuple(repeated),
        )
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[names] = joints
        return joints


def _first_counts(repeated: tuple[str, ...]) -> str:
    """Return names that come again, and which of their positions count."""
    return f'{", ".join(dict.fromkeys(repeated))} named twice; the first position is used'


@dataclasses.dataclass(frozen=True, eq=False)
class _Joints:
    """Indices of the names in a message of joint states.

    Attributes:
        entries: Indices of names that are joints of the model.
        coords: Coordinates of those joints.
        repeated: Names that come again, once for each further position.
    """

    entries: np.ndarray
    coords: np.ndarray
    repeated: tuple[str, ...]
