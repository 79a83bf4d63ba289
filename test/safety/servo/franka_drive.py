# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A servo of a Franka Research 3 at 1 kHz, and an interface that refuses commands as that robot.

The limits are those published for it (Franka Robotics, "Robot and interface specifications"):
position, acceleration and jerk of each joint, and velocities that shrink towards the ends.
"""

import dataclasses
from pathlib import Path

import numpy as np
from safety.servo.drive import PAUSE_TICKS
from safety.servo.drive import ServoDrive
from safety.servo.judge import Judge

from ros_ik.servo import ControllerReference
from ros_ik.servo import JointTarget
from ros_ik.servo import PoseTarget
from ros_ik.settings.parameter_file import read_parameters

RATE = 1000
LOWEST = np.array([-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159])
HIGHEST = np.array([2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159])
VELOCITY = np.array([2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26])
ACCELERATION, JERK = 10.0, 5000.0
# |v| <= -offset + sqrt(slope * distance), of the distance from these positions.
OFFSET = np.array([0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35])
SLOPE = np.array([12.0, 5.17, 7.0, 8.0, 34.0, 11.0, 34.0])
UPPER_END = np.array([2.7501, 1.7918, 2.9065, -0.1458, 2.8101, 4.5205, 3.0196])
LOWER_END = np.array([-2.7501, -1.7918, -2.9065, -3.0481, -2.8101, 0.54092, -3.0196])


def velocity_limits(q, end):
    """Return the speeds that are permitted towards an end of the ranges [rad/s]."""
    return np.clip(np.sqrt(SLOPE * np.abs(end - q)) - OFFSET, 0.0, VELOCITY)


@dataclasses.dataclass
class Interface:
    """Finite differences of the positions commanded in every millisecond.

    Attributes:
        ticks: Number of positions.
        moving: Number of those that differ from the previous one.
        position: Largest excess over the ranges [rad].
        velocity: Largest part of the velocity limits that was used [1].
        acceleration: The same of the accelerations.
        jerk: The same of the jerks.
        refused: Number of positions that the robot would have refused.
    """

    ticks: int = 0
    moving: int = 0
    position: float = -np.inf
    velocity: float = 0.0
    acceleration: float = 0.0
    jerk: float = 0.0
    refused: int = 0

    def take(self, positions):
        """Take in positions [n + 3, 7], of which the first three were judged before."""
        q, rate = positions[3:], float(RATE)
        velocity = rate * np.diff(positions, axis=0)[2:]
        acceleration = rate**2 * np.diff(positions, 2, axis=0)[1:]
        jerk = rate**3 * np.diff(positions, 3, axis=0)
        # The limit at the one end or the other of the step, whichever is tighter.
        permitted = np.minimum(
            np.where(velocity > 0.0, *(velocity_limits(q, e) for e in (UPPER_END, LOWER_END))),
            VELOCITY,
        )
        used = {
            'velocity': np.abs(velocity) / np.maximum(permitted, 1e-9),
            'acceleration': np.abs(acceleration) / ACCELERATION,
            'jerk': np.abs(jerk) / JERK,
        }
        over = np.maximum(LOWEST - q, q - HIGHEST)
        bad = over > 0.0
        self.position = max(self.position, float(over.max()))
        for name, parts in used.items():
            setattr(self, name, max(getattr(self, name), float(parts.max())))
            bad = bad | (parts > 1.0 + 1e-6)
        self.ticks += len(q)
        self.moving += int(velocity.any(axis=1).sum())
        self.refused += int(bad.any(axis=1).sum())


def _spread(rng, low, high):
    """Return a number that is as often small as large."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


