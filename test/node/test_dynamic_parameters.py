# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Dynamic parameters, set while the node runs: effects of each, refusals of wrong values.

An effect is a function under the parameter's name in the schema; a parameter without one fails
the tests. Motions are judged by the commanded positions and Pinocchio.
"""

import ast
import math
from pathlib import Path
import time

import numpy as np
import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from support.motions.motion import motion_of
from support.processes.ros_processes import ROOT
from support.rigs.dynamic_rig import arm
from support.rigs.dynamic_rig import change
from support.rigs.dynamic_rig import come_to_rest
from support.rigs.dynamic_rig import current_values
from support.rigs.dynamic_rig import decay
from support.rigs.dynamic_rig import DYNAMIC
from support.rigs.dynamic_rig import dynamic_node
from support.rigs.dynamic_rig import Effects
from support.rigs.dynamic_rig import fastest_way
from support.rigs.dynamic_rig import follow
from support.rigs.dynamic_rig import LOW
from support.rigs.dynamic_rig import moved
from support.rigs.dynamic_rig import name_of
from support.rigs.dynamic_rig import PERIOD
from support.rigs.dynamic_rig import place_of
from support.rigs.dynamic_rig import start_anew
from support.rigs.ros_rig import ARM
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

FILES = ('test_dynamic_parameters.py', 'test_dynamic_motion.py')
# Tests of the effect in other files.
ELSEWHERE = {
    'on_description_change':
        'test/node/model_loading/test_node_description.py::test_ignore_and_deactivate_are_honoured',
    'command_time_source':
        'test/node/subscribers/test_node_inputs.py::test_stamps_count_only_where_that_is_asked_for',
    'command_in_type': 'test/node/subscribers/test_node_jog.py::test_units_may_change_at_run_time',
    'scale.linear': 'test/node/subscribers/test_node_jog.py::test_a_twist_is_a_part_of_its_scales',
    'scale.rotational': (
        'test/node/subscribers/test_node_jog.py::test_a_twist_is_a_part_of_its_scales'
    ),
    'scale.joint': 'test/node/subscribers/test_node_jog.py::test_units_may_change_at_run_time',
    'marker_rate': 'test/node/markers/test_node_markers.py::test_the_rate_is_applied',
    'following_error.max':
        'test/node/behaviour/test_behaviour_freeze.py::test_max_takes_effect_at_run_time',
    'following_error.delay':
        'test/node/behaviour/test_behaviour_freeze.py::test_delay_takes_effect_at_run_time',
    'following_error.action':
        'test/node/behaviour/test_behaviour_freeze.py::test_action_takes_effect_at_run_time',
}  # fmt: skip
effect = Effects()


@pytest.fixture(scope='module')
def node(tmp_path_factory):
    with dynamic_node(tmp_path_factory.mktemp('dynamic')) as client:
        yield client


@pytest.fixture
def client(node):
    """Return the client with every parameter as at the start and the robot at home, at rest."""
    yield node
    start_anew(node)


def effects_of(file):
    """Return the parameters whose effects a file tests."""
    tree = ast.parse((Path(__file__).parent / file).read_text())
    return {
        decorator.args[0].value
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and getattr(decorator.func, 'id', '') == 'effect'
    }


def test_every_dynamic_parameter_has_a_test_of_its_effect():
    assert set().union(*map(effects_of, FILES)) | set(ELSEWHERE) == set(DYNAMIC)
    assert effects_of(Path(__file__).name) == set(effect)
    for where in ELSEWHERE.values():
        path, _, function = where.partition('::')
        assert f'def {function}(' in Path(ROOT / path).read_text()


@pytest.mark.parametrize('name', effect)
def test_it_takes_effect_at_run_time(client, name):
    effect[name](client)


@effect('<task>.max_linear_speed')
def _linear_speed(client):
    for speed in (0.1, 0.2):
        change(client, ee__max_linear_speed=speed)
        motion = follow(client, moved(client, (0.0, 0.25 if speed == 0.1 else -0.25, 0.0)), 0.8)
        fastest = arm().speeds(motion)[0].max()
        assert fastest == pytest.approx(speed, rel=0.05)


@effect('<task>.max_angular_speed')
def _angular_speed(client):
    for speed in (0.2, 0.5):
        change(client, ee__max_angular_speed=speed)
        motion = follow(client, moved(client, turn=0.7 if speed == 0.2 else -0.7), 0.8)
        assert arm().speeds(motion)[1].max() == pytest.approx(speed, rel=0.05)


@effect('<task>.max_linear_acceleration')
def _linear_acceleration(client):
    for acceleration in (0.2, 0.6):
        change(client, ee__max_linear_acceleration=acceleration)
        shift = 0.2 if acceleration == 0.2 else -0.3
        motion = follow(client, moved(client, (0.0, shift, 0.0)), 0.6)
        gains = np.diff(arm().speeds(motion)[0][:20]) / PERIOD
        assert np.median(gains) == pytest.approx(acceleration, rel=0.1)
        come_to_rest(client)


@effect('<task>.max_angular_acceleration')
def _angular_acceleration(client):
    for acceleration in (0.5, 1.5):
        change(client, ee__max_angular_acceleration=acceleration)
        motion = follow(client, moved(client, turn=0.7 if acceleration == 0.5 else -0.7), 0.6)
        gains = np.diff(arm().speeds(motion)[1][:15]) / PERIOD
        assert np.median(gains) == pytest.approx(acceleration, rel=0.1)
        come_to_rest(client)


@effect('<task>.offset_xyz')
def _offset(client):
    before = client.moved_pose()
    change(client, ee__offset_xyz=[0.0, 0.0, 0.3])
    client.wait_for_ticks(10)
    after = client.moved_pose()
    positions, rotations = arm().poses([[client.robot.position[name] for name in ARM]])
    expected = positions[0] + rotations[0] @ [0.0, 0.0, 0.3]
    np.testing.assert_allclose(place_of(before), positions[0], atol=1e-6)
    np.testing.assert_allclose(place_of(after), expected, atol=1e-6)


@effect('<task>.offset_rpy')
def _turned_offset(client):
    before = client.moved_pose().pose.orientation
    change(client, ee__offset_rpy=[0.4, 0.0, 0.0])
    client.wait_for_ticks(10)
    after = client.moved_pose().pose.orientation
    cosine = abs(sum(getattr(before, k) * getattr(after, k) for k in 'xyzw'))
    assert 2.0 * math.acos(min(cosine, 1.0)) == pytest.approx(0.4, abs=1e-6)


@effect('<task>.position_weight')
def _position_weight(client):
    change(client, ee__position_weight=[1.0, 1.0, 0.0])
    high, goal = client.moved_pose().pose.position.z, moved(client, (0.0, 0.1, 0.1))
    follow(client, goal, 0.2)
    client.wait_for(lambda: client.status.tasks[0].reached, 'arrival on two axes')
    assert client.moved_pose().pose.position.z < high + 0.05
    change(client, ee__position_weight=1.0)
    client.wait_for(
        lambda: abs(client.poses[-1].pose.position.z - high - 0.1) < 2e-3, 'the height'
    )


@effect('<task>.orientation_weight')
def _orientation_weight(client):
    change(client, ee__orientation_weight=0.0)
    motion = follow(client, moved(client, turn=0.5), 0.5)
    assert client.status.tasks[0].reached
    assert arm().speeds(motion)[1].max() < 1e-3
    client.statuses.clear()
    change(client, ee__orientation_weight=[0.5, 0.5, 0.5])
    client.wait_for(lambda: not all(s.tasks[0].reached for s in client.statuses), 'an error')
    client.wait_for(lambda: client.status.tasks[0].reached, 'the turn')
    assert arm().speeds(motion_of(client, PERIOD))[1].max() > 0.1


@effect('<task>.gain')
def _gain(client):
    change(client, ee__gain=0.08)
    assert decay(client, (0.0, 0.05, 0.0)) == pytest.approx(0.92, abs=0.01)


def beyond(client):
    """Send poses that move at 0.1 m/s; return the overshoot of the robot [m]."""
    pose, since, begin = moved(client), len(client.sent), time.monotonic()
    start = pose.pose.position.y
    for _ in range(12):
        # Each has the pose due at that time, even if a busy machine sends it late.
        elapsed = time.monotonic() - begin
        pose.pose.position.y = start + 0.1 * elapsed
        pose.header.stamp.sec = 100 + int(elapsed)
        pose.header.stamp.nanosec = int(1e9 * (elapsed % 1.0))
        client.send('ee', pose)
        client.spin(0.04)
    client.wait_for_silence()
    places, _ = arm().poses(motion_of(client, PERIOD, since).position)
    return places[:, 1].max() - pose.pose.position.y


@effect('<task>.target_prediction')
def _prediction(client):
    change(client, command_timeout=1.0, ee__target_prediction='off')
    assert beyond(client) < 1e-3
    change(client, ee__target_prediction='velocity')
    # The robot goes on until the sender has been silent for 2.5 periods, 10 mm. A machine that
    # stalls between two messages hides their motion.
    assert any(beyond(client) > 0.005 for _ in range(5))


@effect('<task>.linear_tolerance')
def _linear_tolerance(client):
    change(client, ee__max_linear_speed=0.02)
    follow(client, moved(client, (0.0, 0.1, 0.0)), 0.2)
    assert not client.status.tasks[0].reached
    change(client, ee__linear_tolerance=1.0)
    client.wait_for(lambda: client.status.tasks[0].reached, 'a tolerance of 1 m')


@effect('<task>.angular_tolerance')
def _angular_tolerance(client):
    change(client, ee__max_angular_speed=0.02)
    follow(client, moved(client, turn=0.5), 0.2)
    assert not client.status.tasks[0].reached
    change(client, ee__angular_tolerance=1.0)
    client.wait_for(lambda: client.status.tasks[0].reached, 'a tolerance of 1 rad')


def posture():
    """Return home with the elbow turned out."""
    home = HeldRobot.home()
    return [home[name] for name in ARM[:2]] + [0.5] + [home[name] for name in ARM[3:]]


def elbow_motion(client, seconds):
    """Hold the tool in place; return the motion of the third joint [rad]."""
    motion = follow(client, client.moved_pose(), seconds)
    positions, _ = arm().poses(motion.position)
    assert np.ptp(positions, axis=0).max() < 2e-3, 'the tool moved'
    return np.ptp(motion.position[:, 2])


@effect('posture.positions')
def _posture(client):
    assert elbow_motion(client, 0.3) < 1e-3
    change(client, posture__positions=posture())
    assert elbow_motion(client, 1.0) > 0.03


@effect('posture.weight')
def _posture_weight(client):
    change(client, posture__weight=0.0, posture__positions=posture())
    assert elbow_motion(client, 0.5) < 1e-3
    change(client, posture__weight=0.02)
    assert elbow_motion(client, 1.0) > 0.03


@effect('posture.centering')
def _centering(client):
    client.robot.place(panda_joint3=0.6)
    client.robot.wait_until_seen()
    assert elbow_motion(client, 0.3) < 1e-3
    change(client, posture__centering=1.0)
    assert elbow_motion(client, 1.5) > 0.03


@effect('<task>.elbow_speed')
def _elbow_speed(client):
    change(client, ee__elbow_direction=[0.0, 1.0, 0.0])
    assert elbow_motion(client, 0.3) < 1e-3
    change(client, ee__elbow_speed=0.5)
    assert elbow_motion(client, 1.0) > 0.03


@effect('<task>.elbow_direction')
def _elbow_direction(client):
    ways = []
    for side in (1.0, -1.0):
        change(client, ee__elbow_speed=0.5, ee__elbow_direction=[0.0, side, 0.0])
        motion = follow(client, client.moved_pose(), 1.0)
        ways.append(motion.position[-1, 2] - motion.position[0, 2])
        come_to_rest(client)
    assert ways[0] * ways[1] < 0.0 and min(map(abs, ways)) > 0.03


@effect('<task>.manipulability_speed')
def _manipulability_speed(client):
    client.robot.place(panda_joint3=0.4, panda_joint4=-1.1)
    client.robot.wait_until_seen()
    assert elbow_motion(client, 0.3) < 1e-3
    change(client, ee__manipulability_speed=5.0)
    assert elbow_motion(client, 1.0) > 0.03


@effect('solver.damping')
def _damping(client):
    assert fastest_way(client, 0.2) == pytest.approx(0.5, rel=0.1)
    change(client, solver__damping=1e5)
    assert fastest_way(client, -0.2) < 0.4


@effect('solver.regularization')
def _regularization(client):
    assert fastest_way(client, 0.2) == pytest.approx(0.5, rel=0.1)
    change(client, solver__regularization=10.0)
    assert fastest_way(client, -0.2) < 0.4


@effect('solver.max_iterations')
def _iterations(client):
    # Below the floor it takes several steps: the barrier requires more than slow joints can do.
    client.robot.place(**LOW)
    client.robot.wait_until_seen()
    change(client, solver__max_iterations=1, limits__velocity_scale=0.01)
    client.stream('ee', moved(client, (0.0, 0.0, 0.3)))
    client.wait_for_code(IkStatus.SOLVER_FAILED)
    change(client, solver__max_iterations=500, limits__velocity_scale=1.0)
    client.wait_for_arrival()


@effect('<task>.target_filter_tau')
def _filter_of_task(client):
    change(client, target_filter_tau=1.0, ee__target_filter_tau=0.3)
    left = decay(client, (0.0, 0.05, 0.0))
    assert left == pytest.approx(math.exp(-PERIOD / 0.3), abs=0.003)


@effect('target_filter_tau')
def _filter(client):
    change(client, target_filter_tau=0.3)
    left = decay(client, (0.0, 0.05, 0.0))
    assert left == pytest.approx(math.exp(-PERIOD / 0.3), abs=0.003)


@effect('solver.singularity_threshold')
def _threshold(client):
    near = (IkStatus.DAMPED_NEAR_SINGULARITY, IkStatus.LEAVING_SINGULARITY)
    client.stream('ee', moved(client, (0.0, 0.2, 0.0)))
    client.wait_for_text('tracking')
    assert client.status.code not in near
    change(client, solver__singularity_threshold=1.0)
    client.stream('ee', moved(client, (0.0, -0.4, 0.0)))
    client.wait_for_code(*near)


@effect('solver.singularity_damping')
def _singularity_damping(client):
    change(client, solver__singularity_threshold=1.0, solver__singularity_damping=0.0)
    assert fastest_way(client, 0.2) == pytest.approx(0.5, rel=0.1)
    change(client, solver__singularity_damping=1.0)
    assert fastest_way(client, -0.2) < 0.4


def wrong_values(entry):
    """Return values that a parameter refuses."""
    kind, several = entry.type.partition('|')[0].removesuffix('[]'), '[]' in entry.type
    mistyped = {'bool': 'yes', 'int': 1.5, 'double': 'a lot', 'string': 3.0}[kind]
    wrong = [mistyped, [mistyped] * 3] if several else [mistyped, ['a', 'b']]
    numbers = []
    if kind == 'double':
        numbers += [math.nan, *([math.inf] if entry.finite and entry.maximum is None else [])]
    if entry.minimum is not None:
        numbers.append(entry.minimum - 1)
        numbers += [entry.minimum] if entry.exclusive_minimum else []
    if entry.maximum is not None:
        numbers.append(entry.maximum + 1)
    cast = int if kind == 'int' else float
    numbers = [cast(number) for number in numbers]
    wrong += [[number] * 3 for number in numbers] if several else numbers
    if entry.lengths:
        wrong.append([0.5] * (max(entry.lengths) + 1))
    if kind == 'string' and entry.choices:
        wrong.append('no such choice')
    return wrong


@pytest.mark.parametrize('name', DYNAMIC)
def test_wrong_values_are_refused_with_a_reason(node, name):
    entry, full_name = DYNAMIC[name], name_of(DYNAMIC[name])
    before, wrong = current_values(node, [full_name]), wrong_values(entry)
    parameters = [Parameter(full_name, value=value).to_parameter_msg() for value in wrong]
    request = SetParameters.Request(parameters=parameters)
    results = node.call(SetParameters, 'ros_ik/set_parameters', request).results
    for value, result in zip(wrong, results, strict=True):
        assert not result.successful, f'{full_name} took {value}'
        # Values of the wrong type are refused by rclpy itself, with its own text.
        assert full_name in result.reason or 'parameter type' in result.reason, result.reason
    assert current_values(node, [full_name]) == before
