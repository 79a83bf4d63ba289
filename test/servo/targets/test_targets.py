# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Refused targets, each with its reason, and accepted ones."""

import math

import numpy as np
import pytest
from support.rigs.servo_rig import Rig

from ros_ik.servo import Rejection

IDENTITY = (0.0, 0.0, 0.0, 1.0)


@pytest.fixture(scope='module')
def reader():
    return Rig.shared().reader


@pytest.mark.parametrize(
    ('frame', 'position', 'quaternion', 'reason'),
    [
        ('', (math.nan, 0.0, 0.0), IDENTITY, Rejection.NON_FINITE),
        ('', (0.0, math.inf, 0.0), IDENTITY, Rejection.NON_FINITE),
        ('', (0.0, 0.0, 0.0), (0.0, 0.0, math.nan, 1.0), Rejection.NON_FINITE),
        ('', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), Rejection.ZERO_QUATERNION),
        ('', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1e-8), Rejection.ZERO_QUATERNION),
        ('', (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1.0), Rejection.NOT_UNIT_QUATERNION),
        ('', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.98), Rejection.NOT_UNIT_QUATERNION),
        ('', (0.0, -1e300, 0.0), IDENTITY, Rejection.TOO_LARGE_NUMBER),
        ('map', (0.0, 0.0, 0.0), IDENTITY, Rejection.UNKNOWN_FRAME),
        ('', (0.0, 0.0), IDENTITY, Rejection.WRONG_SIZE),
    ],
)
def test_a_bad_pose_is_refused(reader, frame, position, quaternion, reason):
    assert reader.pose(0, frame, position, quaternion, 1.0) is reason


@pytest.mark.parametrize(
    ('names', 'positions', 'reason'),
    [
        ([], [], Rejection.WRONG_SIZE),
        (['panda_joint1'], [], Rejection.WRONG_SIZE),
        (['panda_joint1', 'panda_joint1'], [0.0, 0.0], Rejection.REPEATED_JOINT),
        (['panda_joint1'], [1e10], Rejection.TOO_LARGE_NUMBER),
        (['panda_joint1'], [1j], Rejection.NON_FINITE),
        (['elbow'], [0.0], Rejection.UNKNOWN_JOINT),
        (['panda_finger_joint1'], [0.0], Rejection.UNKNOWN_JOINT),
        (['panda_joint1'], [math.nan], Rejection.NON_FINITE),
    ],
)
def test_a_bad_joint_target_is_refused(reader, names, positions, reason):
    assert reader.joints(names, positions, 1.0) is reason


@pytest.mark.parametrize(
    ('frame', 'linear', 'angular', 'reason'),
    [
        ('', (math.nan, 0.0, 0.0), (0.0, 0.0, 0.0), Rejection.NON_FINITE),
        ('', (0.0, 0.0, 0.0), (0.0, -math.inf, 0.0), Rejection.NON_FINITE),
        ('', (0.0, 0.0), (0.0, 0.0, 0.0), Rejection.WRONG_SIZE),
        ('', (0.0, 0.0, 0.0), (0.0,) * 4, Rejection.WRONG_SIZE),
        ('map', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), Rejection.UNKNOWN_FRAME),
    ],
)
def test_a_bad_velocity_is_refused(reader, frame, linear, angular, reason):
    assert reader.twist(0, frame, linear, angular, 1.0) is reason


@pytest.mark.parametrize('lasting', [False, True])
def test_targets_last_where_asked_for(reader, lasting):
    pose = reader.pose(0, '', (0.0, 0.0, 0.0), IDENTITY, 1.0, lasting=lasting)
    joints = reader.joints(['panda_joint1'], [0.0], 1.0, lasting=lasting)
    assert pose.lasting is joints.lasting is lasting


def test_a_good_pose_has_a_unit_quaternion(reader):
    target = reader.pose(0, 'panda_link3', (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, -1.009), 5.0)
    np.testing.assert_array_equal(target.pose, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, -1.0])
    assert target.received == 5.0


def test_later_targets_have_larger_numbers(reader):
    first = reader.joints(['panda_joint1'], [0.0], 1.0)
    assert reader.pose(0, '', (0, 0, 0), IDENTITY, 1.0).sequence > first.sequence
