# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Serialized status of a tick: rebuilt when texts change, otherwise numbers are filled in.

The parts that choose code and text are listed at
:class:`ros_ik.servo.interface.codes.StatusCode`.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import struct
from typing import Any

import numpy as np

from ros_ik.node.control.statistics import TickStatistics
from ros_ik.node.transport.cdr_templates import Marks
from ros_ik.node.transport.cdr_templates import SerializedMessage
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.servo import CenterReport
from ros_ik.servo import ServoOutput
from ros_ik.servo import TaskReport
from ros_ik.servo.interface.output import CENTER_NAME
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import NamedCount
from ros_ik_interfaces.msg import TaskError

# From barrier_value to missed_ticks, and from linear to measured_angular.
_FIGURES, _ERRORS = struct.Struct('=5d2Q'), struct.Struct('=4d')


@dataclasses.dataclass(frozen=True)
class NodeState:
    """Fields of the status that do not come from the servo.

    Attributes:
        waiting_for: Names of missing inputs.
        generation: Number of models loaded since the start.
        notice: Sentences to add to the text, or ''.
        base_frame: Name of the base frame, '' while there is none.
        unmeasured_links: Links whose collision shapes are missing in whole or in part.
    """

    waiting_for: tuple[str, ...] = ()
    generation: int = 0
    notice: str = ''
    base_frame: str = ''
    unmeasured_links: tuple[str, ...] = ()


class StatusMessage:
    """A reusable IkStatus message."""

    def __init__(self, control_rate: float, message_stats: MessageStats) -> None:
        """Start without texts.

        Args:
            control_rate: Rate to report [Hz].
            message_stats: Counter of dropped messages, written by other threads too.
        """
        self._control_rate, self._message_stats = control_rate, message_stats
        self._words: tuple[Any, ...] = ()
        self._serialized: SerializedMessage
        self._figures = 0
        self._errors: list[int] = []
        self._joints: np.ndarray | None = None

    def fill(
        self,
        output: ServoOutput,
        state: NodeState,
        statistics: TickStatistics,
        tick_ms: float,
        nanoseconds: int,
    ) -> bytes:
        """Return the serialized status of a tick.

        Args:
            output: Output of the tick.
            state: Fields that do not come from the servo.
            statistics: Durations of the previous ticks.
            tick_ms: Its duration so far [ms].
            nanoseconds: Its time [ns].
        """
        words = self._words_of(output, state)
        if words != self._words:
            self._write(output, state, words)
        message = self._serialized
        message.set_stamp(nanoseconds)
        _FIGURES.pack_into(
            message.buffer, self._figures, output.barrier_distance, tick_ms, statistics.p50,
            statistics.p99, self._control_rate, statistics.ticks, statistics.missed,
        )  # fmt: skip
        for offset, report in zip(self._errors, output.tasks, strict=False):
            _ERRORS.pack_into(
                message.buffer, offset, report.linear_error, report.angular_error,
                report.measured_linear_error, report.measured_angular_error,
            )  # fmt: skip
        center = output.center_of_mass
        if center is not None:
            _ERRORS.pack_into(
                message.buffer, self._errors[-1], center.linear_error, 0.0,
                center.measured_linear_error, 0.0,
            )  # fmt: skip
        if self._joints is not None:
            self._joints[:] = output.following_errors
        return message.to_bytes()

    def _words_of(self, output: ServoOutput, state: NodeState) -> tuple[Any, ...]:
        """Return all fields except the numbers that are filled in place."""
        center = output.center_of_mass
        return (
            *self._message_stats.shown(output.code, output.text),
            self._message_stats.missing_frames(),
            state,
            output.limiting_barrier,
            output.limiting_pair,
            output.joint_names,
            output.motion_start,
            self._message_stats.total,
            center is None or (center.active, center.reached),
            *[(task.name, task.active, task.reached) for task in output.tasks],
        )

    def _write(self, output: ServoOutput, state: NodeState, words: tuple[Any, ...]) -> None:
        """Serialize a message with these texts, and find the offsets of its numbers."""
        marks = Marks()
        figures = marks.take(7)
        message = IkStatus(control_rate=figures[4])
        message.header.frame_id = state.base_frame
        code, text, missing_frames = words[:3]
        message.code = int(code)
        message.text = f'{text} ({state.notice})' if state.notice else text
        message.waiting_for = [*state.waiting_for, *missing_frames]
        message.model_generation = state.generation
        message.unmeasured_links = list(state.unmeasured_links)
        message.limiting_barrier = output.limiting_barrier
        message.limiting_pair_a, message.limiting_pair_b = output.limiting_pair
        message.barrier_value, message.tick_ms = figures[:2]
        message.tick_ms_p50, message.tick_ms_p99 = figures[2:4]
        # Marks are found by their bytes.
        message.ticks, message.missed_ticks = struct.unpack('=2Q', figures[5:].tobytes())
        message.dropped_messages = [
            NamedCount(name=name, count=count)
            for name, count in list(self._message_stats.counts.items())
        ]
        message.tasks = _entries(output.tasks, output.center_of_mass)
        errors = [marks.take(4) for _ in message.tasks]
        for entry, mark in zip(message.tasks, errors, strict=True):
            entry.linear, entry.angular, entry.measured_linear, entry.measured_angular = mark
        message.joint_names = list(output.joint_names)
        message.motion_start = output.motion_start
        message.following_errors = joints = marks.take(len(output.joint_names))
        self._serialized = SerializedMessage(message)
        self._joints = self._serialized.numbers(joints) if joints else None
        self._figures = self._serialized.find(figures)
        self._errors = [self._serialized.find(mark) for mark in errors]
        self._words = words


def _entries(reports: Sequence[TaskReport], center: CenterReport | None) -> list[TaskError]:
    """Return one entry per frame task, and one for the centre of mass while it has a target."""
    entries = [
        TaskError(name=report.name, active=report.active, reached=report.reached)
        for report in reports
    ]
    if center is not None:
        entries.append(TaskError(name=CENTER_NAME, active=center.active, reached=center.reached))
    return entries
