# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inputs for the dynamic parameters of the node, one section at a time."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import functools
import math
import re
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
import viser
import yaml

from ros_ik.viewer.gui.requests import Requests

NOTHING = '-'
# Longest range with a slider, and its number of steps; longer ranges have a number input.
_LONGEST_SLIDER, _STEPS = 10.0, 200
# Bounds beyond this are ignored.
_UNBOUNDED = 1e9
# Pattern of a permitted string in a description of the node.
_CHOICE = re.compile(r"'([^']*)'")

_NONE = '<div style="margin:4px 8px"><i>Nothing here may change while the node runs.</i></div>'


class ParameterPanel:
    """The inputs; changes become requests named ``parameter <name>``."""

    def __init__(self, server: viser.ViserServer, requests: Requests) -> None:
        """Add the selection of a section to the current container."""
        self._gui, self._requests = server.gui, requests
        self._section = self._gui.add_dropdown(
            'section', (NOTHING,), initial_value=NOTHING, hint='Parameters that may change now.'
        )
        self._note = self._gui.add_html('')
        self._folder = self._gui.add_folder('Values')
        self._inputs: dict[str, Any] = {}
        self._shown: dict[str, Any] = {}

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
        return tuple(self._inputs)

    def choose(self, section: str) -> None:
        """Select a section."""
        self._section.value = section  # type: ignore[misc]

    def offer(self, sections: Sequence[str]) -> None:
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
        if tuple(values) != tuple(self._inputs):
            for each in self._inputs.values():
                each.remove()
            with self._folder:
                self._inputs = {
                    name: self._add(name, value, descriptors[name])
                    for name, value in values.items()
                }
            self._shown = dict(values)
        for name, value in values.items():
            if value != self._shown[name] or name in refused:
                self._shown[name] = value
                shown = self._inputs[name]
                shown.value = _as_text(value) if isinstance(shown.value, str) else value

    def _add(self, name: str, value: Any, descriptor: ParameterDescriptor) -> Any:
        """Return an input that fits the type of a parameter."""
        label, hint = name.rpartition('.')[2], descriptor.description
        low, high = _bounds(descriptor)
        if isinstance(value, bool):
            made: Any = self._gui.add_checkbox(label, value, hint=hint)
        elif isinstance(value, int | float) and not descriptor.dynamic_typing:
            span = math.inf if low is None or high is None else high - low
            if span <= _LONGEST_SLIDER and isinstance(value, float):
                step = span / _STEPS
                made = self._gui.add_slider(label, low, high, step, value, hint=hint)
            else:
                made = self._gui.add_number(label, value, min=low, max=high, hint=hint)
        else:
            options = tuple(_CHOICE.findall(descriptor.additional_constraints))
            if value in options:
                made = self._gui.add_dropdown(label, options, initial_value=value, hint=hint)
            else:
                made = self._gui.add_text(label, _as_text(value), hint=hint)
        made.on_update(functools.partial(self._on_change, name))
        return made

    # Coroutines run in the order of events, in the thread of the browser connections.
    async def _on_change(self, name: str, event: viser.GuiEvent) -> None:
        # Without a client, the viewer itself set the value.
        if event.client is not None:
            self._requests.ask(f'parameter {name}', event.target.value)


def _as_text(value: Any) -> str:
    """Return a value as text, lists in YAML."""
    if isinstance(value, int | float | str):
        return str(value)
    return yaml.safe_dump(list(value), default_flow_style=True).strip()


def _bounds(descriptor: ParameterDescriptor) -> tuple[float | None, float | None]:
    """Return the smallest and the largest value, or None."""
    ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
    if not ranges:
        return None, None
    low, high = ranges[0].from_value, ranges[0].to_value
    return _finite(low), _finite(high)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) and abs(value) < _UNBOUNDED else None
