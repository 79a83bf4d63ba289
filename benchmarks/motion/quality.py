# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Evaluates how our servo, pink and mink follow slow streams of poses in a loop.

Problem: poses arrive at 10 to 100 Hz while a loop makes 100 or 1,000 ticks a second; the target
moves along a figure of eight for 6 s, and at 0.25 m/s along a line on which it stops at once. Our
servo gets the messages with the node's defaults, and with prediction of targets. pink and mink
hold the last pose between messages and track it with gain 1, a posture of weight 0.001, position
and velocity limits: as it is, and behind a first-order low-pass. 50 ms is a smoothing factor of
0.3 at 60 Hz, usual in programs for teleoperation; a task gain of 0.18 at 100 Hz, which pink calls
low-pass filtering, does the same. 200 ms shows what more of it brings. Every configuration is
judged by Pinocchio.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.harness.measure import Runner
from benchmarks.harness.process import Answer
from benchmarks.harness.robots import load_robot
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.harness.verify import Arm
from benchmarks.motion import metrics
from benchmarks.motion.loop_jobs import home
from benchmarks.motion.loop_jobs import inside
from benchmarks.motion.loop_jobs import Loop
from benchmarks.motion.loop_jobs import OURS
from benchmarks.motion.loop_jobs import run_loops
from benchmarks.motion.loop_jobs import velocity_limits
from benchmarks.motion.picture import draw
from benchmarks.motion.target_streams import eight
from benchmarks.motion.target_streams import ramp
from benchmarks.motion.target_streams import Stream

# Path and how long it is followed [s].
PATHS: dict[str, tuple[Callable[[float], np.ndarray], float]] = {
    'eight': (eight, 6.0),
    'ramp': (ramp, 3.0),
}
POSTURE_WEIGHT = 1e-3
# When a stream on the figure of eight has settled, and the ramp's speed too, until it ends [s].
SETTLED, STEADY = 1.5, (1.1, 1.6)
# Case of the picture.
SHOWN = 'panda', 100, 30


@dataclass(frozen=True)
class Solver:
    """One way to follow a stream.

    Attributes:
        name: Name in the tables.
        module: Module of its process.
        settings: Parameters of our node besides its defaults.
        low_pass: Time constant of the filter in front of a peer [s], 0 if there is none.
    """

    name: str
    module: str
    settings: tuple[tuple[str, str], ...] = ()
    low_pass: float = 0.0


_PINK, _MINK = 'benchmarks.peers.step_pink', 'benchmarks.peers.step_mink'
DEFAULTS = Solver('ros_ik, defaults', OURS)
SOLVERS = (
    DEFAULTS,
    Solver('ros_ik, no prediction', OURS, (('ee__target_prediction', 'off'),)),
    Solver('pink', _PINK),
    Solver('pink, low-pass 50 ms', _PINK, low_pass=0.05),
    Solver('pink, low-pass 200 ms', _PINK, low_pass=0.2),
    Solver('mink', _MINK),
    Solver('mink, low-pass 50 ms', _MINK, low_pass=0.05),
)
# Without a filter the jerk of pink and mink would hide that of the others in the picture.
PICTURED = tuple(solver for solver in SOLVERS if solver.module == OURS or solver.low_pass == 0.05)


def measure(runner: Runner, quick: bool) -> list[dict]:
    """Return a row for each robot, loop and rate of messages, and each solver but our defaults."""
    robots = ('panda',) if quick else ('panda', 'ur5')
    rates = [(100, 30)] if quick else [(100, 10), (100, 30), (100, 60), (100, 100), (1000, 30)]
    cases = [(robot, *rate) for robot in robots for rate in rates]
    answers = {}
    for module in dict.fromkeys(solver.module for solver in SOLVERS):
        loops = {
            (solver, case, path): _loop(solver, case, path)
            for solver in SOLVERS
            if solver.module == module
            for case in cases
            for path in PATHS
        }
        answers |= run_loops(runner, module, loops)
    draw(
        runner.pictures / 'motion_quality.png',
        {solver.name: answers[solver, SHOWN, 'eight'] for solver in PICTURED},
        1.0 / SHOWN[1],
    )
    rows = []
    for case in cases:
        name, loop, rate = case
        sides = {
            solver: _side(case, {path: answers[solver, case, path] for path in PATHS}, solver)
            for solver in SOLVERS
        }
        for solver in SOLVERS[1:]:
            rows.append(
                row(
                    'motion_quality', name, f'{rate} Hz into {loop:,} Hz', rate, 'inside limits',
                    sides[DEFAULTS], solver.name, sides[solver], unit='rad/s^3',
                )
            )  # fmt: skip
    return rows


def _arm(name: str) -> Arm:
    robot = load_robot(name)
    return Arm(robot.urdf, robot.tip, robot.joints)


