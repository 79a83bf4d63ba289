# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Entries of /diagnostics: their levels, texts and figures, of a state that the test makes."""

import math
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
import pytest

from ros_ik.node.control.clock_report import CLOCK
from ros_ik.node.reports.diagnostics import diagnostics
from ros_ik.node.reports.diagnostics import Snapshot
from ros_ik.servo import Mode
from ros_ik.servo import StatusCode

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
NAMES = ('loop', 'joint states', 'command', 'safety', 'model')


def entries(code=StatusCode.OK, has_servo=True, unmeasured=(), **changes):
    """Return level, message and values of each entry by name."""
    received = np.array([9.5, 7.0, math.nan, 9.0])
    robot = SimpleNamespace(
        needed=('a', 'b', 'c'), needed_coords=np.array([0, 1, 2]), coord_of={'a': 0, 'b': 1},
        model=SimpleNamespace(device='cpu', body_count=5, body_label=['base', 'tool']),
        group=SimpleNamespace(joint_names=('a', 'b')), base_link=1, unmeasured_links=unmeasured,
    )  # fmt: skip
    measurement = SimpleNamespace(received=received)
    controlled = SimpleNamespace(
        servo=SimpleNamespace(robot=robot), generation=3,
        measurement=SimpleNamespace(get=lambda: measurement),
    )  # fmt: skip
    values = {
        'output': {
            'waiting_for': (), 'following_errors': np.array([0.1, -0.5, math.nan]),
            'joint_names': ('a', 'b', 'c'), 'limiting_barrier': 'world',
            'limiting_pair': ('hand', 'post'), 'barrier_distance': 0.0123,
        },
        'statistics': {
            'ticks': 1000, 'missed': 10, 'p50': 0.1, 'p99': 0.2, 'p999': 0.3, 'longest': 0.4,
            'recorded': 2,
        },
        'command': {
            'active': True, 'mode': Mode.POSE, 'obstacles': ('one', 'two'), 'paused': False,
            'stopped': True, 'stop_requested': False,
        },
        'rates': {'joint_states': 100.0, 'target_pose': 30.0}, 'dropped': {'too_old': 4},
        'now': 10.0, 'notice': '', 'same_name': '', 'text': 'as the status says',
    }  # fmt: skip
    for name, change in changes.items():
        values[name] = {**values[name], **change} if isinstance(change, dict) else change
    for name in ('output', 'statistics', 'command'):
        values[name] = SimpleNamespace(**values[name])
    message = diagnostics(
        Snapshot(
            node_name='ros_ik', hardware_id='/left/ros_ik', code=code, control_rate=100.0,
            controlled=controlled if has_servo else None, **values,
        )
    )  # fmt: skip
    assert [status.name for status in message.status] == [f'ros_ik: {name}' for name in NAMES]
    assert {status.hardware_id for status in message.status} == {'/left/ros_ik'}
    return {
        name: (
            status.level, status.message, {value.key: value.value for value in status.values},
        )
        for name, status in zip(NAMES, message.status, strict=True)
    }  # fmt: skip


def test_every_figure_is_that_of_its_name():
    found = {name: values for name, (_, _, values) in entries().items()}
    assert found['loop'] == {
        'rate Hz': '100', 'ticks': '1000', 'missed ticks': '10', 'tick p50 ms': '0.100',
        'tick p99 ms': '0.200', 'tick p99.9 ms': '0.300', 'longest tick ms': '0.400',
        'graphs recorded in ticks': '2',
    }  # fmt: skip
    assert found['joint states'] == {
        'rate Hz': '100.0', 'joints needed': '3', 'joints heard': '2', 'oldest joint': 'b',
        'oldest age s': '3.000', 'largest following error': '-0.5000', 'its joint': 'b',
        'joints unknown': '',
    }  # fmt: skip
    assert found['command'] == {
        'active': 'True', 'mode': 'POSE', 'obstacles': '2', 'target_pose Hz': '30.0',
        'dropped too_old': '4',
    }  # fmt: skip
    assert found['safety'] == {
        'paused': 'False', 'stopped': 'True', 'stop requested': 'False', 'barrier': 'world',
        'closest pair': 'hand - post', 'barrier value m': '0.0123',
    }  # fmt: skip
    assert found['model'] == {
        'generation': '3', 'device': 'cpu', 'links': '5', 'joints': '2',
        'controlled joints': 'a, b', 'base frame': 'tool', 'links not measured': '',
    }  # fmt: skip


