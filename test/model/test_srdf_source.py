# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Where an SRDF comes from: text or a path object, and errors that tell it from the URDF."""

import pytest

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


def test_a_string_is_never_taken_for_a_path(file):
    with pytest.raises(ModelError, match=r'^SRDF document: .*looks like a path.*pathlib\.Path'):
        Model.from_urdf(URDF, str(file), device='cpu')


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ('<robot', '^SRDF document: malformed XML'),
        ('<semantics/>', '^SRDF document: expected the root element <robot>'),
        ('<robot><group/></robot>', "^group: <group> lacks the attribute 'name'"),
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
