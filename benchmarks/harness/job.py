# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Jobs that the suite hands to the processes of the solvers, and the timing of answers.

A folder holds ``jobs.json``, a list of :class:`Job`, and for each problem set an ``.npz`` with
``poses [n, 7]`` and ``starts [n, dof]``. The process writes ``<key>.npz`` with ``joint_q`` and
``seconds`` and ``<key>.json`` with versions, or with the reason why there is no answer.
This file needs only numpy: it runs in the environment of the suite and in that of the peers.
"""

from collections.abc import Callable
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
import gc
from importlib import metadata
import json
from pathlib import Path
import sys
import time
import traceback

import numpy as np

WARM_UP_CALLS = 20
WARM_UP_STEPS = 100
# Most solutions of a pose, where every one is asked for, and number of poses whose solutions are
# all evaluated.
PLACES, JUDGED = 16, 1000

# (poses, starts) -> joint_q; one problem [7], [dof] or a batch [n, 7], [n, dof] by the job's mode.
# In the mode `step` it returns the displacement from the start instead. `convert`, an attribute of
# it, makes its own form of poses beforehand, and `read` makes joint_q of what it returns; neither
# counts.
Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Job:
    """One measurement.

    Attributes:
        key: Name of the answer's files.
        mode: ``single``, one problem a call; ``batch``, all in one call; ``step``, one control
            step a call towards the next pose from where the last step ended; ``ticks``, the same
            steps several times over.
        variant: Setting of the solver, its own vocabulary.
        urdf: Text of the chain.
        tip: Link to bring to the poses.
        joints: Movable joints, the order of the columns of starts and answers.
        lower: Lower limits; None where there is none (JSON has no infinity).
        upper: Upper limits.
        problems: Name of the problem set's file.
        n: How many of its problems to solve.
        position_tolerance: m.
        rotation_tolerance: rad.
        budget: Time after which no further problem or batch is started [s].
        repeats: How often a batch or the steps of ``ticks`` are timed; a batch timed once has no
            call before to warm up.
        options: Further settings of a solver; ``processor_time`` counts the time of all threads
            of the process in single problems and batches, whatever else runs.
    """

    key: str
    mode: str
    variant: str
    urdf: str
    tip: str
    joints: tuple[str, ...]
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]
    problems: str
    n: int
    position_tolerance: float
    rotation_tolerance: float
    budget: float = 60.0
    repeats: int = 3
    options: dict = field(default_factory=dict)

    def bounds(self, unlimited: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits [dof], ``unlimited`` where there is none."""
        low = [-unlimited if value is None else value for value in self.lower]
        high = [unlimited if value is None else value for value in self.upper]
        return np.array(low), np.array(high)

    def save(self) -> dict:
        """Return a mapping for JSON."""
        return asdict(self)


def bound_values(bounds: np.ndarray) -> tuple[float | None, ...]:
    """Return bounds for a job."""
    return tuple(float(value) if np.isfinite(value) else None for value in bounds)


def as_slice(columns: list[int] | np.ndarray) -> slice | np.ndarray:
    """Return consecutive indices as a slice, which NumPy copies much faster."""
    indices = np.asarray(columns)
    follow = np.array_equal(indices, np.arange(indices[0], indices[0] + len(indices)))
    return slice(int(indices[0]), int(indices[0]) + len(indices)) if follow else indices


def every_solution(found: list[np.ndarray], dof: int) -> np.ndarray:
    """Return the solutions [k, dof] of n poses as [n, PLACES, dof], NaN where there is none."""
    rows = np.full((len(found), PLACES, dof), np.nan)
    for row, solutions in zip(rows, found, strict=True):
        row[: len(solutions)] = solutions
    return rows


