# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The demo's table and its last line, one JSON object."""

from __future__ import annotations

import json
import math

from ros_ik.demo.report.evaluation import BARRIER_TOLERANCE
from ros_ik.demo.report.evaluation import Evaluation
from ros_ik.demo.report.phase_judge import PhaseResult
from ros_ik.demo.scenario.client import Recording
from ros_ik.demo.scenario.phase import Requirement

# Fraction of missed ticks above which the robot may miss commands.
_BUSY = 0.05


def table(evaluation: Evaluation) -> str:
    """Return the phases as text, one line each."""
    lines = [
        f'{"phase":<14}{"time s":>7}  {"error mm":>9}  {"error deg":>9}  {"box mm":>8}  '
        f'{"clear mm":>8}  result',
        '-' * 99,
    ]
    inside = evaluation.min_command_barrier >= -BARRIER_TOLERANCE
    lines += [_line(phase, inside) for phase in evaluation.phases]
    return '\n'.join(lines)


def _line(phase: PhaseResult, commands_inside: bool) -> str:
    angle = '-' if math.isnan(phase.angular) else f'{math.degrees(phase.angular):.3f}'
    clear = '-' if math.isnan(phase.least_clearance) else f'{1e3 * phase.least_clearance:.1f}'
    result = phase.verdict if phase.met else f'FAILED: {phase.verdict}'
    if phase.least_barrier < -BARRIER_TOLERANCE:
        left = 'CUT A CORNER OF' if commands_inside else 'LEFT'
        result = f'{left} THE BOX: {phase.verdict}'
    return (
        f'{phase.name:<14}{phase.seconds:>7.1f}  {1e3 * phase.linear:>9.3f}  {angle:>9}  '
        f'{1e3 * phase.least_barrier:>8.2f}  {clear:>8}  {result}'
    )


def summary(
    robot: str, device: str, rate: float, evaluation: Evaluation, recording: Recording
) -> dict[str, object]:
    """Return the figures of the last line.

    Args:
        robot: Name of the robot.
        device: Device of the solver.
        rate: Rate of the control loop [Hz].
        evaluation: Result of the evaluation.
        recording: Received messages.
    """
    demands = (Requirement.REACH, Requirement.WAIT)
    demanded = [phase for phase in evaluation.phases if phase.requirement in demands]
    distances = [phase.linear for phase in demanded]
    angles = [phase.angular for phase in demanded if not math.isnan(phase.angular)]
    status = recording.status
    if status is None:
        raise ValueError('the node never published a status')
    return {
        'robot': robot,
        'device': device,
        'duration_s': round(sum(phase.seconds for phase in evaluation.phases), 2),
        'control_rate_hz': rate,
        'ticks': status.ticks,
        'missed_ticks': status.missed_ticks,
        'tick_ms_p50': round(status.tick_ms_p50, 3),
        'tick_ms_p99': round(status.tick_ms_p99, 3),
        'targets': len(demanded),
        'reached': sum(phase.met for phase in demanded),
        'max_reached_error_mm': round(1e3 * max(distances, default=0.0), 4),
        'max_reached_error_deg': round(math.degrees(max(angles, default=0.0)), 4),
        'min_barrier_m': round(evaluation.min_barrier, 6),
        'min_command_barrier_m': round(evaluation.min_command_barrier, 6),
        'min_clearance_m': _known(evaluation.min_clearance),
        'limit_violations': evaluation.limit_violations,
        'rejected_trajectories': recording.rejected,
    }


def _known(value: float) -> float | None:
    """Return a number, or None for NaN, which JSON lacks."""
    return None if math.isnan(value) else round(value, 6)


def succeeded(figures: dict[str, object], evaluation: Evaluation) -> bool:
    """Return True if every phase met its requirement, and nothing was violated or refused.

    On an overloaded machine the robot misses commands and moves straight to the newest one, which
    may cut a corner of the box.
    """
    ticks, missed = (float(figures[name]) for name in ('ticks', 'missed_ticks'))  # type: ignore
    robot_inside = evaluation.min_barrier >= -BARRIER_TOLERANCE
    return (
        all(phase.met for phase in evaluation.phases)
        and figures['reached'] == figures['targets']
        and evaluation.min_command_barrier >= -BARRIER_TOLERANCE
        and (robot_inside or missed > _BUSY * ticks)
        and not evaluation.min_clearance <= 0.0
        and figures['limit_violations'] == 0
        and figures['rejected_trajectories'] == 0
    )


def last_line(figures: dict[str, object]) -> str:
    """Return the figures as one line of JSON."""
    return json.dumps(figures)
