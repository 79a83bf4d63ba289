# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Proposed parameter files: their names exist, and they list unknown values."""

from pathlib import Path
import re
from xml.etree import ElementTree

import pytest
import rclpy
from support.rigs.servo_rig import Rig
import yaml

from benchmarks.motion.ticked_servo import robot_model
from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.node.robot_graph import FoundController
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import read_settings
from ros_ik.settings import SettingsError
from ros_ik.settings.parameter_file import flat
from ros_ik.settings.parameter_file import read_parameters
from ros_ik.setup_assistant.__main__ import main
from ros_ik.setup_assistant.check import check_parameters
from ros_ik.setup_assistant.limbs import find_limbs
from ros_ik.setup_assistant.limbs import Limb
from ros_ik.setup_assistant.proposal import _task_names
from ros_ik.setup_assistant.proposal import Proposal
from ros_ik.setup_assistant.proposal import propose

TIPS = {
    'panda': {'panda_hand_tcp': 7},
    'ur5': {'tool0': 6},
    'tiago': {'hand_grasping_frame': 8},
    'baxter': {'left_gripper': 7, 'right_gripper': 7},
    'allegro_right_hand': {f'link_{k}.0_tip': 4 for k in (3, 7, 11, 15)},
    'six_axis': {'tool0': 6},
}
CORNER = """v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"""
ARM_WITH_MESHES = """<robot name="arm">
  <link name="a"><collision><geometry><mesh filename="package://arm_description/corner.obj"/>
    </geometry></collision></link>
  <link name="b"><collision><geometry><mesh filename="package://arm_description/corner.obj"/>
    </geometry></collision></link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.5"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
</robot>"""
NO_JOINT = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'  # noqa: E501


@pytest.mark.parametrize('name', TIPS)
def test_limbs_end_where_something_is_done(name):
    limbs = find_limbs(robot_model(name))
    assert {limb.tip: len(limb.joints) for limb in limbs} == TIPS[name]


@pytest.mark.parametrize(
    'path',
    [
        'xarm_description/urdf/xarm7.urdf', 'kinova_description/robots/kinova.urdf',
        'anymal_c_simple_description/urdf/anymal.urdf', 'talos_data/robots/talos_reduced.urdf',
    ],
)  # fmt: skip
def test_a_proposal_for_an_unknown_robot_is_valid(path):
    model = Model.from_urdf(robot_data_path() / path, device='cpu')
    proposal = propose(model)
    values = read_parameters(proposal.yaml_text())
    assert values == flat(proposal.parameters)
    findings = check_parameters(values, model)
    assert not findings.errors
    robot = resolve_robot(model, read_settings(values))
    limits = {limit.joint: limit for limit in robot.settings.joint_limits}
    assert set(limits) == set(robot.group.joint_names)
    assert all(limit.max_velocity and limit.max_acceleration for limit in limits.values())
    assert any('acceleration' in sentence for sentence in proposal.unknown)
    assert any('controller' in sentence for sentence in proposal.unknown)


def test_joints_whose_names_yaml_takes_for_something_else_are_quoted():
    """ROS reads ``y`` without quotes as true, and ``1e3`` as a number."""
    names = ('x', 'y', '1e3', 'on')
    joints = ''.join(
        f'<link name="l{k + 1}"/><joint name="{name}" type="continuous"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/><axis xyz="0 0 1"/></joint>'
        for k, name in enumerate(names)
    )
    model = Model.from_urdf(f'<robot name="r"><link name="l0"/>{joints}</robot>', device='cpu')
    proposal = propose(model, [controller('arm', names)])
    values = read_parameters(proposal.yaml_text())
    assert values['outputs.arm.joints'] == list(names)
    assert values == flat(proposal.parameters)


def test_the_proposed_file_moves_a_robot():
    proposal = propose(robot_model('ur5'))
    values = {key.replace('.', '__'): value for key, value in flat(proposal.parameters).items()}
    rig = Rig('ur5', **values)
    rig.aim(rig.moved((0.0, 0.1, 0.05)))
    rig.tick(seconds=3.0)
    assert rig.outputs[-1].tasks[0].reached
    rig.assert_within_limits()


