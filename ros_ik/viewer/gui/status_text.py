# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The status of the node as text for the page."""

from __future__ import annotations

import html
import math

from ros_ik.model.conventions.labels import listed
from ros_ik.servo import StatusCode
from ros_ik.viewer.robot.palette import BAD
from ros_ik.viewer.robot.palette import Color
from ros_ik.viewer.robot.palette import GOOD
from ros_ik.viewer.robot.palette import HELD
from ros_ik_interfaces.msg import IkStatus

_GOOD_CODES = (IkStatus.OK, IkStatus.COMMAND_STALE)
_BAD_CODES = (
    IkStatus.INVALID,
    IkStatus.STOPPED,
    IkStatus.JOINT_STATE_STALE,
    IkStatus.FOLLOWING_ERROR,
    IkStatus.SOLVER_FAILED,
    IkStatus.NON_FINITE_BLOCKED,
)
_HOW_TO_MOVE = 'pull an arrow or a ring at a frame of it, and hold it until the frame arrives'


def code_words(code: int) -> str:
    """Return the name of a status code in words."""
    try:
        return StatusCode(code).name.replace('_', ' ').capitalize()
    except ValueError:
        return f'Code {code}'


def status_html(status: IkStatus | None, node: str) -> str:
    """Return the status as HTML.

    Args:
        status: The newest status, or None without a recent one.
        node: Name of the node.
    """
    if status is None:
        return _paragraph(
            BAD, f'No status from {node}', 'the node does not run, or has another name'
        )
    color = HELD
    if status.code in _GOOD_CODES:
        color = GOOD
    elif status.code in _BAD_CODES:
        color = BAD
    lines = [_paragraph(color, code_words(status.code), status.text)]
    if status.waiting_for:
        lines.append(_line('waits for', ', '.join(status.waiting_for)))
    if status.limiting_barrier:
        pair = ' and '.join(filter(None, [status.limiting_pair_a, status.limiting_pair_b]))
        value = f'{1e3 * status.barrier_value:.0f} mm'
        lines.append(_line(f'nearest: {status.limiting_barrier}', f'{pair} {value}'))
    if status.unmeasured_links:
        names = listed(status.unmeasured_links)
        lines.append(_line('not measured', f'distances leave out collision shapes of {names}'))
    if status.code in _GOOD_CODES and not any(task.active for task in status.tasks):
        lines.append(_line('to move it', _HOW_TO_MOVE))
    for task in status.tasks:
        if task.active:
            reached = 'reached' if task.reached else 'on its way'
            error = f'{1e3 * task.linear:.1f} mm, {math.degrees(task.angular):.1f}°'
            lines.append(_line(task.name, f'{error}, {reached}'))
    following = largest_following_error(status)
    if math.isfinite(following):
        lines.append(_line('largest following error', f'{following:.4f} rad or m'))
    lines.append(
        _line(
            f'tick at {status.control_rate:.0f} Hz',
            f'{status.tick_ms_p50:.2f} ms, 1 in 100 over {status.tick_ms_p99:.2f} ms, '
            f'{status.ticks} ticks, {status.missed_ticks} deadlines missed',
        )
    )
    return ''.join(lines)


def largest_following_error(status: IkStatus) -> float:
    """Return the largest following error of a joint [rad or m], NaN if none is known."""
    errors = (abs(error) for error in status.following_errors if math.isfinite(error))
    return max(errors, default=math.nan)


def _paragraph(color: Color, title: str, text: str) -> str:
    return (
        f'<div style="border-left:6px solid rgb{color};padding:2px 8px;margin:4px 8px">'
        f'<b>{html.escape(title)}</b><br>{html.escape(text)}</div>'
    )


def _line(name: str, text: str) -> str:
    return (
        f'<div style="margin:2px 8px;font-size:0.85em"><b>{html.escape(name)}</b>: '
        f'{html.escape(text)}</div>'
    )