def messages(place: np.ndarray, path: str, loop: float, rate: float) -> np.ndarray:
    """Return the newest message of each tick, as a pose and when it was made, NaN without one.

    Args:
        place: Pose of the tool at the start [7].
        path: Name of a path.
        loop: Ticks a second [Hz].
        rate: Messages a second [Hz].
    """
    shape, seconds = PATHS[path]
    stream, rng = Stream(shape, rate), np.random.default_rng(0)
    rows = []
    for _, received in stream.arrivals(seconds, loop, rng):
        rows.append(np.full(8, np.nan))
        for _, made, shift in received:
            rows[-1] = np.array([*(place[:3] + shift), *place[3:], made])
    return np.array(rows)


def held(rows: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the newest pose in each tick [n, 7], ``place`` before the first message."""
    poses = [place]
    for message in rows:
        poses.append(message[:7] if np.isfinite(message[0]) else poses[-1])
    return np.array(poses[1:])


def low_passed(poses: np.ndarray, place: np.ndarray, dt: float, tau: float) -> np.ndarray:
    """Return poses behind a first-order low-pass of the positions; streams here do not turn.

    Args:
        poses: Poses of each tick [n, 7].
        place: Pose before them [7].
        dt: Period of the loop [s].
        tau: Time constant [s].
    """
    found, now = poses.copy(), place[:3].copy()
    for pose in found:
        now += (1.0 - np.exp(-dt / tau)) * (pose[:3] - now)
        pose[:3] = now
    return found


def _loop(solver, case, path):
    """Return the loop of a solver on one stream."""
    name, loop, rate = case
    place = _arm(name).poses(home(name)[None])[0]
    rows = messages(place, path, loop, rate)
    if solver.module == OURS:
        settings = {'control_rate': float(loop), **dict(solver.settings)}
        return Loop(name, 'poses', loop, rows, np.full(8, np.nan), {'settings': settings})
    poses = held(rows, place)
    if solver.low_pass:
        poses = low_passed(poses, place, 1.0 / loop, solver.low_pass)
    options = {
        'tips': [load_robot(name).tip],
        'gain': 1.0,
        'posture': home(name).tolist(),
        'posture_weight': POSTURE_WEIGHT,
        'velocity_limits': velocity_limits(name).tolist(),
    }
    return Loop(name, 'limits', loop, poses, place, options)


def _side(case, answers: dict[str, Answer], solver: Solver) -> Side:
    """Evaluate both streams of a solver; the figure of the row is the RMS jerk."""
    versions = {key: v for answer in answers.values() for key, v in answer.versions.items()}
    versions |= our_versions() if solver.module == OURS else {}
    for answer in answers.values():
        if answer.error:
            return Side(None, versions=versions, error=answer.error)
    joint_q = {path: answer.joint_q for path, answer in answers.items()}
    details, success = judge(case[0], case[1], joint_q)
    return Side(details['jerk'], success, details, versions)


def judge(name: str, loop: float, joint_q: dict[str, np.ndarray]) -> tuple[dict, float]:
    """Return the figures of a run, and the fraction of ticks inside the limits.

    Args:
        name: The robot.
        loop: Ticks a second [Hz].
        joint_q: Configurations [n, dof] by path.
    """
    dt, arm, start = 1.0 / loop, _arm(name), home(name)
    place = arm.poses(start[None])[0, :3]
    ways = {path: arm.poses(q)[:, :3] - place for path, q in joint_q.items()}
    velocity = {
        path: np.diff(q, axis=0, prepend=start[None]) / dt for path, q in joint_q.items()
    }
    good = np.concatenate([inside(name, q, dt) for q in joint_q.values()])
    times = {path: dt * np.arange(1, len(q) + 1) for path, q in joint_q.items()}
    target = {path: np.array([PATHS[path][0](t) for t in times[path]]) for path in joint_q}
    after = slice(round(SETTLED * loop), None)
    steady = slice(*(round(time * loop) for time in STEADY))
    whole = np.array([eight(time) for time in np.linspace(0.0, np.pi, 2001)])
    way, line, smooth = ways['eight'][after], ways['ramp'], velocity['eight'][after]
    details = {
        'jerk': metrics.rms_jerk(smooth, dt),
        'sign_changes': metrics.sign_changes(smooth, dt),
        'lag_ms': 1e3 * metrics.mean_lag(line[steady], target['ramp'][steady], dt),
        'distance_mm': 1e3 * metrics.mean_distance(way, target['eight'][after]),
        'path_error_mm': 1e3 * metrics.path_error(way, whole),
        'overshoot_mm': 1e3 * metrics.overshoot(line, ramp(times['ramp'][-1])),
    }
    return details, float(good.mean())
