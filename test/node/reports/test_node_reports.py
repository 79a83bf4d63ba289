# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reports of the node over DDS: diagnostics with figures, pairs, groups of an SRDF."""

from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
import pytest
from std_msgs.msg import String
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import RATE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.robots.held_robot import HeldRobot
from support.robots.two_arms import TwoArms

from ros_ik.demo.robots import find_robot
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


def entry(client, name, is_wanted=lambda level, message, values: True):
    """Return level, message and values of the next diagnostics entry that meets a condition.

    The next ones may be old, or about a moment at which the machine stalled.
    """
    found = []

    def is_there():
        while client.diagnostics and not found:
            heard = client.diagnostics.popleft()
            said = heard.level, heard.message, {value.key: value.value for value in heard.values}
            if heard.name == f'ros_ik: {name}' and is_wanted(*said):
                found.append(said)
        return found

    client.diagnostics.clear()
    client.wait_for(is_there, f'such an entry {name}')
    return found[0]


def has_level(wanted):
    """Return a function that tells whether an entry has a level."""
    return lambda level, message, values: level == wanted


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('reports')) as client:
        start_node(client, diagnostics_period=0.2, joint_state_timeout=0.5)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.WAITING_FOR_JOINT_STATES, timeout=LONG)
        client.waiting = entry(
            client, 'joint states', lambda level, text, values: 'panda_joint1' in text
        )
        robot = HeldRobot(client)
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        yield client, robot
        assert client.processes.is_alive('node'), client.processes.text('node')


# Before the others: two clients in one process may disturb each other as they end.
def test_a_group_of_the_semantic_description_is_waited_for(tmp_path):
    with ros_rig(tmp_path) as client:
        HeldRobot(client)
        start_node(client, joint_group='arm', ee__frame='panda_hand', **NEVER_STALE)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.INVALID, text='joint_group', timeout=LONG)
        publisher = client.node.create_publisher(String, 'robot_description_semantic', LATCHED)
        publisher.publish(String(data=find_robot('panda').srdf_path.read_text()))
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        values = entry(client, 'model', lambda _, __, values: values['generation'] == '1')[2]
        assert values['controlled joints'].count('panda_joint') == 7
        publisher.publish(String(data='<robot name="panda"><group'))
        client.wait_for_code(IkStatus.OK, text='refused', timeout=LONG)
        assert client.status.model_generation == 1


def test_nodes_in_two_namespaces_are_told_apart(tmp_path):
    with ros_rig(tmp_path) as client:
        for side in ('left', 'right'):
            client.processes.start(
                side, 'ros_ik.node.ros_ik_node', namespace=f'/{side}',
                ee__frame='panda_hand', diagnostics_period=0.2,
            )  # fmt: skip
        nodes = {'/left/ros_ik', '/right/ros_ik'}
        client.wait_for(
            lambda: {entry.hardware_id for entry in client.diagnostics} == nodes, 'both by name'
        )


def test_the_pair_that_limits_is_named(tmp_path):
    with ros_rig(tmp_path) as client:
        arms = TwoArms(client)
        arms.start(tmp_path, **{'barriers.self_collision.enabled': True})
        arms.streams['left/target_pose'] = arms.pose('left', (0.0, -0.05, 0.0))
        client.wait_for(
            lambda: client.status.limiting_pair_a and client.status.limiting_pair_b,
            'a pair', LONG,
        )  # fmt: skip
        status = client.status
        assert status.limiting_barrier == 'self_collision'
        assert status.limiting_pair_a != status.limiting_pair_b
        assert status.barrier_value == status.barrier_value


def test_joint_states_are_told_by_number_rate_and_age(rig):
    client, robot = rig
    level, text, values = client.waiting
    assert level == ERROR and 'panda_joint1' in text
    assert (values['joints needed'], values['joints heard']) == ('7', '0')

    def is_in_order(level, _, values):
        is_fresh = float(values['oldest age s']) < 0.5
        return level == OK and is_fresh and float(values['rate Hz']) > 10.0

    _, text, values = entry(client, 'joint states', is_in_order)
    assert (text, values['joints heard']) == ('ok', '7')
    assert float(values['oldest age s']) >= 0.0
    robot.silent = True
    client.wait_for_code(IkStatus.JOINT_STATE_STALE)
    entry(client, 'joint states', has_level(ERROR))
    robot.silent = False
    client.wait_for_code(IkStatus.OK, text='waiting for a target')


def test_commands_are_told_by_mode_rate_and_drops(rig):
    client, _ = rig
    client.stream('pose', client.moved_pose((0.0, 0.05, 0.0)))
    client.wait_for_code(IkStatus.OK, text='tracking')

    def is_streamed(level, _, values):
        return level == OK and float(values.get('target_pose Hz', 0.0)) > 5.0

    _, _, values = entry(client, 'command', is_streamed)
    assert (values['mode'], values['active']) == ('AUTO', 'True')
    client.stream('pose', client.moved_pose(frame='nowhere'))
    entry(client, 'command', lambda _, __, values: 'dropped tf_unavailable' in values)
    entry(client, 'command', has_level(WARN))
    client.stream('pose', None)


def test_stop_and_pause_are_told(rig):
    client, _ = rig
    client.trigger('stop')
    entry(client, 'safety', lambda level, _, values: (level, values['stopped']) == (WARN, 'True'))
    client.trigger('reset')
    client.pause(True)
    entry(client, 'safety', lambda level, _, values: values['paused'] == 'True')
    client.wait_for_code(IkStatus.PAUSED, text='paused')
    client.pause(False)
    entry(client, 'safety', lambda level, _, values: (level, values['paused']) == (OK, 'False'))


def test_loop_and_model_are_told(rig):
    client, _ = rig
    # Soon after the start there are no statistics.
    _, _, values = entry(client, 'loop', lambda _, __, values: values['tick p50 ms'] != 'nan')
    assert values['rate Hz'] == f'{RATE:g}' and int(values['ticks']) > 0
    assert float(values['tick p50 ms']) <= float(values['tick p99 ms'])
    level, text, values = entry(client, 'model')
    # The meshes of the description are not found here: distances do not cover the whole robot.
    assert level == WARN and 'panda_link0' in text
    assert 'panda_link0' in values['links not measured']
    assert (values['generation'], values['device']) == ('1', 'cpu')
    assert values['controlled joints'].startswith('panda_joint1, ')
    client.describe('<robot/>')
    entry(client, 'model', has_level(ERROR))
    client.describe(panda_urdf() + '\n')
    client.wait_for(lambda: client.status.model_generation == 2, 'a model', LONG)
    entry(client, 'model', has_level(WARN))


def test_an_inactive_node_says_so(rig):
    client, _ = rig
    assert client.transition(Transition.TRANSITION_DEACTIVATE)
    client.wait_for_code(IkStatus.OK, text='inactive')
    entry(client, 'command', lambda _, __, values: values['active'] == 'False')
    assert client.transition(Transition.TRANSITION_ACTIVATE)
    client.wait_for_code(IkStatus.OK, text='waiting for a target')
