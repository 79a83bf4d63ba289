# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""/diagnostics: loop, joint states, command, safety and model, each with a level and figures."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.msg import KeyValue
import numpy as np

from ros_ik.model.conventions.labels import listed
from ros_ik.node.control.clock_report import CLOCK
from ros_ik.node.control.inbox import ControlledServo
from ros_ik.node.control.statistics import TickStatistics
from ros_ik.servo import Command
from ros_ik.servo import ServoOutput
from ros_ik.servo import StatusCode
from ros_ik.servo.barriers.watched_joints import unknown_sentence
from ros_ik.servo.interface.codes import MISSING_STATE_CODES

_OK, _WARN, _ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
_OF_COMMAND = (
    StatusCode.COMMAND_STALE,
    StatusCode.TARGET_JUMP,
    StatusCode.CLOCK_JUMP,
    StatusCode.TF_UNAVAILABLE,
)
_OF_SAFETY = {
    StatusCode.SLOWED_BY_BARRIER: _OK,
    StatusCode.HALTED_BY_BARRIER: _WARN,
    StatusCode.JOINT_BOUND: _WARN,
    StatusCode.STATIONARY: _WARN,
    StatusCode.PAUSED: _OK,
    StatusCode.STOPPED: _WARN,
    StatusCode.SOLVER_FAILED: _ERROR,
    StatusCode.NON_FINITE_BLOCKED: _ERROR,
}
# Number of joints that a message names; the values name all.
_NAMED = 5
# Fraction of missed deadlines that causes a warning.
_MISSED_PART = 0.01

Entry = tuple[str, bytes, str, Mapping[str, Any]]


@dataclasses.dataclass(frozen=True, eq=False)
class Snapshot:
    """Figures of one diagnostics message.

    Attributes:
        node_name: Name of the node, the prefix of the name of each entry.
        hardware_id: Fully qualified name of the node.
        code: Code of the status.
        text: Text of the status.
        output: Output of the last tick.
        statistics: Durations of the ticks.
        control_rate: Rate of the loop [Hz].
        command: Command.
        controlled: The running servo, or None.
        now: Clock of the servo [s].
        rates: Used messages since the last snapshot, by topic [Hz].
        dropped: Number of dropped messages, by reason.
        notice: Fault of the robot description or the parameters, or ''.
        same_name: Sentence about other nodes of the same name, or ''.
        unknown_joints: Joints on which distances depend and whose state is unknown.
    """

    node_name: str
    hardware_id: str
    code: StatusCode
    text: str
    output: ServoOutput
    statistics: TickStatistics
    control_rate: float
    command: Command
    controlled: ControlledServo | None
    now: float
    rates: Mapping[str, float]
    dropped: Mapping[str, int]
    notice: str
    same_name: str
    unknown_joints: tuple[str, ...] = ()


def diagnostics(snapshot: Snapshot) -> DiagnosticArray:
    """Return the message without its stamp."""
    entries = (
        _loop(snapshot),
        _joint_states(snapshot),
        _command(snapshot),
        _safety(snapshot),
        _model(snapshot),
    )
    return DiagnosticArray(
        status=[
            DiagnosticStatus(
                level=level,
                name=f'{snapshot.node_name}: {name}',
                message=message,
                hardware_id=snapshot.hardware_id,
                values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
            )
            for name, level, message, values in entries
        ]
    )


def _loop(snapshot: Snapshot) -> Entry:
    """Return the entry on the control loop."""
    statistics = snapshot.statistics
    missed_part = statistics.missed / max(statistics.ticks, 1)
    values = {
        'rate Hz': f'{snapshot.control_rate:g}',
        'ticks': statistics.ticks,
        'missed ticks': statistics.missed,
        'tick p50 ms': f'{statistics.p50:.3f}',
        'tick p99 ms': f'{statistics.p99:.3f}',
        'tick p99.9 ms': f'{statistics.p999:.3f}',
        'longest tick ms': f'{statistics.longest:.3f}',
        'graphs recorded in ticks': statistics.recorded,
    }
    if CLOCK in snapshot.output.waiting_for:
        return 'loop', _WARN, snapshot.text, values
    if snapshot.same_name:
        return 'loop', _WARN, snapshot.same_name, values
    if missed_part > _MISSED_PART:
        return 'loop', _WARN, f'{missed_part:.1%} of the deadlines were missed', values
    return 'loop', _OK, f'{snapshot.control_rate:g} Hz', values


