# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Changes of an objective after a solver recorded it reach the next solve.

The oracle is a solver that is made after the change.
"""

import numpy as np
import pytest
from support.long_forms import in_turn
from support.solvers.ik_problems import newton
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjective
from ros_ik import IKObjectivePose
from ros_ik import IKObjectivePosition
from ros_ik import IKObjectiveRotation
from ros_ik import IKSolver
from ros_ik import Task
from ros_ik.errors import ArgumentError

nik = newton.ik
pytestmark = pytest.mark.oracle
N = 4
GAIN = HELPED = KEPT = CALLED = 1.0


@wp.kernel
def pull(
    body_q: wp.array2d(dtype=wp.transform), link: int, gain: float,
    targets: wp.array(dtype=wp.vec3), problems: wp.array(dtype=int), start: int,
    residuals: wp.array2d(dtype=float),
):  # fmt: skip
    row = wp.tid()
    problem = row
    if problems:
        problem = problems[row]
    error = targets[problem] - wp.transform_get_translation(body_q[row, link])
    for axis in range(3):
        residuals[row, start + axis] = gain * error[axis]


class Beside:
    """A class that is not an objective."""

    gain = 1.0


def helper():
    return HELPED


class Schedule:
    """An object kept by an objective: its methods read a global, and it is callable."""

    def value(self):
        return KEPT

    def __call__(self):
        return self.rate

    rate = 1.0


class Pull(IKObjective):
    """A user's objective with numbers on the host, arrays, a list, and data beside it."""

    factor = 1.0

    def __init__(self, link, targets):
        super().__init__()
        self.link, self.targets, self.gains = link, to_warp(targets, wp.vec3), [1.0]
        self.schedule, self.call, self.further = Schedule(), lambda: CALLED, [Schedule()]

    def residual_dim(self):
        return 3

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        gain = self.gains[0] * self.factor * GAIN * helper() * Beside.gain
        gain *= self.schedule.value() * self.call() * self.further[0]()
        wp.launch(
            pull, dim=len(body_q),
            inputs=[body_q, self.link, gain, self.targets, problem_idx, start_idx],
            outputs=[residuals], device=body_q.device,
        )  # fmt: skip


