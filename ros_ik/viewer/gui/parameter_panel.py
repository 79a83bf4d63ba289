# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inputs for the dynamic parameters of the node, one section at a time."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import math
import re
import threading
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
import viser

from ros_ik.settings.parameter_file import list_text
from ros_ik.viewer.gui.focus import return_keys
from ros_ik.viewer.gui.requests import Requests

NOTHING = '-'
# Longest range with a slider, and its number of steps; numbers of longer ranges are typed.
_LONGEST_SLIDER, _STEPS = 10.0, 200
# Bounds beyond this are ignored.
_UNBOUNDED = 1e9
# Pattern of a permitted string in a description of the node.
_CHOICE = re.compile(r"'([^']*)'")

_NONE = '<div style="margin:4px 8px"><i>Nothing here may change while the node runs.</i></div>'


class ParameterPanel:
    """The inputs; a button sends what was changed as requests named ``parameter <name>``.

    Values are not sent while they are typed: half a number may be another number. Any thread may
    call it.
    """

    def __init__(self, server: viser.ViserServer, requests: Requests) -> None:
        """Add the selection of a section to the current container."""
        self._gui, self._requests = server.gui, requests
        self._lock = threading.RLock()
        self._section = self._gui.add_dropdown(
            'section', (NOTHING,), initial_value=NOTHING, hint='Parameters that may change now.'
        )
        return_keys(self._section)
        self._note = self._gui.add_html('')
        self._button = self._gui.add_button(
            'Set', visible=False, hint='Sends the changed values to the node.'
        )
        self._folder = self._gui.add_folder('Values')
        self._inputs: dict[str, Any] = {}
        self._shown: dict[str, Any] = {}

        # Coroutines run in the order of events, in the thread of the browser connections.
        async def on_set(event: object) -> None:
            self.set()

        self._button.on_click(on_set)

    @property
    def section(self) -> str:
        """The selected section, or :data:`NOTHING`."""
        return str(self._section.value)

    @property
    def sections(self) -> tuple[str, ...]:
        """The available sections."""
        return tuple(self._section.options)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The parameters that have an input."""
        with self._lock:
            return tuple(self._inputs)

    def choose(self, section: str) -> None:
        """Select a section."""
        self._section.value = section  # type: ignore[misc]

    def set_sections(self, sections: Sequence[str]) -> None:
        """Set the available sections."""
        options = (NOTHING, *sections)
        if options != self._section.options:
            # viser selects the first section if the current one is missing.
            self._section.options = options

    def show(
        self,
        values: Mapping[str, Any],
        descriptors: Mapping[str, ParameterDescriptor],
        refused: Collection[str] = (),
    ) -> None:
        """Replace the inputs by those of some parameters.

        Args:
            values: Their values by name.
            descriptors: Their descriptors by name.
            refused: Parameters whose input shows a rejected value.
        """
        note = '' if values or self.section == NOTHING else _NONE
        if note != self._note.content:
            self._note.content = note
        with self._lock:
            if tuple(values) != tuple(self._inputs):
                for each in self._inputs.values():
                    each.remove()
                with self._folder:
                    self._inputs = {
                        name: self._add(name, value, descriptors[name])
                        for name, value in values.items()
                    }
                self._shown = dict(values)
                self._button.visible = bool(values)
            for name, value in values.items():
                if value != self._shown[name] or name in refused:
                    self._shown[name] = value
                    self._inputs[name].value = self._input_value(name)

    def set(self) -> None:
        """Request the values that differ from those of the node."""
        with self._lock:
            for name, each in self._inputs.items():
                if each.value != self._input_value(name):
                    self._requests.add(f'parameter {name}', each.value)

    def _input_value(self, name: str) -> Any:
        """Return the value of the node as the input of a parameter has it."""
        shown = self._shown[name]
        return _as_text(shown) if isinstance(self._inputs[name].value, str) else shown

    def _add(self, name: str, value: Any, descriptor: ParameterDescriptor) -> Any:
        """Return an input that fits the type of a parameter."""
        label, hint = name.rpartition('.')[2], descriptor.description
        low, high = _bounds(descriptor)
        if isinstance(value, bool):
            return self._gui.add_checkbox(label, value, hint=hint)
        options = tuple(_CHOICE.findall(descriptor.additional_constraints))
        if value in options:
            return self._gui.add_dropdown(label, options, initial_value=value, hint=hint)
        if isinstance(value, float) and not descriptor.dynamic_typing and low is not None:
            # Negative numbers cannot be typed beside a slider, see jog.py.
            if high is not None and high - low <= _LONGEST_SLIDER and low >= 0.0:
                step = (high - low) / _STEPS
                return self._gui.add_slider(label, low, high, step, value, hint=hint)
        # Number inputs take no more decimals than the value and the bounds have.
        return self._gui.add_text(f'{label} {_range(low, high)}', _as_text(value), hint=hint)


def _as_text(value: Any) -> str:
    """Return a value as text, lists as in a parameter file."""
    return str(value) if isinstance(value, int | float | str) else list_text(value)


def _bounds(descriptor: ParameterDescriptor) -> tuple[float | None, float | None]:
    """Return the smallest and the largest value, or None."""
    ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
    if not ranges:
        return None, None
    low, high = ranges[0].from_value, ranges[0].to_value
    return _finite(low), _finite(high)


def _range(low: float | None, high: float | None) -> str:
    """Return a range as text, '' without bounds."""
    if low is not None and high is not None:
        return f'[{low:g}, {high:g}]'
    return f'≥\u00a0{low:g}' if low is not None else ''


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) and abs(value) < _UNBOUNDED else None
