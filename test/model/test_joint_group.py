# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint groups from chains, lists and SRDF, and the content of an SRDF."""

import itertools

import numpy as np
import pytest
from support.long_forms import LONG
from support.robots.robots import urdf_text

from ros_ik import inverse_kinematics
from ros_ik.demo.robots import robot_data_path
from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.servo.robot.collision_setup import ignored_pairs
from ros_ik.settings import SettingsError

SRDF = """<robot name="panda">
<virtual_joint name="v" type="fixed" parent_frame="world" child_link="panda_link0"/>
<group name="arm"><chain base_link="panda_link0" tip_link="panda_link8"/></group>
<group name="hand"><joint name="panda_finger_joint2"/></group>
<group name="both"><group name="arm"/><group name="hand"/><joint name="v"/></group>
<group name="by_link"><link name="panda_link3"/></group>
<group_state name="ready" group="arm"><joint name="panda_joint4" value="-2.3"/></group_state>
<disable_collisions link1="panda_link1" link2="panda_link0" reason="Adjacent"/></robot>"""


# Their groups name links that no URDF beside them has.
WRITTEN_FOR_ANOTHER_ROBOT = {
    'baxter_manipulation', 'borinot_flying_arm_2', 'hextilt_flying_arm_5', 'z1',
}  # fmt: skip


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), SRDF, device='cpu')


def test_whole_robot(panda):
    group = panda.joint_group()
    assert group.n_variables == 8  # seven joints and one finger; the other finger follows
    assert group.joint_names[-1] == 'panda_finger_joint1'
    assert group.dof_variable[8] == group.dof_variable[7] == 7


def test_names_may_come_from_an_iterator(panda):
    names = ['panda_joint2', 'panda_joint4']
    assert panda.joint_group(name for name in names).joint_names == tuple(names)


def test_only_a_group_with_a_name_has_it_in_messages(panda):
    assert panda.joint_group('arm').title == "joint group 'arm'"
    for joints in ('', []):
        assert panda.joint_group(joints).title == 'the joint group'


def test_chain(panda):
    group = panda.joint_group('panda_link2:panda_link5')
    assert group.joint_names == ('panda_joint3', 'panda_joint4', 'panda_joint5')
    assert group.tip_link == 'panda_link5'
    np.testing.assert_array_equal(group.dof_variable, [-1, -1, 0, 1, 2, -1, -1, -1, -1])
    np.testing.assert_array_equal(group.variable_dof, [2, 3, 4])


@pytest.mark.parametrize(
    ('name', 'count', 'tip'),
    [('arm', 7, 'panda_link8'), ('hand', 1, ''), ('both', 8, ''), ('by_link', 1, '')],
)
def test_srdf_groups(panda, name, count, tip):
    group = panda.joint_group(name)
    assert (group.n_variables, group.tip_link) == (count, tip)


def test_srdf_states_and_pairs(panda):
    assert panda.semantic.states['arm', 'ready'] == {'panda_joint4': -2.3}
    assert panda.semantic.disabled_pairs == {('panda_link0', 'panda_link1')}


TWO_ARMS = """<robot name="r"><link name="base"/><link name="torso"/><link name="head"/>
<link name="l1"/><link name="l2"/><link name="r1"/><link name="r2"/>
<joint name="waist" type="continuous"><parent link="base"/><child link="torso"/></joint>
<joint name="neck" type="continuous"><parent link="torso"/><child link="head"/></joint>
<joint name="jl1" type="continuous"><parent link="torso"/><child link="l1"/></joint>
<joint name="jl2" type="continuous"><parent link="l1"/><child link="l2"/></joint>
<joint name="jr1" type="continuous"><parent link="torso"/><child link="r1"/></joint>
<joint name="jr2" type="continuous"><parent link="r1"/><child link="r2"/></joint></robot>"""


