# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State machines: their pictures in docs/architecture.md, and events that no state expects."""

import enum
from pathlib import Path
import re

import pytest

from ros_ik.node.actions.goal_state import GOAL_TRANSITIONS
from ros_ik.node.node_stage import NODE_TRANSITIONS
from ros_ik.servo.interface.stop_state import STOP_TRANSITIONS
from ros_ik.servo.state.following_state import FOLLOWING_TRANSITIONS
from ros_ik.servo.state.resting_state import RESTING_TRANSITIONS
from ros_ik.servo.state.servo_state import SERVO_TRANSITIONS
from ros_ik.state_machine import StateMachine

ARCHITECTURE = Path(__file__).parents[2] / 'docs' / 'architecture.md'
TABLES = {
    'States of the servo': SERVO_TRANSITIONS,
    'States of the following error': FOLLOWING_TRANSITIONS,
    'States of the last command': RESTING_TRANSITIONS,
    'States of a stop': STOP_TRANSITIONS,
    'Stages of the node': NODE_TRANSITIONS,
    'States of a goal': GOAL_TRANSITIONS,
}


@pytest.mark.parametrize('heading', TABLES)
def test_the_picture_of_the_states_is_that_of_their_table(heading):
    table = TABLES[heading]
    (block,) = re.findall(
        rf'### {heading}\n.*?```mermaid\nstateDiagram-v2\n(.*?)```',
        ARCHITECTURE.read_text(),
        re.DOTALL,
    )
    first, *lines = block.splitlines()
    assert first.split() == ['[*]', '-->', next(iter(table)).name]
    drawn = set()
    for line in lines:
        before, after, events = re.fullmatch(r' *(\w+) --> (\w+): (.+)', line).groups()
        drawn |= {(before, event, after) for event in events.split(', ')}
    assert drawn == {
        (before.name, event.name, after.name)
        for before, row in table.items()
        for event, after in row.items()
        if after is not before
    }


@pytest.mark.parametrize('table', TABLES.values(), ids=TABLES)
def test_every_state_has_a_row_and_can_be_reached(table):
    states = set(type(next(iter(table))))
    reached = {after for row in table.values() for after in row.values()}
    assert set(table) == states == reached | {next(iter(table))}


def test_an_event_that_a_state_does_not_expect_is_an_error_and_changes_nothing():
    class Door(enum.Enum):
        OPEN = 1
        SHUT = 2

    class Push(enum.Enum):
        HARD = 1
        SOFT = 2

    machine = StateMachine(Door.OPEN, {Door.OPEN: {Push.HARD: Door.SHUT}, Door.SHUT: {}})
    with pytest.raises(RuntimeError, match='no transition from OPEN by SOFT'):
        machine.handle(Push.SOFT)
    assert machine.state is Door.OPEN
    assert machine.handle(Push.HARD) is machine.state is Door.SHUT