@pytest.fixture(scope='module')
def rig():
    model = panda()
    rng = np.random.default_rng(4)
    start = model.neutral_joint_q() + 0.1 * rng.normal(size=(N, model.joint_coord_count))
    spots = np.array([0.4, 0.1, 0.5]) + 0.1 * rng.normal(size=(2, N, 3))
    turns = rng.normal(size=(2, N, 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    links = [model.body_index(name) for name in ('panda_hand', 'panda_link5')]
    return model, start, spots.astype(np.float32), turns.astype(np.float32), links


def make(name, rig):
    model, _, spots, turns, links = rig
    vec3 = to_warp(spots[0], wp.vec3)
    if name == 'newton position':
        return nik.IKObjectivePosition(links[0], wp.vec3(0.0, 0.0, 0.1), vec3, weight=1.0)
    if name == 'newton rotation':
        return nik.IKObjectiveRotation(links[0], wp.quat_identity(), to_warp(turns[0], wp.vec4))
    if name == 'position':
        return IKObjectivePosition(links[0], (0.0, 0.0, 0.1), spots[0])
    if name == 'rotation':
        return IKObjectiveRotation(links[0], (0.0, 0.0, 0.0, 1.0), turns[0])
    if name == 'pose':
        return IKObjectivePose(links[0], np.hstack([spots[0], turns[0]]))
    return Pull(links[0], spots[0])


def put(name, value):
    def apply(objective, rig):
        setattr(objective, name, value(rig) if callable(value) else value)

    return apply


def shift(objective, rig):
    objective.link_offset[2] = 0.3  # in place


def replace_and_assign(objective, rig):
    objective.target_positions = to_warp(rig[2][0], wp.vec3)
    objective.target_positions.assign(rig[2][1])


def replace_and_assign_vectors(objective, rig):
    objective.target_positions = to_warp(rig[2][0], wp.vec3)
    objective.target_positions.assign(to_warp(rig[2][1], wp.vec3))


def replace_and_assign_quaternions(objective, rig):
    objective.target_rotations = to_warp(rig[3][0], wp.vec4)
    objective.target_rotations.assign(to_warp(rig[3][1], wp.vec4))


other_spots = lambda rig: to_warp(rig[2][1], wp.vec3)  # noqa: E731
other_turns = lambda rig: to_warp(rig[3][1], wp.vec4)  # noqa: E731
other_link = lambda rig: rig[4][1]  # noqa: E731
CHANGES = {
    'newton targets': ('newton position', put('target_positions', other_spots)),
    'newton targets, assigned': ('newton position', replace_and_assign),
    'newton weight': ('newton position', put('weight', 0.3)),
    'newton offset': ('newton position', put('link_offset', wp.vec3(0.1, 0.2, 0.3))),
    'newton offset in place': ('newton position', shift),
    'newton link': ('newton position', put('link_index', other_link)),
    'newton rotations': ('newton rotation', put('target_rotations', other_turns)),
    'newton rotation link': ('newton rotation', put('link_index', other_link)),
    'targets': ('position', put('target_positions', other_spots)),
    'targets, assigned': ('position', lambda o, rig: replace_and_assign(o, rig)),
    'targets, assigned vectors': ('position', replace_and_assign_vectors),
    'rotations, assigned vectors': ('rotation', replace_and_assign_quaternions),
    'weight': ('position', put('weight', 0.3)),
    'offset': ('position', put('link_offset', (0.1, 0.2, 0.3))),
    'link': ('position', put('link_index', other_link)),
    'rotations': ('rotation', put('target_rotations', other_turns)),
    'rotation offset': ('rotation', put('link_offset_rotation', (0.0, 0.6, 0.0, 0.8))),
    'way round': ('rotation', put('canonicalize_quat_err', False)),
    'pose offset': ('pose', put('link_offset', (0.1, 0.2, 0.3, 0.0, 0.6, 0.0, 0.8))),
    'pose link': ('pose', put('link_index', other_link)),
    'pose reference': (
        'pose', put('reference_link_index', lambda rig: rig[0].body_index('panda_link2'))
    ),
    'number': ('pull', put('link', other_link)),
    'array': ('pull', put('targets', other_spots)),
    'list in place': ('pull', lambda o, rig: o.gains.__setitem__(0, 0.2)),
    'number of the class': ('pull', lambda o, rig: setattr(Pull, 'factor', 0.2)),
    'global': ('pull', lambda o, rig: globals().__setitem__('GAIN', 0.2)),
    'global of a function': ('pull', lambda o, rig: globals().__setitem__('HELPED', 0.2)),
    'number of another class': ('pull', lambda o, rig: setattr(Beside, 'gain', 0.2)),
    'global of an object': ('pull', lambda o, rig: globals().__setitem__('KEPT', 0.2)),
    'global of a function kept': ('pull', lambda o, rig: globals().__setitem__('CALLED', 0.2)),
    'number of an object called': ('pull', lambda o, rig: setattr(o.further[0], 'rate', 0.2)),
    'number by an array': ('pull', lambda o, rig: o.__dict__.update(gains=np.full(2, 0.2))),
    'pose targets': ('pose', put('target_poses', lambda r: np.hstack([r[2][1], r[3][1]]))),
}  # fmt: skip

# Options of the solvers of batches.
SOLVERS = {'lm': {}, 'plain lm': {'use_fused': False}, 'lbfgs': {'optimizer': 'lbfgs'}}


@pytest.fixture(autouse=True)
def restored():
    yield
    Pull.factor = 1.0
    globals().update(GAIN=1.0, HELPED=1.0, KEPT=1.0, CALLED=1.0)
    Beside.gain = 1.0


def solved(solver, start):
    q = to_warp(start)
    solver.step(q, q, iterations=6)
    return q.numpy(), solver.costs.numpy().copy(), solver.status.numpy().copy()


@pytest.mark.parametrize(
    ('change', 'solver'),
    in_turn(list(CHANGES), list(SOLVERS)),
)
def test_the_next_batch_solve_sees_it(rig, change, solver):
    name, apply = CHANGES[change]
    model, start = rig[:2]
    options = {'jacobian_mode': 'mixed', 'respect_limits': False, **SOLVERS[solver]}
    objective = make(name, rig)
    solver = IKSolver(model, N, [objective], **options)
    before = solved(solver, start)
    apply(objective, rig)
    found = solved(solver, start)
    fresh = make(name, rig)
    apply(fresh, rig)
    expected = solved(IKSolver(model, N, [fresh], **options), start)
    assert np.max(np.abs(expected[0] - before[0])) > 1e-3 or np.any(expected[1] != before[1])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(solved(solver, start)[0], expected[0])


@pytest.mark.parametrize('change', CHANGES)
def test_the_next_step_sees_it(rig, change):
    name, apply = CHANGES[change]
    model, start = rig[:2]

    def steps(solver, task):
        found = np.zeros((N, model.joint_dof_count))
        solver.solve_ik(start, [task], (), (), found, 1e-3)
        return found, solver.task_errors(start, [task])[0]

    objective = make(name, rig)
    solver, task = DifferentialIK(model, n_robots=N), Task(objective)
    before = steps(solver, task)
    apply(objective, rig)
    found = steps(solver, task)
    fresh = make(name, rig)
    apply(fresh, rig)
    expected = steps(DifferentialIK(model, n_robots=N), Task(fresh))
    assert np.max(np.abs(expected[1] - before[1])) > 1e-3
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12)


def test_nothing_is_recorded_again_without_changes(rig):
    model, start = rig[:2]
    objectives = [make(name, rig) for name in ('newton position', 'pull', 'pose')]
    solver = IKSolver(model, N, objectives, jacobian_mode='mixed')
    recordings = dict(solver._backend._recordings)
    for _ in range(3):
        solved(solver, start)
        objectives[0].set_target_position(0, wp.vec3(0.4, 0.0, 0.4))
        objectives[1].targets.assign(rig[2][1])
        objectives[2].set_target_poses(np.hstack([rig[2][1], rig[3][1]]))
    assert solver._backend._recordings == recordings
    step = DifferentialIK(model, n_robots=N)
    tasks = [Task(make(name, rig)) for name in ('pose', 'newton position')]
    out = np.zeros((N, model.joint_dof_count))
    step.solve_ik(start, tasks, (), (), out)
    problem = step._problems.last
    step.solve_ik(start, tasks, (), (), out)
    assert step._problems.last is problem


def test_another_number_of_targets_is_refused(rig):
    model, start = rig[:2]
    objective = make('newton position', rig)
    solver = IKSolver(model, N, [objective])
    objective.target_positions = to_warp(rig[2][0][:2], wp.vec3)
    with pytest.raises(ArgumentError, match='2 targets for 4 problems'):
        solved(solver, start)
    ours = make('position', rig)
    with pytest.raises(ArgumentError, match=r'target_positions must have shape \[4, 3\]'):
        ours.target_positions = rig[2][0][:2]
