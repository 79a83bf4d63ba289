# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times one control step of many robots beside mink-warp.

Problem: each robot stands at a configuration of its own and steps with gain 0.5 towards poses of
another one (the hand of a Panda; hands and feet of a G1 with 43 joints), a posture with weight
0.03, hard position limits, velocity limits of 2 rad/s, dt 10 ms. Verified: each step stays inside
both limits, and its cost is compared by the first tip's distance after it (`error_mm`). The two
alternate, so that a slow minute of the machine affects both; the figure is the median of the calls
of all turns.
"""

from dataclasses import replace
import functools

import numpy as np

from benchmarks.harness.job import bound_values
from benchmarks.harness.job import Job
from benchmarks.harness.measure import Runner
from benchmarks.harness.process import PEER_PYTHON
from benchmarks.harness.process import run_jobs
from benchmarks.harness.robots import load_robot
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.harness.verify import Arm
from benchmarks.harness.whole_body import whole_robot
from ros_ik.demo.robots import robot_data_path

_G1 = 'g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf'
TIPS = {
    'panda': ('panda_hand_tcp',),
    'g1': (
        'left_wrist_yaw_link', 'right_wrist_yaw_link', 'left_ankle_roll_link',
        'right_ankle_roll_link',
    ),
}  # fmt: skip
SIZES = (1, 256, 4096, 16_384)
TURNS = 3
DT, GAIN, POSTURE_WEIGHT, SPEED = 0.01, 0.5, 0.03, 2.0
SLACK = 1e-5  # rounding of mink-warp's float32, rad
# Half the range of the random configurations, and distance of the targets, relative to each
# joint's range.
_SPREAD, _REACH = 0.48, 0.01


def measure(runner: Runner, quick: bool) -> list[dict]:
    """Return the rows of every robot and size."""
    return step_rows(runner, SIZES[:2] if quick else SIZES, 1 if quick else TURNS)


def step_rows(
    runner: Runner, sizes: tuple[int, ...], turns: int, *, benchmark: str = 'batch_step',
    device: str = 'cpu', device_name: str = 'cpu', timeout: float = 600.0,
    is_resident: bool = False,
) -> list[dict]:  # fmt: skip
    """Return the rows of every robot and size on a device.

    Args:
        runner: Runs the solvers.
        sizes: Numbers of robots.
        turns: How often each solver measures all of them.
        benchmark: Name of the benchmark in the rows.
        device: Warp's name of the device.
        device_name: Its name in the rows.
        timeout: When to end one turn of one solver with one robot [s].
        is_resident: True for arrays that stay on the device.
    """
    rows = []
    for robot in TIPS:
        run = functools.partial(
            _run, runner, robot, sizes=sizes, device=device, timeout=timeout, resident=is_resident
        )
        modules = 'benchmarks.ours.batch_step', 'benchmarks.peers.step_mink_warp'
        turned = [[run(module) for module in modules] for _ in range(turns)]
        sides = [
            {n: _together([turn[n] for turn in side]) for n in sizes}
            for side in zip(*turned, strict=True)
        ]
        for n in sizes:
            mine = _side(robot, n, sides[0][n], our_versions())
            other = _side(robot, n, sides[1][n], {})
            problem = 'frames + posture + hard limits'
            rows.append(
                row(benchmark, robot, problem, n, '', mine, 'mink-warp', other, device=device_name)
            )
    return rows


@functools.cache
def _robot(name):
    if name == 'g1':
        return whole_robot(name, (robot_data_path() / _G1).read_text())
    return load_robot(name)


@functools.cache
def _problems(name, n):
    """Return starts, postures [n, dof] and poses [n, tips, 7]."""
    robot, rng = _robot(name), np.random.default_rng(5)
    middle, span = 0.5 * (robot.lower + robot.upper), robot.upper - robot.lower
    starts = middle + _SPREAD * span * rng.uniform(-1, 1, (n, robot.dof))
    goals = starts + _REACH * span * rng.uniform(-1, 1, (n, robot.dof))
    poses = [Arm(robot.urdf, tip, robot.joints).poses(goals) for tip in TIPS[name]]
    return starts, goals, np.stack(poses, axis=1)


def _run(runner, name, module, sizes, device, timeout, resident):
    folder = runner.folder / f'{name}-{module.rsplit(".", 1)[1]}'
    folder.mkdir(exist_ok=True)
    robot = _robot(name)
    starts, postures, poses = _problems(name, max(sizes))
    np.savez(folder / 'problems.npz', starts=starts, poses=poses, postures=postures)
    jobs = {
        n: Job(
            key=f'{name}-{n}',
            mode='batch',
            variant='',
            urdf=robot.urdf,
            tip=robot.tip,
            joints=robot.joints,
            lower=bound_values(robot.lower),
            upper=bound_values(robot.upper),
            problems='problems.npz',
            n=n,
            position_tolerance=0.0,
            rotation_tolerance=0.0,
            repeats=10_000 if n <= 256 else 10,
            budget=2.0 if n <= 256 else 20.0,
            options={
                'tips': TIPS[name],
                'dt': DT,
                'gain': GAIN,
                'posture_weight': POSTURE_WEIGHT,
                'speed': SPEED,
                'postures': str(folder / 'problems.npz'),
                'device': device,
                'resident': resident,
            },
        )
        for n in sizes
    }
    python = PEER_PYTHON if module.startswith('benchmarks.peers.') else None
    answers = run_jobs(module, list(jobs.values()), folder, timeout, python=python)
    return {n: answers[job.key] for n, job in jobs.items()}


def _together(answers):
    """Return one answer with the times of all, or the first failed one."""
    failed = next((answer for answer in answers if answer.error), None)
    if failed:
        return failed
    return replace(answers[0], seconds=np.concatenate([answer.seconds for answer in answers]))


def _side(name, n, answer, versions):
    """Judge the steps; the figure is microseconds per robot."""
    versions = {**answer.versions, **versions}
    if answer.error:
        return Side(None, versions=versions, error=answer.error)
    robot = _robot(name)
    starts, _, poses = _problems(name, max(n, len(answer.joint_q)))
    q = answer.joint_q
    inside = (q >= robot.lower - SLACK) & (q <= robot.upper + SLACK)
    slow = np.abs(q - starts[: len(q)]) <= SPEED * DT + SLACK
    judged = slice(0, 256)
    tip = Arm(robot.urdf, TIPS[name][0], robot.joints).poses(q[judged])
    error = np.linalg.norm(tip[:, :3] - poses[: len(q)][judged, 0, :3], axis=1)
    seconds = float(np.median(answer.seconds))
    details = {'error_mm': 1e3 * float(np.median(error)), 'steps_per_second': n / seconds}
    success = float((inside & slow).all(axis=1).mean())
    return Side(1e6 * seconds / n, success, details, versions)
