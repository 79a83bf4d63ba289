# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limit of the lead of a joint's command over its measured position.

A stop that begins now must end within W of the measured position:

    W = min(max, floor + t (v + u) / 2 + u^2 / (2 a)),    u = max(v, min(v + a t, v_max))

v is the measured speed in the direction of the command, a and v_max are the limits of the joint,
and t is the accepted lag. u is the speed that the command may have reached in t, so a robot with
this lag never slows the command. For a robot at rest W is floor + a t^2. A robot that is slower
than its command slows the command to its own speed.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.motion.approach import braking_step
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings

# Following errors beyond the lag: bending, gravity, noise [rad].
_FLOOR = 0.1
# Fraction of the remaining lead that may be used per second [1/s]. Otherwise encoder noise would
# modulate the speed of slow motions.
_GAIN = 10.0
# Time for which one check stays valid [s], so that not every tick needs one at high rates.
SLACK_TIME = 0.005
# Fraction of the requested speed below which a step counts as slowed.
_SLOWED = 0.9
# Acceleration that stands for a limit of 0, that of joints with a velocity limit of 0
# [rad/s^2 or m/s^2].
_MIN_ACCELERATION = 1e-9


class LeadLimit:
    """Limit of the steps of the controlled joints; arrays are [n_variables].

    Attributes:
        unit: Equivalent of 1 rad in the unit of each joint [rad or m].
        floor: Following errors beyond the lag [rad or m].
        watched: Mask of the limited joints.
        trial: Limit of joints that must first prove that they follow, inf for all others.
        lead_at_rest: W of joints at rest, inf before the first step.
        has_slack: True if the last step leaves enough room for any motion within the next
            ``SLACK_TIME`` s.
        joint: Index of the joint that slowed the last step, or -1.
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Keep the limits of ``robot``."""
        self._group, dofs = robot.group, robot.group.variable_dof
        self._robot, self._velocity = robot, robot.velocity[dofs]
        self.unit = robot.radian
        self.trial = np.full(len(dofs), np.inf)
        self.joint, self.has_slack = -1, False
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        given = np.array(settings.following_error_max or (np.inf,))
        self.watched = np.broadcast_to(given > 0.0, self.unit.shape)
        self._max = np.where(self.watched, given, np.inf)
        self.floor = np.minimum(_FLOOR * self.unit, 0.5 * self._max)
        self._speed = self._robot.scaled_velocity(settings)[self._group.variable_dof]
        self._longest = self._velocity * settings.period * (1.0 + 1e-6)
        self._period, self._slack_ticks = settings.period, math.floor(SLACK_TIME / settings.period)
        self._acceleration: np.ndarray | None = None
        self._lag = 0.0
        self.lead_at_rest = np.full_like(self._max, np.inf)

    def limit(
        self,
        step: np.ndarray,
        last: np.ndarray,
        ahead: np.ndarray,
        speed: np.ndarray,
        acceleration: np.ndarray,
        lag: float,
    ) -> bool:
        """Slow a step if the command would get too far ahead; return True if it changed.

        One factor slows all joints, to keep the path. A joint that must brake harder does so.

        Args:
            step: The step [joint_dof_count], changed in place.
            last: The step before it.
            ahead: Commanded less measured positions [rad or m].
            speed: Measured velocities [rad/s or m/s].
            acceleration: Acceleration limits [rad/s^2 or m/s^2].
            lag: Accepted lag [s].
        """
        self.joint = -1
        if acceleration is not self._acceleration or lag != self._lag:
            self._acceleration, self._lag = acceleration, lag
            self._braking = np.maximum(acceleration, _MIN_ACCELERATION)
            self.lead_at_rest = self._allowed_lead(np.zeros(len(ahead)))
        group = self._group
        wanted = step[group.variable_dof]
        size, slowdown = np.abs(wanted), self._braking * self._period**2
        # Usually the command could stop within its limit even if the robot stood still.
        fast = size + self._slack_ticks * slowdown
        stop = fast * (1.5 + self._slack_ticks + 0.5 * fast / slowdown)
        self.has_slack = bool(
            (np.abs(ahead) + stop <= np.minimum(self.lead_at_rest, self.trial)).all()
        )
        if self.has_slack:
            return False
        if (size > self._longest).any():
            # The check of steps refuses a step above the velocity limits.
            return False
        forward = np.sign(wanted)
        room = np.minimum(self._allowed_lead(np.maximum(forward * speed, 0.0)), self.trial)
        room = np.where(self.watched, room - forward * ahead, np.inf)
        room = np.maximum(room, 0.0)
        most = np.minimum(
            braking_step(room, self._braking, self._period), _GAIN * self._period * room
        )
        most[~self.watched] = np.inf
        last_joints = last[group.variable_dof]
        with np.errstate(all='ignore'):  # negligible steps
            parts = np.where(size > most, most / size, 1.0)
            # A common factor; all joints brake as far as their limits permit.
            kept = np.where(size > 0.0, (forward * last_joints - slowdown) / size, 0.0)
        worst = int(parts.argmin())
        if parts[worst] >= 1.0:
            return False
        part = min(max(float(parts[worst]), float(kept.max())), 1.0)
        joints = np.clip(part * wanted, -most, most)
        joints = np.clip(joints, last_joints - slowdown, last_joints + slowdown)
        group.write_steps(joints, step)
        if parts[worst] < _SLOWED:
            self.joint = worst
        return True

    def _allowed_lead(self, speed: np.ndarray) -> np.ndarray:
        """Return W of joints that move with the command at ``speed``."""
        lag, acceleration = self._lag, self._braking
        reached = np.maximum(np.minimum(speed + acceleration * lag, self._speed), speed)
        distance = 0.5 * lag * (speed + reached) + 0.5 * reached**2 / acceleration
        return np.minimum(self.floor + distance, self._max)
