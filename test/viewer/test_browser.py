# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The page in headless Chromium: its picture and its controls.

A browser without a graphics card draws with the processor, which the node and the other tests need
as well. So the robot is a simple one, the picture small and coarse, no input becomes stale, and
each step waits for the result of the previous one, never for a time.
"""

import re

from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')
pytest.importorskip('selenium', reason='selenium is not installed')

from selenium.webdriver.common.keys import Keys
from support.long_forms import in_turn
from support.rigs.page import OpenPage
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.viewer_rig import another_viewer
from support.rigs.viewer_rig import picture
from support.rigs.viewer_rig import viewed
from support.rigs.viewer_rig import wait_until

from ros_ik.viewer.page import HELP
from ros_ik.viewer.scene import trails
from ros_ik_interfaces.msg import IkStatus
from tools.browser import browser
from tools.browser import frames_drawn
from tools.browser import meshes_drawn
from tools.browser import missing

pytestmark = [
    pytest.mark.dds,
    pytest.mark.timeout(480),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]
# Rate of node and robot [Hz]: all that they send is work for the viewer.
_RATE = 40.0
# Part of the pixels of the window that is drawn, along each axis.
_COARSE = 0.3
# Only the scene is drawn by OpenGL, which takes as much for the rest of the page on a processor.
_SWITCH = '--disable-gpu-compositing'


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    folder = tmp_path_factory.mktemp('browser')
    node = viewed(folder, 'six_axis', _RATE, **NEVER_STALE)
    with node as pair, browser(900, 640, _SWITCH) as driver:
        client, viewer = pair
        yield client, viewer, OpenPage(driver, viewer, _COARSE)


@pytest.fixture
def opened(rig):
    client, viewer, _ = rig
    viewer.requests.release_all()
    client.forget_targets()
    client.wait_for_rest()
    return rig


def test_robot_is_drawn(opened):
    _, viewer, shown = opened
    elbow = viewer.robot.link_pose('elbow_link')[:3]

    def around(pixels=6):
        x, y = shown.on_screen(elbow).astype(int)
        near = picture(shown.browser)[y - pixels : y + pixels, x - pixels : x + pixels]
        return near.astype(float)

    # The elbow is yellow, the floor behind it white and grey.
    def is_seen():
        red, _, blue = around().mean(axis=(0, 1))
        return red - blue > 30.0

    wait_until(is_seen, 'robot in the picture')
    viewer.robot_view.visible = False
    wait_until(lambda: not is_seen(), 'picture without the robot')
    viewer.robot_view.visible = True
    wait_until(is_seen, 'robot once more')


def test_a_dragged_target_moves_the_robot(opened):
    client, viewer, shown = opened
    start = viewer.targets['ee'].copy()
    mouse, pixel = shown.drag(
        start, viewer.gizmo_size, dict.fromkeys(range(3), 0.05),
        lambda: np.abs(viewer.targets['ee'] - start)[:3].max() > 0.01,
    )  # fmt: skip
    assert 'ee' in viewer.requests.held()
    mouse.release(pixel)
    client.wait_for(lambda: not viewer.requests.held(), 'release')


def test_an_obstacle_dragged_into_the_path_stops_the_robot_and_is_named(opened):
    client, viewer, shown = opened
    page = shown.browser
    start = viewer.targets['ee'].copy()
    goal = start + np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    above = np.array([*(goal[:3] + [0.0, 0.0, 0.25]), 0.0, 0.0, 0.0, 1.0])
    name = viewer.page.obstacles.add('box')

    def height():
        return viewer.page.obstacles.placed[name].pose[2]

    viewer.page.obstacles.resize(name, (0.3, 0.05, 0.3))
    viewer.page.obstacles.move(name, above)
    mouse, pixel = shown.drag(above, 0.2, {2: -0.25}, lambda: height() < goal[2] + 0.05)
    mouse.release(pixel)
    client.wait_for(lambda: viewer.pairs_view.count > 0, 'lines of closest pairs')
    viewer.requests.hold('ee', None, goal)
    client.wait_for_code(IkStatus.STATIONARY, text=name)
    wait_until(lambda: name in page.find_element('tag name', 'body').text, 'name on the page')
    viewer.page.obstacles.remove(name)
    client.wait_for(lambda: np.abs(viewer.targets['ee'] - goal).max() < 5e-3, 'arrival')
    viewer.requests.hold('ee', None, start)
    client.wait_for(lambda: np.abs(viewer.targets['ee'] - start).max() < 5e-3, 'way back')


def test_a_size_is_typed_digit_by_digit(opened):
    _, viewer, shown = opened
    obstacles = viewer.page.obstacles
    shown.browser.find_element('xpath', "//*[normalize-space(text())='Obstacles']").click()
    name = obstacles.add('box')
    box = shown.input_of('size x')
    box.send_keys(Keys.CONTROL, 'a')
    for key in '0.05':
        box.send_keys(key)
        shown.wait_for_picture()
    wait_until(lambda: obstacles.placed[name].size == (0.05, 0.2, 0.2), 'size')
    shown.wait_for_picture()
    assert box.get_attribute('value') == '0.05'
    box.send_keys(Keys.CONTROL, 'a')
    box.send_keys('0', Keys.TAB)
    wait_until(lambda: obstacles.placed[name].size == (0.01, 0.2, 0.2), 'least size')
    obstacles.remove(name)


def test_a_negative_position_of_a_joint_is_typed_digit_by_digit(opened):
    client, viewer, shown = opened
    jog = viewer.page.jog
    shown.browser.find_element('xpath', "//*[normalize-space(text())='Joints']").click()
    box = shown.input_of('joint_1')
    box.send_keys(Keys.CONTROL, 'a')
    for count, key in enumerate('-0.3', start=1):
        box.send_keys(key)
        wait_until(
            lambda part='-0.3'[:count]: jog._numbers['joint_1'].value == part,
            'part of the number at the viewer',
        )
    # It was +0.3: number fields of the page make 0 of -0.
    client.wait_for(
        lambda: viewer.requests.joints().get('joint_1') == -0.3
        or abs(viewer.robot.positions(['joint_1'])['joint_1'] + 0.3) < 5e-3,
        'target of the joint',
    )
    client.wait_for(lambda: not viewer.requests.joints(), 'arrival')
    assert box.get_attribute('value') == '-0.3'
    # Those of the sliders are not there.
    rows = shown.browser.find_elements('css selector', '.mantine-Slider-root + *')
    below = [
        row
        for row in rows
        if shown.browser.execute_script(
            'return arguments[0].previousElementSibling.querySelector("[role=slider]")'
            '.ariaValueMin < 0', row
        )
    ]  # fmt: skip
    assert len(below) >= 6 and not any(row.is_displayed() for row in below)
    shown.browser.find_element('xpath', "//*[normalize-space(text())='Joints']").click()


def test_trail_of_a_frame_is_blue(opened, monkeypatch):
    client, viewer, shown = opened
    monkeypatch.setattr(trails, '_LIFETIME', np.inf)
    for switch in (viewer.page.show.targets, viewer.page.show.pairs, viewer.page.show.trails):
        switch.value = False
    # Trails of earlier targets lie on the same line and would hide this one.
    client.wait_for(
        lambda: not any(viewer.trails.length(f'{kind}/ee') for kind in ('frame', 'target')),
        'end of earlier trails',
    )
    viewer.page.show.trails.value = True
    # On a busy machine the robot may arrive before the next picture, or still end a motion now.
    client.wait_for(lambda: viewer.trails.length('frame/ee') >= 1, 'start of the trail')
    start = viewer.targets['ee'].copy()
    goal = start + np.array([0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    viewer.requests.hold('ee', None, goal)
    client.wait_for(lambda: np.abs(viewer.targets['ee'] - goal).max() < 5e-3, 'arrival')
    # The arm may hide a part of it.
    way = [start + part * (goal - start) for part in np.linspace(0.1, 0.9, 9)]
    pixels = [shown.on_screen(pose[:3]).astype(int) for pose in way]

    def is_blue():
        red, _, blue = np.moveaxis(picture(shown.browser).astype(float), -1, 0)
        return any((blue - red)[y - 8 : y + 8, x - 8 : x + 8].max() > 80.0 for x, y in pixels)

    wait_until(is_blue, 'blue trail')
    viewer.page.show.trails.value = False
    wait_until(lambda: not is_blue(), 'end of the trail')
    for switch in (viewer.page.show.targets, viewer.page.show.pairs, viewer.page.show.trails):
        switch.value = True
    viewer.requests.hold('ee', None, start)
    client.wait_for(lambda: np.abs(viewer.targets['ee'] - start).max() < 5e-3, 'way back')


def test_collision_shapes_are_drawn_where_they_are_wanted(opened):
    client, viewer, shown = opened
    page = shown.browser
    before = meshes_drawn(page)
    viewer.page.show.shapes.value = True
    client.wait_for(lambda: viewer.shapes_view.count > 5, 'shapes')
    count = viewer.shapes_view.count
    wait_until(lambda: meshes_drawn(page) >= before + count, 'shapes in the browser')
    viewer.page.show.shapes.value = False
    client.wait_for(lambda: viewer.shapes_view.count == 0, 'end of the shapes')


def settled_meshes(page, viewer):
    """Return the number of meshes once some pictures of a viewer's page have changed nothing."""
    counts = []

    def are_settled():
        # A page that nothing changes draws one picture a second.
        for client in viewer.page.server.get_clients().values():
            client.camera.position = client.camera.position
        counts.append((frames_drawn(page), meshes_drawn(page)))
        recent = [meshes for frames, meshes in counts if frames > counts[-1][0] - 10]
        return counts[-1][0] > counts[0][0] + 10 and len(set(recent)) == 1

    wait_until(are_settled, 'settled picture')
    return counts[-1][1]


