# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every robot of the demo is found and loads; unknown names and faults are named."""

import os

import pytest

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import mesh_environment
from ros_ik.demo.robots import mesh_prefix
from ros_ik.demo.robots import robot_data_path
from ros_ik.demo.robots import robot_names
from ros_ik.demo.robots import RobotFiles
from ros_ik.demo.robots.chain import choose_chain
from ros_ik.demo.robots.demo_robot import home_configuration
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model.readers.description import read_description
from ros_ik.model.readers.mesh_lookup import resolve_mesh
from ros_ik.model.robot_joints import RobotJoints
from ros_ik.node.model_loading.package_paths import package_paths

XACRO = """<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="segment" params="number">
    <link name="link${number}"/>
    <joint name="joint${number}" type="revolute">
      <parent link="${'base' if number == 1 else 'link%d' % (number - 1)}"/>
      <child link="link${number}"/>
      <origin xyz="0 0 0.4"/>
      <axis xyz="0 1 0"/>
      <limit lower="-2" upper="2" velocity="1" effort="1"/>
    </joint>
  </xacro:macro>
  <link name="base"/>
  <xacro:segment number="1"/>
  <xacro:segment number="2"/>
</robot>
"""


def load(robot):
    files = find_robot(robot)
    return files, Model.from_urdf(read_description(files.urdf_path), device='cpu')


def test_the_robots_of_the_manual_are_known():
    arms = {'panda', 'ur3', 'ur5', 'ur10', 'talos_left_arm', 'tiago', 'g1', 'baxter'}
    assert arms | {'allegro_right_hand'} <= set(robot_names())


def test_meshes_lie_below_the_prefix_of_the_description():
    files = find_robot('panda')
    uri = 'package://example-robot-data/robots/panda_description/meshes/collision/link0.stl'
    assert uri in read_description(files.urdf_path)
    assert resolve_mesh(uri, [f'{mesh_prefix(files)}/share']).path is not None


def test_a_description_anywhere_has_no_prefix(tmp_path):
    assert mesh_prefix(RobotFiles('mine', tmp_path / 'mine.urdf')) == ''


def test_the_children_of_the_demo_look_where_the_meshes_are(tmp_path, monkeypatch):
    files = find_robot('panda')
    for given, expected in (
        ('', mesh_prefix(files)),
        ('/opt/ros', f'/opt/ros{os.pathsep}{mesh_prefix(files)}'),
    ):
        monkeypatch.setenv('AMENT_PREFIX_PATH', given)
        assert mesh_environment(files, tmp_path) == {**os.environ, 'AMENT_PREFIX_PATH': expected}


@pytest.mark.parametrize('place', ['my_robot/urdf', 'my_robot', 'my_robot/urdf/parts'])
def test_meshes_beside_a_description_anywhere_are_found(tmp_path, monkeypatch, place):
    package = tmp_path / 'home' / 'my_robot'
    mesh = package / 'meshes' / 'tool.stl'
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    links = tmp_path / 'links'
    links.mkdir()
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/opt/ros')
    files = RobotFiles('mine', tmp_path / 'home' / place / 'mine.urdf')
    paths = package_paths(mesh_environment(files, links))
    assert paths[0] == '/opt/ros/share'
    assert resolve_mesh('package://my_robot/meshes/tool.stl', paths).path == mesh
    assert resolve_mesh(f'file://{mesh}', paths).path == mesh
    assert resolve_mesh('package://others/meshes/tool.stl', paths).path is None


@pytest.mark.parametrize('robot', robot_names())
def test_known_robot_loads_with_its_chain_and_home(robot):
    files, model = load(robot)
    assert files.srdf_path is None or files.srdf_path.is_file()
    group = model.joint_group(f'{files.base_link}:{files.tip_link}')
    assert group.n_variables >= 4
    home = home_configuration(model, group, dict(files.home))
    joints = RobotJoints(model)
    lower, upper, _, _ = model.limits64()
    dofs = model.joint_qd_start.numpy()
    for name, coord in zip(joints.names, joints.coords, strict=True):
        dof = dofs[model.joint_index(name)]
        assert lower[dof] <= home[coord] <= upper[dof], name
        if name in group.joint_names:
            # Room to move in both directions, more than the node keeps from the limits.
            assert lower[dof] + 0.05 < home[coord] < upper[dof] - 0.05, name
    assert set(files.home) <= set(joints.names)


@pytest.mark.parametrize(
    ('path', 'chain', 'last'),
    [
        ('panda_description/urdf/panda.urdf', 'panda_link0:panda_hand_tcp', 'panda_joint7'),
        ('ur_description/urdf/ur5_robot.urdf', 'base_link:tool0', 'wrist_3_joint'),
        ('baxter_description/urdf/baxter.urdf', 'left_arm_mount:left_gripper', 'left_w2'),
        (
            'kinova_description/robots/kinova.urdf', 'j2s6s200_link_base:j2s6s200_end_effector',
            'j2s6s200_joint_6',
        ),
        (
            'talos_data/robots/talos_left_arm.urdf', 'arm_left_1_link:wrist_left_ft_tool_link',
            'arm_left_7_joint',
        ),
        ('z1_description/urdf/z1.urdf', 'link00:gripperStator', 'joint6'),
    ],
)  # fmt: skip
def test_path_gets_an_arm_without_its_fingers(path, chain, last):
    files, model = load(str(robot_data_path() / path))
    assert files.tip_link == '' and ':'.join(choose_chain(model)) == chain
    assert model.joint_group(chain).joint_names[-1] == last


def test_unknown_robot_is_named_with_the_closest_known():
    with pytest.raises(ArgumentError, match="'pandda' is neither a file nor a known robot.*panda"):
        find_robot('pandda')


def test_xacro_is_expanded(tmp_path):
    path = tmp_path / 'two.urdf.xacro'
    path.write_text(XACRO)
    files, model = load(str(path))
    assert files.name == 'two'
    assert RobotJoints(model).driven == ('joint1', 'joint2')
    assert choose_chain(model) == ('base', 'link2')


def test_robot_without_joints_is_refused():
    model = Model.from_urdf('<robot name="stone"><link name="stone"/></robot>', device='cpu')
    with pytest.raises(ArgumentError, match='no movable joint'):
        choose_chain(model)
