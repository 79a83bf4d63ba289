# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A joint with a velocity limit of 0, over DDS: the status names it, and no solution moves it."""

import pytest
from sensor_msgs.msg import JointState
from support.rigs.planning_rig import make_planner
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.services_rig import ask
from support.rigs.services_rig import pose_message
from support.robots.urdf_limits import still_text

from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.srv import SolveIk

pytestmark = pytest.mark.dds
STILL, OTHER = 'panda_joint3', 'panda_joint4'


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('still'), planners=True) as client:
        start_node(client)
        start_robot(client)
        client.describe(still_text(STILL))
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        yield client


@pytest.mark.parametrize('field', ['velocity', 'position'])
def test_targets_that_move_it_are_named_and_move_the_others(client, field):
    before = client.positions()
    aims = {
        'velocity': [0.2, 0.05],
        'position': [before[STILL] + 0.2, before[OTHER] + 0.05],
    }[field]
    client.stream('joints', JointState(name=[STILL, OTHER], **{field: aims}))
    text = f'joint {STILL} cannot move, because its velocity limit is 0'
    client.wait_for_code(IkStatus.JOINT_BOUND, text=text)
    client.wait_for(lambda: client.positions()[OTHER] - before[OTHER] > 0.02, 'motion')
    client.stream('joints', None)
    client.wait_for_code(IkStatus.COMMAND_STALE)
    client.wait_for_rest()
    assert client.positions()[STILL] == pytest.approx(before[STILL], abs=1e-6)


def test_no_solution_moves_it(client):
    planner = make_planner('panda', text=still_text(STILL))
    row, coord = planner.joint_q.copy(), planner.robot.coord_of[OTHER]
    row[planner.robot.coord_of[STILL]] = client.positions()[STILL]
    row[coord] += 0.2
    pose = planner.body_poses(row[None])[0, planner.frame('').link]
    request = SolveIk.Request(poses=[pose_message(pose)])
    answer = ask(client, SolveIk, 'solve_ik', request)
    assert answer.success, answer.message
    assert list(answer.codes) == [SolveIk.Response.CONVERGED]
    assert list(answer.joint_names) == [name for name in ARM if name != STILL]
