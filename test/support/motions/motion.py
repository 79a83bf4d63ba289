# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Commands of a node, read from its trajectories and judged by Pinocchio's limits.

Trajectories need velocities (``outputs.default.publish_velocities``): with them the start of each
step, q - v dt, is known even if the previous one was lost.
"""

import dataclasses
import functools
import math

import numpy as np
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import RATE
from support.robots.robots import pin

# Numbers pass through DDS unchanged: only sums and products are rounded.
ROUNDING = 1e-9
# docs/parameters.md: a joint without an acceleration limit gains its velocity limit in this time.
_RISE_TIME = 0.2
# Periods of silence, besides those of lost commands, after which a motion may begin elsewhere.
_SILENCE = 5.0


@dataclasses.dataclass(frozen=True)
class JointRanges:
    """Limits of the controlled joints: position, velocity, acceleration."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


@functools.cache
def panda_ranges():
    """Return the limits of the Panda's arm."""
    model = pin.buildModelFromXML(panda_urdf())
    joints = [model.joints[model.getJointId(name)] for name in ARM]
    q, v = [joint.idx_q for joint in joints], [joint.idx_v for joint in joints]
    velocity = model.velocityLimit[v]
    return JointRanges(
        model.lowerPositionLimit[q], model.upperPositionLimit[q], velocity, velocity / _RISE_TIME
    )


@dataclasses.dataclass(frozen=True)
class Motion:
    """Commands in order of receipt.

    Attributes:
        time: When each was sent [s].
        number: How many had been sent by then, those that were lost on the way too.
        position: [n, joints] in rad.
        velocity: [n, joints] in rad/s.
        period: Period of the node [s].
    """

    time: np.ndarray
    number: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    period: float

    @property
    def began(self):
        """From where the step of each command began, [n, joints]."""
        return self.position - self.velocity * self.period

    @property
    def follows(self):
        """True if each command but the first continues the previous one, without a loss."""
        return np.all(np.abs(self.began[1:] - self.position[:-1]) < ROUNDING, axis=1)

    @property
    def steps(self):
        """Return the distance of each command from the previous one: 1 without a loss."""
        return np.diff(self.number)

    @property
    def speed(self):
        """Largest joint speed of each command [rad/s]."""
        return np.abs(self.velocity).max(axis=1)

    @property
    def starts(self):
        """Indices of commands that begin a motion: the first, and those that continue nothing.

        A command that begins elsewhere is a new start where it comes after one at rest and a
        silence, longer than what was lost on the way takes.
        """
        rest = np.all(self.velocity[:-1] == 0.0, axis=1)
        silence = np.diff(self.time) > (self.steps - 1 + _SILENCE) * self.period
        return [0, *(np.flatnonzero(rest & silence & ~self.follows) + 1)]

    def assert_within(self, ranges, positions=True, from_rest=True):
        """Check positions, velocities and accelerations of every command.

        Args:
            ranges: The limits.
            positions: True if those of the positions count.
            from_rest: True if the first command begins a motion.
        """
        q, v = self.position, self.velocity
        assert np.isfinite(q).all() and np.isfinite(v).all()
        if positions:
            assert np.all(q >= ranges.lower - ROUNDING) and np.all(q <= ranges.upper + ROUNDING)
        assert np.all(np.abs(v) <= ranges.velocity * (1.0 + ROUNDING)), 'too fast'
        rest = np.all(v[:-1] == 0.0, axis=1)
        assert np.all(self.follows | rest | (self.steps > 1)), 'goes on elsewhere'
        steps = np.where(self.follows, 1, self.steps)[:, None]
        change = np.abs(np.diff(v, axis=0)) / self.period
        again = np.flatnonzero(rest & ~self.follows) + 1
        for index in [*([0] if from_rest else []), *again]:
            # A motion begins at rest, wherever the previous one ended; its first step may be lost.
            most = (steps[index - 1, 0] if index else 1) * ranges.acceleration * self.period
            assert np.all(np.abs(v[index]) <= most + ROUNDING), (
                f'command {index} begins at a speed of {self.speed[index]}'
            )
        change[again - 1] = 0.0
        over = change / ranges.acceleration / steps
        assert np.all(over <= 1.0 + 1e-6), f'accelerates to {over.max():.3f} of the limit'
        moved = np.abs(np.diff(q, axis=0))
        moved[again - 1] = 0.0
        assert np.all(moved <= steps * ranges.velocity * self.period + ROUNDING), 'a jump'

    def assert_at_rest(self):
        """Check that the last command is at rest."""
        assert np.all(self.velocity[-1] == 0.0), self.velocity[-1]


def motion_of(client, period=1.0 / RATE, since=0):
    """Return the commands that a client has received, from the index ``since`` on."""
    sent = client.sent[since:]
    assert sent, 'nothing was commanded'
    for _, message, _ in sent:
        first, last = message.points
        assert list(first.positions) == list(last.positions), 'the end is not where it begins'
        assert not any(last.velocities), 'the end is not at rest'
        assert list(message.joint_names) == list(ARM)
    return Motion(
        np.array([1e-9 * stamp for stamp, _, _ in sent]),
        np.array([number for _, _, number in sent]),
        np.array([message.points[0].positions for _, message, _ in sent]),
        np.array([message.points[0].velocities for _, message, _ in sent]),
        period,
    )


def array_of(position):
    """Return positions by name as numbers in the order of the arm."""
    return np.array([position[name] for name in ARM])


def distance(pose, other):
    """Return the distance between the positions of two pose messages [m]."""
    a, b = pose.pose.position, other.pose.position
    return math.dist((a.x, a.y, a.z), (b.x, b.y, b.z))


class Arm:
    """The Panda in Pinocchio: poses of frames at commanded positions."""

    def __init__(self):
        self._model = pin.buildModelFromXML(panda_urdf())
        self._data = self._model.createData()
        self._coords = [self._model.joints[self._model.getJointId(name)].idx_q for name in ARM]

    def _configuration(self, position):
        q = pin.neutral(self._model)
        q[self._coords] = position
        return q

    def poses(self, positions, frame='panda_hand_tcp'):
        """Return positions [n, 3] and rotations [n, 3, 3] of a frame in the base."""
        index, found = self._model.getFrameId(frame), []
        for row in positions:
            pin.framesForwardKinematics(self._model, self._data, self._configuration(row))
            pose = self._data.oMf[index]
            found.append((pose.translation.copy(), pose.rotation.copy()))
        return np.array([p for p, _ in found]), np.array([r for _, r in found])

    def center_of_mass(self, positions):
        """Return the centre of mass in the base, that of the base with it, [n, 3]."""
        found, base = [], self._model.inertias[0]
        for row in positions:
            moving = pin.centerOfMass(self._model, self._data, self._configuration(row))
            mass = self._data.mass[0]
            found.append((mass * moving + base.mass * base.lever) / (mass + base.mass))
        return np.array(found)

    def speeds(self, motion, frame='panda_hand_tcp'):
        """Return linear and angular speed of a frame at each command that follows another."""
        position, rotation = self.poses(motion.position, frame)
        linear = np.linalg.norm(np.diff(position, axis=0), axis=1) / motion.period
        turns = rotation[:-1].transpose(0, 2, 1) @ rotation[1:]
        angular = np.array([np.linalg.norm(pin.log3(turn)) for turn in turns]) / motion.period
        return linear[motion.follows], angular[motion.follows]
