# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Measurement of one solver: run its process and evaluate its answers."""

from dataclasses import dataclass
from dataclasses import field
import functools
from pathlib import Path
import sys
import time
from xml.etree import ElementTree

import numpy as np

from benchmarks.harness.job import bound_values
from benchmarks.harness.job import Job
from benchmarks.harness.problems import middle_starts
from benchmarks.harness.problems import Problems
from benchmarks.harness.problems import random_problems
from benchmarks.harness.process import Answer
from benchmarks.harness.process import PEER_PYTHON
from benchmarks.harness.process import run_jobs
from benchmarks.harness.robots import load_robot
from benchmarks.harness.robots import Robot
from benchmarks.harness.table import call_statistics
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import Side
from benchmarks.harness.verify import Arm
from benchmarks.harness.verify import Errors
from benchmarks.harness.verify import judge

OURS = 'benchmarks.ours.inverse'
# Different poses at most; larger batches repeat them.
MAX_POSES = 16_384
# Answers judged at most; of larger batches, rows at equal distances.
MAX_JUDGED = 100_000


@dataclass(frozen=True)
class Tolerance:
    """Tolerances of an answer.

    Attributes:
        position: m.
        rotation: rad.
        each_component: True if each component of the twist has to be that near, not its norms.
    """

    position: float
    rotation: float
    each_component: bool = False

    def __str__(self):
        if self.each_component:
            return f'{self.position:g} each'
        return f'{self.position:g} m, {self.rotation:g} rad'

    def success(self, errors: Errors) -> np.ndarray:
        """Return the mask of answers within the tolerances [n]."""
        if self.each_component:
            return errors.success_each_component(self.position)
        return errors.success(self.position, self.rotation)


LOOSE = Tolerance(1e-3, 1e-2)
TIGHT = Tolerance(1e-6, 1e-5)


@dataclass(frozen=True)
class Spec:
    """One measurement of one solver; hashable, so that it names its result."""

    robot: str
    variant: str
    mode: str
    n: int
    tolerance: Tolerance
    starts: str = 'random'
    budget: float = 60.0
    repeats: int = 3
    options: tuple[tuple[str, object], ...] = field(default=())


@functools.cache
def problems(robot: str, starts: str) -> Problems:
    """Return the poses of a robot, from ``random`` starts or the ``middle`` of the limits."""
    arm = load_robot(robot)
    drawn = random_problems(arm, MAX_POSES)
    if starts == 'random':
        return drawn
    return Problems(drawn.poses, middle_starts(arm, MAX_POSES))


class Runner:
    """Runs solvers in processes of their own.

    Args:
        folder: Where problems and answers go.
        pictures: Where pictures go, the same folder by default.
    """

    def __init__(self, folder: Path, pictures: Path | None = None):
        self.folder = folder
        self.pictures = pictures or folder

    def run(self, module: str, specs: list[Spec], timeout: float) -> dict[Spec, Side]:
        """Measure one solver on several specifications in one process."""
        folder = self.folder / f'{module.rsplit(".", 1)[1]}-{time.monotonic_ns()}'
        folder.mkdir()
        jobs = [self._job(k, spec, folder) for k, spec in enumerate(specs)]
        begin = time.perf_counter()
        answers = run_jobs(
            module, jobs, folder, timeout, python=None if module == OURS else PEER_PYTHON
        )
        spent = time.perf_counter() - begin
        print(f'  {module}: {len(specs)} jobs, {spent:.0f} s', file=sys.stderr, flush=True)
        return {
            spec: self._side(spec, answers[job.key], module == OURS)
            for spec, job in zip(specs, jobs, strict=True)
        }

    def _job(self, number: int, spec: Spec, folder: Path) -> Job:
        robot = load_robot(spec.robot)
        name = f'{spec.robot}-{spec.starts}-{spec.n}.npz'
        if not (folder / name).exists():
            some = problems(spec.robot, spec.starts)
            some = some.repeated(spec.n) if spec.n > MAX_POSES else some.first(spec.n)
            np.savez(folder / name, poses=some.poses, starts=some.starts)
        return Job(
            key=f'job-{number}',
            mode=spec.mode,
            variant=spec.variant,
            urdf=robot.urdf,
            tip=robot.tip,
            joints=robot.joints,
            lower=bound_values(robot.lower),
            upper=bound_values(robot.upper),
            problems=name,
            n=spec.n,
            position_tolerance=spec.tolerance.position,
            rotation_tolerance=spec.tolerance.rotation,
            budget=spec.budget,
            repeats=spec.repeats,
            options={'base': _base_link(robot), **dict(spec.options)},
        )

    def _side(self, spec: Spec, answer: Answer, ours: bool) -> Side:
        versions = {**answer.versions, **(our_versions() if ours else {})}
        if answer.error:
            return Side(None, versions=versions, error=answer.error)
        if not len(answer.seconds):
            return Side(None, versions=versions, error='no answer in the time it had')
        robot, joint_q = load_robot(spec.robot), answer.joint_q
        poses = problems(spec.robot, spec.starts).repeated(len(joint_q)).poses
        arm = Arm(robot.urdf, robot.tip, robot.joints)
        # An odd step, so that each repetition of the poses has other rows.
        rows = slice(None, None, len(joint_q) // MAX_JUDGED | 1)
        errors = judge(arm, robot.lower, robot.upper, poses[rows], joint_q[rows])
        success = float(spec.tolerance.success(errors).mean())
        details = {'n': len(answer.joint_q)}
        if answer.setting:
            details['setting'] = answer.setting
        if spec.mode == 'single':
            details.update(call_statistics(answer.seconds))
            return Side(details['mean'], success, details, versions)
        each = 1e6 * float(np.median(answer.seconds)) / spec.n
        details['each'] = each
        details['least'] = 1e6 * float(np.min(answer.seconds)) / spec.n
        value = each / success if success else None
        reason = '' if success else 'no answer within the tolerance'
        return Side(value, success, details, versions, error=reason)


def _base_link(robot: Robot) -> str:
    joints = ElementTree.fromstring(robot.urdf).findall('joint')
    children = {joint.find('child').get('link') for joint in joints}
    parents = [joint.find('parent').get('link') for joint in joints]
    return next(link for link in parents if link not in children)
