# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Drives of a whole servo, one after the other, for a number of ticks.

    tools/run env PYTHONPATH=test:. python -m safety.servo.stress --robot panda --rate 100 --seed 3

repeats one; without --seed it goes on until the ticks are done.
"""

import argparse
import dataclasses
import json
import time

import numpy as np
from safety.servo.cases import SERVO_CASES
from safety.servo.drive import ServoDrive
from safety.servo.judge import Judge
from safety.servo.judge import Record

# Ticks of one drive, and of one log in it: obstacles change their shapes in between.
DRIVE, CHUNK = 4000, 500
RATES = (30, 100, 250, 1000)


class JogDrive(ServoDrive):
    """A drive whose poses and joint targets are velocities of joints, up to twice their limits."""

    def _do_pose(self):
        dofs = self.servo.robot.group.variable_dof
        speeds = np.minimum(self.servo.robot.velocity[dofs], 10.0)
        named = np.flatnonzero(self.rng.random(len(self.names)) < 0.5)
        names = [self.names[k] for k in named] or self.names[:1]
        values = (2.0 * speeds * self.rng.uniform(-1.0, 1.0, len(speeds)))[: len(names)].tolist()
        self.targets = {'joints': lambda: self.reader.joint_velocities(names, values, self.now)}

    _do_joints = _do_pose


class MovingDrive(ServoDrive):
    """A drive with moving poses, in messages of a bad network, that are predicted in between."""

    def more(self):
        tasks = self.case.settings.get('frame_tasks', ['ee'])
        return {f'{task}.target_prediction': 'velocity' for task in tasks}

    def _do_pose(self):
        super()._do_pose()
        # The newest is the last one in the order of the dictionary.
        key = next(key for key in reversed(self.targets) if key[0] == 'pose')
        make, rng, began = self.targets[key], self.rng, self.now
        rate, stamped = 10.0 ** rng.uniform(0.5, 2.5), rng.random() < 0.7
        speed, pace = rng.normal(0.0, 0.5, 3), rng.uniform(0.0, 3.0)
        last = [None, -np.inf]

        def moving():
            if self.now - last[1] > rng.uniform(0.5, 1.5) / rate:
                target, late = make(), rng.uniform(0.0, 0.5) / rate
                pose = target.pose.copy()
                pose[:3] += speed * np.sin(pace * (self.now - late - began))
                stamp = self.now - late if stamped else None
                last[:] = dataclasses.replace(target, pose=pose, stamp=stamp), self.now
            return last[0]

        self.targets[key] = moving


def drive(robot, rate, seed, ticks=DRIVE, kind=ServoDrive):
    """Return the record of one drive."""
    servo = kind(robot, rate, seed)
    judge = Judge(servo, f'{robot} {rate} Hz seed {seed}')
    for _ in range(-(-ticks // CHUNK)):
        log = servo.run(min(CHUNK, ticks))
        if log is not None:
            judge.take(log)
    return judge.record


def as_json(record):
    """Return a record as a line of JSON."""
    return json.dumps(vars(record), default=float)


def main():
    """Drive as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', nargs='*', default=sorted(SERVO_CASES))
    parser.add_argument('--rate', nargs='*', type=int, default=RATES)
    parser.add_argument('--seed', type=int)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--ticks', type=int, default=DRIVE)
    parser.add_argument('--seconds', type=float, default=np.inf)
    parser.add_argument('--jog', action='store_true', help='velocities of joints for poses')
    parser.add_argument('--moving', action='store_true', help='poses that move, predicted')
    given = parser.parse_args()
    kind = JogDrive if given.jog else MovingDrive if given.moving else ServoDrive
    if given.seed is not None:
        for robot in given.robot:
            for rate in given.rate:
                print(robot, rate, as_json(drive(robot, rate, given.seed, given.ticks, kind)))
        return
    total, seed, until = 0, given.first, time.monotonic() + given.seconds
    records = {robot: Record() for robot in given.robot}
    while total < given.ticks and time.monotonic() < until:
        for robot in given.robot:
            for rate in given.rate:
                one = drive(robot, rate, seed, kind=kind)
                records[robot].add(one)
                total += one.ticks
                print(json.dumps({'robot': robot, 'rate': rate, 'seed': seed}), as_json(one),
                      flush=True)  # fmt: skip
        seed += 1


if __name__ == '__main__':
    main()
