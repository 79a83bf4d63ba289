# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot played by a test: it follows commands, or is moved by hand.

It lives in the client and uses public messages only: trajectories in, joint states out. Joint
states can have every fault of a real robot.
"""

import math

import numpy as np
from sensor_msgs.msg import JointState
from support.motions.motion import Arm
from support.motions.motion import array_of
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import RATE
from support.robots.robots import pin

from ros_ik.demo.robots import find_robot

# Time of measurements at a new place before a motion starts there [s].
_SETTLED = 0.15


class HeldRobot:
    """The Panda as a list of numbers.

    Attributes:
        position: Where each joint is [rad], by name.
        follows: True if it goes where the newest trajectory tells it.
        bias: What encoders add to every position [rad].
        noise: Amplitude of what they add at random [rad].
        parts: Names of the joints in each message, in turn, as several broadcasters send them.
        silent: True if it sends nothing.
    """

    def __init__(self, client, qos=1, rate=RATE, **position):
        self.position = self.home() | position
        self.follows, self.silent = True, False
        self.bias = self.noise = 0.0
        self.parts = [ARM]
        self._client, self._random = client, np.random.default_rng(5)
        self._seen = self._turn = 0
        self.publisher = client.node.create_publisher(JointState, 'joint_states', qos)
        self._period = 1.0 / rate
        self._timer = client.node.create_timer(self._period, self._step)

    @staticmethod
    def home():
        """Return a comfortable posture."""
        home = find_robot('panda').home
        return {name: float(home.get(name, 0.0)) for name in ARM}

    def place(self, **position):
        """Move joints by hand while the node sends no commands."""
        # A command that arrives late would move the robot back.
        self._client.wait_for_silence()
        self.position |= position
        self._seen = len(self._client.sent)

    def wait_until_seen(self):
        """Wait until the node reports the frame of the new joint positions; not while silent."""
        if self.silent:
            return
        (place,), (rotation,) = Arm().poses([array_of(self.position)])
        self._client.poses.clear()

        def is_seen():
            if not self._client.poses:
                return False
            pose = self._client.poses[-1].pose
            p, q = pose.position, pose.orientation
            seen = pin.Quaternion(q.w, q.x, q.y, q.z).matrix()
            errors = [*(place - (p.x, p.y, p.z)), *(rotation - seen).ravel()]
            return np.abs(errors).max() < 1e-6

        self._client.wait_for(is_seen, 'the robot seen where it is')
        # A motion starts at the measurements of the last 0.1 s.
        turn = self._turn + math.ceil(_SETTLED / self._period)
        self._client.wait_for(lambda: self._turn >= turn or self.silent, 'measurements')

    def _say(self):
        names = self.parts[self._turn % len(self.parts)]
        self._turn += 1
        self.publisher.publish(JointState(name=list(names), position=self.read(names)))

    def read(self, names=ARM):
        """Return the encoder values of some joints."""
        noise = self._random.uniform(-self.noise, self.noise, len(names))
        truth = [self.position.get(name, 0.0) for name in names]
        return [value + self.bias + float(n) for value, n in zip(truth, noise, strict=True)]

    def _step(self):
        # A test that clears the record has not sent a command.
        self._seen = min(self._seen, len(self._client.sent))
        if self.follows and len(self._client.sent) > self._seen:
            self._seen = len(self._client.sent)
            message = self._client.sent[-1][1]
            if all(map(math.isfinite, message.points[0].positions)):
                self.position |= zip(message.joint_names, message.points[0].positions, strict=True)
        if not self.silent:
            self._say()