class FrankaDrive(ServoDrive):
    """A drive of a Panda, which has the kinematics of the FR3, with strict limits of jerk.

    Positions and velocities are limited as in ``config/robots/franka_fr3.yaml``; accelerations and
    jerks are used up to the limits of the interface. The controller publishes its reference, as
    joint_trajectory_controller does. Only what would move the robot away from it is left out: the
    interface itself ends then.

    Targets change more often than in other drives: to and fro within a few ticks, with noise, to
    the ends of joints, a little beside the robot, and in messages of 30 Hz to 1 kHz.
    """

    def __init__(self, seed):
        super().__init__('panda', RATE, seed)
        self.interface, self._positions = Interface(), [self.sent] * 3
        self.stride = 1

    def more(self):
        text = (Path(__file__).parents[3] / 'config/robots/franka_fr3.yaml').read_text()
        given = read_parameters(text.replace('fr3_', 'panda_'))
        limits = {key: value for key, value in given.items() if key.startswith('joint_limits.')}
        for key in limits:
            if key.endswith('.max_acceleration'):
                limits[key] = ACCELERATION
            if key.endswith('.max_jerk'):
                limits[key] = JERK
        return {**limits, 'limits.jerk': 'strict'}

    def run(self, ticks):
        log = super().run(ticks)
        self.interface.take(np.array(self._positions))
        del self._positions[:-3]
        return log

    def tick(self):
        row = super().tick()
        self._positions.append(self.sent)
        return row

    def _measure(self):
        given = ControllerReference(self.sent, self.sent_speed, np.full(len(self.sent), self.now))
        return dataclasses.replace(super()._measure(), reference=lambda: given)

    def _stream(self):
        if self.ticks % self.stride == 0:
            super()._stream()

    def _disturb(self):
        if self.rng.random() < 1.0 / PAUSE_TICKS:
            kinds = ('reversals', 'noise', 'ends', 'beside', 'stride')
            getattr(self, f'_do_{self.rng.choice(kinds)}')()
        super()._disturb()

    def _do_reversals(self):
        """Stream velocities or positions of joints, or velocities of the hand, to and fro."""
        rng, half = self.rng, int(_spread(self.rng, 1.0, 100.0))

        def sign():
            return 1.0 if self.ticks // half % 2 else -1.0

        match rng.integers(3):
            case 0:
                speeds = rng.uniform(-2.0, 2.0, len(self.names)) * VELOCITY
                self.targets = {'joints': lambda: self.reader.joint_velocities(
                    self.names, (sign() * speeds).tolist(), self.now)}
            case 1:
                middle, way = self.sent, rng.normal(0.0, _spread(rng, 1e-5, 0.3), len(VELOCITY))
                self.targets = {'joints': lambda: self.reader.joints(
                    self.names, (middle + sign() * way).tolist(), self.now)}
            case 2:
                linear, angular = rng.normal(0.0, 0.5, 3), rng.normal(0.0, 2.0, 3)
                self.targets = {('twist', 0): lambda: self.reader.twist(
                    0, '', sign() * linear, sign() * angular, self.now)}

    def _do_noise(self):
        """Add noise to every target."""
        size = _spread(self.rng, 1e-5, 1e-2)

        def trembling(make):
            def tremble():
                target = make()
                if isinstance(target, PoseTarget):
                    pose = target.pose + size * self.rng.normal(size=7)
                    pose[3:] /= np.linalg.norm(pose[3:])
                    return dataclasses.replace(target, pose=pose)
                if isinstance(target, JointTarget):
                    noise = size * self.rng.normal(size=len(target.positions))
                    return dataclasses.replace(target, positions=target.positions + noise)
                return target

            return tremble

        self.targets = {kind: trembling(make) for kind, make in self.targets.items()}

    def _do_ends(self):
        """Send joints to the ends of their ranges, a little before them or beyond."""
        ends = np.where(self.rng.random(len(self.low)) < 0.5, self.low, self.high)
        beyond = self.rng.choice([-0.05, -1e-6, 0.0, 1e-6, 0.05], len(ends))
        values = (ends + beyond).tolist()
        self.targets = {'joints': lambda: self.reader.joints(self.names, values, self.now)}

    def _do_beside(self):
        """Send the hand a little way."""
        pose = self.servo.targets.trackers[0].frame_pose(self.servo._poses())
        pose[:3] += self.rng.normal(0.0, _spread(self.rng, 1e-6, 0.05), 3)
        self.targets = {('pose', 0): lambda: self.reader.pose(
            0, '', pose[:3], pose[3:], self.now)}

    def _do_stride(self):
        self.stride = int(self.rng.choice([1, 1, 4, 10, 33]))

    def _do_away(self):
        self._do_reset()


class FrankaJudge(Judge):
    """Judge of distances; a robot that is too near brakes within its jerk limits."""

    def _braking(self, log, row):
        return np.ones(len(row), dtype=bool)


def franka_drive(seed, ticks, chunk):
    """Return the result of one drive: commands and distances."""
    drive = FrankaDrive(seed)
    judge = FrankaJudge(drive, f'franka seed {seed}')
    while drive.ticks < ticks:
        log = drive.run(min(chunk, ticks - drive.ticks))
        if log is not None:
            judge.take(log)
    return drive.interface, judge.record
