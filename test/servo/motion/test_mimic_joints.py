# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mimic joints of controlled joints: targets are reached, and every joint keeps its limits."""

import numpy as np
import pytest
from support.long_forms import in_pairs
from support.rigs.servo_rig import Rig
from support.robots import coupled_lift

MARGIN = 0.02


def make_rig(factor=1.0, follower=3.0, speed=0.5, **values):
    model = coupled_lift.model(factor, follower, speed)
    return Rig.shared(coupled_lift.FILES, model=model, limits__position_margin=[MARGIN], **values)


@pytest.mark.parametrize('factor', [1.0, -0.5, 2.0])
def test_targets_of_a_joint_with_a_follower_are_reached(factor):
    rig = make_rig(factor)
    rig.aim_joints(lift=0.4)
    rig.tick(seconds=3.0)
    np.testing.assert_allclose(rig.q, [0.4, 0.4 * factor, 0.0], atol=1e-4)
    rig.quiet()
    rig.aim_joint_velocities(lift=-0.1)
    rig.tick(seconds=2.0)
    begin = rig.q.copy()
    rig.tick(seconds=1.0)
    np.testing.assert_allclose(rig.q - begin, [-0.1, -0.1 * factor, 0.0], atol=1e-6)


def test_the_posture_of_a_joint_with_a_follower_is_reached():
    free_height = [1.0, 1.0, 0.0]
    rig = make_rig(
        posture__positions=[0.4, 0.0],
        ee__position_weight=free_height,
        ee__orientation_weight=[1.0, 1.0, 0.0],
    )
    rig.aim(rig.moved((0.0, 0.0, 0.0)))
    rig.tick(seconds=12.0)
    assert rig.q[0] == pytest.approx(0.4, abs=1e-3)


@pytest.mark.parametrize(
    ('target', 'factor', 'rate'),
    in_pairs(['twist', 'pose', 'joints'], [0.5, -2.0], [100.0, 500.0]),
)
def test_a_follower_at_its_limit_makes_its_driver_brake_in_time(target, factor, rate):
    # The follower has room for the harder brake, or less acceleration than its driver.
    limits = {}
    for name, acceleration in (('lift', 6.0), ('upper', 4.0)):
        limits[f'joint_limits__{name}__has_acceleration_limits'] = True
        limits[f'joint_limits__{name}__max_acceleration'] = acceleration
    rig = make_rig(factor, 0.25, 2.0, control_rate=rate, **limits)
    if target == 'twist':
        rig.aim_twist(linear=(0.0, 0.0, 0.5))
    elif target == 'pose':
        rig.aim(rig.moved((0.0, 0.0, 2.0)))
    else:
        rig.aim_joints(lift=2.0)
    rig.tick(seconds=3.0)
    q = np.array([output.joint_q for output in rig.published])
    acceleration = np.abs(np.diff(q, 2, axis=0)) * rate**2
    assert np.all(acceleration.max(axis=0) <= [6.0 + 1e-6, 4.0 + 1e-6, 1e-6])
    # The margin of a follower is in proportion.
    reached = 0.25 - MARGIN * abs(factor)
    assert np.abs(q[:, 1]).max() <= reached + 1e-9
    assert abs(q[-1, 1]) == pytest.approx(reached, abs=1e-6)
    assert 'joint upper is at its position limit' in rig.outputs[-1].text
