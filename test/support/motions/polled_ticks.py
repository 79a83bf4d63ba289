# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ticks of a servo whose targets are set by polls at other times, and their accelerations."""

import numpy as np


def polled_ticks(rig, poll, rng, jitter):
    """Make ticks that begin late, with polls at any time between them; yield after each.

    Args:
        rig: The servo.
        poll: Function of the time that advances the goal; it returns True at its end.
        rng: Source of random numbers.
        jitter: Largest delay of a tick [periods].
    """
    began = next_poll = rig.now
    for tick in range(1, 2000):
        now = began + (tick + rng.uniform(0.0, jitter)) * rig.dt
        while next_poll < now:
            if poll(next_poll):
                return
            next_poll += rig.dt * rng.uniform(0.3, 1.7)
        rig.now = now - rig.dt
        rig.tick()
        yield


def accelerations(rig, first=0):
    """Return accelerations of the commands, as fractions of the limits [n, n_variables].

    Args:
        rig: The servo.
        first: Index of the first published command.
    """
    positions = np.array([output.joint_q[rig.robot.coords] for output in rig.published[first:]])
    return np.diff(positions, n=2, axis=0) / rig.dt**2 / rig.servo.acceleration
