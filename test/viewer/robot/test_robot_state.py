# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses of links, and links as they are drawn."""

import threading

import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.rigs.viewer_rig import free_port
import viser

from ros_ik.viewer.robot.robot_state import RobotState
from ros_ik.viewer.scene.robot_view import pose_of
from ros_ik.viewer.scene.robot_view import RobotView

_SHAPE = '<visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>'
_FIXED = f"""<robot name="r"><link name="base"/><link name="arm">{_SHAPE}</link>
<link name="arm/hand">{_SHAPE}</link>
<joint name="a" type="fixed"><origin xyz="1 0 0"/><parent link="base"/><child link="arm"/></joint>
<joint name="b" type="fixed"><origin xyz="0 1 0"/><parent link="arm"/><child link="arm/hand"/>
</joint></robot>"""


@pytest.fixture
def robot():
    return RobotState(_FIXED, [], 0, threading.Event())


def test_links_of_a_robot_without_joints_have_poses(robot):
    np.testing.assert_allclose(robot.link_pose('arm'), [1, 0, 0, 0, 0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(robot.link_pose('arm/hand'), [1, 1, 0, 0, 0, 0, 1], atol=1e-6)


def test_links_with_slashes_in_their_names_are_drawn_in_the_world(robot):
    server = viser.ViserServer(host='127.0.0.1', port=free_port(), verbose=False)
    try:
        view = RobotView(server, robot)
        view.update(with_ghost=True)
        handles = [*view._measured, *view._commanded]
        names = [handle.name for handle in handles]
        # A name below another one is a pose relative to it.
        assert not any(a.startswith(f'{b}/') for a in names for b in names)
        positions = [pose_of(handle)[:3] for handle in view._measured]
        np.testing.assert_allclose(positions, [[1, 0, 0], [1, 1, 0]], atol=1e-6)
    finally:
        server.stop()
