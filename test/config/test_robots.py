# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The files of config/robots on robots that stand in for those of the drivers.

Each fits its robot, reaches a pose with meshes and barriers as on hardware, inside the limits that
it gives, in about the time that docs/quick_starts.md promises.
"""

import functools
from pathlib import Path
import re

import numpy as np
import pytest
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import RATE
from support.rigs.ros_rig import ros_rig
from support.rigs.servo_rig import Rig

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path
from ros_ik.demo.robots import RobotFiles
from ros_ik.model import Model
from ros_ik.settings.parameter_file import read_parameters
from ros_ik.setup_assistant.check import check_parameters

ROOT = Path(__file__).parents[2]
FILES = ('ur5e', 'franka_fr3', 'xarm7', 'tiago')
XARM_HOME = {'joint2': -0.3, 'joint4': 1.0, 'joint6': 1.2}
# Watched links that are nearer than the margin at home.
NEAR = {'tiago': ['arm_1_link:torso_fixed_column_link']}
# Displacement of the tool [m].
SHIFT = (0.05, 0.2, 0.1)


@functools.cache
def stand_in(name):
    """Return the files of the substitute robot."""
    if name == 'xarm7':
        folder = robot_data_path() / 'xarm_description'
        return RobotFiles(
            name, folder / 'urdf' / 'xarm7.urdf', folder / 'srdf' / 'xarm7.srdf', 'link_base',
            'link_eef', XARM_HOME,
        )  # fmt: skip
    return find_robot({'ur5e': 'ur5', 'franka_fr3': 'panda', 'tiago': 'tiago'}[name])


@functools.cache
def model(name):
    files = stand_in(name)
    return Model.from_urdf(
        files.urdf_path, files.srdf_path, (robot_data_path().parents[1],), device='cpu'
    )


def parameters(name):
    """Return the parameters of a file, with the joint names of the substitute robot."""
    text = (ROOT / 'config' / 'robots' / f'{name}.yaml').read_text()
    return read_parameters(text.replace('fr3_', 'panda_') if name == 'franka_fr3' else text)


def promised():
    """Return the times of the document by file."""
    text = (ROOT / 'docs' / 'quick_starts.md').read_text()
    rows = re.findall(r'^\| `config/robots/(\w+)\.yaml` \|.*\| ([\d.]+) \|$', text, re.M)
    return {name: float(seconds) for name, seconds in rows}


def test_every_file_is_tested():
    assert {path.stem for path in (ROOT / 'config' / 'robots').glob('*.yaml')} == set(FILES)
    assert set(promised()) == set(FILES)


@pytest.mark.parametrize('name', FILES)
def test_a_file_fits_its_robot(name):
    home = stand_in(name).home
    findings = check_parameters(parameters(name), model(name), start=home)
    warned = [sentence.partition(': nearer at the start')[0] for sentence in findings.warnings]
    assert (findings.errors, warned) == ((), NEAR.get(name, []))


@pytest.mark.parametrize('name', FILES)
def test_a_pose_is_reached_inside_the_limits(name):
    values = {key.replace('.', '__'): value for key, value in parameters(name).items()}
    rig = Rig(stand_in(name), model=model(name), **values)
    assert not rig.robot.unmeasured_links and len(rig.robot.shapes.pairs)
    rig.aim(rig.moved(SHIFT))
    ticks = next(k for k in range(1, 5000) if rig.tick().tasks[0].reached)
    assert ticks * rig.dt == pytest.approx(promised()[name], abs=0.1)
    rig.assert_within_limits()
    fastest = np.abs(rig.speeds()).max(axis=0)
    limits = rig.robot.velocity[rig.robot.group.variable_dof]
    assert np.all(fastest <= rig.settings.limits_velocity_scale * limits * (1.0 + 1e-9))
    jerk = np.diff(rig.speeds(), 2, axis=0) / rig.dt**2
    assert np.all(np.abs(jerk).max(axis=0) <= rig.robot.jerk[rig.robot.group.variable_dof])


@pytest.mark.dds
def test_the_node_takes_a_file_and_a_mock_robot_follows(tmp_path):
    files, given = stand_in('ur5e'), parameters('ur5e')
    with ros_rig(tmp_path) as client:
        client.processes.start(
            'node', 'ros_ik.node.ros_ik_node', ROOT / 'config' / 'robots' / 'ur5e.yaml',
            **NEVER_STALE,
        )  # fmt: skip
        client.processes.start(
            'robot', 'ros_ik.demo.mock_robot', publish_rate=RATE,
            command_topic=given['outputs.arm.topic'],
            controller_joints=given['outputs.arm.joints'],
            initial_positions__names=list(files.home),
            initial_positions__values=[float(value) for value in files.home.values()],
        )  # fmt: skip
        client.describe(files.urdf_path.read_text())
        client.wait_for_text('waiting for a target', timeout=LONG)
        assert 'there is no parameter' not in client.processes.text('node')
        client.stream('ee', client.moved_pose(SHIFT))
        client.wait_for_arrival()