def controller(name, joints, kind='joint_trajectory', **fields):
    return FoundController(name, f'/{name}/in', kind, tuple(joints), **fields)


def test_controllers_become_outputs_and_what_they_do_not_drive_is_locked():
    model = robot_model('tiago')
    arm = [f'arm_{k}_joint' for k in range(1, 8)]
    found = [
        controller('arm_controller', arm, update_rate=50.0),
        controller('arm_velocity', arm, 'float64_multi_array_velocities'),
        controller('head_controller', ['head_1_joint', 'head_2_joint']),
    ]
    proposal = propose(model, found)
    settings = read_settings(flat(proposal.parameters))
    assert [output.topic for output in settings.outputs] == ['/arm_controller/in']
    assert settings.outputs[0].joints == tuple(arm)
    assert settings.locked_joints == ('torso_lift_joint',) and settings.control_rate == 50.0
    said = '\n'.join(proposal.unknown)
    for word in ('/arm_velocity/in', '/head_controller/in', 'torso_lift_joint'):
        assert word in said
    assert not check_parameters(flat(proposal.parameters), model, found).errors


def test_a_controller_whose_interface_is_not_known_is_asked_about():
    joints = find_limbs(robot_model('ur5'))[0].joints
    found = [controller('forward', joints, 'float64_multi_array', is_type_known=False)]
    proposal = propose(robot_model('ur5'), found)
    assert any('positions or velocities' in sentence for sentence in proposal.unknown)


def test_no_controller_on_the_graph_is_said():
    said = '\n'.join(propose(robot_model('ur5'), []).unknown)
    assert 'none was found on the graph' in said


@pytest.mark.parametrize(
    ('path', 'tasks'),
    [('so_arm_description/urdf/so101.urdf', 1),
     ('allegro_hand_description/urdf/allegro_right_hand.urdf', 4)],
)  # fmt: skip
def test_limbs_of_few_joints_go_to_positions_alone(path, tasks):
    # Joints decide: without the meshes, whose fits take 8 s.
    model = Model.from_urdf((robot_data_path() / path).read_text(), device='cpu')
    proposal = propose(model)
    values = read_parameters(proposal.yaml_text())
    free = [value for name, value in values.items() if name.endswith('.orientation_weight')]
    assert free == tasks * [0.0]
    assert any('positions only' in sentence for sentence in proposal.unknown)
    assert not any('too few' in text for text in check_parameters(values, model).warnings)


def parameters_in_ros(path):
    """Return the parameters of a file as ROS reads them, by dotted name."""
    context = rclpy.Context()
    rclpy.init(args=['--ros-args', '--params-file', str(path)], context=context)
    try:
        node = rclpy.create_node(
            'ros_ik', context=context, automatically_declare_parameters_from_overrides=True,
            enable_rosout=False, start_parameter_services=False,
        )  # fmt: skip
        read = {key: value.value for key, value in node.get_parameters_by_prefix('').items()}
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    read.pop('use_sim_time', None)
    return read


@pytest.mark.parametrize('name', ['allegro_hand_description/urdf/allegro_left_hand.urdf'])
def test_ros_reads_a_file_with_dots_in_the_names_of_joints(name, tmp_path):
    model, path = Model.from_urdf(robot_data_path() / name, device='cpu'), tmp_path / 'hand.yaml'
    proposal = propose(model)
    path.write_text(proposal.yaml_text())
    read = parameters_in_ros(path)
    assert sum('.0.max_velocity' in key for key in read) == model.joint_dof_count
    for key, value in flat(proposal.parameters).items():
        assert read[key] == value, key


