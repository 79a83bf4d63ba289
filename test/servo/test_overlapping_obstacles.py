# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles that overlap links hide no others and hold no joints but their own; coal judges."""

import numpy as np
import pytest
from support.barrier_rig import BarrierRig
from support.collision_oracle import coal_distance

# Rounding of coal's distances [m].
ROUNDING = 1e-6
WAY = 0.25


def rig_in_a_ring(radius, height, rise, max_pairs):
    """Return a Panda with 8 spheres round its shoulder and a box 0.15 m before its hand."""
    rig = BarrierRig(barriers__self_collision__max_pairs=max_pairs)
    for k in range(8):
        angle = 0.25 * np.pi * k
        around = radius * np.array([np.cos(angle), np.sin(angle), 0.0])
        rig.add(f'ball_{k}', 'sphere', [0.04], around + [0.0, 0.0, height + rise * k])
    rig.add('box', 'box', [0.1, 0.6, 0.6], rig.pose()[:3] + [0.2, 0.0, 0.0])
    rig.aim(rig.moved((WAY, 0.0, 0.0)))
    return rig


def box_distances(rig, count):
    """Tick and return the least distance of a moving link and the box at each tick."""
    oracle, solid = rig.oracle, rig.obstacle('box')
    found = []
    for _ in range(count):
        rig.tick()
        rig._update()
        found.append(
            min(coal_distance(oracle.hulls[k], oracle._pose(k), *solid)[0]
                for k in rig._moving_shapes)
        )  # fmt: skip
    return np.array(found)


# Where 8 rows hid the box, the hand ended 24 and 136 mm inside it.
@pytest.mark.parametrize('max_pairs', [8, 64])
@pytest.mark.parametrize(('radius', 'height', 'rise'), [(0.06, 0.193, 0.0), (0.03, 0.173, 0.01)])
def test_the_box_before_the_hand_is_not_touched(radius, height, rise, max_pairs):
    rig = rig_in_a_ring(radius, height, rise, max_pairs)
    start = rig.pose()[:3]
    assert box_distances(rig, 120).min() >= 0.02 - ROUNDING
    assert np.linalg.norm(rig.pose()[:3] - start) > 0.04, 'the arm stood still'
    rig.assert_within_limits()


def test_joints_that_an_obstacle_does_not_squeeze_go_on():
    # The shoulder can move neither way; elbow and wrist could not either, for 1e-11 m of rounding.
    rig = rig_in_a_ring(0.05, 0.283, 0.02, 64)
    before = rig.q.copy()
    rig.tick(60)
    moved = np.abs(rig.q - before)[rig.robot.coords]
    assert moved[3:].max() > 0.005
    assert moved[:2].max() < 1e-3
    rig.assert_within_limits()