def _joint_states(snapshot: Snapshot) -> Entry:
    """Return the entry on joint states and following errors."""
    values = {'rate Hz': f'{snapshot.rates.get("joint_states", 0.0):.1f}'}
    controlled = snapshot.controlled
    if controlled is not None:
        robot = controlled.servo.robot
        received = controlled.measurement.get().received[robot.needed_coords]
        heard = np.isfinite(received)
        values['joints needed'] = str(len(heard))
        values['joints heard'] = str(int(heard.sum()))
        if heard.any():
            # A time in the future is from before a backward jump of the clock, or was received
            # by the control thread since the snapshot.
            age = np.where(heard, np.abs(snapshot.now - received), -np.inf)
            oldest = int(age.argmax())
            values['oldest joint'] = robot.needed[oldest]
            values['oldest age s'] = f'{age[oldest]:.3f}'
        values['joints unknown'] = ', '.join(snapshot.unknown_joints)
    values |= _following_errors(snapshot.output)
    if snapshot.code == StatusCode.FOLLOWING_ERROR:
        return 'joint states', _WARN, snapshot.text, values
    if snapshot.unknown_joints and snapshot.code not in MISSING_STATE_CODES:
        return 'joint states', _WARN, unknown_sentence(snapshot.unknown_joints, _NAMED), values
    level, text = _level(snapshot, snapshot.code in MISSING_STATE_CODES, _ERROR)
    return 'joint states', level, text, values


def _following_errors(output: ServoOutput) -> dict[str, str]:
    """Return the largest following error and its joint; nothing if none is known."""
    size = np.abs(output.following_errors)
    if not np.isfinite(size).any():
        return {}
    worst = int(np.nanargmax(size))
    return {
        'largest following error': f'{output.following_errors[worst]:.4f}',
        'its joint': output.joint_names[worst],
    }


def _command(snapshot: Snapshot) -> Entry:
    command = snapshot.command
    values: dict[str, Any] = {
        'active': command.active,
        'mode': command.mode.name,
        'obstacles': len(command.obstacles),
    }
    values |= {
        f'{topic} Hz': f'{rate:.1f}'
        for topic, rate in snapshot.rates.items()
        if topic != 'joint_states'
    }
    values |= {f'dropped {reason}': count for reason, count in snapshot.dropped.items()}
    level, text = _level(snapshot, snapshot.code in _OF_COMMAND, _WARN)
    return 'command', level, text, values


def _safety(snapshot: Snapshot) -> Entry:
    code, output, command = snapshot.code, snapshot.output, snapshot.command
    values = {
        'paused': command.paused,
        'stopped': command.stopped,
        'stop requested': command.stop_requested,
        'barrier': output.limiting_barrier,
        'closest pair': ' - '.join(filter(None, output.limiting_pair)),
        'barrier value m': f'{output.barrier_distance:.4f}',
    }
    text = snapshot.text if code in _OF_SAFETY else 'no active limit'
    return 'safety', _OF_SAFETY.get(code, _OK), text, values


def _model(snapshot: Snapshot) -> Entry:
    """Return the entry on the model."""
    controlled, notice = snapshot.controlled, snapshot.notice
    if controlled is None:
        return 'model', _ERROR, notice or snapshot.text, {'generation': 0}
    robot = controlled.servo.robot
    values = {
        'generation': controlled.generation,
        'device': robot.model.device,
        'links': robot.model.body_count,
        'joints': len(robot.coord_of),
        'controlled joints': ', '.join(robot.group.joint_names),
        'base frame': robot.model.body_label[robot.base_link],
        'links not measured': ', '.join(robot.unmeasured_links),
    }
    if notice:
        return 'model', _ERROR, notice, values
    if robot.unmeasured_links:
        names = listed(robot.unmeasured_links)
        return 'model', _WARN, f'distances leave out collision shapes of {names}', values
    return 'model', _OK, 'ok', values


def _level(snapshot: Snapshot, is_wrong: bool, level: bytes) -> tuple[bytes, str]:
    return (level, snapshot.text) if is_wrong else (_OK, 'ok')