def serve(packages: tuple[str, ...], build: Callable[[Job], Solve]) -> None:
    """Process all jobs of the folder given on the command line.

    Args:
        packages: Distributions whose versions the answers name.
        build: Sets a solver up for a job; not timed.
    """
    folder = Path(sys.argv[1])
    versions = {name: metadata.version(name) for name in packages}
    for entry in json.loads((folder / 'jobs.json').read_text()):
        job = Job(**entry)
        note = {'versions': versions}
        try:
            with np.load(folder / job.problems) as file:
                poses, starts = file['poses'][: job.n], file['starts'][: job.n]
            solve = build(job)
            note['setting'] = getattr(solve, 'setting', '')
            measure = _MEASURES[job.mode]
            joint_q, seconds = measure(solve, poses, starts, job)
            note['repeats'] = getattr(solve, 'repeats', None)
            np.savez(folder / f'{job.key}.npz', joint_q=joint_q, seconds=seconds)
        except Exception as error:
            # A missing feature of a solver becomes a row of the table and does not end the run.
            note['error'] = ' '.join(f'{type(error).__name__}: {error}'.split())[:200]
            traceback.print_exc()
        (folder / f'{job.key}.json').write_text(json.dumps(note))


def _clock(job):
    """Return the clock of single problems and batches: that of the wall, or the processor's."""
    return time.process_time if job.options.get('processor_time') else time.perf_counter


def _time_single(solve, poses, starts, job):
    """Return answers and the seconds of each call, as many as fit the budget."""
    convert = getattr(solve, 'convert', np.copy)
    poses = [convert(pose) for pose in poses]
    for k in range(min(WARM_UP_CALLS, len(poses))):
        solve(poses[-1 - k], starts[-1 - k])
    answers, seconds = [], []
    read = getattr(solve, 'read', np.array)
    clock, end = _clock(job), time.perf_counter() + job.budget
    for pose, start in zip(poses, starts, strict=True):
        if time.perf_counter() > end:
            break
        begin = clock()
        answer = solve(pose, start)
        seconds.append(clock() - begin)
        answers.append(read(answer))
    return np.array(answers) if answers else starts[:0], np.array(seconds)


def _time_batch(solve, poses, starts, job):
    """Return the answers and the seconds of each whole batch."""
    poses = getattr(solve, 'convert', np.copy)(poses)
    clock, end = _clock(job), time.perf_counter() + job.budget
    if job.repeats > 1:
        solve(poses, starts)
    seconds = []
    while len(seconds) < job.repeats and (not seconds or time.perf_counter() < end):
        begin = clock()
        joint_q = solve(poses, starts)
        seconds.append(clock() - begin)
    joint_q = getattr(solve, 'read', np.asarray)(joint_q)
    return np.asarray(joint_q, dtype=np.float64), np.array(seconds)


def _time_steps(solve, poses, starts, job):
    """Return the configurations after each step and the seconds of its solve."""
    joint_q, seconds, now = np.empty((len(poses), starts.shape[1])), [], starts[0].copy()
    convert = getattr(solve, 'convert', np.copy)
    for k, target in enumerate([convert(pose) for pose in poses]):
        begin = time.perf_counter()
        step = solve(target, now)
        seconds.append(time.perf_counter() - begin)
        now = now + step
        joint_q[k] = now
    return joint_q[WARM_UP_STEPS:], np.array(seconds[WARM_UP_STEPS:])


def _time_ticks(solve, poses, starts, job):
    """Return the configurations and the seconds [repeats, steps] of the same steps over again.

    The time of a step is the smallest of its times, because interruptions rarely affect the same
    step every time. ``solve.repeats`` says whether every time came to the same configurations: a
    solver that adapts itself by the clock does not make the same steps again.
    """
    gc.disable()
    passes = [_time_steps(solve, poses, starts, job) for _ in range(job.repeats)]
    gc.enable()
    joint_q = passes[0][0]
    solve.repeats = all(np.array_equal(other, joint_q) for other, _ in passes)
    return joint_q, np.array([seconds for _, seconds in passes])


_MEASURES = {
    'single': _time_single,
    'batch': _time_batch,
    'step': _time_steps,
    'ticks': _time_ticks,
}
