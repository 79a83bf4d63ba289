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


STOPS = {
    'none': lambda command: command,
    'stop': Command.with_stop,
    'request': lambda command: command.with_stop_request(True),
    'withdrawn': lambda command: command.with_stop_request(True).with_stop_request(False),
    'reset': lambda command: command.with_stop().with_reset(),
}


@pytest.mark.parametrize('stop', STOPS)
@pytest.mark.parametrize('paused', [False, True])
@pytest.mark.parametrize('mode', [Mode.AUTO, Mode.HOLD])
def test_what_holds_a_robot_outlasts_its_servo(stop, paused, mode):
    target = JointTarget(np.zeros(7), received=1.0, sequence=5)
    command = STOPS[stop](Command(poses=(None,), joints=target, mode=mode).with_pause(paused))
    released = command.with_release()
    assert released.stop is command.stop and released.stopped == command.stopped
    assert (released.paused, released.mode, released.active) == (paused, mode, False)
    assert released.joints is None and not released.poses and not released.obstacles


def test_a_field_that_a_command_does_not_have_is_named():
    with pytest.raises(TypeError, match='no field pauses'):
        Command().with_changes(pauses=True)
