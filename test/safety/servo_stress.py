# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Drives of a whole servo one after the other, as many as are asked for.

    tools/run env PYTHONPATH=test:. python -m safety.servo_stress --robot panda --rate 100 --seed 3

repeats one; without --seed it goes on until the ticks are done.
"""

import argparse
import json
import time

import numpy as np
from safety.servo_cases import SERVO_CASES
from safety.servo_drive import ServoDrive
from safety.servo_judge import Judge
from safety.servo_judge import Record

# Ticks of one drive, and of one log in it: obstacles change their shapes in between.
DRIVE, CHUNK = 4000, 500
RATES = (30, 100, 250, 1000)


def drive(robot, rate, seed, ticks=DRIVE):
    """Return what one drive came to."""
    servo = ServoDrive(robot, rate, seed)
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
    given = parser.parse_args()
    if given.seed is not None:
        for robot in given.robot:
            for rate in given.rate:
                print(robot, rate, as_json(drive(robot, rate, given.seed, given.ticks)))
        return
    total, seed, until = 0, given.first, time.monotonic() + given.seconds
    records = {robot: Record() for robot in given.robot}
    while total < given.ticks and time.monotonic() < until:
        for robot in given.robot:
            for rate in given.rate:
                one = drive(robot, rate, seed)
                records[robot].add(one)
                total += one.ticks
                print(json.dumps({'robot': robot, 'rate': rate, 'seed': seed}), as_json(one),
                      flush=True)  # fmt: skip
        seed += 1


if __name__ == '__main__':
    main()
