# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters over DDS: wrong values at the start and later, and changes that take effect."""

from lifecycle_msgs.msg import Transition
import numpy as np
import pytest
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter
from support.processes.ros_processes import Processes
from support.processes.ros_processes import ROOT
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.ros_rig import UNWATCHED

from ros_ik.settings import expand_parameters
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

# Invalid values, and the error of each.
WRONG = [
    (
        {'control_rate': 5000.0, 'ee__gain': 'high', 'frame_tasks': ['ee', 'ee']},
        {'control_rate': '5000', 'ee.gain': 'high', 'frame_tasks': 'twice'},
    ),
    ({'ee__frame': ''}, {'ee.frame': "''"}),
]


@pytest.mark.parametrize(('values', 'told'), WRONG)
def test_wrong_values_leave_the_node_alive_and_unconfigured(tmp_path, values, told):
    with ros_rig(tmp_path) as client:
        start_node(client, **values)
        status = client.wait_for_code(IkStatus.INVALID, timeout=LONG)
        for parameter, value in told.items():
            (sentence,) = [part for part in status.text.split('; ') if f"'{parameter}'" in part]
            assert value in sentence
        assert not client.transition(Transition.TRANSITION_CONFIGURE)
        assert client.state() == 'unconfigured'


def test_a_flag_of_ros_that_is_no_bool_ends_it_in_one_line(tmp_path):
    processes = Processes(tmp_path)
    processes.start('node', 'ros_ik.node.ros_ik_node', use_sim_time='true')
    assert processes.wait('node', PATIENCE) == 2
    processes.end()
    text = processes.text('node')
    assert "'use_sim_time' to 'true'" in text and 'Traceback' not in text


def test_what_the_robot_lacks_is_named(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, ee__frame='panda_hend')
        client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
        client.describe(panda_urdf())
        status = client.wait_for_code(IkStatus.INVALID, text="'ee.frame'", timeout=LONG)
        assert 'panda_hend' in status.text
        assert not client.transition(Transition.TRANSITION_CONFIGURE)
        assert client.state() == 'unconfigured'


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('parameters')) as client:
        shipped = ROOT / 'config' / 'ros_ik.yaml'
        start_node(client, shipped, ee__fraem='panda_hand', control_rate=200)
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        yield client


def test_a_misspelt_name_is_reported_and_an_integer_is_a_number(client):
    assert "did you mean 'ee.frame'" in client.processes.text('node')
    assert client.status.control_rate == 200.0


def test_descriptors_are_those_of_the_schema(client):
    schema = expand_parameters({})
    request = DescribeParameters.Request(names=list(schema))
    response = client.call(DescribeParameters, 'ros_ik/describe_parameters', request)
    for described, parameter in zip(response.descriptors, schema.values(), strict=True):
        assert described.description == parameter.description
        assert described.read_only == parameter.read_only
    speed = response.descriptors[list(schema).index('control_rate')]
    assert speed.floating_point_range[0].to_value == 1000.0


def test_every_parameter_has_a_value_to_be_read(client):
    names = list(expand_parameters({}))
    request = GetParameters.Request(names=names)
    values = client.call(GetParameters, 'ros_ik/get_parameters', request).values
    assert len(values) == len(names)
    unset = ParameterType.PARAMETER_NOT_SET
    assert [name for name, value in zip(names, values, strict=True) if value.type == unset] == []


def ros_parameter(parameter):
    """Return a ROS parameter with the default of the schema."""
    value = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
    if value == []:
        return Parameter(parameter.name, Parameter.Type.DOUBLE_ARRAY, [])
    return Parameter(parameter.name, value=value)


def test_every_dynamic_parameter_can_be_set_and_no_other(client):
    schema = {
        name: parameter
        for name, parameter in expand_parameters({}).items()
        if not name.startswith(('locked_joints', 'outputs.default.joints'))
    }
    results = client.set(**{name: ros_parameter(schema[name]) for name in schema})
    for name, result in results.items():
        assert result.successful != schema[name].read_only, f'{name}: {result.reason}'


@pytest.mark.parametrize(
    ('name', 'value', 'reason'),
    [
        ('ee.gain', 0.0, "'ee.gain'"),
        ('ee.gain', 2.0, 'ee.gain'),
        ('ee.position_weight', [1.0, 2.0], '3 entries'),
        ('ee.position_weight', [1.0, 2.0], 'got [1.0, 2.0]'),
        ('ee.position_weight', 'heavy', 'heavy'),
        ('use_sim_time', True, "'use_sim_time': cannot change while the node runs; start the"),
        ('limits.position_margin', [0.1, 0.1], 'one per controlled joint'),
        ('posture.positions', [0.0], 'one per controlled joint'),
        ('target_jump_policy', 'hope', "'saturate'"),
        ('command_timeout', -1.0, 'command_timeout'),
        ('no_such_parameter', 1.0, 'undeclared'),
    ],
)
def test_a_wrong_change_is_refused_with_the_reason(client, name, value, reason):
    result = client.set(**{name: value})[name]
    assert not result.successful
    assert reason in result.reason


def test_the_clock_can_be_set_to_itself(client):
    assert client.set(use_sim_time=False)['use_sim_time'].successful


def test_changes_take_effect_while_it_moves(client):
    client.set(ee__max_linear_speed=0.02, **NEVER_STALE, **UNWATCHED)
    # So far that it still moves after the machine has stalled for some seconds.
    client.stream('pose', client.moved_pose((0.0, 0.3, 0.0)))
    client.wait_for_code(IkStatus.OK, text='tracking')

    def speed():
        """Return the approach per tick, because ticks that a busy machine skips move nothing."""
        client.wait_for_ticks(50)
        first, at = client.status.tasks[0].linear, client.status.ticks
        client.wait_for_ticks(80)
        last, until = client.status.tasks[0].linear, client.status.ticks
        return (first - last) / (until - at) * client.status.control_rate

    assert speed() == pytest.approx(0.02, rel=0.2)
    client.set(ee__max_linear_speed=0.04)
    assert speed() == pytest.approx(0.04, rel=0.2)
    client.set(limits__position_margin=[0.05], solver__max_iterations=100)
    client.wait_for_code(IkStatus.OK, text='tracking')
    client.set(ee__linear_tolerance=1.0, ee__angular_tolerance=3.0)
    client.wait_for(lambda: client.status.tasks[0].reached, 'a tolerance of 1 m')
    client.stream('pose', None)
    client.set(command_timeout=0.2)


def test_idle_publication_and_status_rate_take_effect(client):
    client.wait_for_code(IkStatus.COMMAND_STALE)
    client.wait_for_silence()
    client.trajectories.clear()
    client.set(publish_when_idle=True)
    client.wait_for(lambda: len(client.trajectories) > 20, 'trajectories while idle')
    client.set(publish_when_idle=False, status_rate=5.0)
    client.wait_for_ticks(100)
    client.statuses.clear()
    client.wait_for(lambda: len(client.statuses) > 8, 'statuses')
    # The schedule is one of time: where ticks are late, fewer lie between two statuses.
    assert 1 < np.median(np.diff([status.ticks for status in client.statuses])) <= 40
    client.assert_trajectories_are_accepted()
