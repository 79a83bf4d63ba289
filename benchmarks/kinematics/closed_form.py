# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times all solutions of a pose against EAIK, one pose per call and in batches.

Problem: poses of random configurations, and arms without joint limits, because EAIK ignores
limits. Solutions are confirmed by Pinocchio. Two solutions of a pose are distinct if they differ
by more than 1e-4 rad modulo whole turns. The success of a side is its share of all solutions that
either side found.
"""

from collections.abc import Iterable
from dataclasses import replace
import itertools

import numpy as np

from benchmarks.harness.job import bound_values
from benchmarks.harness.job import Job
from benchmarks.harness.job import JUDGED
from benchmarks.harness.measure import MAX_POSES
from benchmarks.harness.measure import Runner
from benchmarks.harness.measure import TIGHT
from benchmarks.harness.problems import Problems
from benchmarks.harness.problems import random_problems
from benchmarks.harness.process import Answer
from benchmarks.harness.process import PEER_PYTHON
from benchmarks.harness.process import run_jobs
from benchmarks.harness.robots import load_robot
from benchmarks.harness.robots import Robot
from benchmarks.harness.robots import without_limits
from benchmarks.harness.table import call_statistics
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.harness.verify import Arm
from benchmarks.harness.verify import judge

ROBOTS = ('ur3', 'ur5', 'ur10', 'z1', 'jaco2', 'talos_leg', 'g1_leg')
PEER = 'EAIK'
SEPARATION = 1e-4
# Number of batches, and the time after which no further one starts [s].
_REPEATS, _BUDGET = 100, 10.0


def measure(runner: Runner, quick: bool) -> list[dict]:
    """Return the rows of every arm, one pose a call and in a batch."""
    cases = [(robot, mode) for robot in ROBOTS for mode in ('single', 'batch')]
    sizes = {case: _size(case[1], quick) for case in cases}
    ours = _run(runner, 'benchmarks.ours.closed_form', sizes, None)
    theirs = _run(runner, 'benchmarks.peers.eaik', sizes, PEER_PYTHON)
    return [_row(case, sizes[case], ours[case], theirs[case], _arm(case[0])) for case in cases]


def device_rows(
    runner: Runner, sizes: tuple[int, ...], device: str, device_name: str, timeout: float
) -> list[dict]:
    """Return the rows of a UR5 with arrays that stay on a device, beside one core of the CPU.

    Args:
        runner: Runs the solvers.
        sizes: Numbers of poses.
        device: Warp's name of the device.
        device_name: Its name in the rows.
        timeout: When to end the process of a device [s].
    """
    case, fewest, rows = ('ur5', 'batch'), min(sizes), []

    def run(n: int, options: dict) -> Answer:
        return _run(runner, 'benchmarks.ours.closed_form', {case: n}, None, timeout, options)[case]

    one_core = run(fewest, {})
    for n in sizes:
        there, here = run(n, {'device': device, 'resident': True}), one_core
        if not here.error:  # it takes as long for each pose of a larger batch
            here = replace(here, seconds=here.seconds * n / fewest)
        entry = _row(case, n, there, here, _arm('ur5'), 'one core of the CPU')
        rows.append({**entry, 'benchmark': 'gpu_closed_form', 'device': device_name})
    return rows


def _size(mode, quick):
    if mode == 'single':
        return 300 if quick else 5000
    return 256 if quick else 2048


def _arm(name: str) -> Robot:
    return without_limits(load_robot(name))


def _run(runner, module, sizes, python, timeout=400.0, options=None):
    folder = runner.folder / module.rsplit('.', 1)[1]
    folder.mkdir(exist_ok=True)
    jobs = {}
    for (name, mode), n in sizes.items():
        robot = _arm(name)
        drawn = _poses(robot, n)
        problems = f'{name}-{mode}-problems.npz'
        np.savez(folder / problems, poses=drawn.poses, starts=drawn.starts)
        jobs[name, mode] = Job(
            key=f'{name}-{mode}',
            mode=mode,
            variant='',
            urdf=robot.urdf,
            tip=robot.tip,
            joints=robot.joints,
            lower=bound_values(robot.lower),
            upper=bound_values(robot.upper),
            problems=problems,
            n=n,
            position_tolerance=TIGHT.position,
            rotation_tolerance=TIGHT.rotation,
            repeats=_REPEATS,
            budget=_BUDGET,
            options={'processor_time': True} if options is None else options,
        )
    answers = run_jobs(module, list(jobs.values()), folder, timeout, python=python)
    return {case: answers[job.key] for case, job in jobs.items()}


def _poses(robot: Robot, n: int) -> Problems:
    drawn = random_problems(robot, min(n, MAX_POSES))
    return drawn if n <= MAX_POSES else drawn.repeated(n)


def _row(case, n, ours: Answer, theirs: Answer, robot: Robot, other: str = PEER) -> dict:
    """Evaluate both sides against all solutions that either side has."""
    name, mode = case
    poses = _poses(robot, n).poses[:JUDGED]
    found = [_solutions(answer, poses, robot) for answer in (ours, theirs)]
    union = [_distinct([side[k] for side in found if side]) for k in range(len(poses))]
    sides = [
        _side(answer, mode, n, one, union)
        for answer, one in zip((ours, theirs), found, strict=True)
    ]
    mine, peer = sides
    mine = replace(mine, versions={**mine.versions, **our_versions()})
    what = 'one pose' if mode == 'single' else f'batch of {n:,}'
    problem = ', '.join(word for word in (ours.setting, what) if word)
    return row('closed_form', name, problem, n, str(TIGHT), mine, other, peer)


def _solutions(answer: Answer, poses: np.ndarray, robot: Robot) -> list[list[np.ndarray]]:
    """Return the confirmed and distinct solutions of each pose; empty if there are none."""
    if answer.error:
        return []
    rows = answer.joint_q[: len(poses)]
    places = rows.shape[1]
    arm = Arm(robot.urdf, robot.tip, robot.joints)
    errors = judge(
        arm, robot.lower, robot.upper, np.repeat(poses[: len(rows)], places, axis=0),
        rows.reshape(-1, rows.shape[2]),
    )  # fmt: skip
    good = TIGHT.success(errors).reshape(len(rows), places)
    return [_distinct([q[there]]) for q, there in zip(rows, good, strict=True)]


def _distinct(groups: Iterable[Iterable[np.ndarray]]) -> list[np.ndarray]:
    """Return configurations without duplicates, modulo whole turns."""
    kept: list[np.ndarray] = []
    for q in itertools.chain(*groups):
        if not _has(kept, q):
            kept.append(q)
    return kept


def _has(rows: list[np.ndarray], q: np.ndarray) -> bool:
    if not rows:
        return False
    change = np.array(rows) - q
    change -= 2.0 * np.pi * np.rint(change / (2.0 * np.pi))
    return bool((np.abs(change).max(axis=1) < SEPARATION).any())


def _side(answer, mode, n, found, union):
    if answer.error:
        return Side(None, versions=answer.versions, error=answer.error)
    there = sum(_has(rows, q) for rows, every in zip(found, union, strict=True) for q in every)
    details = {'n': n, 'solutions': float(np.mean([len(rows) for rows in found]))}
    success = there / max(1, sum(map(len, union)))
    if mode == 'single':
        details.update(call_statistics(answer.seconds))
        return Side(details['median'], success, details, answer.versions)
    return Side(1e6 * float(np.min(answer.seconds)) / n, success, details, answer.versions)