@pytest.mark.parametrize(
    ('base', 'tip', 'joints'),
    [
        ('l2', 'r2', {'jl1', 'jl2', 'jr1', 'jr2', 'waist'}),
        ('l2', 'torso', {'jl1', 'jl2', 'waist'}),
        ('l2', 'base', {'jl1', 'jl2', 'waist'}),
        ('l1', 'head', {'jl1', 'neck', 'waist'}),
        ('torso', 'r2', {'jr1', 'jr2'}),
        ('base', 'l1', {'waist', 'jl1'}),
        ('l2', 'l2', set()),
    ],
)
@pytest.mark.parametrize('floating', [False, True])
def test_chains_of_srdfs_have_the_joints_that_moveit_takes(base, tip, joints, floating):
    """The sets follow RobotModel::addJointModelGroup, by hand, without virtual joints."""
    srdf = f"""<robot name="r"><group name="g">
        <chain base_link="{base}" tip_link="{tip}"/></group></robot>"""
    model = Model.from_urdf(TWO_ARMS, srdf, floating=floating, device='cpu')
    assert not model.warnings
    group = model.joint_group('g')
    assert set(group.joint_names) == joints and group.tip_link == tip


def colon_links(*names):
    """Return a model of links in a row, with joints j0, j1, ..."""
    joints = ''.join(
        f'<joint name="j{k}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        '<limit velocity="1" effort="1"/></joint>'
        for k, (parent, child) in enumerate(itertools.pairwise(names))
    )
    links = ''.join(f'<link name="{name}"/>' for name in names)
    return Model.from_urdf(f'<robot name="r">{links}{joints}</robot>', device='cpu')


def test_names_of_links_in_chains_may_have_colons():
    model = colon_links('arm:base', 'arm:elbow', 'arm:tip')
    assert model.joint_group('arm:base:arm:tip').joint_names == ('j0', 'j1')
    assert model.joint_group('arm:elbow : arm:tip').joint_names == ('j1',)
    assert ignored_pairs(model, ('arm:base:arm:tip',))[0, 2]
    model = colon_links('a', 'a:b', 'c', 'b:c')
    with pytest.raises(ArgumentError, match="'a' and 'b:c' or 'a:b' and 'c'"):
        model.joint_group('a:b:c')
    with pytest.raises(SettingsError, match="'a' and 'b:c' or 'a:b' and 'c'"):
        ignored_pairs(model, ('a:b:c',))


@pytest.mark.parametrize(
    ('spec', 'message'),
    [
        ('leg', "'leg'.*arm, both, by_link, hand"),
        ('panda_link0:panda_link99', 'panda_link99.*closest: panda_link'),
        ('panda_link5:panda_link2', 'panda_link2.*below.*panda_link5'),
        (['panda_joint4', 'elbow'], "no joint 'elbow'"),
    ],
)
def test_unknown_names(panda, spec, message):
    with pytest.raises(ArgumentError, match=message):
        panda.joint_group(spec)


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ('</robot>', '<enable_collisions link2="a"/></robot>', 'enable_collisions.*link1'),
        ('</robot>', '', 'malformed XML'),
    ],
)
def test_broken_srdf(old, new, message):
    assert old in SRDF
    with pytest.raises(ModelError, match=message):
        Model.from_urdf(urdf_text('panda'), SRDF.replace(old, new), device='cpu')


@pytest.mark.parametrize(
    ('old', 'new', 'group', 'message'),
    [
        ('tip_link="panda_link8"', 'tip_link="nowhere"', 'both', "no link 'nowhere'"),
        ('name="panda_finger_joint2"', 'name="thumb"', 'hand', "no joint 'thumb'"),
        ('<group name="arm"/>', '<group name="leg"/>', 'both', "'both'.*'leg'"),
    ],
)
def test_groups_of_another_variant_are_errors_only_when_asked_for(old, new, group, message):
    model = Model.from_urdf(urdf_text('panda'), SRDF.replace(old, new), device='cpu')
    assert model.joint_group('by_link').n_variables == 1
    with pytest.raises(ArgumentError, match=message):
        model.joint_group(group)


