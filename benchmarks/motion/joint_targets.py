# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Compares our servo's motions to joint targets with Ruckig's time-optimal ones.

Problem: a UR5 at home gets a target of one joint or of all six, with limits of velocity,
acceleration and jerk that hold throughout (``limits.jerk: strict``). Ruckig, which knows the
least time there is, makes the same motion tick by tick with all joints in step. Both are judged
by their positions: arrived is what stays within 1e-6 rad of the target from there on, and each
tick has to be inside the limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.harness.measure import Runner
from benchmarks.harness.process import Answer
from benchmarks.harness.robots import load_robot
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.motion.loop_jobs import home
from benchmarks.motion.loop_jobs import Loop
from benchmarks.motion.loop_jobs import OURS
from benchmarks.motion.loop_jobs import run_loops
from benchmarks.motion.loop_jobs import velocity_limits
from benchmarks.motion.ticked_servo import motion_limits

ROBOT, ACCELERATION = 'ur5', 5.0  # rad/s^2, of every joint
# Six joints somewhere else [rad].
SEVERAL = np.array([1.0, -0.8, 1.4, -1.0, 0.6, 2.0])
ARRIVED = 1e-6  # rad
# Rounding, as a part of a limit.
_SLACK = 1e-6
# Recorded time of each motion [s]; the longest motion takes less than half of it.
_SECONDS = 4.0


@dataclass(frozen=True)
class Case:
    """A motion to a joint target.

    Attributes:
        problem: What the table calls it.
        target: Positions of the joints [dof].
        ratio: Jerk limits as a multiple of the acceleration limits per second [1/s].
        rate: Ticks a second [Hz].
    """

    problem: str
    target: np.ndarray
    ratio: float
    rate: float


def jerk_limits(ratio: float, mode: str = 'strict') -> dict[str, object]:
    """Return parameters that limit acceleration and jerk of every joint, with __ for a dot.

    Args:
        ratio: Jerk limits as a multiple of the acceleration limits per second [1/s].
        mode: ``limits.jerk``.
    """
    joints = load_robot(ROBOT).joints
    return {'limits__jerk': mode, **motion_limits(joints, ACCELERATION, ratio)}


def cases(quick: bool) -> list[Case]:
    """Return the motions: one joint by little, by much, and all of them."""
    found = []
    for ratio, rate in [(30.0, 250.0)] if quick else [(10.0, 100.0), (30.0, 250.0), (100.0, 1e3)]:
        for angle in (0.05, 0.5, 2.5):
            target = home(ROBOT) + angle * np.eye(len(SEVERAL))[0]
            found.append(Case(f'one joint by {angle} rad', target, ratio, rate))
        found.append(Case('six joints', SEVERAL, ratio, rate))
    return found


def measure(runner: Runner, quick: bool) -> list[dict]:
    """Return a row for each motion."""
    chosen = cases(quick)
    ours = run_loops(runner, OURS, _loops(chosen, _our_options))
    theirs = run_loops(runner, 'benchmarks.peers.ruckig_online', _loops(chosen, _limits))
    rows = []
    for k, case in enumerate(chosen):
        problem = f'{case.problem}, {case.rate:,.0f} Hz, jerk {case.ratio * ACCELERATION:.0f}'
        sides = (_side(case, ours[k], our_versions()), _side(case, theirs[k], {}))
        n = round(_SECONDS * case.rate)
        rows.append(
            row(
                'joint_targets', ROBOT, problem, n, f'{ARRIVED:g} rad', sides[0], 'Ruckig',
                sides[1], unit='s',
            )
        )  # fmt: skip
    return rows


def _loops(chosen, options_of):
    return {
        k: Loop(
            ROBOT, 'joints', case.rate, np.tile(case.target, (round(_SECONDS * case.rate), 1)),
            home(ROBOT), options_of(case),
        )
        for k, case in enumerate(chosen)
    }  # fmt: skip


def _our_options(case):
    return {'settings': {'control_rate': case.rate, **jerk_limits(case.ratio)}}


def _limits(case) -> dict[str, list[float]]:
    joints = len(SEVERAL)
    return {
        'start': home(ROBOT).tolist(),
        'velocity': velocity_limits(ROBOT).tolist(),
        'acceleration': [ACCELERATION] * joints,
        'jerk': [case.ratio * ACCELERATION] * joints,
    }


def arrival(q: np.ndarray, target: np.ndarray, dt: float) -> float | None:
    """Return the time [s] from which the robot stays at the target, or None.

    Args:
        q: Positions after each tick [n, dof].
        target: Where to arrive [dof].
        dt: Period of the loop [s].
    """
    away = np.flatnonzero(np.abs(q - target).max(axis=1) > ARRIVED)
    if len(away) and away[-1] == len(q) - 1:
        return None
    # The position after tick k is that of time (k + 1) dt.
    return dt * (int(away[-1]) + 2 if len(away) else 1)


def within(q: np.ndarray, start: np.ndarray, limits: Mapping, dt: float) -> np.ndarray:
    """Return which ticks keep the limits of velocity, acceleration and jerk [n].

    Args:
        q: Positions after each tick [n, dof].
        start: Where the robot rests before the first [dof].
        limits: ``velocity``, ``acceleration`` and ``jerk`` of each joint, each [dof].
        dt: Period of the loop [s].
    """
    values, good = np.vstack([np.tile(start, (3, 1)), q]), np.ones(len(q), dtype=bool)
    for name in ('velocity', 'acceleration', 'jerk'):
        values = np.diff(values, axis=0) / dt
        largest = np.array(limits[name]) * (1.0 + _SLACK)
        good &= (np.abs(values[-len(q) :]) <= largest).all(axis=1)
    return good


def _side(case: Case, answer: Answer, versions: dict) -> Side:
    versions = {**answer.versions, **versions}
    if answer.error:
        return Side(None, versions=versions, error=answer.error)
    dt = 1.0 / case.rate
    found = arrival(answer.joint_q, case.target, dt)
    good = within(answer.joint_q, home(ROBOT), _limits(case), dt)
    reason = '' if found is not None else f'has not arrived after {_SECONDS:g} s'
    return Side(found, float(good.mean()), {}, versions, error=reason)
