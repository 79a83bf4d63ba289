# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint targets are reached within 10 % of the shortest time, which Ruckig finds."""

import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.motions.joint_target_times import ACCELERATIONS
from support.motions.joint_target_times import JointTargets
from support.motions.joint_target_times import LOOPS

# The case that suffers most from accelerations that build up too slowly.
MORE = either([('UR5', 100.0, False)], [])


@pytest.mark.oracle
@pytest.mark.parametrize(
    ('name', 'rate', 'several'),
    in_turn(list(ACCELERATIONS), [100.0, 250.0, 1000.0], [False, True]) + MORE,
)
def test_joint_targets_are_reached_in_the_shortest_time(name, rate, several):
    targets = JointTargets(name, rate, LOOPS[rate], several, 1)
    for _ in range({100.0: 4, 250.0: either(2, 4), 1000.0: 1}[rate]):
        assert targets.from_rest() < 1.1
        assert targets.in_motion() < 1.1
    assert targets.is_within()