def test_a_key_moves_the_frame_while_it_repeats(opened):
    client, viewer, shown = opened
    page = shown.browser
    start = viewer.targets['ee'].copy()
    body = page.find_element('tag name', 'body')

    def is_lower():
        body.send_keys('m')
        return viewer.targets['ee'][2] < start[2] - 0.01

    client.wait_for(is_lower, 'motion downwards')
    client.wait_for(lambda: viewer.requests.twist()[1] is None, 'end of the motion')
    assert np.abs(viewer.targets['ee'] - start)[:2].max() < 5e-3


def test_typed_parameters_are_set_once_they_are_whole(opened):
    client, viewer, shown = opened
    panel, values = viewer.page.parameters, viewer.parameters.values
    client.wait_for(lambda: {'limits', 'barriers.world'} <= set(panel.sections), 'sections')
    shown.open_tab('Parameters')
    typed = {'limits.position_margin': '[0.03]', 'barriers.world.gain': '0.5'}
    for name, text in typed.items():
        panel.choose(name.rpartition('.')[0])
        box = shown.input_of(name.rpartition('.')[2])
        before = values[name]
        box.send_keys(Keys.CONTROL, 'a')
        for count, key in enumerate(text, start=1):
            box.send_keys(key)
            wait_until(
                lambda name=name, part=text[:count]: panel._inputs[name].value == part,
                'part of the text at the viewer',
            )
            assert values[name] == before and not viewer.answer.startswith(name)
        assert box.get_attribute('value') == text
        shown.button('Set').click()
        wait_until(lambda name=name: shown.shows(f'{name} is set'), 'answer on the page')
    client.wait_for(lambda: list(values['limits.position_margin']) == [0.03], 'margin')
    client.wait_for(lambda: values['barriers.world.gain'] == 0.5, 'gain')
    # Refused values go back.
    box.send_keys(Keys.CONTROL, 'a')
    box.send_keys('-1')
    shown.button('Set').click()
    wait_until(lambda: shown.shows('gain is not set: '), 'reason')
    wait_until(lambda: box.get_attribute('value') == '0.5', 'value of the node')
    shown.open_tab('Control')


