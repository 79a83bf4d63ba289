# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""No command violates a limit or a barrier, for any targets.

SAFETY_TICKS sets the number of ticks of each robot: docs/safety.md has the numbers for its
figures. The drive computes limits and distances independently.
"""

import dataclasses
import json
import os

import pytest
from safety.drive import CASES
from safety.drive import Drive
from safety.drive import MARGIN

TICKS = int(os.environ.get('SAFETY_TICKS', '3200'))
# Few robots see more targets each; many are faster per tick.
ROBOTS = 16 if TICKS < 100_000 else 64
# Tolerance of limits: rad, rad/s and rad/s^2.
ROUNDING = 1e-6


@pytest.mark.timeout(60 + TICKS // 100)
@pytest.mark.parametrize('name', sorted(CASES))
def test_no_command_violates_a_limit_or_a_barrier(name):
    record = Drive(name, ROBOTS, seed=1).run(TICKS)
    print(name, json.dumps(dataclasses.asdict(record), default=float))
    assert record.failed == 0
    assert record.position <= ROUNDING
    assert record.velocity <= ROUNDING
    assert record.acceleration <= ROUNDING
    # The margin covers the motion between two evaluated configurations.
    assert min(record.distance, record.swept, record.box) >= -MARGIN
    # The drive was demanding: robots came close, were held back and moved fast.
    assert min(record.swept, record.box) < MARGIN
    assert record.relaxed + record.halted > 0
    assert record.longest > 0.015
