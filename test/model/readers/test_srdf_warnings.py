# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warnings of an SRDF that does not fit its robot, which MoveIt gives, too."""

import pytest

from ros_ik.errors import ArgumentError
from ros_ik.model import Model

URDF = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/></joint></robot>"""
SRDF = """<robot name="r">
<virtual_joint name="v" type="planar" parent_frame="odom" child_link="a"/>
<group name="arm"><joint name="v"/><joint name="r/j"/><link name="c"/>
<chain base_link="a" tip_link="c"/><group name="hand"/></group>
<group name="hand"><joint name="k"/></group>
<group_state name="up" group="arm"><joint name="j" value="0.5"/><joint name="v" value="1 2 3"/>
</group_state>
<end_effector name="e" group="hand" parent_link="c" parent_group="arm"/>
<passive_joint name="r/k"/><passive_joint name="v"/>
<disable_collisions link1="a" link2="r/c" reason="Never"/><enable_collisions link1="b" link2="c"/>
<disable_default_collisions link="b"/></robot>"""


def made(srdf):
    return Model.from_urdf(URDF, srdf, device='cpu')


def test_what_fits_the_robot_is_silent():
    model = made(SRDF)
    assert not model.warnings
    assert model.semantic.states['arm', 'up'] == {'j': 0.5}
    # A virtual joint has no coordinate here, even if its state is a single number.
    assert made(SRDF.replace('"1 2 3"', '"1"')).semantic.states['arm', 'up'] == {'j': 0.5}


@pytest.mark.parametrize(
    ('old', 'new', 'warning'),
    [
        ('<joint name="r/j"/>', '<joint name="x"/>', "group 'arm': unknown joint 'x'"),
        ('<link name="c"/>', '<link name="x"/>', "group 'arm': unknown link 'x'"),
        ('base_link="a"', 'base_link="x"', "group 'arm': unknown link 'x'"),
        ('tip_link="c"', 'tip_link="x"', "group 'arm': unknown link 'x'"),
        ('<group name="hand"/>', '<group name="x"/>', "group 'arm': unknown group 'x'"),
        ('<joint name="k"/>', '<joint name="k"/><group name="arm"/>',
         "group 'arm': contains itself through arm, hand"),
        ('<joint name="k"/>', '<group name="hand"/>',
         "group 'hand': contains itself through hand"),
        ('<joint name="k"/>', '', "group 'hand': is empty"),
        ('</robot>', '<group name="arm"><joint name="j"/></group></robot>',
         "group 'arm': appears more than once, the first one is used"),
        ('name="up" group="arm"', 'name="up" group="x"', "group_state 'up': unknown group 'x'"),
        ('name="up" group="arm"', 'name="up"', "group_state 'up': unknown group ''"),
        ('<joint name="j" value', '<joint name="x" value', "group_state 'up': unknown joint 'x'"),
        ('</robot>', '<group_state name="up" group="arm"/></robot>',
         "group_state 'up': appears more than once, the last one is used"),
        ('child_link="a"', 'child_link="x"', "virtual_joint 'v': unknown link 'x'"),
        ('name="e" group="hand"', 'name="e" group="x"', "end_effector 'e': unknown group 'x'"),
        ('parent_link="c"', 'parent_link="x"', "end_effector 'e': unknown link 'x'"),
        ('parent_group="arm"', 'parent_group="x"', "end_effector 'e': unknown group 'x'"),
        ('passive_joint name="r/k"', 'passive_joint name="x"', "passive_joint: unknown joint 'x'"),
        ('link1="a"', 'link1="x"', "disable_collisions: unknown link 'x'"),
        ('link2="r/c"', 'link2="x"', "disable_collisions: unknown link 'x'"),
        ('link1="b"', 'link1="x"', "enable_collisions: unknown link 'x'"),
        ('link="b"', 'link="x"', "disable_default_collisions: unknown link 'x'"),
        ('link1="a"', '', "disable_collisions: lacks the attribute 'link1', it is ignored"),
        (' link="b"', '',
         "disable_default_collisions: lacks the attribute 'link', it is ignored"),
        ('</robot>', '<group><joint name="j"/></group></robot>',
         'group: lacks a name, it is ignored'),
        ('name="up" ', '',
         "group_state: <group_state> lacks the attribute 'name', the state is ignored"),
        ('<joint name="j" value="0.5"/>', '<joint value="0.5"/>',
         "group_state 'up': <joint> lacks the attribute 'name', the state is ignored"),
        ('<joint name="r/j"/>', '<joint/>', "group 'arm': unknown joint ''"),
        ('<link name="c"/>', '<link/>', "group 'arm': unknown link ''"),
        ('base_link="a" ', '', "group 'arm': unknown link ''"),
        ('<group name="hand"/>', '<group/>', "group 'arm': unknown group ''"),
        ('<robot name="r">', '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
         '<xacro:arm/>', 'element xacro:arm: ignored, expand the xacro first'),
    ],
)  # fmt: skip
def test_each_element_is_named(old, new, warning):
    assert SRDF.count(old) == 1
    model = made(SRDF.replace(old, new))
    assert model.warnings == (f'SRDF {warning}',)
    unusable = any(text in warning for text in ("'x'", "''", 'contains itself'))
    if warning.startswith('group ') and unusable:
        with pytest.raises(ArgumentError, match="'x'|''|contains itself"):
            model.joint_group(warning.split("'")[1])


def test_elements_are_counted_where_many_are_wrong():
    links = ''.join(f'<disable_collisions link1="x{k}" link2="a"/>' for k in range(9))
    (warning,) = made(SRDF.replace('</robot>', f'{links}</robot>')).warnings
    assert warning.endswith("link 'x4' and 4 more")


def test_of_two_groups_the_first_is_used_and_of_two_states_the_last():
    model = made(
        SRDF.replace(
            '</robot>', '<group name="hand"><joint name="j"/></group>'
            '<group_state name="up" group="arm"><joint name="k" value="2"/></group_state></robot>',
        )
    )  # fmt: skip
    assert model.joint_group('hand').joint_names == ('k',)
    assert model.semantic.states['arm', 'up'] == {'k': 2.0}


@pytest.mark.parametrize('value', ['', 'value=""', 'value="abc"', 'value="nan"', 'value="inf"'])
def test_a_state_with_a_fault_is_ignored(value):
    """Without one of its positions it would be another state."""
    model = made(SRDF.replace('name="j" value="0.5"', f'name="j" {value}'))
    (warning,) = model.warnings
    assert warning.startswith("SRDF group_state 'up', joint 'j': ") and 'value' in warning
    assert warning.endswith(', the state is ignored') and not model.semantic.states


def test_a_long_row_of_groups_is_searched_once():
    """A search from each group would take minutes here."""
    rows = ''.join(f'<group name="g{k}"><group name="g{k + 1}"/></group>' for k in range(20_000))
    model = made(SRDF.replace('</robot>', f'{rows}<group name="g20000"/></robot>'))
    assert model.warnings == ("SRDF group 'g20000': is empty",)
    assert model.joint_group('g0').n_variables == 0
