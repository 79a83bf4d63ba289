# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Acceleration limits of joints that hold a path back, in the status."""

from support.rigs.servo_rig import Rig

FAR = {'max_target_step_linear': 10.0, 'max_target_step_angular': 4.0}


def texts(**values):
    """Move a Panda to a pose 0.36 m away; return the status texts of the motion."""
    rig = Rig('panda', **FAR, **values)
    rig.aim(rig.moved((0.0, 0.3, -0.2)))
    return {rig.tick().text for _ in range(150)}


def test_an_acceleration_limit_that_holds_the_path_back_is_named():
    found = texts(limits__acceleration_scale=0.1, ee__max_linear_acceleration=25.0)
    named = [text for text in found if 'acceleration limit of joint panda_joint' in text]
    assert named and all(text.endswith('slows the motion on its path') for text in named)
    assert found - set(named) == {'tracking'}


def test_nothing_is_named_with_the_default_limits():
    assert texts() == {'tracking'}
