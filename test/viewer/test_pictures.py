# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the page in README and docs: ``VIEWER_PICTURES=docs/images make test``.

A browser that draws with the processor takes a minute for them, so they are made on request.
"""

import io
import os
from pathlib import Path

import numpy as np
from PIL import Image
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.rigs.page import OpenPage
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.viewer_rig import viewed
from support.rigs.viewer_rig import wait_until

from ros_ik.demo.processes.nodes import watched_shapes
from ros_ik.demo.robots import robot_data_path
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.viewer.scene import trails
from ros_ik_interfaces.msg import IkStatus
from tools.browser import browser
from tools.browser import missing

FOLDER = os.environ.get('VIEWER_PICTURES')
pytestmark = [
    pytest.mark.dds,
    pytest.mark.timeout(300),
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(not FOLDER, reason='VIEWER_PICTURES names no folder for pictures'),
]
# Robots that the demo has no name for.
PATHS = {'talos': str(robot_data_path() / 'talos_data/robots/talos_reduced.urdf')}
# The animation: time of a picture [ms], width [pixels], quality of the compression.
_FRAME_TIME, _WIDTH, _QUALITY = 120, 800, 60


@pytest.fixture
def opened(request, tmp_path, monkeypatch):
    name, width, height = request.param
    robot = PATHS.get(name, name)
    # The shapes that make view keeps apart.
    environment, parameters = watched_shapes(DemoRobot.load(robot), None, tmp_path)
    monkeypatch.setenv('AMENT_PREFIX_PATH', environment['AMENT_PREFIX_PATH'])
    watched = {name.replace('.', '__'): value for name, value in parameters.items()}
    # Slow, so that ticks have time beside the browser.
    settings = {**NEVER_STALE, **watched, 'control_rate': 20.0}
    monkeypatch.setattr(trails, '_LIFETIME', np.inf)
    with viewed(tmp_path, robot, **settings) as pair, browser(width, height) as driver:
        client, viewer = pair
        shown = OpenPage(driver, viewer, 1.0)
        for notice in driver.find_elements('css selector', '.mantine-Notification-closeButton'):
            notice.click()
        yield client, viewer, shown


def add_box(viewer, center, size):
    """Put a box into the world; return its name."""
    name = viewer.page.obstacles.add('box')
    viewer.page.obstacles.resize(name, size)
    viewer.page.obstacles.move(name, np.array([*center, 0.0, 0.0, 0.0, 1.0]))
    return name


def picture(shown):
    """Return the picture of the page once it is drawn."""
    shown.wait_for_picture()
    return Image.open(io.BytesIO(shown.browser.get_screenshot_as_png())).convert('RGB')


def save(image, robot):
    """Write a picture of a robot, with 256 colours: a third of the size."""
    image.quantize(256).save(Path(FOLDER) / f'viewer_{robot}.png', optimize=True)


@pytest.mark.parametrize('opened', [('panda', 1280, 860)], indirect=True)
def test_panda_in_front_of_an_obstacle(opened):
    client, viewer, shown = opened
    name = add_box(viewer, viewer.targets['ee'][:3] - [0.0, 0.3, 0.0], (0.25, 0.05, 0.4))
    viewer.requests.hold('ee', None, viewer.targets['ee'] + [0.0, -0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    client.wait_for_code(IkStatus.STATIONARY, text=name)
    wait_until(lambda: name in shown.browser.find_element('tag name', 'body').text, 'name')
    client.wait_for(lambda: viewer.pairs_view.count > 0, 'lines of closest pairs')
    save(picture(shown), 'panda')


@pytest.mark.parametrize('opened', [('panda', 1280, 860)], indirect=True)
def test_parameters_of_a_task(opened):
    client, viewer, shown = opened
    panel = viewer.page.parameters
    client.wait_for(lambda: 'ee' in panel.sections, 'sections')
    panel.choose('ee')
    shown.open_tab('Parameters')
    body = shown.browser.find_element('tag name', 'body')
    wait_until(lambda: 'offset_xyz' in body.text, 'names')
    # Without word of deadlines, which a browser costs that draws with the processor.
    wait_until(lambda: 'Ok\n' in body.text, 'status', LONG)
    save(picture(shown), 'parameters')


@pytest.mark.parametrize('opened', [('talos', 1280, 860), ('tiago', 1280, 860)], indirect=True)
def test_other_robots(opened, request):
    client, viewer, shown = opened
    robot = request.node.callspec.params['opened'][0]
    viewer.page.show.pairs.value = False
    start = viewer.targets['ee'].copy()
    for angle in np.linspace(0.0, 1.7 * np.pi, 30):
        around = [0.0, 0.06 * np.sin(angle), 0.06 * (1.0 - np.cos(angle)), 0.0, 0.0, 0.0, 0.0]
        goal = start + around
        viewer.requests.hold('ee', None, goal)
        client.wait_for(lambda goal=goal: near(viewer.targets['ee'], goal), 'way')
    save(picture(shown), robot)


def near(pose, goal):
    return np.abs(pose - goal)[:3].max() < 0.01


@pytest.mark.parametrize('opened', [('panda', 1000, 760)], indirect=True)
def test_a_dragged_hand_stops_in_front_of_an_obstacle(opened):
    client, viewer, shown = opened
    start = viewer.targets['ee'].copy()
    # A table whose own gizmo is away from the hand, and which is away from the first links.
    name = add_box(viewer, start[:3] + [0.12, -0.25, -0.22], (0.5, 0.8, 0.04))
    pictures = [picture(shown)] * 4
    # The z axis of the hand points downwards.
    mouse, pixel = shown.drag(
        start, viewer.gizmo_size, {2: 0.02},
        lambda: viewer.requests.held().get('ee', start)[2] < start[2] - 0.01,
    )  # fmt: skip
    way = shown.on_screen(start[:3] - [0.0, 0.0, 1.0]) - shown.on_screen(start[:3])
    for step in np.linspace(0.0, 0.3, 24):
        mouse.move(pixel + step * way)
        client.wait_for_rest()
        pictures.append(picture(shown))
    wait_until(lambda: name in shown.browser.find_element('tag name', 'body').text, 'name')
    pictures += [picture(shown)] * 10
    mouse.release(pixel)
    small = [each.resize((_WIDTH, _WIDTH * each.height // each.width)) for each in pictures]
    path = Path(FOLDER) / 'viewer.webp'
    small[0].save(
        path, save_all=True, append_images=small[1:], loop=0,
        duration=_FRAME_TIME, quality=_QUALITY, method=6,
    )  # fmt: skip
    assert path.stat().st_size < 1.5e6
