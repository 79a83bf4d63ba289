# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sliders and numbers for joint targets, and buttons for velocities while held."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import functools
import math
import threading
import time
from typing import Any

import numpy as np
import viser

from ros_ik.viewer.gui.focus import return_keys
from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.robot.robot_state import UNBOUNDED

# Tolerance at which a joint target has been reached, and least approach to it [rad or m].
_ARRIVED = 2e-3
# Step in which an unused slider follows its joint [rad or m]. A smaller one would replace a target
# that has been reached by a measured position, which then stays.
_STILL = _ARRIVED
# Last digit of the text of a joint [rad or m].
_DIGIT = 1e-3
# Rate of events while a button is held [Hz].
_HOLD_RATE = 20.0
# Part of a joint's range within which a change of its slider takes effect at once; time without a
# change after which a larger one does [s]. While a number is typed, its first digits are jumps.
_JUMP, _TYPING_TIME = 0.05, 0.7
# Time without a change after which a text that is no number is replaced [s].
_EDITING_TIME = 5.0
# Number fields of viser, also those of sliders, make 0 of -0, so that -0.3 becomes 0.3. So there
# are text fields for numbers, and the fields of sliders that reach below 0 are hidden.
_STYLE = '<style>.mantine-Slider-root:has([aria-valuemin^="-"]) + * { display: none; }</style>'
_AXES = ('x', 'y', 'z', 'about x', 'about y', 'about z')
# Keys for velocities along each axis, forward and back; with Shift, about the axis.
_KEYS: tuple[tuple[Any, Any], ...] = (('I', 'K'), ('J', 'L'), ('U', 'M'))
# Half the range of the slider of a joint without limits [rad or m].
_HALF_RANGE = np.pi


