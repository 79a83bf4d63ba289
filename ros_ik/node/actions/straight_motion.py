# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Straight joint-space motion, led by a joint target ahead of the robot."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import math

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
# Longest time in which a target goes on without the next one [s].
_ALONE = 0.1
# Time since the last tick after which ticks were missed [periods].
_LATEST = 2.0


@dataclasses.dataclass(frozen=True, eq=False)
class Stretch:
    """Part of a straight motion until the next target; see :class:`~ros_ik.servo.JointMotion`.

    Attributes:
        start: Positions at the start of the whole motion [rad or m].
        displacement: Displacements over the whole motion [rad or m].
        variables: Indices of these joints among the controlled ones.
        fraction: Fraction of the displacement at the beginning of the part.
        duration: Duration of the whole motion [s].
        since: Time at the beginning of the part [s]; inf while the motion waits.
    """

    start: np.ndarray
    displacement: np.ndarray
    variables: np.ndarray
    fraction: float
    duration: float
    since: float

    def aim(self, now: float, acceleration: np.ndarray, dt: float) -> np.ndarray:
        """Return the positions to aim at in one tick."""
        moved = min(max(now - self.since, 0.0), _ALONE)
        fraction = min(1.0, self.fraction + moved / self.duration)
        ahead = braking_distance(
            self.displacement / self.duration, acceleration[self.variables], dt
        )
        remaining = (1.0 - fraction) * np.abs(self.displacement)
        aim = np.full(len(acceleration), np.nan)
        aim[self.variables] = (
            self.start
            + fraction * self.displacement
            + np.sign(self.displacement) * np.minimum(np.abs(ahead), remaining)
        )
        return aim


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
        # Time of the last tick [s], one period after the one before, and its number.
        self._tick_time, self._ticks = commander.now(), commander.ticks
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
        period = settings.period
        elapsed = self._elapsed(now, period)
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
        follows = error < _LAG and self._fraction < 1.0
        if follows:
            self._fraction, self._standing = min(1.0, self._fraction + elapsed / duration), 0.0
        if self.is_blocked:
            return None
        stretch = Stretch(
            self._start, displacement, self._variables, self._fraction, duration,
            since=self._tick_time if follows else math.inf,
        )  # fmt: skip
        farthest = stretch.aim(now + _ALONE, self._commander.servo.acceleration, period)
        self._aim = farthest[self._variables]
        target = self._commander.reader.joints(
            self._names, self._aim.tolist(), now, lasting=True, motion=stretch
        )
        return target if isinstance(target, JointTarget) else None

    def _elapsed(self, now: float, period: float) -> float:
        """Return the time since the last call, counted in ticks [s]."""
        before, ticks = self._tick_time, self._ticks
        self._ticks = self._commander.ticks
        # The counter restarts at an activation, and continues while simulated time stands still.
        ticked = max(0, self._ticks - ticks) * period
        self._tick_time = before + ticked
        if abs(now - self._tick_time) > _LATEST * period:
            self._tick_time = now
        return max(0.0, min(ticked, self._tick_time - before))
