# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The page in headless Chromium: what people see and do."""

import os
import time

import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.ros_rig import panda_urdf
from support.viewer_rig import browser
from support.viewer_rig import on_screen
from support.viewer_rig import picture
from support.viewer_rig import viewed_panda
from support.viewer_rig import wait_until

from ros_ik_interfaces.msg import IkStatus

pytestmark = [pytest.mark.dds, pytest.mark.timeout(240)]


@pytest.fixture(scope='module')
def open_page(tmp_path_factory):
    with browser() as page:
        folder = tmp_path_factory.mktemp('browser')
        # Pictures are drawn by the processor: nothing may depend on when.
        settings = {'joint_state_timeout': 60.0, 'command_timeout': 1.0}
        with viewed_panda(folder, panda_urdf(), **settings) as (client, viewer):
            page.get(viewer.page.address)
            wait_until(lambda: viewer.page.server.get_clients(), 'browser')
            wait_until(lambda: 'STOP' in page.page_source, 'page')
            yield client, viewer, page


def camera(viewer):
    (seen,) = viewer.page.server.get_clients().values()
    return seen.camera


def button(page, label):
    (found,) = [b for b in page.find_elements('tag name', 'button') if label in b.text]
    return found


def test_robot_is_drawn(open_page):
    _, viewer, page = open_page
    wait_until(lambda: camera(viewer).update_timestamp > 0.0, 'camera')
    elbow = viewer.robot.link_pose('panda_link4')[:3]

    def around(pixels=8):
        x, y = on_screen(camera(viewer), elbow).astype(int)
        return picture(page)[y - pixels : y + pixels, x - pixels : x + pixels].astype(float)

    # Neither the white of the background nor the thin lines of the floor: shaded metal.
    wait_until(lambda: around().std() > 2.0 and around().mean() < 250.0, 'robot in the picture')
    viewer.robot_view.visible = False
    wait_until(lambda: around().mean() > 235.0, 'picture without the robot')
    viewer.robot_view.visible = True
    wait_until(lambda: around().std() > 2.0 and around().mean() < 250.0, 'robot once more')


def drag(page, canvas, x, y):
    """Press at a pixel, move in steps, and let go."""
    from selenium.webdriver import ActionChains

    middle = canvas.size['width'] / 2, canvas.size['height'] / 2
    # One chain: the driver loses the button between two of them.
    actions = ActionChains(page, duration=100)
    actions.move_to_element_with_offset(canvas, int(x - middle[0]), int(y - middle[1]))
    actions.pause(0.5).click_and_hold().pause(0.5)
    for _ in range(4):
        actions.move_by_offset(5, -10).pause(0.3)
    actions.pause(1.0).release().perform()


def test_a_dragged_target_moves_the_robot(open_page):
    client, viewer, page = open_page
    canvas = page.find_element('tag name', 'canvas')
    client.wait_for(lambda: viewer.robot.is_known(0), 'joint states')
    start = viewer.targets['ee'].copy()
    moved = 0.0
    # One of these is on an arrow, a square or a ring of the gizmo.
    for dx, dy in ((0, 25), (0, -25), (0, 40), (0, -40), (25, 0), (-25, 0), (20, 20), (-20, 20)):
        x, y = on_screen(camera(viewer), viewer.targets['ee'][:3])
        drag(page, canvas, x + dx, y + dy)
        client.wait_for(lambda: not viewer.requests.held(), 'release')
        client.wait_for_rest()
        moved = np.abs(viewer.targets['ee'] - start).max()
        if moved > 0.01:
            break
    assert moved > 0.01


def test_an_obstacle_in_the_path_stops_the_robot_and_is_named(open_page):
    client, viewer, page = open_page
    start = viewer.targets['ee'].copy()
    goal = start + np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    name = viewer.obstacles.add('box')
    viewer.obstacles.resize(name, (0.3, 0.05, 0.3))
    viewer.obstacles.move(name, goal)
    viewer.requests.hold('ee', None, goal)
    client.wait_for_code(IkStatus.STATIONARY, text=name)
    wait_until(lambda: name in page.find_element('tag name', 'body').text, 'name on the page')
    pictures = os.environ.get('VIEWER_PICTURES')
    if pictures:
        # What the library says of a browser without a graphics card.
        for notice in page.find_elements('css selector', '.mantine-Notification-closeButton'):
            notice.click()
        time.sleep(2.0)
        page.save_screenshot(f'{pictures}/viewer_panda.png')
    viewer.obstacles.remove(name)
    client.wait_for(lambda: np.abs(viewer.targets['ee'] - goal).max() < 5e-3, 'arrival')
    viewer.requests.hold('ee', None, start)
    client.wait_for(lambda: np.abs(viewer.targets['ee'] - start).max() < 5e-3, 'way back')
    viewer.requests.release_all()


def test_two_pages_agree(open_page):
    client, viewer, page = open_page
    first = page.current_window_handle
    page.switch_to.new_window('window')
    page.get(viewer.page.address)
    wait_until(lambda: len(viewer.page.server.get_clients()) == 2, 'second page')
    wait_until(lambda: 'STOP' in page.page_source, 'second page drawn')
    button(page, 'STOP').click()
    client.wait_for_code(IkStatus.STOPPED)
    wait_until(lambda: 'Stopped' in page.page_source, 'stop on the second page')
    page.close()
    page.switch_to.window(first)
    wait_until(lambda: 'Stopped' in page.page_source, 'stop on the first page')
    client.trigger('reset')
    client.wait_for_text('waiting for a target')
    wait_until(lambda: len(viewer.page.server.get_clients()) == 1, 'end of the second page')


def test_stop_button_stops(open_page):
    client, _, page = open_page
    stop = button(page, 'STOP')
    assert stop.is_displayed()
    stop.click()
    client.wait_for_code(IkStatus.STOPPED)
    button(page, 'Reset').click()
    client.wait_for_text('waiting for a target')


def test_status_is_on_the_page(open_page):
    _, _, page = open_page
    wait_until(lambda: 'waiting for a target' in page.page_source, 'status')
