# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions: every real robot loads, and every broken one is refused by name."""

import re

import numpy as np
import pytest
from support.long_forms import either
from support.robots.robots import ALL_URDFS
from support.robots.robots import IDS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import urdf_text

from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.model import GeoType
from ros_ik.model import JointType
from ros_ik.model import Model
from ros_ik.model.readers.xml import MAX_DOCUMENT_BYTES

LONG_CHAIN = either(6_000, 30_000)
GOOD = """<robot name="r"><link name="a"><inertial><origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/>
<mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial></link>
<link name="b"/><link name="c"/>
<joint name="j1" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/>
<axis xyz="0 0 2"/><limit lower="-1" upper="2" velocity="3" effort="4"/></joint>
<joint name="j2" type="continuous"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/></joint></robot>"""

# Replacements in a description, and the words of the error.
BROKEN = {
    'empty': (GOOD, '', 'document'),
    'blank': (GOOD, '  \n', 'document'),
    'not xml': (GOOD, 'hello', 'malformed XML'),
    'cut off': (GOOD, GOOD[:200], 'malformed XML'),
    'another root': ('<robot name="r">', '<sdf name="r">', 'malformed|<robot>'),
    'no links': (GOOD, '<robot name="r"/>', 'no links'),
    'entity': ('<robot', '<!DOCTYPE robot [<!ENTITY x "1">]><robot', 'document types'),
    'external entity': (
        '<robot', '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot', 'document types',
    ),
    'document type': ('<robot', '<!DOCTYPE robot><robot', 'document types'),
    'duplicate link': ('<link name="c"/>', '<link name="c"/><link name="b"/>', "link 'b'"),
    'nameless link': ('<link name="c"/>', '<link/><link name="c"/>', 'link: .*name'),
    'duplicate joint': ('name="j2"', 'name="j1"', "joint 'j1'.*more than once"),
    'missing link': ('<child link="c"/>', '<child link="zz"/>', "joint 'j2'.*'zz'"),
    'missing parent element': ('<parent link="b"/>', '', "joint 'j2'.*<parent>"),
    'unknown joint type': ('"continuous"', '"screw"', "joint 'j2'.*screw"),
    'two parents': ('<child link="c"/>', '<child link="b"/>', "link 'b'.*two parents"),
    'cycle': ('<child link="c"/>', '<child link="a"/>', 'cycle of links'),
    'two roots': ('<link name="c"/>', '<link name="c"/><link name="d"/>', "link 'd'.*second root"),
    'zero axis': ('<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>', "joint 'j2' axis.*zero length"),
    'two numbers': ('<axis xyz="1 0 0"/>', '<axis xyz="1 0"/>', "joint 'j2' axis.*three numbers"),
    'words': ('<axis xyz="1 0 0"/>', '<axis xyz="x y z"/>', "joint 'j2' axis.*three numbers"),
    'nan origin': ('xyz="0 0 1"', 'xyz="0 nan 1"', "joint 'j1' origin.*not finite"),
    'infinite origin': ('xyz="0 0 1"', 'xyz="0 inf 1"', "joint 'j1' origin.*not finite"),
    'lower above upper': ('lower="-1"', 'lower="5"', "joint 'j1' limit.*lower 5.0 lies above upper 2.0"),
    'nan limit': ('lower="-1"', 'lower="nan"', "joint 'j1' limit.*not finite"),
    'negative speed': ('velocity="3"', 'velocity="-3"', "joint 'j1' limit.*velocity"),
    'negative effort': ('effort="4"', 'effort="-4"', "joint 'j1' limit.*effort"),
    'negative friction': ('<axis xyz="0 0 2"/>', '<axis xyz="0 0 2"/><dynamics friction="-1"/>', "joint 'j1' dynamics: friction"),
    'nan friction': ('<axis xyz="0 0 2"/>', '<axis xyz="0 0 2"/><dynamics friction="nan"/>', "joint 'j1' dynamics.*not finite"),
    'no limit': ('<limit lower="-1" upper="2" velocity="3" effort="4"/>', '', "joint 'j1' limit.*required"),
    'negative mass': ('<mass value="2"/>', '<mass value="-2"/>', "link 'a' mass"),
    'nan mass': ('<mass value="2"/>', '<mass value="nan"/>', "link 'a' mass.*not finite"),
    'nan inertia': ('ixx="1"', 'ixx="nan"', "link 'a' inertia.*not finite"),
    'negative moment': ('ixx="1"', 'ixx="-1"', "link 'a' inertia: moments must not be negative"),
    'moment that its axes make negative': (
        '1.5707963267948966"/>\n<mass value="2"/><inertia ixx="1" ixy="0"',
        '0.7"/>\n<mass value="2"/><inertia ixx="1" ixy="9"',
        "link 'a' inertia: moments must not be negative",
    ),
    'mimic of itself': ('<axis xyz="0 0 2"/>', '<axis xyz="0 0 2"/><mimic joint="j1"/>', "joint 'j1' mimic"),
    'huge origin': ('xyz="0 0 1"', 'xyz="0 1e300 1"', "joint 'j1' origin.*larger"),
    'huge axis': ('<axis xyz="1 0 0"/>', '<axis xyz="1e300 0 0"/>', "joint 'j2' axis.*larger"),
    'huge mass': ('<mass value="2"/>', '<mass value="1e39"/>', "link 'a' mass.*larger"),
    'limits beyond everything': ('lower="-1" upper="2"', 'lower="1e20" upper="1e30"', "joint 'j1' limit.*nothing"),
    'mimic cycle': (
        '</robot>', '<link name="x"/><link name="y"/><joint name="jx" type="continuous"><parent link="a"/>'
        '<child link="x"/><mimic joint="jy"/></joint><joint name="jy" type="continuous"><parent link="a"/>'
        '<child link="y"/><mimic joint="jx"/></joint></robot>', "joint 'jx' mimic.*itself through jx, jy",
    ),
    'mimic word': ('<axis xyz="0 0 2"/>', '<axis xyz="0 0 2"/><mimic joint="j2" multiplier="x"/>', "joint 'j1' mimic"),
    'negative size': (
        '<link name="c"/>',
        '<link name="c"><collision><geometry><sphere radius="-1"/></geometry></collision></link>',
        "link 'c' collision 0 <sphere>.*radius",
    ),
    'size without value': (
        '<link name="c"/>',
        '<link name="c"><collision><geometry><box/></geometry></collision></link>',
        "link 'c' collision 0 <box>.*size",
    ),
    'no geometry': (
        '<link name="c"/>', '<link name="c"><visual/></link>', "link 'c' visual 0.*geometry",
    ),
}  # fmt: skip


