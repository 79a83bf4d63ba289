# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A servo of a Franka Research 3 at 1 kHz, and an interface that refuses commands as that robot.

The limits are those published for it (Franka Robotics, "Robot and interface specifications"):
position, acceleration and jerk of each joint, and velocities that shrink towards the ends.
"""

import dataclasses
from pathlib import Path

import numpy as np
from safety.servo_drive import ServoDrive
from safety.servo_judge import Judge

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


class FrankaDrive(ServoDrive):
    """A drive of a Panda, which has the kinematics of the FR3, with strict limits of jerk.

    Positions and velocities are limited as in ``config/robots/franka_fr3.yaml``; accelerations and
    jerks are used up to the limits of the interface. Only what would move the robot away from its
    last command is left out: the interface itself ends then.
    """

    def __init__(self, seed):
        super().__init__('panda', RATE, seed)
        self.interface, self._positions = Interface(), [self.sent] * 3

    def more(self):
        text = (Path(__file__).parents[2] / 'config/robots/franka_fr3.yaml').read_text()
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

    def _do_settings(self):
        super()._do_settings()
        self.lag = 0.0

    def _do_away(self):
        self._do_reset()

    _do_freeze = _do_away


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
