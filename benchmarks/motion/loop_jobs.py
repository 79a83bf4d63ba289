# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Jobs of solvers in a loop: each tick gets a target and returns the next configuration."""

from collections.abc import Hashable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import functools
from typing import TypeVar

import numpy as np
import pinocchio as pin

from benchmarks.harness.job import bound_values
from benchmarks.harness.job import Job
from benchmarks.harness.job import WARM_UP_STEPS
from benchmarks.harness.measure import Runner
from benchmarks.harness.process import Answer
from benchmarks.harness.process import PEER_PYTHON
from benchmarks.harness.process import run_jobs
from benchmarks.harness.robots import load_robot
from benchmarks.harness.verify import LIMIT_SLACK
from ros_ik.demo.robots import find_robot

OURS = 'benchmarks.ours.servo'
Key = TypeVar('Key', bound=Hashable)


@dataclass(frozen=True)
class Loop:
    """Ticks of one solver from rest at home.

    Attributes:
        robot: Name of the robot.
        variant: Setting of the solver.
        rate: Ticks a second [Hz].
        targets: Target of each tick, [n, width].
        rest: Target of each tick of the warm-up before them, [width].
        options: Further settings of the solver.
    """

    robot: str
    variant: str
    rate: float
    targets: np.ndarray
    rest: np.ndarray
    options: dict = field(default_factory=dict)


@functools.cache
def home(name: str) -> np.ndarray:
    """Return the configuration of a robot's chain at the home of the demo [dof]."""
    positions = find_robot(name).home
    return np.array([positions.get(joint, 0.0) for joint in load_robot(name).joints])


@functools.cache
def velocity_limits(name: str) -> np.ndarray:
    """Return the velocity limits of a robot's chain [dof] in rad/s."""
    return np.array(pin.buildModelFromXML(load_robot(name).urdf).velocityLimit)


def inside(name: str, q: np.ndarray, dt: float) -> np.ndarray:
    """Return which ticks from rest at home are inside the limits of position and velocity [n].

    Args:
        name: Name of the robot.
        q: Configurations after each tick [n, dof].
        dt: Period of the loop [s].
    """
    robot = load_robot(name)
    steps = np.abs(np.diff(q, axis=0, prepend=home(name)[None]))
    slow = steps <= velocity_limits(name) * dt + LIMIT_SLACK
    within = (q >= robot.lower - LIMIT_SLACK) & (q <= robot.upper + LIMIT_SLACK)
    return (slow & within).all(axis=1)


def run_loops(
    runner: Runner, module: str, loops: Mapping[Key, Loop], timeout: float = 600.0
) -> dict[Key, Answer]:
    """Run loops of one solver in a process; answers have the configurations after each tick."""
    folder = runner.folder / module.rsplit('.', 1)[1]
    folder.mkdir(exist_ok=True)
    jobs = {key: _job(f'loop-{k}', loop, folder) for k, (key, loop) in enumerate(loops.items())}
    python = None if module == OURS else PEER_PYTHON
    answers = run_jobs(module, list(jobs.values()), folder, timeout, python=python)
    return {key: answers[job.key] for key, job in jobs.items()}


def _job(key, loop, folder):
    """Return the job of a loop and write its targets."""
    robot, start = load_robot(loop.robot), home(loop.robot)
    targets = np.vstack([np.tile(loop.rest, (WARM_UP_STEPS, 1)), loop.targets])
    name, starts = f'{key}.targets.npz', np.tile(start, (len(targets), 1))
    np.savez(folder / name, poses=targets, starts=starts)
    return Job(
        key=key,
        mode='step',
        variant=loop.variant,
        urdf=robot.urdf,
        tip=robot.tip,
        joints=robot.joints,
        lower=bound_values(robot.lower),
        upper=bound_values(robot.upper),
        problems=name,
        n=len(targets),
        position_tolerance=0.0,
        rotation_tolerance=0.0,
        options={'robot': loop.robot, 'dt': 1.0 / loop.rate, **loop.options},
    )
