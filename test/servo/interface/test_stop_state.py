# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every transition of a stop, made by the methods of a command."""

from support.motions.state_machines import transitions

from ros_ik.servo import Command
from ros_ik.servo.interface.stop_state import STOP_TRANSITIONS
from ros_ik.servo.interface.stop_state import StopEvent


def test_every_transition_of_a_stop():
    causes = {
        StopEvent.STOP: Command.with_stop,
        StopEvent.REQUEST: lambda command: command.with_stop_request(True),
        StopEvent.WITHDRAW: lambda command: command.with_stop_request(False),
        StopEvent.RESET: Command.with_reset,
    }
    commands, made = [Command()], set()
    for command in commands:
        for event, cause in causes.items():
            after = cause(command)
            if after.stop not in {known.stop for known in commands}:
                commands.append(after)
            made.add((command.stop, event, after.stop))
            assert after.stopped == (after.stop.name != 'CLEAR')
            assert after.stop_requested == (after.stop.name == 'REQUESTED')
    assert made == transitions(STOP_TRANSITIONS)