class Jog:
    """The controls; any thread may call it."""

    def __init__(self, server: viser.ViserServer, requests: Requests) -> None:
        """Add the controls that do not depend on the robot.

        Args:
            server: Server of the page.
            requests: Receives the joint targets and velocities.
        """
        self._server, self._requests, self._lock = server, requests, threading.RLock()
        self._sliders: dict[str, viser.GuiSliderHandle[float]] = {}
        self._numbers: dict[str, viser.GuiTextHandle] = {}
        # Measured positions within their limits [rad or m], and the limits.
        self._measured: dict[str, float] = {}
        self._limits: dict[str, tuple[float, float]] = {}
        # Distances from the joint target, at the last times that each was shorter [rad or m].
        self._left: dict[str, float] = {}
        # Values of the sliders as they were last seen [rad or m]; a jump of one, its time [s], and
        # the number of poses and velocities that had begun. A text that is no number yet is NaN.
        self._values: dict[str, float] = {}
        self._jump: tuple[str, float, int | None] | None = None
        self._jump_time, self._begun = -np.inf, 0
        gui = server.gui
        self._joints = gui.add_folder('Joints', expand_by_default=False)
        with self._joints:
            gui.add_html(_STYLE)
        with gui.add_folder('Velocity', expand_by_default=False):
            self._task = gui.add_dropdown('task', ('',), initial_value='')
            return_keys(self._task)
            self._speed = gui.add_slider('m/s', 0.01, 0.5, 0.01, 0.05)
            self._turn = gui.add_slider('rad/s', 0.05, 1.5, 0.05, 0.3)
            for row, axis in enumerate(_AXES):
                for sign, mark in ((1.0, '+'), (-1.0, '-')):
                    button = gui.add_button(f'{mark} {axis}', hint='moves while it is held')
                    push = functools.partial(self._on_hold, row, sign)
                    button.on_hold(callback_hz=_HOLD_RATE)(push)
                    # A held key repeats.
                    gui.add_command(
                        f'velocity {mark} {axis}',
                        hotkey=_KEYS[row % 3][sign < 0.0],
                        modifier='shift' if row >= 3 else None,
                    ).on_trigger(push)

    def update_controls(
        self,
        tasks: Sequence[str],
        positions: Mapping[str, float],
        lower: np.ndarray,
        upper: np.ndarray,
    ) -> None:
        """Show tasks for velocities and joints for targets.

        Args:
            tasks: Names of the frame tasks.
            positions: Measured positions [rad or m] of the commanded joints by name.
            lower: Lower limits [rad or m], not finite if there is none.
            upper: Their upper limits.
        """
        with self._lock:
            if tuple(tasks) != self._task.options and tasks:
                self._task.options = tuple(tasks)
                self._task.value = tasks[0]  # type: ignore[misc]
            bounds = zip(lower.tolist(), upper.tolist(), strict=True)
            limits = dict(zip(positions, bounds, strict=True))
            if list(limits.items()) == list(self._limits.items()):
                return
            for slider in self._sliders.values():
                slider.remove()
            for number in self._numbers.values():
                number.remove()
            self._requests.release_joints()
            self._sliders, self._numbers, self._values, self._jump = {}, {}, {}, None
            self._limits = limits
            self._measured = self._within_limits(positions)
            with self._joints:
                for name, position in self._measured.items():
                    low, high = _slider_range(position, *self._limits[name])
                    number = self._server.gui.add_text(name, _as_text(position))
                    number.on_update(functools.partial(self._on_type, name))
                    slider = self._server.gui.add_slider('', low, high, 1e-3, position)
                    slider.on_update(functools.partial(self._on_slide, name))
                    self._sliders[name], self._values[name] = slider, slider.value
                    self._numbers[name] = number

    def show_measured(self, positions: Mapping[str, float]) -> None:
        """Update the sliders from the measured joints, and end a target that is reached.

        The target stands while joints come nearer than ever, so not while another sender moves
        them.

        Args:
            positions: rad or m by joint.
        """
        with self._lock:
            self._measured |= self._within_limits(positions)
            goal = self._requests.joints()
            if goal and all(abs(goal[n] - positions.get(n, np.inf)) < _ARRIVED for n in goal):
                self._requests.release_joints()
            else:
                left = {name: abs(goal[name] - self._measured[name]) for name in goal}
                nearer = [n for n in goal if left[n] < self._left.get(n, np.inf) - _ARRIVED]
                if nearer:
                    self._left |= {name: left[name] for name in nearer}
                    self._requests.keep_joints()
            if self._requests.joints() or self._jump:
                return
            for name, slider in self._sliders.items():
                position = self._measured[name]
                if not slider.min <= position <= slider.max:
                    slider.min, slider.max = _slider_range(position, *self._limits[name])
                if abs(slider.value - position) > _STILL:
                    slider.value = position  # type: ignore[misc]
                    self._values[name] = position
                self._show_number(name, slider.value)

    def set_goal(self, name: str, position: float, client: int | None = None) -> None:
        """Set a target of a joint [rad or m]; other joints without one keep their positions."""
        with self._lock:
            self._jump = None
            if name in self._sliders:
                self._left = {}
                goal = self._requests.joints() or self._measured
                self._requests.set_joints({**goal, name: position}, client)

    def slide(self, name: str, position: float, client: int | None = None) -> None:
        """Process a change of a slider by a user [rad or m].

        A jump becomes a target once the slider has rested: it may be a number that is being typed.
        """
        with self._lock:
            slider = self._sliders.get(name)
            if slider is None:
                return
            self._end_jump(name)
            position = float(np.clip(position, slider.min, slider.max))
            step, self._values[name] = abs(position - self._values[name]), position
            self._show_number(name, position)
            if step <= _JUMP * (slider.max - slider.min):
                self.set_goal(name, position, client)
            else:
                self._begin_jump(name, position, client)

    def type(self, name: str, text: str, client: int | None = None) -> None:
        """Process a change of the text of a joint by a user; a number is rad or m.

        The number becomes a target once the text has rested.
        """
        with self._lock:
            if name in self._sliders:
                self._end_jump(name)
                self._begin_jump(name, _as_number(text), client)

    def set_velocity(self, row: int, sign: float) -> None:
        """Request a velocity for a moment: along or about axis x, y, z, in rows 0 to 5."""
        with self._lock:
            twist = np.zeros(6)
            twist[row] = sign * (self._speed.value if row < 3 else self._turn.value)
            if self._task.value:
                self._requests.push(self._task.value, twist)

    def withdraw(self, client: int | None = None) -> None:
        """Withdraw a number that is being typed.

        Args:
            client: The disconnected browser; None for all.
        """
        with self._lock:
            if self._jump and client in {None, self._jump[2]}:
                self._jump = None

    def goal(self) -> dict[str, float]:
        """Return the joint target [rad or m], or an empty dict."""
        with self._lock:
            if self._jump and self._begun != self._requests.begun:
                self._jump = None
            if self._jump:
                rested = time.monotonic() - self._jump_time
                if math.isnan(self._jump[1]):
                    if rested > _EDITING_TIME:
                        self._jump = None
                elif rested > _TYPING_TIME:
                    self._follow_jump()
            return self._requests.joints()

    def _begin_jump(self, name: str, position: float, client: int | None) -> None:
        """Wait until a slider or a text rests, with its position or NaN."""
        self._jump, self._jump_time = (name, position, client), time.monotonic()
        self._begun = self._requests.begun

    def _end_jump(self, name: str) -> None:
        """Follow the jump of another joint than the given one at once."""
        if self._jump and self._jump[0] != name:
            self._follow_jump()

    def _follow_jump(self) -> None:
        """Set the target of a jump, within the range of the slider, and show it."""
        if self._jump is None:
            return
        name, position, client = self._jump
        self._jump = None
        if math.isnan(position):
            return
        slider = self._sliders[name]
        position = float(np.clip(position, slider.min, slider.max))
        if slider.value != position:
            slider.value = position  # type: ignore[misc]
        self._values[name] = position
        self._show_number(name, position)
        self.set_goal(name, position, client)

    def _show_number(self, name: str, position: float) -> None:
        """Show a position [rad or m] in the text of a joint, if it shows another."""
        number = self._numbers[name]
        if abs(_as_number(number.value) - position) < 0.5 * _DIGIT:
            return
        text = _as_text(position)
        if number.value != text:
            number.value = text  # type: ignore[misc]

    def _within_limits(self, positions: Mapping[str, float]) -> dict[str, float]:
        """Return the positions of joints with sliders, within their limits [rad or m]."""
        return {
            name: float(np.clip(positions[name], low, high))
            for name, (low, high) in self._limits.items()
            if name in positions
        }

    # Coroutines run in the order of events, in the thread of the browser connections.
    async def _on_slide(self, name: str, event: viser.GuiEvent) -> None:
        # Without a client, the viewer itself moved the slider.
        if event.client is not None:
            self.slide(name, float(event.target.value), event.client.client_id)

    async def _on_type(self, name: str, event: viser.GuiEvent) -> None:
        if event.client is not None:
            self.type(name, event.target.value, event.client.client_id)

    async def _on_hold(self, row: int, sign: float, event: object) -> None:
        self.set_velocity(row, sign)


def _as_text(position: float) -> str:
    """Return a position [rad or m] as the text of a joint."""
    return f'{position:.3f}'


def _as_number(text: str) -> float:
    """Return the number in the text of a joint, NaN if it is none."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _slider_range(position: float, low: float, high: float) -> tuple[float, float]:
    """Return the ends of the slider of a joint: its limits, or half a turn about its position.

    Args:
        position: Measured position within the limits [rad or m].
        low: Lower limit [rad or m], not finite or very large if there is none.
        high: Its upper limit.
    """
    if max(abs(low), abs(high)) < UNBOUNDED:
        return low, high
    middle = 0.0 if abs(position) <= _HALF_RANGE else position
    return max(low, middle - _HALF_RANGE), min(high, middle + _HALF_RANGE)
