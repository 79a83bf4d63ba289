# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""MoveIt's ~/compute_ik and ~/compute_fk over DDS, where moveit_msgs is installed."""

import math
from types import SimpleNamespace

from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import Transition
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.rigs.ball_arms import A
from support.rigs.ball_arms import URDF
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import random_configurations
from support.rigs.planning_rig import Twin
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.services_rig import ask
from support.rigs.services_rig import pose_message
from support.rigs.services_rig import start

from ros_ik.node.control.command_messages import duration
from ros_ik.node.services import moveit
from ros_ik.node.services.moveit import HAS_MOVEIT
from ros_ik.planning import Budget
from ros_ik.planning import Planner
from ros_ik.settings import read_settings
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
needs_moveit = pytest.mark.skipif(not HAS_MOVEIT, reason='moveit_msgs is not installed')
TCP, BASE, HAND, ELBOW = 'panda_hand_tcp', 'panda_link0', 'panda_hand', 'panda_link4'
if HAS_MOVEIT:
    from moveit_msgs.msg import JointConstraint
    from moveit_msgs.msg import MoveItErrorCodes as Code
    from moveit_msgs.srv import GetPositionFK
    from moveit_msgs.srv import GetPositionIK


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    if not HAS_MOVEIT:
        pytest.skip('moveit_msgs is not installed')
    with ros_rig(tmp_path_factory.mktemp('moveit'), planners=True) as client:
        start(client, 'panda', moveit_services='on')
        planner = make_planner('panda')
        yield client, planner, Twin(planner, 'panda')
        assert client.processes.is_alive('node'), client.processes.text('node')


def stamped(row, frame=BASE):
    message = PoseStamped(pose=pose_message(row))
    message.header.frame_id = frame
    return message


def compute_ik(client, **fields):
    request = GetPositionIK.Request()
    for name, value in fields.items():
        setattr(request.ik_request, name, value)
    return ask(client, GetPositionIK, 'compute_ik', request)


def configuration(planner, state):
    """Return the whole configuration of a joint state."""
    coords = planner.coordinates(state.name)
    return planner.configurations(coords, np.array([state.position]))[0]


