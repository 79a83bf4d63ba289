# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Meshes that cannot be drawn are named, and the rest of the robot is drawn."""

import io
import threading
import time

import numpy as np
import pytest
import trimesh

from ros_ik.viewer.robot import robot_reader
from ros_ik.viewer.robot.robot_reader import RobotReader
from ros_ik.viewer.robot.robot_state import RobotState

URDF = """
<robot name="arm">
  <link name="base"><visual><geometry><mesh filename="file://{path}"/></geometry></visual></link>
  <link name="tool"><visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual></link>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="tool"/><axis xyz="0 0 1"/>
  </joint>
</robot>
"""
BALL = trimesh.creation.icosphere(2)
FAR = BALL.copy()
FAR.vertices[7] = 1e30


@pytest.mark.parametrize(
    ('name', 'content', 'message'),
    [
        ('ball.stl', BALL.export(file_type='stl')[:1000], 'has no triangles'),
        ('ball.stl', b'version https://git-lfs.github.com/spec/v1\n', 'pointer of Git LFS'),
        ('ball.stl', FAR.export(file_type='stl'), 'has a vertex that is not finite or beyond'),
        ('ball.obj', b'o ball\n', 'has no triangles'),
        ('ball.obj', b'v 0 0 0\nv 1 0 0\nl 1 2\n', 'has no triangles'),
        ('ball.obj', b'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n', 'cannot be read as obj'),
        ('ball.dae', b'<COLLADA/>', 'expected the root element'),
        ('ball.ply', BALL.export(file_type='ply'), 'is not one of'),
        ('ball.stl', None, '1 meshes not found in the package paths'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_a_mesh_that_cannot_be_drawn_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    text = URDF.format(path=path)
    robot = RobotState(text, (str(tmp_path),), 100, threading.Event())
    (problem,) = robot.problems
    assert name in problem and message in problem
    (drawn,) = robot.meshes
    assert robot.model.body_label[drawn.link] == 'tool'
    assert np.isfinite(robot.center).all() and np.isfinite(robot.lowest)


def test_colours_are_those_of_the_shapes_that_are_drawn():
    # The model leaves out the first visual, of which URDF does not know the first shape.
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    box = '<box size="0.1 0.1 0.1"/>'
    text = (
        f'<robot name="one"><link name="base"><visual><geometry><torus/>{box}</geometry></visual>'
        f'<visual><geometry>{box}</geometry>{red}</visual></link></robot>'
    )
    (drawn,) = RobotState(text, (), 0, threading.Event()).meshes
    scene = trimesh.load(io.BytesIO(drawn.glb), file_type='glb')
    (part,) = scene.geometry.values()
    assert part.visual.material.baseColorFactor.tolist() == [255, 0, 0, 255]


def test_whatever_a_library_raises_is_said(monkeypatch):
    def fail(*_):
        raise KeyError('world')

    monkeypatch.setattr(robot_reader, 'RobotState', fail)
    reader = RobotReader(tuple, 0)
    read, give_up = None, time.monotonic() + 10.0
    while read is None and time.monotonic() < give_up:
        read = reader.take('<robot/>')
        time.sleep(0.01)
    assert read == "robot_description cannot be drawn: KeyError('world')"
