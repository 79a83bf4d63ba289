# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles that overlap links hide no others and hold only joints near them; coal judges."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.barrier_rig import BarrierRig
from support.robots.collision_oracle import coal_distance

# Rounding of coal's distances [m].
ROUNDING = 1e-6
WAY = 0.25


def rig_in_a_ring(radius, height, rise, max_pairs):
    """Return a Panda with 8 spheres round its shoulder and a box 0.15 m before its hand."""
    rig = BarrierRig.shared(barriers__self_collision__max_pairs=max_pairs)
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
@pytest.mark.parametrize(
    ('ring', 'max_pairs'), in_turn([(0.06, 0.193, 0.0), (0.03, 0.173, 0.01)], [8, 64])
)
def test_the_box_before_the_hand_is_not_touched(ring, max_pairs):
    rig = rig_in_a_ring(*ring, max_pairs)
    start = rig.pose()[:3]
    assert box_distances(rig, 120).min() >= 0.02 - ROUNDING
    assert np.linalg.norm(rig.pose()[:3] - start) > 0.04, 'the arm stood still'
    rig.assert_within_limits()


def test_joints_that_an_obstacle_does_not_squeeze_go_on():
    # The shoulder is blocked both ways; rounding of 1e-11 m used to block elbow and wrist too.
    rig = rig_in_a_ring(0.05, 0.283, 0.02, 64)
    before = rig.q.copy()
    rig.tick(60)
    moved = np.abs(rig.q - before)[rig.robot.coords]
    assert moved[3:].max() > 0.005
    assert moved[:2].max() < 1e-3
    rig.assert_within_limits()


def collar(count, radius, size, height):
    """Return a Panda with boxes round its base, and their names."""
    rig = BarrierRig.shared()
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        place = radius * np.array([np.cos(angle), np.sin(angle), 0.0]) + [0.0, 0.0, height]
        turned = 0.0, 0.0, np.sin(0.5 * angle), np.cos(0.5 * angle)
        rig.add(f'box_{k}', 'box', [size, size, size], place, quaternion=turned)
    return rig, [f'box_{k}' for k in range(count)]


def squeezed(rig, names):
    """Return the joints that move a link too near an obstacle nearer in both directions."""
    oracle, start = rig.oracle, rig.q

    def distances(joint, way):
        rig.q = start.copy()
        rig.q[rig.robot.coords[joint]] += way
        rig._update()
        found = [
            [coal_distance(oracle.hulls[k], oracle._pose(k), *rig.obstacle(name))[0]
             for name in names]
            for k in rig._moving_shapes
        ]  # fmt: skip
        return np.array(found)

    before, held = distances(0, 0.0), []
    near = before < 0.02
    for joint in range(len(rig.robot.coords)):
        losses = [(distances(joint, way) - before)[near].min() for way in (1e-3, -1e-3)]
        held.append(max(losses) < -ROUNDING)
    rig.q = start
    return np.array(held)


# Joints that are not blocked move the hand as far as they can.
@pytest.mark.parametrize(
    ('boxes', 'held'),
    [((8, 0.1, 0.08, 0.1), 1), ((12, 0.12, 0.06, 0.15), 1), ((10, 0.1, 0.08, 0.25), 2)],
)
def test_a_collar_of_boxes_holds_no_joint_that_it_does_not_squeeze(boxes, held):
    for seed in range(either(1, 3)):
        rig, names = collar(*boxes)
        free = ~squeezed(rig, names)
        assert not free[:held].any() and free[held:].all()
        rng, there = np.random.default_rng(seed), rig.q.copy()
        there[rig.robot.coords[free]] += rng.uniform(-0.4, 0.4, free.sum())
        target = rig.pose(there)
        rig.aim(target)
        rig.tick(150)
        assert np.linalg.norm(rig.pose()[:3] - target[:3]) < 1e-3
        rig.assert_within_limits()