@pytest.mark.parametrize('group', ['arm', 'both', 'outer'])
def test_groups_that_contain_each_other_are_errors_only_when_asked_for(group):
    srdf = SRDF.replace('<group name="arm">', '<group name="arm"><group name="both"/>').replace(
        '</robot>', '<group name="outer"><group name="hand"/><group name="both"/></group></robot>'
    )
    model = Model.from_urdf(urdf_text('panda'), srdf, device='cpu')
    assert model.joint_group('hand').n_variables == 1
    srdf_warnings = [text for text in model.warnings if text.startswith('SRDF')]
    assert srdf_warnings == ["SRDF group 'arm': contains itself through arm, both"]
    with pytest.raises(ArgumentError, match=f"SRDF group '{group}'.*contains itself through"):
        model.joint_group(group)


def test_groups_that_double_each_time_take_no_longer():
    doubling = ''.join(
        f'<group name="g{k}"><group name="g{k + 1}"/><group name="g{k + 1}"/></group>'
        for k in range(100)
    )
    srdf = SRDF.replace(
        '</robot>', f'{doubling}<group name="g100"><group name="arm"/></group></robot>'
    )
    model = Model.from_urdf(urdf_text('panda'), srdf, device='cpu')
    assert model.joint_group('g0').n_variables == 7
    assert not any(text.startswith('SRDF') for text in model.warnings)


@pytest.mark.parametrize('path', sorted(robot_data_path().rglob('*.srdf')), ids=lambda p: p.stem)
def test_srdf_files_of_real_robots(path):
    """Every SRDF reads, and its groups resolve for the URDF of its package that fits it best."""
    resolved = []
    groups = 0
    for urdf in sorted(path.parents[1].rglob('*.urdf')):
        if not urdf.read_text().count('<link '):
            continue
        model = Model.from_urdf(urdf.read_text(), path.read_text(), device='cpu')
        groups = len(model.semantic.groups)
        resolved.append(sum(_resolves(model, name) for name in model.semantic.groups))
        if resolved[-1] and not LONG:
            break
    if path.stem not in WRITTEN_FOR_ANOTHER_ROBOT:
        assert not groups or not resolved or max(resolved) > 0


def _resolves(model, name):
    try:
        model.joint_group(name)
    except ArgumentError:
        return False
    return True


def test_a_group_of_one_of_several_worlds():
    robot, scene = ModelBuilder(), ModelBuilder()
    robot.add_urdf(urdf_text('panda'), srdf=SRDF)
    for _ in range(2):
        scene.add_world(robot)
    model, alone = scene.finalize('cpu'), robot.finalize('cpu')
    hand, names = 'panda_link0:panda_hand', ['panda_joint2', 'panda_joint4']
    with pytest.raises(ArgumentError, match='give the world or an index'):
        model.joint_group(hand)
    for spec in (hand, names, ''):
        of_one = alone.joint_group(spec)
        for world in range(2):
            first = world * alone.joint_dof_count
            group = model.joint_group(spec, world=world)
            assert group.joint_names == of_one.joint_names
            np.testing.assert_array_equal(group.variable_dof, of_one.variable_dof + first)
    with pytest.raises(ArgumentError, match='world 2 of the model has no link'):
        model.joint_group(hand, world=2)
    for world in (2, True, 'first'):
        with pytest.raises(ArgumentError, match='world must be an integer in'):
            model.joint_group('', world=world)
    arm = model.joint_group(hand, world=1)
    poses, q = np.zeros((1, model.body_count, 7)), model.random_joint_q(1, 3)
    eval_fk(model, q, poses)
    link = model.body_index('panda_hand', world=1)
    found = inverse_kinematics(model, link, poses[0, link], joint_group=arm, joint_q=q[0])
    assert found.status == 0
