# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A page of the viewer in a browser: positions of drawn objects, and a mouse."""

import numpy as np
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.support.wait import WebDriverWait
from support.rigs.ros_rig import PATIENCE
from support.rigs.viewer_rig import pixel_of
from support.rigs.viewer_rig import wait_until

from ros_ik.model.conventions import poses
from tools.browser import frames_drawn

# A gizmo that has not moved after so many pictures is not under the mouse.
_FRAMES_TO_MOVE = 20


def shows(browser, text):
    """Return True if the page of a browser has a text, in a tenth of the time of its source."""
    return browser.execute_script('return document.body.textContent.includes(arguments[0])', text)


class Mouse:
    """The mouse of a browser, event by event."""

    def __init__(self, page):
        """Start with the button up; ``page`` is the driver of the browser."""
        self._page, self._buttons = page, 0

    def press(self, pixel):
        """Press the button at a pixel [2]."""
        self.move(pixel)
        self._buttons = 1
        self._send('mousePressed', pixel)

    def move(self, pixel):
        """Move to a pixel [2]."""
        self._send('mouseMoved', pixel)

    def release(self, pixel):
        """Let go at a pixel [2]."""
        self._buttons = 0
        self._send('mouseReleased', pixel)

    def _send(self, kind, pixel):
        x, y = (float(value) for value in pixel)
        event = {'type': kind, 'x': x, 'y': y, 'clickCount': 1, 'buttons': self._buttons}
        event['button'] = 'left' if kind != 'mouseMoved' or self._buttons else 'none'
        self._page.execute_cdp_cmd('Input.dispatchMouseEvent', event)


class OpenPage:
    """The page of a viewer in a browser.

    Attributes:
        browser: The driver of the browser.
        viewer: The viewer.
    """

    def __init__(self, browser, viewer, coarse):
        """Open it; ``coarse`` is the part of the pixels that is drawn, along each axis."""
        self.browser, self.viewer, self._coarse = browser, viewer, coarse
        self.address = f'{viewer.page.address}/?fixedDpr={coarse}'
        browser.get(self.address)
        wait_until(lambda: shows(browser, 'STOP'), 'page')
        wait_until(lambda: frames_drawn(browser) > 0, 'picture')
        wait_until(lambda: self.camera.update_timestamp > 0.0, 'camera')

    @property
    def camera(self):
        """The camera of the first browser."""
        clients = self.viewer.page.server.get_clients()
        return clients[min(clients)].camera

    def on_screen(self, point):
        """Return the pixel of the window at which a point in the world is drawn [2]."""
        return pixel_of(self.camera, point) / self._coarse

    def open_tab(self, label):
        """Show the tab with this label."""
        self._usable(f"//*[@role='tab' and normalize-space(.)='{label}']").click()

    def button(self, label):
        """Return the button with this label, once it may be clicked."""
        return self._usable(f"//button[contains(., '{label}')]")

    def input_of(self, label):
        """Return the input after this label, once it takes keys."""
        return self._usable(f"//label[contains(., '{label}')]/following::input[1]")

    def _usable(self, path):
        # What has just been added has no size yet and refuses keys; hidden parts repeat labels.
        wait = WebDriverWait(
            self.browser, PATIENCE, ignored_exceptions=[StaleElementReferenceException]
        )
        (displayed,) = wait.until(
            lambda page: [e for e in page.find_elements('xpath', path) if e.is_displayed()],
            f'nothing is displayed of {path}',
        )
        return displayed

    def shows(self, text):
        """Return True if the page has a text."""
        return shows(self.browser, text)

    def wait_for_picture(self):
        """Wait until changes are drawn."""
        before = frames_drawn(self.browser)
        wait_until(lambda: frames_drawn(self.browser) > before + 1, 'picture')

    def drag(self, pose, size, shifts, is_dragged):
        """Pull a gizmo by its arrows, one after the other until it comes; return mouse and pixel.

        Args:
            pose: Pose of the gizmo in the world [7].
            size: Length of its axes [m].
            shifts: How far to pull, m, by axis.
            is_dragged: Tells whether it comes.
        """
        mouse = Mouse(self.browser)
        for axis, shift in shifts.items():
            along = poses.rotate(pose[3:], np.eye(3)[axis])
            grip = pose[:3] + 0.75 * size * along
            pixel, end = self.on_screen(grip), self.on_screen(grip + shift * along)
            # The arrow is known to be under the mouse once it has been drawn with the mouse there.
            mouse.move(pixel)
            self.wait_for_picture()
            mouse.press(pixel)
            mouse.move(end)
            if self._comes(is_dragged):
                return mouse, end
            mouse.release(end)
        raise AssertionError('the gizmo does not come with the mouse')

    def _comes(self, is_dragged):
        """Return True if a gizmo follows the mouse within some pictures."""
        last = frames_drawn(self.browser) + _FRAMES_TO_MOVE
        wait_until(lambda: is_dragged() or frames_drawn(self.browser) > last, 'next picture')
        return is_dragged()
