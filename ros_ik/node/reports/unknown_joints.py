# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Report of joints on which barriers depend and whose state is unknown; the node goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ros_ik.node.control.inbox import ControlledServo
from ros_ik.node.control.inbox import Inbox
from ros_ik.node.reports.reporter import Reporter
from ros_ik.servo.barriers.watched_joints import unknown_sentence
from ros_ik.servo.interface.measurement import Measurement

# Time that a second source of joint states may take to begin after the first [s].
_GRACE = 1.0
# Number of joints that the status names; the log and the diagnostics name all.
_IN_STATUS = 5


class UnknownJoints:
    """Watch over the running servo: status and diagnostics at once, and one warning per joint."""

    def __init__(
        self, logger: Any, inbox: Inbox, reporter: Reporter, now: Callable[[], float]
    ) -> None:
        """Start without a servo.

        Args:
            logger: Logger of the node.
            inbox: Inputs of the control loop, for the sentence of the status.
            reporter: Reporter, for the diagnostics.
            now: Clock of the servo [s].
        """
        self._logger, self._inbox, self._reporter, self._now = logger, inbox, reporter, now
        self._controlled: ControlledServo | None = None
        # Steady time at which every needed joint had a state [s], or None.
        self._complete_since: float | None = None
        self._logged: set[str] = set()

    def update(self, steady: float) -> None:
        """Report the joints of the newest state.

        Args:
            steady: Steady clock [s].
        """
        controlled = self._inbox.controlled.get()
        if controlled is not self._controlled:
            self._controlled, self._complete_since = controlled, None
            self._logged.clear()
            self._report(())
        if controlled is None:
            return
        servo, measurement = controlled.servo, controlled.measurement.get()
        robot = servo.robot
        if self._complete_since is None:
            if not measurement.known[robot.needed_coords].all():
                return  # the status names those that the node waits for
            self._complete_since = steady
        current = measurement.current(self._now(), servo.settings.joint_state_timeout)
        obstacles = self._inbox.command.get().obstacles
        unknown = servo.watched.unknown(current, obstacles)
        # The node does not move without the others, and says so.
        names = tuple(name for name in unknown if name not in robot.needed)
        if names != self._reporter.unknown_joints:
            self._report(names)
        new = [name for name in names if name not in self._logged]
        if new and steady - self._complete_since >= _GRACE:
            self._logged.update(new)
            self._warn(new, controlled, measurement)

    def _report(self, names: tuple[str, ...]) -> None:
        """Set the joints of the status and of the diagnostics."""
        self._reporter.unknown_joints = names
        self._inbox.unknown_joints.put(unknown_sentence(names, _IN_STATUS))

    def _warn(
        self, names: list[str], controlled: ControlledServo, measurement: Measurement
    ) -> None:
        """Log joints once."""
        coord_of = controlled.servo.robot.coord_of
        ended = [name for name in names if _has_state(name, coord_of, measurement.known)]
        never = [name for name in names if name not in ended]
        # Two calls, because rclpy stores the severity of each call site.
        if never:
            self._logger.warning(
                f'no joint states of {", ".join(never)}: distances depend on these joints, and '
                'take them to be at their neutral positions. Barriers may miss the links that '
                'they move'
            )
        if ended:
            self._logger.warning(
                f'the joint states of {", ".join(ended)} have ended: distances depend on these '
                'joints, and take them to be where they were last. Barriers may miss the links '
                'that they move'
            )


def _has_state(name: str, coord_of: dict[str, int], known: np.ndarray) -> bool:
    """Return True if a joint was ever measured."""
    return name in coord_of and bool(known[coord_of[name]])
