# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Streams of pose targets into a servo, and what the robot makes of them.

    tools/run env PYTHONPATH=test:. python -m support.target_streams

prints the table of docs/tuning.md.
"""

import dataclasses
import itertools

import numpy as np
from support.servo_rig import Rig

SPEED = 0.25


def eight(time):
    """Return displacements along y and z on a figure of eight, at up to 0.28 m/s."""
    return np.array([0.0, 0.1 * np.sin(2.0 * time), 0.05 * np.sin(4.0 * time)])


def ramp(time):
    """Return displacements at 0.25 m/s from 0.5 s to 1.7 s, which begin and end at once."""
    return np.array([0.0, SPEED * np.clip(time - 0.5, 0.0, 1.2), 0.0])


def step(time):
    """Return displacements that jump by 20 mm at 1 s."""
    return np.array([0.0, 0.02 * (time > 1.0), 0.0])


@dataclasses.dataclass
class Stream:
    """Messages about a path.

    Attributes:
        path: Displacement from the start [3] at a time [s].
        rate: Messages a second [Hz].
        jitter: How far each is early or late, as a part of the period.
        delay: Time on the way [s].
        noise: Standard deviation of positions [m].
        stamped: Whether each says when it was made, on a clock of its own.
        lost: Part of them that is lost.
        again: How often each comes once more, and then once more an older one.
    """

    path: object = eight
    rate: float = 30.0
    jitter: float = 0.0
    delay: float = 0.0
    noise: float = 0.0
    stamped: bool = True
    lost: float = 0.0
    again: bool = False

    def messages(self, seconds, rng):
        """Return times of receipt, stamps and displacements, in the order of receipt."""
        made = np.arange(0.0, seconds, 1.0 / self.rate)
        late = self.delay + self.jitter / self.rate * rng.uniform(-1.0, 1.0, len(made))
        points = [self.path(time) + self.noise * rng.normal(size=3) for time in made]
        found = list(zip(made + late, made, points, strict=True))
        found = [message for message in found if rng.random() >= self.lost]
        if self.again:
            found += [
                (new[0] + shift / self.rate, *message[1:])
                for before, new in itertools.pairwise(found)
                for shift, message in ((0.3, new), (0.6, before))
            ]
        return sorted(found, key=lambda message: message[0])


@dataclasses.dataclass
class Ride:
    """Response of a robot to a stream.

    Attributes:
        rig: The robot afterwards.
        way: Commanded displacements after each tick [m], [n, 3].
        target: Those of the path then.
        velocity: Joint velocities [rad/s], [n, joints].
    """

    rig: Rig
    way: np.ndarray
    target: np.ndarray
    velocity: np.ndarray

    def jerk(self, since=0.0):
        """Return the RMS jerk of all joints [rad/s^3]."""
        first = round(since / self.rig.dt)
        return np.sqrt((np.diff(self.velocity[first:], 2, axis=0) ** 2).mean()) / self.rig.dt**2

    def lag(self, since, until):
        """Return the mean time by which the robot is behind the path [s]."""
        dt = self.rig.dt
        part = slice(round(since / dt), round(until / dt))
        velocity = np.gradient(self.target, dt, axis=0)[part]
        behind = self.target[part] - self.way[part]
        return (behind * velocity).sum() / (velocity**2).sum()


def ride(stream, seconds, loop=100.0, seed=0, **settings):
    """Let a Panda follow a stream."""
    rig = Rig('panda', control_rate=float(loop), **settings)
    home, start = rig.pose().copy(), rig.now
    waiting = stream.messages(seconds, np.random.default_rng(seed))
    way, target, velocity = [], [], []
    for tick in range(1, round(seconds * loop) + 1):
        time = tick * rig.dt
        while waiting and waiting[0][0] <= time + 1e-9:
            _, made, shift = waiting.pop(0)
            stamp = 1000.0 + made if stream.stamped else None
            pose = rig.reader.pose(
                0, '', home[:3] + shift, home[3:], start + time, stamp=stamp
            )
            rig.change(poses=(pose,))
        before = rig.q.copy()
        rig.tick()
        way.append(rig.pose()[:3] - home[:3])
        target.append(stream.path(time))
        velocity.append((rig.q - before)[rig.robot.coords] / rig.dt)
    return Ride(rig, *map(np.array, (way, target, velocity)))


def main():
    """Print what prediction does to streams of several rates, as rows of a table."""
    for loop in (100, 200, 500, 1000):
        for rate in (10, 30, 60, 90, 100):
            row = [f'| {loop} | {rate} |']
            for path, seconds in ((eight, 6.0), (ramp, 3.0)):
                rides = [
                    ride(Stream(path, rate), seconds, loop, ee__target_prediction=prediction)
                    for prediction in ('off', 'velocity')
                ]
                if path is eight:
                    jerks = [one.jerk(1.5) for one in rides]
                    errors = [np.linalg.norm(one.way - one.target, axis=1) for one in rides]
                    errors = [1e3 * error[round(1.5 * loop) :].mean() for error in errors]
                    row.append('{:.0f} / {:.0f} |'.format(*jerks))
                    row.append('{:.1f} / {:.1f} |'.format(*errors))
                else:
                    lags = [1e3 * one.lag(1.1, 1.6) for one in rides]
                    over = [1e3 * (one.way[:, 1].max() - 1.2 * SPEED) for one in rides]
                    row.append('{:.0f} / {:.0f} |'.format(*lags))
                    row.append('{:.1f} / {:.1f} |'.format(*over))
            print(*row, flush=True)


if __name__ == '__main__':
    main()
