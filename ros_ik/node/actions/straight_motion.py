# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Straight joint-space motion, led by a joint target ahead of the robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros_ik.node.actions.commander import Commander
from ros_ik.servo import JointTarget
from ros_ik.servo.motion.approach import braking_distance

# Speed of the joint that takes longest, as a fraction of its velocity limit.
_SPEED = 0.5
# Error of a joint at which the target waits for it, and tolerance at the end [rad or m].
_LAG, _ARRIVED = 0.05, 1e-3
# Time without progress after which the motion counts as blocked; measured in ticks [s].
_PATIENCE = 1.0


class StraightMotion:
    """Straight motion from the commanded configuration to another one.

    All joints arrive together, so that the robot stays on the checked path. Time is counted in
    ticks, because on a busy machine the robot moves once per tick.
    """

    def __init__(self, commander: Commander, names: Sequence[str], goal: Sequence[float]) -> None:
        """Start at the command, at rest."""
        robot = commander.servo.robot
        self._commander, self._names = commander, tuple(names)
        indices = [robot.group.joint_names.index(name) for name in names]
        self._coords = robot.coords[indices]
        self._variables = np.array(indices, dtype=int)
        self._start = commander.output.joint_q[self._coords]
        self._displacement = np.asarray(goal, dtype=float) - self._start
        # Fraction of the displacement through which the robot was led, and the last target.
        self._fraction, self._aim = 0.0, self._start
        self._last_call, self._ticks = commander.now(), commander.ticks
        # Position at the last progress, and time since then.
        self._reached, self._standing = self._start, 0.0

    @property
    def is_blocked(self) -> bool:
        """True if something blocks the robot."""
        return self._standing > _PATIENCE

    def target(self, now: float) -> JointTarget | None:
        """Return the next target, or None at the end or if the motion is blocked."""
        settings = self._commander.settings
        displacement = self._displacement
        position = self._commander.output.joint_q[self._coords]
        robot = self._commander.servo.robot
        dofs = robot.group.variable_dof[self._variables]
        speed = _SPEED * robot.scaled_velocity(settings)[dofs]
        moves = displacement != 0.0
        duration = max(float((np.abs(displacement[moves]) / speed[moves]).max(initial=0.0)), 1e-9)
        elapsed = self._elapsed(now, settings.period)
        led = self._start + self._fraction * displacement
        # Any position up to the target counts as on the path, because the state of the robot
        # may be read late.
        nearest = np.clip(position, np.minimum(led, self._aim), np.maximum(led, self._aim))
        error = np.abs(position - nearest).max()
        if self._fraction >= 1.0 and error < _ARRIVED:
            return None
        self._standing += elapsed
        if np.abs(position - self._reached).max() > _ARRIVED:
            self._reached, self._standing = position, 0.0
        if error < _LAG and self._fraction < 1.0:
            self._fraction, self._standing = min(1.0, self._fraction + elapsed / duration), 0.0
        if self.is_blocked:
            return None
        ahead = braking_distance(
            displacement / duration,
            self._commander.servo.acceleration[self._variables],
            settings.period,
        )
        led = self._start + self._fraction * displacement
        remaining = (1.0 - self._fraction) * np.abs(displacement)
        self._aim = led + np.sign(displacement) * np.minimum(np.abs(ahead), remaining)
        target = self._commander.reader.joints(self._names, self._aim.tolist(), now, lasting=True)
        return target if isinstance(target, JointTarget) else None

    def _elapsed(self, now: float, period: float) -> float:
        """Return the time since the last call, counted in ticks [s]."""
        before, ticks = self._last_call, self._ticks
        self._last_call, self._ticks = now, self._commander.ticks
        # The counter restarts at an activation, and continues while simulated time stands still.
        return min(now - before, max(0, self._ticks - ticks) * period)