def test_what_is_unknown_is_left_out():
    found = entries(
        has_servo=False,
        output={'following_errors': np.full(3, math.nan), 'limiting_pair': ('', '')},
    )
    assert found['joint states'][2] == {'rate Hz': '100.0'}
    assert found['safety'][2]['closest pair'] == ''
    assert found['model'] == (ERROR, 'as the status says', {'generation': '0'})


def test_joint_states_from_before_a_backward_jump_of_the_clock_are_old():
    values = entries(now=6.0)['joint states'][2]
    assert (values['oldest joint'], values['oldest age s']) == ('a', '3.500')


def test_joints_without_a_state_are_a_warning_unless_the_node_waits_for_states():
    names = tuple(f'j{k}' for k in range(9))
    level, message, values = entries(unknown_joints=names)['joint states']
    assert level == WARN and values['joints unknown'] == ', '.join(names)
    assert message.startswith('no current joint states of j0, j1, j2, j3, j4 and 4 more')
    found = entries(StatusCode.JOINT_STATE_STALE, unknown_joints=names)['joint states']
    assert found[:2] == (ERROR, 'as the status says')


def test_other_nodes_of_the_name_are_a_warning():
    found = entries(same_name='2 nodes are called /left/ros_ik')
    assert found['loop'][:2] == (WARN, '2 nodes are called /left/ros_ik')


def test_a_hundredth_of_missed_deadlines_is_in_order_and_more_are_not():
    assert entries()['loop'][:2] == (OK, '100 Hz')
    assert entries(statistics={'missed': 11})['loop'][:2] == (
        WARN, '1.1% of the deadlines were missed',
    )  # fmt: skip
    assert entries(statistics={'missed': 0, 'ticks': 0})['loop'][0] == OK
    waits = entries(output={'waiting_for': (CLOCK,)})['loop'][:2]
    assert waits == (WARN, 'as the status says')


@pytest.mark.parametrize('code', StatusCode)
def test_each_code_has_the_level_of_its_entry(code):
    levels = {
        'joint states': {
            'WAITING_FOR_JOINT_STATES': ERROR, 'JOINT_STATE_STALE': ERROR, 'FOLLOWING_ERROR': WARN,
        },
        'command': dict.fromkeys(
            ('COMMAND_STALE', 'TARGET_JUMP', 'CLOCK_JUMP', 'TF_UNAVAILABLE'), WARN
        ),
        'safety': {
            'SLOWED_BY_BARRIER': OK, 'HALTED_BY_BARRIER': WARN, 'JOINT_BOUND': WARN,
            'STATIONARY': WARN, 'PAUSED': OK, 'STOPPED': WARN, 'SOLVER_FAILED': ERROR,
            'NON_FINITE_BLOCKED': ERROR,
        },
    }  # fmt: skip
    found = entries(code)
    for name, of_codes in levels.items():
        in_order = 'no active limit' if name == 'safety' else 'ok'
        expected = (OK, in_order)
        if code.name in of_codes:
            expected = of_codes[code.name], 'as the status says'
        assert found[name][:2] == expected, name
    assert found['model'][:2] == (OK, 'ok')


def test_the_model_tells_of_its_fault_before_that_of_its_links():
    links = ('hand', 'arm')
    level, text, values = entries(unmeasured=links)['model']
    assert level == WARN and 'hand' in text and values['links not measured'] == 'hand, arm'
    for has_servo in (True, False):
        found = entries(unmeasured=links, has_servo=has_servo, notice='it was refused')['model']
        assert found[:2] == (ERROR, 'it was refused')
