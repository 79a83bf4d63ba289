# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Links that overlap at the start: those that hold the node are named, and no others."""

import functools
import re

import pytest
from support.rigs.servo_rig import Rig
from support.robots.crossed_arms import CROSSED_ARMS

from ros_ik.demo.robots import robot_data_path
from ros_ik.demo.robots import RobotFiles
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.servo import StatusCode
from ros_ik.settings.parameter_file import flat
from ros_ik.setup_assistant.__main__ import main
from ros_ik.setup_assistant.check import check_parameters
from ros_ik.setup_assistant.proposal import propose
from ros_ik.setup_assistant.start import near_pairs

ICUB = robot_data_path() / 'icub_description/robots/icub_reduced.urdf'
SRDF = '<robot name="r">{}</robot>'
GIVEN = {
    'base_frame': 'base', 'frame_tasks': ['left', 'right', 'tool'], 'left.frame': 'left',
    'right.frame': 'right', 'tool.frame': 'tool', 'left.orientation_weight': 0.0,
    'right.orientation_weight': 0.0, 'tool.orientation_weight': 0.0, 'outputs.default.topic': '/t',
}  # fmt: skip


@functools.cache
def icub(srdf=None):
    return Model.from_urdf(
        ICUB.read_text(), srdf=srdf, package_paths=mesh_folders(ICUB), device='cpu'
    )


def rig(model, given):
    files = RobotFiles('r', ICUB, None, '', '', {})
    return Rig(files, model=model, **{key.replace('.', '__'): given[key] for key in given})


def position(moved, joint):
    """Return the position of a joint, which was 0 at the start."""
    return float(moved.q[moved.robot.coord_of[joint]])


def warnings(start=None, srdf=None, **values):
    model = Model.from_urdf(CROSSED_ARMS, srdf=srdf, device='cpu')
    given = GIVEN | {key.replace('__', '.'): value for key, value in values.items()}
    found = check_parameters(given, model, start=start)
    assert not found.errors
    return [one for one in found.warnings if 'overlap' in one or 'nearer' in one]


def test_a_pair_is_named_with_its_depth_and_the_line_of_the_srdf():
    common, pair = warnings()
    assert common.startswith('one pair of links overlaps at the neutral configuration')
    assert pair.startswith('left and right overlap by 60.0 mm')
    line = re.search('<disable_collisions.*/>', pair)[0]
    assert 'link1="left" link2="right"' in line
    assert not warnings(srdf=SRDF.format(line))
    assert not warnings(collision__ignore_pairs=['right:left'])
    assert not warnings(barriers__self_collision__enabled=False)


def test_another_start_is_measured():
    assert not warnings({'left_joint': 1.0})
    (near,) = warnings({'left_joint': 0.21})
    assert near.startswith('left:right: nearer at the start than') and '(10 mm)' in near
    assert warnings({'left_joint': 0.1})[0].startswith('one pair of links overlaps where')


def test_links_that_no_controlled_joint_moves_hold_nothing():
    model = Model.from_urdf(CROSSED_ARMS, device='cpu')
    given = {
        'base_frame': 'base', 'frame_tasks': ['tool'], 'tool.frame': 'tool',
        'tool.orientation_weight': 0.0,
    }  # fmt: skip
    held = rig(model, given)
    assert len(held.robot.shapes.pairs) == 3 and not near_pairs(held.robot, None)
    held.aim_joint_velocities(tool_joint=0.3)
    held.tick(seconds=0.5)
    assert held.outputs[-1].code == StatusCode.OK and position(held, 'tool_joint') > 0.05
    one = rig(model, given | {'frame_tasks': ['tool', 'left'], 'left.frame': 'left'})
    assert [pair.links for pair in near_pairs(one.robot, None)] == [('left', 'right')]


def test_the_status_of_the_node_names_the_deepest_pair():
    given = flat(propose(icub()).parameters)
    held = rig(icub(), given)
    held.aim_joint_velocities(l_wrist_yaw=0.3)
    held.tick(seconds=0.5)
    output, (first, *others) = held.outputs[-1], near_pairs(held.robot, None)
    assert output.code == StatusCode.HALTED_BY_BARRIER
    assert position(held, 'l_wrist_yaw') == pytest.approx(0.0, abs=1e-3)
    assert set(output.limiting_pair) == set(first.links) == {'l_lower_leg', 'r_lower_leg'}
    assert output.barrier_distance == pytest.approx(first.distance, abs=1e-4)
    assert len(others) > 10


def test_a_robot_moves_once_the_named_pairs_are_disabled():
    proposal = propose(icub())
    lines = ''.join(re.findall('<disable_collisions.*?/>', '\n'.join(proposal.warnings)))
    model = icub(SRDF.format(lines))
    given = flat(proposal.parameters)
    freed = rig(model, given)
    freed.aim_joint_velocities(l_wrist_yaw=0.3)
    freed.tick(seconds=0.5)
    assert not any(pair.overlaps for pair in near_pairs(freed.robot, None))
    assert position(freed, 'l_wrist_yaw') > 0.05


def test_the_command_line_warns_beside_the_file(tmp_path, capsys):
    urdf, out = tmp_path / 'arms.urdf', tmp_path / 'my.yaml'
    urdf.write_text(CROSSED_ARMS)
    assert main([str(urdf)]) == 0
    said = capsys.readouterr()
    assert 'warning: left and right overlap by 60.0 mm' in said.err
    assert '# - where the robot starts' in said.out and 'overlap' not in said.out
    assert main([str(urdf), '--output', str(out), '--start', 'left_joint=1']) == 0
    assert not capsys.readouterr().err
    assert 'where the robot starts' not in out.read_text()
    assert main([str(urdf), '--check', str(out)]) == 0
    assert 'warning: left and right overlap by 60.0 mm' in capsys.readouterr().out
    assert main([str(urdf), '--check', str(out), '--start', 'left_joint=1']) == 0
    assert 'overlap' not in capsys.readouterr().out


def test_a_start_that_the_robot_lacks_is_refused():
    with pytest.raises(ArgumentError, match="'no_joint'"):
        warnings({'no_joint': 1.0})
