# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A viewer in this process, a node and a mock robot in theirs, and the content of a page."""

import contextlib
import io
import socket
import threading
import time

import numpy as np
from PIL import Image
import rclpy
from std_msgs.msg import String
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import RATE
from support.rigs.ros_rig import ros_rig

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.executor import spin_until


def free_port():
    """Return an unused port."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def viewer_in_process(domain, *parameters, namespace='/', robot='panda'):
    """Yield a viewer that is served by a thread of this process."""
    from ros_ik.viewer.viewer_node import ViewerNode

    folders = ','.join(f'"{folder}"' for folder in mesh_folders(find_robot(robot).urdf_path))
    values = [f'port:={free_port()}', f'package_paths:=[{folders}]', *parameters]
    words = [word for value in values for word in ('-p', value)]
    rclpy.init(args=['--ros-args', '-r', f'__ns:={namespace}', *words], domain_id=domain)
    try:
        with served(ViewerNode()) as viewer:
            yield viewer
    finally:
        rclpy.try_shutdown()


@contextlib.contextmanager
def another_viewer():
    """Yield one more viewer beside the one of :func:`viewer_in_process`."""
    from ros_ik.viewer.viewer_node import ViewerNode

    with served(ViewerNode()) as viewer:
        yield viewer


@contextlib.contextmanager
def served(viewer):
    """Yield a viewer that is served by a thread of this process, end it, and raise its errors."""
    faults = []
    viewer.on_fault = lambda where, error: faults.append(error)
    executor, ended = make_executor(), threading.Event()
    executor.add_node(viewer)
    thread = threading.Thread(target=spin_until, args=(executor, ended))
    thread.start()
    try:
        yield viewer
    finally:
        ended.set()
        thread.join()
        executor.shutdown()
        viewer.destroy_node()
    if faults:
        raise faults[0]


@contextlib.contextmanager
def viewed(folder, name='panda', rate=RATE, **parameters):
    """Yield a client and a viewer beside a node and a mock robot, of a rate [Hz], when ready."""
    robot = DemoRobot.load(name)
    with ros_rig(folder) as client:
        client.processes.start(
            'robot', 'ros_ik.demo.mock_robot', **robot.mock_parameters(), publish_rate=rate
        )
        # A timeout that a robot without processor time does not exceed.
        given = {'joint_group': robot.chain, 'ee__frame': robot.tip_link, **parameters}
        client.processes.start(
            'node', 'ros_ik.node.ros_ik_node',
            **{'control_rate': rate, 'joint_state_timeout': 60.0, **given},
        )
        client.describe(robot.text)
        if robot.files.srdf_path is not None:
            semantic = client.node.create_publisher(String, 'robot_description_semantic', LATCHED)
            semantic.publish(String(data=robot.files.srdf_path.read_text()))
        with viewer_in_process(client.processes.domain, robot=name) as viewer:
            client.wait_for_text('waiting for a target', timeout=LONG)
            client.wait_for(lambda: 'ee' in viewer.targets, 'gizmo')
            yield client, viewer


def picture(page):
    """Return the picture of a browser, [height, width, 3]."""
    return np.asarray(Image.open(io.BytesIO(page.get_screenshot_as_png())).convert('RGB'))


def wait_until(condition, what, timeout=PATIENCE):
    """Wait for a condition of threads and browsers."""
    give_up = time.monotonic() + timeout
    while time.monotonic() < give_up:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f'no {what} within {timeout} s')


def pixel_of(camera, point):
    """Return the pixel of a point in the world, of those that a browser draws."""
    forward = camera.look_at - camera.position
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, camera.up_direction)
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    away = np.asarray(point) - camera.position
    scale = 0.5 * camera.image_height / np.tan(0.5 * camera.fov) / (away @ forward)
    middle = 0.5 * np.array([camera.image_width, camera.image_height])
    return middle + scale * np.array([away @ right, -(away @ up)])