def unlimited_as_inf(value):
    """Check that a limit of 1e10 or more (iris has 1e16) is none."""
    return value if abs(value) < 1e10 else np.copysign(np.inf, value)


@pytest.mark.parametrize('path', ALL_URDFS, ids=IDS)
def test_every_robot_loads_with_pinocchios_masses_and_limits(path):
    model = load(path)
    reference = pin.buildModelFromUrdf(str(path))
    lower, upper, velocity, effort = model.limits64()
    for k in range(1, reference.njoints):
        joint = reference.joints[k]
        if joint.nv != 1:
            continue
        dof = int(model.joint_qd_start.numpy()[model.joint_index(reference.names[k])])
        assert effort[dof] == pytest.approx(
            unlimited_as_inf(reference.upperEffortLimit[joint.idx_v])
        )
        assert velocity[dof] == pytest.approx(
            unlimited_as_inf(reference.upperVelocityLimit[joint.idx_v])
        )
        if joint.nq == 1:
            assert lower[dof] == unlimited_as_inf(reference.lowerPositionLimit[joint.idx_q])
            assert upper[dof] == unlimited_as_inf(reference.upperPositionLimit[joint.idx_q])
        else:
            assert np.isinf([lower[dof], upper[dof]]).all()
    moving = sum(inertia.mass for inertia in reference.inertias)
    assert model.body_mass64.sum() == pytest.approx(moving, rel=1e-9, abs=1e-9)
    assert len(set(model.body_label)) == model.body_count


