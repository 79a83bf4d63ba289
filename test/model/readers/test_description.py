# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Descriptions that cannot be read: errors that name the file."""

import pytest

from ros_ik.errors import ArgumentError
from ros_ik.model.readers.description import read_description

XACRO = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'


@pytest.mark.parametrize(
    'text',
    (
        '<robot',
        '<robot name="a"><xacro:b xmlns:xacro="x"/></robot',
        XACRO.format('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>'),
        XACRO.format('<xacro:include filename="broken.xacro"/>'),
        XACRO.format('<xacro:property/>'),
    ),
)
def test_broken_xacro_is_an_error_that_names_the_file(tmp_path, text):
    path = tmp_path / 'broken.xacro'
    path.write_text(text)
    with pytest.raises(ArgumentError, match='broken.xacro'):
        read_description(path)


def test_missing_and_unreadable_files_are_named(tmp_path):
    with pytest.raises(ArgumentError, match='nowhere.urdf'):
        read_description(tmp_path / 'nowhere.urdf')
    (tmp_path / 'binary.urdf').write_bytes(b'\xff\xfe\x00\x9f')
    with pytest.raises(ArgumentError, match='binary.urdf'):
        read_description(tmp_path / 'binary.urdf')
