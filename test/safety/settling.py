# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets, each until the robot has reached it, rests, or its time is over."""

import dataclasses

import numpy as np
from safety.drive import DT
from safety.drive import GAIN
from safety.drive import POSTURE_WEIGHT
from safety.geometry import rotation_error

# A target is reached when every tip is that near [m, rad].
NEAR_POSITION, NEAR_ROTATION = 0.01, 0.05
# Time for a target [ticks]: at most, and until early arrivals are told from late ones.
MAX_TICKS, EARLY_TICKS = 2000, 300
# At rest: in so many ticks what the robot minimises and the errors of its targets fell by less
# than a part, and no joint went farther [rad].
REST_TICKS, REST_PART, REST_WAY = 100, 1e-3, 0.01


@dataclasses.dataclass
class Outcome:
    """Outcome of one target.

    Attributes:
        kind: 'reached', 'rest' or 'moving' (out of time).
        is_free: True if the target belongs to a configuration free of collisions.
        ticks: How long it took.
        joint_q: Where the robot was at last.
        wanted: Its targets, [tips, 7].
        speed: Largest joint speed at last [rad/s].
    """

    kind: str
    is_free: bool
    ticks: int
    joint_q: np.ndarray
    wanted: np.ndarray
    speed: float


def settle(drive, ticks):
    """Give each robot of a drive one target after the other for so many ticks of each.

    Returns:
        The outcome of each target that was done with.
    """
    watch, outcomes = _Watch(drive), []
    drive.aim(np.ones(drive.n, dtype=bool))
    for _ in range(ticks):
        drive.tick(is_checked=False)
        kinds = watch.look()
        done = kinds != ''
        for k in np.flatnonzero(done):
            speed = float(np.abs(drive.last[k]).max() / DT)
            place, wanted = drive.joint_q[k].copy(), drive.wanted[k].copy()
            is_free, age = bool(drive.feasible[k]), int(watch.age[k])
            outcomes.append(Outcome(str(kinds[k]), is_free, age, place, wanted, speed))
        if done.any():
            watch.restart(done)
            drive.aim(done)
    return outcomes


class _Watch:
    """Detector of robots that are done with their targets."""

    def __init__(self, drive):
        self.drive, self.tick = drive, 0
        self.age = np.zeros(drive.n, dtype=int)
        # Values some ticks ago; infinite while the target is younger.
        self.sums = np.full((REST_TICKS, 2, drive.n), np.inf)
        self.places = np.full((REST_TICKS, drive.n, len(drive.coords)), np.inf)
        self.lowest = np.full((2, drive.n), np.inf)

    def look(self):
        """Return the kind of outcome of each robot after a tick, '' to go on."""
        sums, is_near = self._sums()
        row, place = self.tick % REST_TICKS, self.drive.joint_q[:, self.drive.coords]
        self.tick, self.age = self.tick + 1, self.age + 1
        self.lowest = np.minimum(self.lowest, sums)
        rests = np.abs(place - self.places[row]).max(axis=1) < REST_WAY
        rests &= (self.lowest > (1.0 - REST_PART) * self.sums[row]).all(axis=0)
        self.sums[row], self.places[row] = self.lowest, place
        late = np.where(self.age >= MAX_TICKS, 'moving', '')
        return np.where(is_near, 'reached', np.where(rests, 'rest', late))

    def restart(self, which):
        """Forget the records of some robots."""
        self.age[which], self.lowest[:, which] = 0, np.inf
        self.sums[..., which], self.places[:, which] = np.inf, np.inf

    def _sums(self):
        """Return squares, [2, n], and which robots have reached their targets.

        The squares are the minimised sums and the errors of the targets.
        """
        drive = self.drive
        poses = drive.poses(drive.joint_q)[:, drive.tips]
        position = np.linalg.norm(drive.wanted[..., :3] - poses[..., :3], axis=-1)
        turn = np.linalg.norm(rotation_error(drive.wanted[..., 3:], poses[..., 3:]), axis=-1)
        posture = (drive.base - drive.joint_q)[:, drive.coords]
        error = (position**2 + turn**2).sum(axis=1)
        cost = GAIN * error + POSTURE_WEIGHT**2 * (posture**2).sum(axis=1)
        is_near = (position < NEAR_POSITION).all(axis=1) & (turn < NEAR_ROTATION).all(axis=1)
        return np.array([cost, error]), is_near
