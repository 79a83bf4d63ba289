# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A viewer in this process beside a node and a mock robot in theirs, and a browser."""

import contextlib
import io
import os
import shutil
import socket
import threading
import time

import numpy as np
from PIL import Image
import pytest
import rclpy
from support.ros_rig import PATIENCE
from support.ros_rig import ros_rig
from support.ros_rig import start_node
from support.ros_rig import start_robot

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import mesh_prefix
from ros_ik.node.executor import make_executor
from ros_ik.node.executor import spin_until


def free_port():
    """Return a port at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def viewer_in_process(domain, *parameters, namespace='/'):
    """Yield a viewer that is served by a thread of this process."""
    from ros_ik.viewer.viewer_node import ViewerNode

    share = f'{mesh_prefix(find_robot("panda"))}/share'
    values = [f'port:={free_port()}', f'package_paths:=["{share}"]', *parameters]
    words = [word for value in values for word in ('-p', value)]
    rclpy.init(args=['--ros-args', '-r', f'__ns:={namespace}', *words], domain_id=domain)
    executor, ended = make_executor(), threading.Event()
    viewer = ViewerNode()
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
        rclpy.try_shutdown()


@contextlib.contextmanager
def viewed_panda(folder, description, **parameters):
    """Yield a client and a viewer beside a node and a mock robot that are ready."""
    with ros_rig(folder) as client:
        start_robot(client)
        start_node(client, **parameters)
        client.describe(description)
        with viewer_in_process(client.processes.domain) as viewer:
            client.wait_for_text('waiting for a target')
            client.wait_for(lambda: 'ee' in viewer.targets, 'gizmo')
            yield client, viewer


@contextlib.contextmanager
def browser():
    """Yield headless Chromium; the test is skipped where it is not asked for or not installed."""
    if 'BROWSER_TESTS' not in os.environ:
        pytest.skip('a browser that draws by the processor needs one for itself: BROWSER_TESTS=1')
    selenium = pytest.importorskip('selenium.webdriver', reason='selenium is not installed')
    from selenium.webdriver.chrome.service import Service

    program = shutil.which('chromium') or shutil.which('google-chrome')
    driver = shutil.which('chromedriver')
    if not program or not driver:
        pytest.skip('no browser: apt install chromium chromium-driver')
    options = selenium.ChromeOptions()
    options.binary_location = program
    for word in (
        '--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--window-size=1280,860',
        '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
    ):  # fmt: skip
        options.add_argument(word)
    page = selenium.Chrome(options=options, service=Service(driver))
    try:
        yield page
    finally:
        page.quit()


def picture(page):
    """Return what a browser shows, [height, width, 3]."""
    return np.asarray(Image.open(io.BytesIO(page.get_screenshot_as_png())).convert('RGB'))


def wait_until(condition, what, timeout=PATIENCE):
    """Wait for a condition of threads and browsers."""
    give_up = time.monotonic() + timeout
    while time.monotonic() < give_up:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f'no {what} within {timeout} s')


def on_screen(camera, point):
    """Return the pixel of a point in the world, from the camera of a browser."""
    forward = camera.look_at - camera.position
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, camera.up_direction)
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    away = np.asarray(point) - camera.position
    scale = 0.5 * camera.image_height / np.tan(0.5 * camera.fov) / (away @ forward)
    middle = 0.5 * np.array([camera.image_width, camera.image_height])
    return middle + scale * np.array([away @ right, -(away @ up)])