def test_centre_of_mass_and_inertia_are_in_link_axes():
    model = Model.from_urdf(GOOD, device='cpu')
    assert model.body_mass.numpy()[0] == 2
    np.testing.assert_allclose(model.body_com.numpy()[0], [0.1, 0, 0])
    np.testing.assert_allclose(model.body_inertia64[0], np.diag([2, 1, 3]), atol=1e-12)


def test_fields_have_newtons_layout():
    newton = pytest.importorskip('newton', reason='newton is not installed')
    builder = newton.ModelBuilder()
    # Newton has limits of its own where a description has none.
    text = GOOD.replace(
        '<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><limit velocity="5" effort="6"/>'
    )
    builder.add_urdf(text, floating=False)
    theirs, ours = builder.finalize(device='cpu'), Model.from_urdf(text, device='cpu')
    for name in (
        'joint_type', 'joint_parent', 'joint_child', 'joint_ancestor', 'joint_articulation',
        'joint_q_start', 'joint_qd_start', 'joint_dof_dim', 'joint_axis', 'joint_X_p', 'joint_X_c',
        'joint_limit_lower', 'joint_limit_upper', 'joint_velocity_limit', 'joint_effort_limit',
        'body_mass', 'body_com', 'body_inertia', 'articulation_start', 'articulation_end',
    ):  # fmt: skip
        here, there = getattr(ours, name), getattr(theirs, name)
        assert here.dtype == there.dtype, name
        np.testing.assert_allclose(here.numpy(), there.numpy(), atol=1e-6, err_msg=name)
    for name in (
        'joint_count',
        'joint_coord_count',
        'joint_dof_count',
        'body_count',
        'articulation_count',
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    for kind in newton.JointType:
        if kind.name != 'ROD':
            assert JointType[kind.name] == kind


@pytest.mark.parametrize('name', BROKEN)
def test_broken_descriptions_are_refused_by_name(name):
    old, new, message = BROKEN[name]
    assert old in GOOD
    with pytest.raises(ModelError, match=f'(?s){message}'):
        Model.from_urdf(GOOD.replace(old, new), device='cpu')


ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
RICH = GOOD.replace('rpy="0 0 1.5707963267948966"', 'rpy="0 0 0.7"').replace(
    '<link name="c"/>',
    """<link name="c"><collision><origin xyz="0 0 0" rpy="0 0 0"/><geometry><box size="1 1 1"/></geometry>
    </collision><collision><geometry><cylinder radius="1" length="1"/></geometry></collision>
    <visual><geometry><mesh filename="x.stl" scale="1 1 1"/></geometry></visual></link><link name="d"/>
    <link name="e"/><link name="f"/><joint name="j3" type="planar"><parent link="c"/><child link="d"/>
    <dynamics friction="1"/></joint><joint name="j4" type="prismatic"><parent link="d"/><child link="e"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/><mimic joint="j1" multiplier="1" offset="0"/>
    </joint><joint name="j5" type="floating"><parent link="e"/><child link="f"/></joint>""",
)


@pytest.mark.parametrize(
    'value', ['', '-9', '9', '0', '1e9', '-1e9', '1e-300', 'a', '-9 9 -9', '0 0 0', '1e9 -1e9 1e9']
)
def test_each_attribute_is_accepted_or_refused_by_name(value):
    found = list(ATTRIBUTE.finditer(RICH))
    assert len(found) > 50
    for match in found:
        start, end = match.span(2)
        try:
            Model.from_urdf(RICH[:start] + value + RICH[end:], device='cpu')
        except ModelError as error:
            assert error.element


def test_limits_of_size():
    with pytest.raises(ModelError, match='bytes'):
        Model.from_urdf(GOOD + ' ' * MAX_DOCUMENT_BYTES, device='cpu')
    with pytest.raises(ModelError, match='elements'):
        Model.from_urdf(
            '<robot name="r">' + '<link name="a"/>' * 200_001 + '</robot>', device='cpu'
        )
    with pytest.raises(ModelError, match='string'):
        Model.from_urdf(b'<robot/>', device='cpu')


def chain_of_links(count, last=''):
    """Return a robot of ``count`` links one behind the other, each joint a mimic of the next."""
    joints = (
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        + (f'<mimic joint="j{k + 1}" multiplier="1"/></joint>' if k < count - 2 else '</joint>')
        for k in range(count - 1)
    )
    links = ''.join(f'<link name="l{k}"/>' for k in range(count))
    return f'<robot name="r">{links}{"".join(joints)}{last}</robot>'


def test_long_chains_take_no_more_than_their_length():
    """Searches that walk to the root from each link would not end within the test's time."""
    model = Model.from_urdf(chain_of_links(LONG_CHAIN), device='cpu')
    assert model.joint_group().n_variables == 1
    last = LONG_CHAIN - 1
    ring = f'<joint name="ring" type="fixed"><parent link="l{last}"/><child link="l0"/></joint>'
    with pytest.raises(ModelError, match=f'cycle of links: l1, .* and {last - 9} more'):
        Model.from_urdf(chain_of_links(LONG_CHAIN, ring), device='cpu')


def test_multipliers_that_overflow_along_a_chain():
    with pytest.raises(ModelError, match="joint 'j0' mimic.*too large|joint 'j.*too large"):
        Model.from_urdf(
            chain_of_links(200).replace('multiplier="1"', 'multiplier="1e8"'), device='cpu'
        )


@pytest.mark.parametrize('encoding', ['utf-8', 'ISO-8859-1', 'utf-16'])
def test_names_survive_the_encoding_that_a_string_declares(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><robot name="r"><link name="Öse"/></robot>'
    assert Model.from_urdf(text, device='cpu').body_label == ['Öse']


@pytest.mark.parametrize('before', ['\n', '  ', '\r\n\n', '\ufeff', '\ufeff\n'])
def test_a_declaration_may_follow_an_empty_line(before):
    """A block of YAML and a string in triple quotes begin with one."""
    text = '<?xml version="1.0" encoding="latin-1"?>\n<robot name="r"><link name="\xe9"/>{}</robot>'
    assert Model.from_urdf(before + text.format(''), device='cpu').body_label == ['\xe9']
    # The line and the column of a fault are those of the text.
    with pytest.raises(ModelError, match=f'line {2 + before.count(chr(10))}, column'):
        Model.from_urdf(before + text.format('<'), device='cpu')


def test_limits_beyond_any_use_are_no_limits():
    text = GOOD.replace(
        'upper="2" velocity="3"', 'upper="1.7976931348623157e+308" velocity="1e16"'
    )
    model = Model.from_urdf(text, device='cpu')
    lower, upper, velocity, _ = model.limits64()
    assert (lower[0], upper[0], velocity[0]) == (-1, np.inf, np.inf)
    assert np.isfinite(model.random_joint_q(10, np.random.default_rng(0))).all()


def test_random_configurations_use_the_whole_range():
    text = GOOD.replace('lower="-1" upper="2"', 'lower="-6" upper="20"')
    q = Model.from_urdf(text, device='cpu').random_joint_q(2000, np.random.default_rng(0))
    assert q[:, 0].min() < -5.9 and q[:, 0].max() > 19.9
    assert q[:, 1].min() < -3.1 and 3.1 < q[:, 1].max() < 3.15


@pytest.mark.parametrize(
    ('limits', 'expected'),
    [
        ('lower="5" upper="1e308"', (5.0, 5.0 + 2.0 * np.pi)),
        ('lower="-1e308" upper="-7"', (-7.0 - 2.0 * np.pi, -7.0)),
        ('lower="-1" upper="1e308"', (-1.0, -1.0 + 2.0 * np.pi)),
        ('lower="-1e308" upper="2"', (2.0 - 2.0 * np.pi, 2.0)),
    ],
)
def test_random_configurations_of_joints_with_one_limit_begin_there(limits, expected):
    text = GOOD.replace('lower="-1" upper="2"', limits)
    model = Model.from_urdf(text, device='cpu')
    low, high = expected
    values = model.random_joint_q(2000, np.random.default_rng(0))[:, 0]
    assert low <= values.min() < low + 0.1 and high - 0.1 < values.max() <= high


def test_deep_nesting_is_refused_or_read_but_never_fatal():
    deep = '<robot name="r"><link name="a"/>' + '<x>' * 100_000 + '</x>' * 100_000 + '</robot>'
    assert Model.from_urdf(deep, device='cpu').body_count == 1


def test_random_damage_never_raises_anything_else():
    rng = np.random.default_rng(0)
    characters = list('<>"/ =0123456789.-eanlikjx\x00')
    for _ in range(500):
        text = list(GOOD)
        for _ in range(rng.integers(1, 6)):
            text[rng.integers(len(text))] = characters[rng.integers(len(characters))]
        try:
            model = Model.from_urdf(''.join(text), device='cpu')
        except ModelError as error:
            assert error.element
        else:
            assert np.all(np.isfinite(model.joint_X_p64))


def test_a_velocity_limit_of_zero_leaves_a_warning():
    assert not Model.from_urdf(GOOD, device='cpu').warnings
    for kind in ('revolute', 'prismatic'):
        text = GOOD.replace('velocity="3"', 'velocity="0"').replace('revolute', kind)
        model = Model.from_urdf(text, device='cpu')
        assert model.warnings == ("joint 'j1' limit: a velocity of 0 never lets it move",)
        assert (
            model.limits64()[2][0] == 0.0
            and model.joint_type.numpy()[1] == JointType[kind.upper()]
        )


def test_mimic_tags_without_meaning_leave_a_warning():
    fixed = GOOD.replace('"continuous"', '"fixed"').replace(
        '<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><mimic joint="j1"/>'
    )
    assert any(
        "joint 'j2' mimic" in text for text in Model.from_urdf(fixed, device='cpu').warnings
    )
    lonely = GOOD.replace('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><mimic joint="gone"/>')
    model = Model.from_urdf(lonely, device='cpu')
    assert any("'gone'" in text for text in model.warnings)
    assert model.constraint_mimic_count == 0


@pytest.mark.parametrize(('multiplier', 'offset', 'ends'), [
    (1.0, 5.0, 'from 4 to 6'), (-2.0, 4.5, 'from 2.5 to 6.5'), (0.0, 2.0, 'from 2 to 2'),
    (1.0, 1.9, ''), (0.0, 0.5, ''),
])  # fmt: skip
def test_mimic_joints_outside_their_limits_leave_a_warning(multiplier, offset, ends):
    text = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="leader" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1"/></joint>
<joint name="follower" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1"/>
<mimic joint="leader" multiplier="%s" offset="%s"/></joint></robot>"""
    found = Model.from_urdf(text % (multiplier, offset), device='cpu').warnings
    assert len(found) == bool(ends)
    for warning in found:
        assert "'follower' mimic" in warning and "'leader'" in warning and ends in warning


XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">%s</robot>'


def test_elements_of_a_xacro_leave_a_warning():
    text = XACRO % ('<link name="a"/>' + 2 * '<xacro:gripper prefix="x"/>' + '<xacro:arm/>')
    assert Model.from_urdf(text, device='cpu').warnings == (
        'element xacro:gripper: ignored, expand the xacro first',
        'element xacro:arm: ignored, expand the xacro first',
    )
    with pytest.raises(ModelError, match='robot: has no links: it is a xacro that is not expanded'):
        Model.from_urdf(XACRO % '<xacro:include filename="arm.xacro"/>', device='cpu')


def test_chains_of_mimics():
    text = urdf_text('panda')
    model = Model.from_urdf(text, device='cpu')
    assert model.constraint_mimic_count == 1
    q = np.zeros(model.joint_coord_count)
    q[7] = 0.03
    assert model.apply_mimic(q)[8] == pytest.approx(0.03)
    for other in (q[:8], np.zeros((2, 10)), 0.0):
        with pytest.raises(ArgumentError, match=r'joint_q must have shape \[\.\., 9\]'):
            model.apply_mimic(other)
    chain = GOOD.replace('"continuous"', '"revolute"').replace(
        '<axis xyz="1 0 0"/>',
        '<axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="1" effort="1"/>'
        '<mimic joint="j1" multiplier="2" offset="0.5"/>',
    ).replace(
        '</robot>',
        '<link name="d"/><joint name="j3" type="prismatic"><parent link="c"/><child link="d"/>'
        '<limit lower="-9" upper="9" velocity="1" effort="1"/>'
        '<mimic joint="j2" multiplier="-3" offset="1"/></joint></robot>',
    )  # fmt: skip
    model = Model.from_urdf(chain, device='cpu')
    np.testing.assert_allclose(model.apply_mimic(np.array([0.1, 0, 0])), [0.1, 0.7, -1.1])
    np.testing.assert_allclose(model.joint_group(['j3']).dof_scale, [1, 2, -6])
    assert model.joint_group(['j3']).joint_names == ('j1',)


def test_shapes_keep_newtons_scales(tmp_path):
    mesh = tmp_path / 'robot' / 'meshes' / 'a.stl'
    mesh.parent.mkdir(parents=True)
    mesh.write_text('solid')
    shapes = (
        '<collision><origin xyz="1 2 3"/><geometry><box size="2 4 6"/></geometry></collision>'
        '<collision><geometry><cylinder radius="0.5" length="3"/></geometry></collision>'
        '<collision name="ball"><geometry><sphere radius="0.25"/></geometry></collision>'
        '<visual><geometry><mesh filename="package://robot/meshes/a.stl" scale="1 2 3"/></geometry></visual>'
        '<visual><geometry><mesh filename="package://robot/meshes/gone.stl"/></geometry></visual>'
    )
    text = GOOD.replace('<link name="c"/>', f'<link name="c">{shapes}</link>')
    model = Model.from_urdf(text, package_paths=[tmp_path], device='cpu')
    kinds = [GeoType.BOX, GeoType.CYLINDER, GeoType.SPHERE, GeoType.MESH, GeoType.MESH]
    assert list(model.shape_type.numpy()) == kinds
    np.testing.assert_allclose(
        model.shape_scale.numpy(), [[1, 2, 3], [0.5, 1.5, 0], [0.25, 0, 0], [1, 2, 3], [1, 1, 1]]
    )
    np.testing.assert_allclose(model.shape_transform.numpy()[0, :3], [1, 2, 3])
    assert list(model.shape_collision_group.numpy()) == [1, 1, 1, 0, 0]
    assert model.shape_label[2] == 'ball'
    assert model.shape_source[3].path == mesh
    assert model.shape_source[4].path is None
    assert any('gone.stl' in text for text in model.warnings)


def test_neutral_and_random_configurations_are_inside_the_limits():
    rng = np.random.default_rng(1)
    for name in ('panda', 'ur5_robot', 'g1_29dof_rev_1_0', 'baxter'):
        paths = [path for path in ALL_URDFS if path.stem == name]
        if not paths:
            continue
        model = load(paths[0])
        lower, upper, _, _ = model.limits64()
        for q in [model.neutral_joint_q(), *model.random_joint_q(50, rng)]:
            assert np.all(q >= lower - 1e-12) and np.all(q <= upper + 1e-12)
