# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot with imperfect drives: delay, lag, noise, sag, or no motion."""

import collections
import math

import numpy as np
from support.rigs.servo_rig import Rig

# Barriers cost time and do not affect how a robot follows.
NO_BARRIERS = {'barriers__self_collision__enabled': False, 'barriers__world__enabled': False}


class Drives:
    """Positions that follow commands: dead time, first order, speed limit, sag; rad, s."""

    def __init__(self, q, dt, lag=0.0, dead_time=0.0, noise=0.0, speed=math.inf):
        self.q, self.sag = q.copy(), np.zeros(len(q))
        self.frozen, self.blocked = False, []
        self._dt, self._lag, self._noise, self._speed = dt, lag, noise, speed
        count = round(dead_time / dt) + 1
        self._sent = collections.deque([q.copy()] * count, maxlen=count)
        self._random = np.random.default_rng(8)

    def follow(self, command):
        """Advance by a period towards the command."""
        self._sent.append(command.copy())
        if self.frozen:
            return
        goal = self._sent[0] - self.sag
        part = 1.0 if self._lag == 0.0 else -math.expm1(-self._dt / self._lag)
        most = self._speed * self._dt
        step = np.clip(part * (goal - self.q), -most, most)
        step[self.blocked] = 0.0
        self.q = self.q + step

    def read(self):
        """Return the encoder values."""
        return self.q + self._noise * self._random.standard_normal(len(self.q))


class Loop:
    """A servo and such a robot, and a record of both.

    Attributes:
        rig: The servo.
        drives: The robot.
        sent: What its controller holds, coordinates.
        silent: True if no joint states arrive.
    """

    def __init__(self, name='panda', lag=0.02, dead_time=0.0, noise=0.0, sag=0.0, speed=math.inf,
                 **values):  # fmt: skip
        self.rig = Rig.shared(name, **{**NO_BARRIERS, **values})
        self.coords = self.rig.robot.coords
        self.drives = Drives(self.rig.q, self.rig.dt, lag, dead_time, noise, speed)
        self.drives.sag[self.coords] = sag
        self.sent = self.rig.q.copy()
        self.commanded, self.measured, self.codes = [], [], []
        self.silent, self._heard = False, (self.sent.copy(), 0.0)

    def tick(self, count=1, seconds=None):
        """Let robot and servo run; return the last output."""
        for _ in range(count if seconds is None else round(seconds / self.rig.dt)):
            self.drives.follow(self.sent)
            # The rig publishes these readings; commands are kept separately.
            if not self.silent:
                self._heard = self.drives.read(), self.rig.now + self.rig.dt
            self.rig.q, self.rig.received = self._heard
            output = self.rig.tick()
            if output.publish:
                self.sent = output.joint_q.copy()
            self.commanded.append(self.sent[self.coords])
            self.measured.append(self.drives.q[self.coords])
            self.codes.append(int(output.code))
        return output

    def gaps(self, since=0):
        """Return the difference of command and position of each joint [ticks, joints]."""
        return np.abs(np.array(self.commanded[since:]) - np.array(self.measured[since:]))

    def speeds(self, since=0):
        """Return the speeds of the command [ticks - 1, joints], by differences."""
        return np.diff(np.array(self.commanded[since:]), axis=0) / self.rig.dt

    def assert_smooth(self, since=0):
        """Check that the command never leaves the limits on velocity and acceleration."""
        robot = self.rig.robot
        dofs, speeds = robot.group.variable_dof, self.speeds(since)
        assert np.all(np.abs(speeds) <= robot.velocity[dofs] * (1 + 1e-6))
        change = np.abs(np.diff(speeds, axis=0)) / self.rig.dt
        assert np.all(change <= robot.acceleration[dofs] * (1 + 1e-6))

    def limits(self):
        """Return the limits on velocity and acceleration of the controlled joints."""
        robot = self.rig.robot
        dofs = robot.group.variable_dof
        return robot.velocity[dofs], robot.acceleration[dofs]
