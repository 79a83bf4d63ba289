# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Strict jerk limits: a Franka Research 3 would refuse no command, for any input.

SERVO_SAFETY_TICKS, as in test_servo_ticks.py, makes it long: 100,000 ticks and more.
"""

import os

import numpy as np
import pytest
from safety.servo.franka_drive import ACCELERATION
from safety.servo.franka_drive import franka_drive
from safety.servo.franka_drive import HIGHEST
from safety.servo.franka_drive import Interface
from safety.servo.franka_drive import JERK
from safety.servo.franka_drive import LOWEST

TICKS = min(int(os.environ.get('SERVO_SAFETY_TICKS', '0')), 100_000)
DRIVE, CHUNK = 5000, 500


@pytest.mark.timeout(120 + TICKS // 20)
@pytest.mark.parametrize('seed', range(0, TICKS // DRIVE) if TICKS else [2, 9])
def test_the_interface_refuses_no_position(seed):
    interface, record = franka_drive(seed, DRIVE if TICKS else 1500, CHUNK)
    print(seed, interface, record)
    assert interface.refused == 0, str(interface)
    assert record.failed == 0
    assert record.position <= 1e-6
    assert record.distance >= -1e-5, str(record.worst)
    assert record.shrink <= 1e-5, str(record.worst)
    # It moved, used its limits, and came near to an obstacle.
    assert interface.moving > interface.ticks // 5
    assert interface.jerk > 0.1
    assert record.near > 0


@pytest.mark.parametrize(
    ('name', 'positions'),
    [
        # A step, a corner of velocity, a corner of acceleration, beyond the range.
        ('velocity', [0.0, 0.0, 0.0, 3e-3]),
        ('acceleration', [0.0, 1e-6, 2e-6, 1.5e-5]),
        ('jerk', [0.0, 0.0, 0.0, 1.001 * JERK * 1e-9]),
        ('position', [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_the_interface_refuses_what_breaks_a_limit(name, positions):
    middle = 0.5 * (LOWEST + HIGHEST)
    span = 0.6 * (HIGHEST - LOWEST) if name == 'position' else np.ones(7)
    interface = Interface()
    interface.take(middle + np.outer(positions, span))
    assert interface.refused == 1
    assert getattr(interface, name) > (0.0 if name == 'position' else 1.0)


def test_the_interface_takes_a_motion_within_the_limits():
    changes = np.clip(JERK * 1e-9 * np.arange(6), 0.0, ACCELERATION * 1e-6)
    positions = np.cumsum(np.cumsum([0.0, 0.0, 0.0, *changes]))
    interface = Interface()
    interface.take(np.outer(positions, np.ones(7)) + 0.5 * (LOWEST + HIGHEST))
    assert interface.refused == 0
