# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Changed copies of a command."""

import dataclasses

import numpy as np
import pytest

from ros_ik.servo import Command
from ros_ik.servo import JointTarget
from ros_ik.servo import Mode


def test_a_changed_copy_is_that_of_dataclasses():
    command = Command(poses=(None,), resets=3)
    target = JointTarget(np.zeros(7), received=1.0, sequence=5)
    copy = command.with_changes(joints=target, mode=Mode.JOINT)
    assert vars(copy) == vars(dataclasses.replace(command, joints=target, mode=Mode.JOINT))
    assert vars(command) == vars(Command(poses=(None,), resets=3))


def test_a_field_that_a_command_does_not_have_is_named():
    with pytest.raises(TypeError, match='no field pauses'):
        Command().with_changes(pauses=True)