def test_keys_of_the_buttons(opened):
    client, _, shown = opened
    body = shown.browser.find_element('tag name', 'body')
    assert '| S | stop |\n| P, O | pause, resume |\n| R | reset |' in HELP
    body.send_keys('s')
    client.wait_for_code(IkStatus.STOPPED)
    body.send_keys('r')
    client.wait_for_text('waiting for a target')
    body.send_keys('p')
    client.wait_for_code(IkStatus.PAUSED)
    body.send_keys('o')
    client.wait_for_text('waiting for a target')


def test_the_key_of_stop_works_after_a_choice(opened):
    client, viewer, shown = opened
    page = shown.browser
    mode = page.find_element('xpath', "//label[contains(., 'mode')]/following::input[1]")

    def has_no_focus():
        return page.execute_script('return document.activeElement.tagName') != 'INPUT'

    try:
        mode.click()
        wait_until(lambda: page.find_elements('css selector', '[role=option]'), 'modes')
        options = page.find_elements('css selector', '[role=option]')
        next(option for option in options if option.text == 'pose').click()
        client.wait_for_text('mode POSE')
        wait_until(has_no_focus, 'end of the focus', timeout=20.0)
        shown.open_tab('Plots')
        for _ in range(2):
            shown.input_of('plots').click()
            wait_until(has_no_focus, 'end of the focus', timeout=20.0)
            wait_until(lambda: not viewer.page.plots.is_wanted.disabled, 'usable checkbox')
        shown.open_tab('Control')
        page.switch_to.active_element.send_keys('s')
        client.wait_for_code(IkStatus.STOPPED)
    finally:
        viewer.page.press('reset')
        viewer.requests.add('mode', 'auto')
    client.wait_for_text('ready, waiting for a target')


KEYS = re.findall(r'\| (.), (.) \| move along \+ (.), - . \|', HELP)