def test_the_error_about_joints_after_a_section_with_a_dot_names_the_line_to_write(tmp_path):
    path = 'allegro_hand_description/urdf/allegro_left_hand.urdf'
    model, file = Model.from_urdf(robot_data_path() / path, device='cpu'), tmp_path / 'hand.yaml'
    parameters = propose(model).parameters
    limits = {'has_velocity_limits': True, 'max_velocity': 1.0}
    parameters['joint_limits'] = {f'joint_{k}.0': dict(limits) for k in (8, 9, 10)}
    file.write_text(Proposal(parameters, (), ()).yaml_text())
    read = parameters_in_ros(file)
    assert 'joint_limits.joint_8.joint_9.0.max_velocity' in read
    text = "'joint_8.joint_9.0'.*'joint_8.0:'.*write 'joint_8.0.max_velocity: ...' in one line"
    with pytest.raises(SettingsError, match=text):
        resolve_robot(model, read_settings(read))
    parameters['joint_limits'] = flat(parameters['joint_limits'])
    file.write_text(Proposal(parameters, (), ()).yaml_text())
    resolve_robot(model, read_settings(parameters_in_ros(file)))


@pytest.mark.parametrize('name', ['joint_8.1', 'joint_99.0', 'thumb.joint_9.0', 'joint_8'])
def test_an_unknown_joint_that_follows_no_such_section_gets_no_line(name):
    model = robot_model('allegro_right_hand')
    values = flat(propose(model).parameters)
    values |= {f'joint_limits.{name}.has_velocity_limits': True}
    values |= {f'joint_limits.{name}.max_velocity': 1.0}
    with pytest.raises(SettingsError) as caught:
        resolve_robot(model, read_settings(values))
    assert name in str(caught.value) and 'section' not in str(caught.value)


def test_limbs_of_six_joints_keep_orientations():
    assert 'orientation_weight' not in propose(robot_model('ur5')).yaml_text()


@pytest.mark.parametrize(
    ('tips', 'names'),
    [
        (['a_3', 'a', 'a.'], ['a_3', 'a', 'a_2']),
        (['a.b', 'a_b', 'a-b', 'a_b_2'], ['a_b', 'a_b_2', 'a_b_3', 'a_b_2_2']),
        (['3', '_'], ['x3', 'x']),
    ],
)
def test_each_task_has_a_name_of_its_own(tips, names):
    assert _task_names([Limb((), tip) for tip in tips]) == names


def test_a_robot_without_joints_is_refused():
    with pytest.raises(ArgumentError, match='no movable joint'):
        propose(Model.from_urdf(NO_JOINT, device='cpu'))


def test_the_command_line_writes_a_file_that_it_finds_right(tmp_path, capsys):
    files, out, srdf = find_robot('six_axis'), tmp_path / 'my.yaml', tmp_path / 'my.srdf'
    urdf = str(files.urdf_path)
    assert main([urdf, '--output', str(out), '--srdf-output', str(srdf)]) == 0
    said = capsys.readouterr()
    assert 'not known: ' in said.out and f'written: {srdf}' in said.err
    assert main([urdf, '--check', str(out)]) == 0
    checked = capsys.readouterr().out
    assert 'warning: upper_arm_link, forearm_link: capsules stand for' in checked
    assert checked.endswith('0 errors, 1 warning\n')
    assert main([urdf]) == 0
    assert capsys.readouterr().out == out.read_text()
    lines = ElementTree.parse(srdf).getroot().findall('disable_collisions')
    model = Model.from_urdf(files.urdf_path, srdf, device='cpu')
    assert lines and len(model.semantic.disabled_pairs) == len(lines)


def test_an_srdf_has_the_name_of_the_robot(tmp_path, capsys):
    urdf, srdf = tmp_path / 'my.urdf', tmp_path / 'my.srdf'
    text = find_robot('six_axis').urdf_path.read_text()
    urdf.write_text(re.sub('<robot name="[^"]*"', '<robot name="A &amp; &quot;B&quot;"', text))
    assert main([str(urdf), '--srdf-output', str(srdf)]) == 0
    assert ElementTree.parse(srdf).getroot().get('name') == 'A & "B"'
    assert not Model.from_urdf(urdf, srdf, device='cpu').warnings


def test_the_quick_start_shows_the_head_of_a_file(capsys):
    assert main([str(find_robot('panda').urdf_path)]) == 0
    said = capsys.readouterr()
    head = said.out.partition('/**:')[0]
    document = (Path(__file__).parents[2] / 'docs/quick_starts.md').read_text()
    assert f'```\n{head}```' in document
    assert re.search('^warning: .*disable.*$', document, re.M)[0] in said.err


