# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sources of an SRDF: text or a path object, and errors that tell it from the URDF."""

import pytest

from ros_ik.demo.robots import find_robot
from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.model import Model
from ros_ik.model import ModelBuilder

URDF = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
SRDF = '<robot name="r"><group name="arm"><joint name="j"/></group></robot>'


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'r.srdf'
    path.write_text(SRDF)
    return path


def test_a_path_is_read(file):
    for model in (
        Model.from_urdf(URDF, file, device='cpu'),
        Model.from_urdf(URDF, srdf=SRDF, device='cpu'),
    ):
        assert model.joint_group('arm').joint_names == ('j',)
    builder = ModelBuilder()
    builder.add_urdf(text=URDF, srdf=file)
    assert builder.finalize('cpu').joint_group('arm').n_variables == 1


def test_a_path_is_taken_where_that_of_the_urdf_is(tmp_path, file):
    """``source`` may be a string; so may the SRDF that comes with it."""
    urdf = tmp_path / 'r.urdf'
    urdf.write_text(URDF)
    package = tmp_path / 'semantics'
    package.mkdir()
    (package / 'r.srdf').write_text(SRDF)
    for srdf in (str(file), file.as_uri(), file, SRDF, 'package://semantics/r.srdf'):
        builder = ModelBuilder()
        builder.add_urdf(str(urdf), srdf=srdf, package_paths=[tmp_path])
        assert builder.finalize('cpu').joint_group('arm').joint_names == ('j',)
    with pytest.raises(ModelError, match='^SRDF document: neither XML nor the path of a file'):
        ModelBuilder().add_urdf(str(urdf), srdf=str(tmp_path / 'none.srdf'))
    # Text may come from any source, and so may the SRDF beside it.
    with pytest.raises(ModelError, match=r'^SRDF document: .*looks like a path'):
        ModelBuilder().add_urdf(text=URDF, srdf=str(file))


def test_names_after_that_of_the_robot_are_those_of_the_robot():
    srdf = """<robot name="r">
    <group name="arm"><joint name="r/j"/><link name="r/b"/><chain base_link="r/a" tip_link="r/b"/>
    </group><group_state name="up" group="arm"><joint name="r/j" value="0.5"/></group_state>
    <disable_collisions link1="r/b" link2="r/a"/><enable_collisions link1="r/a" link2="c"/>
    <disable_default_collisions link="r/a"/></robot>"""
    model = Model.from_urdf(URDF, srdf, device='cpu')
    assert model.joint_group('arm').joint_names == ('j',)
    assert model.semantic.states == {('arm', 'up'): {'j': 0.5}}
    assert model.neutral_joint_q(model.semantic.states['arm', 'up']).tolist() == [0.5]
    assert model.semantic.disabled_pairs == {('a', 'b')}
    assert model.semantic.enabled_pairs == {('a', 'c')}
    assert model.semantic.disabled_links == {'a'}
    other = Model.from_urdf(URDF, srdf.replace('name="r"', 'name="s"'), device='cpu')
    with pytest.raises(ArgumentError, match='r/j'):  # a name of another robot stays what it is
        other.joint_group('arm')
    slashed = URDF.replace('"j"', '"r/j"')
    assert Model.from_urdf(slashed, srdf, device='cpu').joint_group('arm').joint_names == ('r/j',)


def test_groups_and_states_of_baxter_are_found():
    robot = find_robot('baxter')
    model = Model.from_urdf(robot.urdf_path, robot.srdf_path, device='cpu')
    # It names 19 joints, of which two fingers follow two others.
    assert len(model.joint_group('whole_body').joint_names) == 17
    state = model.semantic.states['whole_body', 'neutral']
    joint_q = model.neutral_joint_q(state)
    names = model.joint_label, model.joint_q_start.numpy()
    assert all(joint_q[names[1][names[0].index(joint)]] == q for joint, q in state.items())


def test_a_string_is_never_taken_for_a_path(file):
    with pytest.raises(ModelError, match=r'^SRDF document: .*looks like a path.*pathlib\.Path'):
        Model.from_urdf(URDF, str(file), device='cpu')


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ('<robot', '^SRDF document: malformed XML'),
        ('<semantics/>', '^SRDF document: expected the root element <robot>'),
        ('<robot><enable_collisions/></robot>', "^enable_collisions: .* the attribute 'link1'"),
    ],
)
def test_what_is_wrong_with_it_is_said_of_the_srdf(file, content, message):
    file.write_text(content)
    for srdf in (file, content):
        with pytest.raises(ModelError, match=message):
            Model.from_urdf(URDF, srdf, device='cpu')


def test_what_is_no_document_and_no_path_is_refused(file):
    with pytest.raises(ModelError, match='^SRDF document: neither XML nor the path of a file'):
        Model.from_urdf(URDF, file.with_name('none.srdf'), device='cpu')
    with pytest.raises(ModelError, match='^SRDF document: expected a string of XML, got int'):
        Model.from_urdf(URDF, 3, device='cpu')
    assert Model.from_urdf(URDF, None, device='cpu').semantic is None
    assert Model.from_urdf(URDF, '', device='cpu').semantic is None
