# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Streams of pose targets for a servo, and the motion of the robot.

    tools/run env PYTHONPATH=test:. python -m support.motions.target_streams

prints the first table of "Targets that move" in docs/motion_quality.md.
"""

import dataclasses

import numpy as np
from support.rigs.servo_rig import Rig

from benchmarks.motion.metrics import mean_distance
from benchmarks.motion.metrics import mean_lag
from benchmarks.motion.metrics import overshoot
from benchmarks.motion.metrics import rms_jerk
from benchmarks.motion.target_streams import eight
from benchmarks.motion.target_streams import ramp
from benchmarks.motion.target_streams import Stream
from ros_ik.servo.motion.pose_math import move_pose
from ros_ik.servo.motion.pose_math import pose_difference


@dataclasses.dataclass
class Ride:
    """Response of a robot to a stream.

    Attributes:
        rig: The robot afterwards.
        way: Commanded displacements after each tick [m], [n, 3].
        target: Those of the path then.
        velocity: Joint velocities [rad/s], [n, joints].
        angle: Angles to the orientation at the start [rad], [n].
    """

    rig: Rig
    way: np.ndarray
    target: np.ndarray
    velocity: np.ndarray
    angle: np.ndarray

    def jerk(self, since=0.0):
        """Return the RMS jerk of all joints [rad/s^3]."""
        return rms_jerk(self.velocity[round(since / self.rig.dt) :], self.rig.dt)

    def lag(self, since, until):
        """Return the mean time by which the robot is behind the path [s]."""
        part = slice(round(since / self.rig.dt), round(until / self.rig.dt))
        return mean_lag(self.way[part], self.target[part], self.rig.dt)


def ride(stream, seconds, loop=100.0, seed=0, turns=0.0, name='panda', turning=None, **settings):
    """Let a robot follow a stream, whose orientations have noise of ``turns`` rad on each axis.

    ``turning`` is a function of the time that returns rotation vectors from the orientation at the
    start; without it the target does not turn.
    """
    rig = Rig.shared(name, reports=False, control_rate=float(loop), **settings)
    home, start = rig.pose().copy(), rig.now
    way, target, velocity, angle = [], [], [], []
    noise = np.random.default_rng(seed)
    for time, messages in stream.arrivals(seconds, loop, np.random.default_rng(seed)):
        for _, made, shift in messages:
            stamp = 1000.0 + made if stream.stamped else None
            turn = turns * noise.normal(size=3)
            place = move_pose(home, shift, turn if turning is None else turn + turning(made))
            rig.change(
                poses=(rig.reader.pose(0, '', place[:3], place[3:], start + time, stamp=stamp),)
            )
        before = rig.q.copy()
        rig.tick()
        pose = rig.pose()
        way.append(pose[:3] - home[:3])
        target.append(stream.path(time))
        velocity.append((rig.q - before)[rig.robot.coords] / rig.dt)
        angle.append(np.linalg.norm(pose_difference(pose, home)[1]))
    return Ride(rig, *map(np.array, (way, target, velocity, angle)))


def main():
    """Print the effect of prediction on streams of several rates, as rows of a table."""
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
                    since = round(1.5 * loop)
                    errors = [
                        1e3 * mean_distance(one.way[since:], one.target[since:]) for one in rides
                    ]
                    row.append('{:.0f} / {:.0f} |'.format(*jerks))
                    row.append('{:.1f} / {:.1f} |'.format(*errors))
                else:
                    lags = [1e3 * one.lag(1.1, 1.6) for one in rides]
                    over = [1e3 * overshoot(one.way, ramp(seconds)) for one in rides]
                    row.append('{:.0f} / {:.0f} |'.format(*lags))
                    row.append('{:.1f} / {:.1f} |'.format(*over))
            print(*row, flush=True)


if __name__ == '__main__':
    main()
