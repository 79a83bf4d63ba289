# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""~/move_to_pose by way of another configuration, over DDS; judged by Pinocchio's kinematics."""

from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from support.rigs.action_rig import ABORTED
from support.rigs.action_rig import ActionUser
from support.rigs.action_rig import at_rest
from support.rigs.action_rig import CANCELED
from support.rigs.action_rig import SUCCEEDED
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import Twin
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.ros_rig import UNWATCHED

from ros_ik_interfaces.action import MoveToPose
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.srv import SetMode

pytestmark = pytest.mark.dds
BASE = 'panda_link0'
# A reachable pose; on the direct path from home to it a joint meets its limit.
BEHIND_A_LIMIT = (0.298942, 0.477375, 0.260517, -0.150558, 0.652797, 0.052756, -0.740544)


@pytest.fixture
def client(tmp_path):
    with ros_rig(tmp_path, planners=True) as client:
        start_node(
            client, base_frame=BASE, actions__timeout=150.0, services__nice=0,
            services__timeout=300.0, **NEVER_STALE, **UNWATCHED,
        )  # fmt: skip
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        yield at_rest(client)
        assert client.processes.is_alive('node'), client.processes.text('node')


def target():
    """Return the pose as a message."""
    message = PoseStamped()
    message.header.frame_id = BASE
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = BEHIND_A_LIMIT
    return message


def errors_of(client):
    """Return distance and angle of the measured robot to the pose, by Pinocchio."""
    client.wait_for_rest()
    planner, measured = make_planner('panda'), client.positions()
    coords = planner.coordinates(list(measured))
    joint_q = planner.configurations(coords, np.array([list(measured.values())]))[0]
    return Twin(planner, 'panda').errors(joint_q, 'panda_hand_tcp', BASE, np.array(BEHIND_A_LIMIT))


def go_as_far_as_possible(client, user):
    """Bring the robot to rest short of the target, however long that takes."""
    goal = user.send(MoveToPose.Goal(target=target()))
    client.wait_for(lambda: IkStatus.STATIONARY in {m.code for m in goal.feedback}, 'rest', LONG)
    assert goal.cancel()
    assert goal.result()[0] == CANCELED


def test_it_is_reached_by_joints_where_that_is_allowed_and_not_otherwise(client):
    user = ActionUser(client, MoveToPose, 'move_to_pose')
    go_as_far_as_possible(client, user)
    goal = user.send(MoveToPose.Goal(target=target(), timeout=6.0))
    status, result = goal.result()
    assert status == ABORTED and not result.reached
    assert 'at rest short of the target of ee: joint' in result.message
    assert goal.feedback[-1].code == IkStatus.STATIONARY
    goal = user.send(MoveToPose.Goal(target=target(), timeout=150.0, allow_reconfiguration=True))
    status, result = goal.result()
    assert status == SUCCEEDED and result.reached, result.message
    assert result.message == 'changed the configuration'
    distance, angle = errors_of(client)
    assert distance <= 1e-3 and angle <= 1e-2
    client.assert_trajectories_are_accepted()


def test_during_the_joint_path_it_can_be_cancelled_and_preempted(client):
    user = ActionUser(client, MoveToPose, 'move_to_pose')
    fields = {'target': target(), 'timeout': 150.0, 'allow_reconfiguration': True}

    def by_joints():
        client.set(limits__velocity_scale=1.0)
        go_as_far_as_possible(client, user)
        # So slow that it is still behind the limit after the machine has stalled for a while. The
        # joint path may begin at once.
        client.set(limits__velocity_scale=0.01)
        client.statuses.clear()
        goal = user.send(MoveToPose.Goal(**fields))

        def has_joint_target():
            active = [status.tasks[0].active for status in client.statuses]
            return True in active and not active[-1]

        # The first search of a planning process starts it and loads its kernels.
        client.wait_for(has_joint_target, 'a joint target after the pose', LONG)
        return goal

    goal = by_joints()
    assert goal.cancel()
    status, result = goal.result()
    assert status == CANCELED and not result.reached
    client.wait_for_rest()
    goal = by_joints()
    client.stream('pose', client.moved_pose())
    status, result = goal.result()
    client.stream('pose', None)
    assert status == ABORTED and 'preempted by a pose target' in result.message
    client.call(SetMode, 'ros_ik/set_mode', SetMode.Request(mode=SetMode.Request.POSE))
    client.set(limits__velocity_scale=1.0)
    go_as_far_as_possible(client, user)
    goal = user.send(MoveToPose.Goal(**(fields | {'timeout': 6.0})))
    status, result = goal.result()
    assert status == ABORTED and 'mode POSE has no joint targets' in result.message
