# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Light and floor around the robot."""

import threading

import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import ros_rig
from support.rigs.viewer_rig import free_port
from support.rigs.viewer_rig import viewer_in_process
from support.rigs.viewer_rig import wait_until
import trimesh

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.page import Page
from ros_ik.viewer.robot.robot_state import MEASURED
from ros_ik.viewer.robot.robot_state import RobotState

pytestmark = pytest.mark.dds


@pytest.fixture
def page():
    opened = Page('127.0.0.1', free_port(), Requests())
    yield opened
    opened.close()


def robot_state(name, triangles=2000):
    robot = DemoRobot.load(name)
    folders = mesh_folders(robot.files.urdf_path)
    return RobotState(robot.text, folders, triangles, threading.Event())


def lowest_vertex(robot):
    heights = []
    for mesh in robot.meshes:
        x, y, z, *quaternion = robot.body_q[MEASURED, mesh.link]
        matrix = trimesh.transformations.quaternion_matrix([quaternion[3], *quaternion[:3]])
        matrix[:3, 3] = x, y, z
        heights.append(trimesh.transform_points(mesh.vertices, matrix)[:, 2].min())
    return min(heights)


def test_lowest_point_of_a_robot_is_that_of_its_vertices():
    robot = robot_state('talos_left_arm')
    assert robot.lowest == pytest.approx(lowest_vertex(robot), abs=1e-6)
    # The origin is inside the torso.
    assert robot.lowest < -0.05


def test_floor_lies_below_a_robot_that_reaches_below_its_origin(tmp_path):
    with ros_rig(tmp_path) as client:
        robot = DemoRobot.load('talos_left_arm')
        client.describe(robot.text)
        domain = client.processes.domain
        with viewer_in_process(domain, 'triangles:=2000', robot='talos_left_arm') as viewer:
            client.wait_for(lambda: viewer.robot_view is not None, 'robot', timeout=LONG)
            floor = viewer.page.lights_and_floor.floor_height
            assert floor == pytest.approx(lowest_vertex(viewer.robot), abs=1e-6)


def test_switch_casts_shadows(page):
    assert not page.lights_and_floor.casts_shadows
    page.show.shadows.value = True
    wait_until(lambda: page.lights_and_floor.casts_shadows, 'shadows')
    page.show.shadows.value = False
    wait_until(lambda: not page.lights_and_floor.casts_shadows, 'end of the shadows')
