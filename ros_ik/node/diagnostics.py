# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""/diagnostics: loop, joint states, command, safety and model, each with a level and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.msg import KeyValue

from ros_ik.node.statistics import TickStatistics
from ros_ik.servo import ServoOutput
from ros_ik.servo import StatusCode

_OK, _WARN, _ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
_OF_JOINT_STATES = (StatusCode.WAITING_FOR_JOINT_STATES, StatusCode.JOINT_STATE_STALE)
_OF_COMMAND = (StatusCode.COMMAND_STALE, StatusCode.TARGET_JUMP, StatusCode.CLOCK_JUMP)
_OF_SAFETY = {
    StatusCode.SLOWED_BY_BARRIER: _OK,
    StatusCode.HALTED_BY_BARRIER: _WARN,
    StatusCode.JOINT_BOUND: _WARN,
    StatusCode.PAUSED: _OK,
    StatusCode.STOPPED: _WARN,
    StatusCode.SOLVER_FAILED: _ERROR,
    StatusCode.NON_FINITE_BLOCKED: _ERROR,
}


def diagnostics(
    node_name: str,
    output: ServoOutput,
    statistics: TickStatistics,
    dropped: Mapping[str, int],
    control_rate: float,
    generation: int,
    notice: str,
) -> DiagnosticArray:
    """Return the message without its stamp.

    Args:
        node_name: Name of the node, which begins the name of each entry.
        output: Output of the last tick.
        statistics: Durations of the ticks.
        dropped: Messages dropped, by reason.
        control_rate: Rate of the loop [Hz].
        generation: Number of models taken over.
        notice: What is wrong with the robot description or the parameters, '' for nothing.
    """
    code, text = output.code, output.text
    missed_part = statistics.missed / max(statistics.ticks, 1)
    safety = _OF_SAFETY.get(code, _OK)
    entries: list[tuple[str, bytes, str, dict[str, Any]]] = [
        ('loop', _WARN if missed_part > 0.01 else _OK, f'{control_rate:g} Hz', {
            'ticks': statistics.ticks, 'missed ticks': statistics.missed,
            'tick p50 ms': f'{statistics.p50:.3f}', 'tick p99 ms': f'{statistics.p99:.3f}',
        }),
        ('joint states', *_level(code in _OF_JOINT_STATES, _ERROR, text), {}),
        ('command', *_level(code in _OF_COMMAND, _WARN, text), dict(dropped)),
        ('safety', safety, text if code in _OF_SAFETY else 'no limit in the way', {
            'barrier': output.limiting_barrier, 'distance m': f'{output.barrier_distance:.4f}',
        }),
        ('model', *_level(bool(notice) or not generation, _ERROR, notice or text), {
            'generation': generation,
        }),
    ]  # fmt: skip
    return DiagnosticArray(
        status=[
            DiagnosticStatus(
                level=level,
                name=f'{node_name}: {name}',
                message=message,
                values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
            )
            for name, level, message, values in entries
        ]
    )


def _level(is_wrong: bool, level: bytes, text: str) -> tuple[bytes, str]:
    return (level, text) if is_wrong else (_OK, 'ok')