def test_help_names_the_keys_of_three_axes():
    assert [axis for _, _, axis in KEYS] == list('xyz')
    assert '| Shift with these | turn about that axis |' in HELP


def components(twist):
    """Return the velocities of a message that are not zero, by part and axis."""
    velocities = {
        (part, axis): getattr(getattr(twist, part), axis)
        for part in ('linear', 'angular')
        for axis in 'xyz'
    }
    return {at: velocity for at, velocity in velocities.items() if velocity}


@pytest.mark.parametrize(('keys', 'part'), in_turn(KEYS, ['linear', 'angular']))
def test_keys_of_velocities(opened, keys, part):
    forward, back, axis = keys
    client, viewer, shown = opened
    body = shown.browser.find_element('tag name', 'body')
    twists = []
    heard = client.node.create_subscription(
        TwistStamped, 'ros_ik/ee/target_twist', lambda message: twists.append(message.twist), 10
    )
    for key, sign in ((forward, 1.0), (back, -1.0)):
        typed = key.lower() if part == 'linear' else key.upper()
        client.wait_for(lambda: viewer.requests.twist()[1] is None, 'end of the last one')
        client.wait_for_rest()
        twists.clear()

        def moved():
            return [velocities for velocities in map(components, twists) if velocities]

        def is_heard(typed=typed, moved=moved):
            body.send_keys(typed)
            client.spin(0.1)
            return moved()

        client.wait_for(is_heard, f'velocity of {typed}')
        # Targets never become stale here: without a last velocity of zero the robot moves on.
        client.wait_for(lambda: not components(twists[-1]), 'end of the motion')
        client.wait_for_rest()
        for velocities in moved():
            assert set(velocities) == {(part, axis)}, typed
            assert np.sign(velocities[part, axis]) == sign, typed
    client.node.destroy_subscription(heard)


def test_list_of_commands(opened):
    _, _, shown = opened
    page = shown.browser
    body = page.find_element('tag name', 'body')
    assert '| Ctrl-K | list of every command |' in HELP
    body.send_keys(Keys.CONTROL, 'k')
    wait_until(lambda: 'velocity + about x' in body.text, 'list')
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    wait_until(lambda: 'velocity + about x' not in body.text, 'end of the list')


def test_stop_button_stops(opened):
    client, _, shown = opened
    stop = shown.button('STOP')
    assert stop.is_displayed()
    stop.click()
    client.wait_for_code(IkStatus.STOPPED)
    wait_until(lambda: shown.shows('Stopped'), 'stop on the page')
    shown.button('Reset').click()
    client.wait_for_text('waiting for a target')


def test_pages_of_two_viewers_agree_on_obstacles(opened):
    _, viewer, shown = opened
    page = shown.browser
    first = page.current_window_handle
    without = {first: settled_meshes(page, viewer)}
    with another_viewer() as other:
        page.switch_to.new_window('window')
        second = page.current_window_handle
        page.get(f'{other.page.address}/?fixedDpr={_COARSE}')
        wait_until(lambda: other.robot_view is not None, 'robot of the other viewer')
        wait_until(lambda: frames_drawn(page) > 0, 'other page')
        without[second] = settled_meshes(page, other)
        name = viewer.page.obstacles.add('sphere')
        wait_until(lambda: meshes_drawn(page) > without[second], 'sphere on the other page')
        page.switch_to.window(first)
        wait_until(lambda: meshes_drawn(page) > without[first], 'sphere on the page')
        other.page.obstacles.remove(name)
        wait_until(lambda: viewer.page.obstacles.placed == {}, 'removal')
        wait_until(lambda: meshes_drawn(page) <= without[first], 'page without the sphere')
        page.switch_to.window(second)
        wait_until(lambda: meshes_drawn(page) <= without[second], 'other page without it')
        page.close()
        page.switch_to.window(first)


def test_two_pages_agree(opened):
    client, viewer, shown = opened
    page = shown.browser
    first = page.current_window_handle
    page.switch_to.new_window('window')
    page.get(shown.address)
    wait_until(lambda: len(viewer.page.server.get_clients()) == 2, 'second page')
    wait_until(lambda: shown.shows('STOP'), 'second page drawn')
    shown.button('STOP').click()
    client.wait_for_code(IkStatus.STOPPED)
    wait_until(lambda: shown.shows('Stopped'), 'stop on the second page')
    page.close()
    page.switch_to.window(first)
    wait_until(lambda: shown.shows('Stopped'), 'stop on the first page')
    wait_until(lambda: len(viewer.page.server.get_clients()) == 1, 'end of the second page')