def test_a_proposal_finds_the_meshes_beside_the_description(tmp_path, capsys):
    folder = tmp_path / 'arm_description'
    (folder / 'urdf').mkdir(parents=True)
    (folder / 'corner.obj').write_text(CORNER)
    urdf, out = folder / 'urdf/arm.urdf', tmp_path / 'my.yaml'
    urdf.write_text(ARM_WITH_MESHES)
    assert main([str(urdf), '--output', str(out)]) == 0
    said = capsys.readouterr().out
    assert 'meshes were not found' not in said and f'--check {out}' in said
    # The node finds packages that are installed, and no others.
    assert main([str(urdf), '--check', str(out)]) == 0
    assert 'warning: a, b: meshes not found' in capsys.readouterr().out
    assert main([str(urdf), '--check', str(out), '--package-path', str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith('0 errors, 0 warnings\n')


def exit_code(program, arguments):
    """Return the exit code of a program, which may end by itself for a wrong argument."""
    try:
        return program(arguments)
    except SystemExit as error:
        return error.code


@pytest.mark.parametrize(
    ('arguments', 'code', 'text'),
    [
        ([], 2, '--graph'),
        (['no_such.urdf'], 1, 'no_such.urdf'),
        (['{urdf}', '--check', '{bad}'], 1, 'not valid YAML'),
        (['{urdf}', '--check', '{other}'], 1, "'/other_node'"),
        (['{urdf}', '--check', '{deep}'], 1, "deep.yaml': the parameter file nests"),
        (['{urdf}', '--check', 'no_such.yaml'], 1, "'no_such.yaml' cannot be read"),
        (['{urdf}', '--check', '{binary}'], 1, "binary.yaml' cannot be read"),
        (['{urdf}', '--srdf', '{binary}'], 1, "SRDF '"),
        (['{urdf}', '--output', '/no/such.yaml'], 1, "'/no/such.yaml' cannot be written"),
        (['{urdf}', '--srdf-output', '/no/such.srdf'], 1, "'/no/such.srdf' cannot be written"),
        (['{urdf}', '--package-path', '/no/such'], 2, "'/no/such' is not a folder"),
        (['--graph', '--patience', '-3'], 2, "--patience: expected a time >= 0 s, got '-3'"),
        (['--graph', '--patience', 'nan'], 2, "--patience: expected a time >= 0 s, got 'nan'"),
    ],
)
def test_the_command_line_says_what_is_wrong(tmp_path, capsys, arguments, code, text):
    bad, other = tmp_path / 'bad.yaml', tmp_path / 'other.yaml'
    bad.write_text('a: [')
    other.write_text(yaml.safe_dump({'/other_node': {'ros__parameters': {'x': 1}}}))
    binary = tmp_path / 'binary.yaml'
    binary.write_bytes(b'\xff')
    deep = tmp_path / 'deep.yaml'
    deep.write_text('[' * 3000)
    urdf = find_robot('six_axis').urdf_path
    names = {'urdf': urdf, 'bad': bad, 'other': other, 'binary': binary, 'deep': deep}
    assert exit_code(main, [argument.format(**names) for argument in arguments]) == code
    assert text in capsys.readouterr().err


def test_a_name_that_is_given_twice_is_a_warning(tmp_path, capsys):
    urdf, out = str(find_robot('six_axis').urdf_path), tmp_path / 'robot.yaml'
    assert main([urdf, '--output', str(out)]) == 0
    out.write_text(out.read_text() + '    control_rate: 100.0\n    control_rate: 200.0\n')
    assert main([urdf, '--check', str(out)]) == 0
    printed = capsys.readouterr().out
    assert "warning: parameter 'control_rate' is given twice; the last value counts" in printed
    assert printed.endswith('0 errors, 2 warnings\n')


def test_a_xacro_is_expanded(tmp_path, capsys):
    text = find_robot('six_axis').urdf_path.read_text()
    path = tmp_path / 'robot.urdf.xacro'
    path.write_text(text.replace('<robot', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"', 1)
                    .replace('tool0', "${'tool' + str(0)}"))  # fmt: skip
    assert main([str(path)]) == 0
    assert read_parameters(capsys.readouterr().out)['ee.frame'] == 'tool0'