def test_a_check_of_collisions_needs_every_joint_on_which_they_depend(monkeypatch):
    """A response has no field for an incomplete check."""
    monkeypatch.setattr(moveit, 'Code', SimpleNamespace(ROBOT_STATE_STALE=-17), raising=False)
    constraints = SimpleNamespace(
        joint_constraints=(), position_constraints=(), orientation_constraints=(),
        visibility_constraints=(),
    )  # fmt: skip
    planner = Planner(URDF, '', read_settings({'ee.frame': 'a_ball', 'base_frame': 'torso'}))
    pose = pose_message([0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    one = PoseStamped(pose=pose)
    for names in (['a_ball'], ['a_ball', 'a_upper']):
        wanted = SimpleNamespace(
            constraints=constraints, group_name='', pose_stamped_vector=[one] * len(names),
            ik_link_names=names, avoid_collisions=True,
        )  # fmt: skip
        with planner.at([*A, 'b1'], [0.0, 0.0, 0.0]):
            with pytest.raises(moveit._MoveItError, match='finger, b2') as error:
                moveit._solve(planner, wanted, Budget(), threads=1)
            assert error.value.code == -17
            wanted.avoid_collisions = False
            if len(names) == 1:
                assert len(moveit._solve(planner, wanted, Budget(), threads=1))


@needs_moveit
def test_a_pose_is_solved_and_the_whole_state_comes_back(rig):
    client, planner, twin = rig
    row = random_configurations(planner, 1, seed=8, margin=0.3)
    target = twin.poses(row, HAND, BASE)[0]
    answer = compute_ik(client, ik_link_name=HAND, pose_stamped=stamped(target))
    assert answer.error_code.val == Code.SUCCESS, answer.error_code
    state = answer.solution.joint_state
    assert set(state.name) == set(planner.robot.coord_of) and state.header.frame_id == BASE
    errors = twin.errors(configuration(planner, state), HAND, BASE, target)
    assert errors[0] <= 1e-3 + 1e-9 and errors[1] <= 1e-2 + 1e-9


@needs_moveit
def test_the_state_is_the_seed_and_holds_the_other_joints(rig):
    client, planner, twin = rig
    row = random_configurations(planner, 1, seed=9, margin=0.3)
    target = twin.poses(row, TCP, BASE)[0]
    near = row[0] + 0.02
    names = list(planner.robot.group.joint_names)
    seed = JointState(name=[*names, 'panda_finger_joint1'])
    seed.position = [*near[planner.robot.coords].tolist(), 0.03]
    request = GetPositionIK.Request()
    request.ik_request.robot_state.joint_state = seed
    request.ik_request.pose_stamped = stamped(target)
    answer = ask(client, GetPositionIK, 'compute_ik', request)
    assert answer.error_code.val == Code.SUCCESS
    found = configuration(planner, answer.solution.joint_state)
    assert np.max(np.abs((found - row[0])[planner.robot.coords])) < 0.2
    by_name = dict(zip(answer.solution.joint_state.name, answer.solution.joint_state.position,
                       strict=True))  # fmt: skip
    assert by_name['panda_finger_joint1'] == pytest.approx(0.03)


@needs_moveit
@pytest.mark.parametrize('collisions', [False, True])
def test_several_links_have_their_poses_at_once(rig, collisions):
    client, planner, twin = rig
    row = planner.joint_q[None].copy()
    row[:, planner.robot.coords] += 0.2
    targets = [twin.poses(row, link, BASE)[0] for link in (TCP, ELBOW)]
    answer = compute_ik(
        client,
        ik_link_names=[TCP, ELBOW],
        pose_stamped_vector=[stamped(target) for target in targets],
        avoid_collisions=collisions,
    )
    if collisions:
        # The node does not find the meshes.
        assert answer.error_code.val == Code.COLLISION_CHECKING_UNAVAILABLE, answer.error_code
        return
    assert answer.error_code.val == Code.SUCCESS, answer.error_code
    found = configuration(planner, answer.solution.joint_state)
    for link, target in zip((TCP, ELBOW), targets, strict=True):
        errors = twin.errors(found, link, BASE, target)
        assert errors[0] <= 1e-3 + 1e-9 and errors[1] <= 1e-2 + 1e-9
    targets[1][0] += 0.5
    answer = compute_ik(
        client,
        ik_link_names=[TCP, ELBOW],
        pose_stamped_vector=[stamped(target) for target in targets],
    )
    assert answer.error_code.val == Code.NO_IK_SOLUTION


@needs_moveit
def test_what_cannot_be_done_has_moveit_s_code(rig):
    client, _, _ = rig
    good = stamped([0.4, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0])
    far = stamped([3.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0])
    nan = stamped([math.nan, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0])
    for fields, code, words in (
        ({'pose_stamped': far}, Code.NO_IK_SOLUTION, 'unreachable'),
        ({'pose_stamped': nan}, Code.INVALID_GOAL_CONSTRAINTS, 'finite'),
        ({'pose_stamped': PoseStamped()}, None, ''),
        ({'pose_stamped': stamped(np.zeros(7))}, Code.INVALID_GOAL_CONSTRAINTS, 'rotation'),
        (
            {'pose_stamped': stamped([0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0], 'nowhere')},
            Code.FRAME_TRANSFORM_FAILURE, 'nowhere',
        ),
        ({'pose_stamped': good, 'ik_link_name': 'nothing'}, Code.INVALID_LINK_NAME, 'nothing'),
        ({'pose_stamped': good, 'group_name': 'no_group'}, Code.INVALID_GROUP_NAME, 'no_group'),
        ({'pose_stamped_vector': [good, good]}, Code.INVALID_LINK_NAME, 'one per pose'),
        ({'pose_stamped': good, 'timeout': duration(1e-9)}, Code.TIMED_OUT, '1e-09'),
    ):  # fmt: skip
        answer = compute_ik(client, **fields)
        if code is not None:
            assert answer.error_code.val == code, (fields, answer.error_code)
            assert words in getattr(answer.error_code, 'message', words)
    request = GetPositionIK.Request()
    request.ik_request.constraints.joint_constraints = [JointConstraint()]
    answer = ask(client, GetPositionIK, 'compute_ik', request)
    assert answer.error_code.val == Code.INVALID_GOAL_CONSTRAINTS
    request = GetPositionIK.Request()
    request.ik_request.robot_state.joint_state = JointState(name=['no_joint'], position=[0.0])
    answer = ask(client, GetPositionIK, 'compute_ik', request)
    assert answer.error_code.val == Code.INVALID_ROBOT_STATE
    negative = compute_ik(client, timeout=type(duration(1.0))(sec=-1))
    assert negative.error_code.val == Code.FAILURE


@needs_moveit
def test_poses_of_links_are_those_of_pinocchio(rig):
    client, planner, twin = rig
    row = random_configurations(planner, 1, seed=11)
    names = list(planner.robot.group.joint_names)
    request = GetPositionFK.Request(fk_link_names=[HAND, ELBOW])
    request.header.frame_id = 'panda_link1'
    request.robot_state.joint_state = JointState(
        name=names, position=row[0][planner.robot.coords].tolist()
    )
    answer = ask(client, GetPositionFK, 'compute_fk', request)
    assert answer.error_code.val == Code.SUCCESS and answer.fk_link_names == [HAND, ELBOW]
    for link, message in zip((HAND, ELBOW), answer.pose_stamped, strict=True):
        assert message.header.frame_id == 'panda_link1'
        p, q = message.pose.position, message.pose.orientation
        errors = twin.errors(row[0], link, 'panda_link1', [p.x, p.y, p.z, q.x, q.y, q.z, q.w])
        np.testing.assert_allclose(errors, 0.0, atol=1e-9)
    for change, code in (
        ({'fk_link_names': []}, Code.INVALID_LINK_NAME),
        ({'fk_link_names': ['nothing']}, Code.INVALID_LINK_NAME),
    ):
        answer = ask(client, GetPositionFK, 'compute_fk', GetPositionFK.Request(**change))
        assert answer.error_code.val == code


@pytest.mark.skipif(HAS_MOVEIT, reason='moveit_msgs is installed')
def test_asking_for_the_services_without_the_package_is_refused(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, moveit_services='on', autostart=False)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
        assert not client.transition(Transition.TRANSITION_CONFIGURE)
        client.wait_for(lambda: 'moveit_msgs' in client.processes.text('node'), 'a reason')
