# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Attributes and arguments of the parts of a step, set after a solver has read them.

A change counts in the next solve or is refused; the oracle is a solver made after the change. No
public attribute and no argument of a constructor is left out.
"""

import inspect

from gpu import test_steps
import numpy as np
import pytest
from support.robots.robots import urdf_text
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik import AccelerationLimit
from ros_ik import Barrier
from ros_ik import BodyPairBarrier
from ros_ik import ChainIK
from ros_ik import CollisionChecker
from ros_ik import CollisionScene
from ros_ik import DifferentialIK
from ros_ik import fit_capsules
from ros_ik import IkChain
from ros_ik import IKObjectiveCenterOfMass
from ros_ik import IKObjectiveJointLimit
from ros_ik import IKObjectiveJointPosition
from ros_ik import IKObjectiveLookAt
from ros_ik import IKObjectiveManipulability
from ros_ik import IKObjectivePose
from ros_ik import IKObjectivePosition
from ros_ik import IKObjectiveRotation
from ros_ik import IKObjectiveSelfDistance
from ros_ik import IKSolver
from ros_ik import JerkLimit
from ros_ik import Model
from ros_ik import MotionLimit
from ros_ik import OptimalControl
from ros_ik import PositionBarrier
from ros_ik import PositionLimit
from ros_ik import SelfCollisionBarrier
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik import WorldCollisionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import Limit

POSE = [0.4, 0.1, 0.5, 0.0, 1.0, 0.0, 0.0]
OTHER = [0.3, -0.2, 0.6, 0.6, 0.8, 0.0, 0.0]
REFUSED = (ArgumentError, AttributeError)


class Rig:
    """A Panda, a configuration, and one of everything."""

    def __init__(self):
        self.model = Model.from_urdf(urdf_text('panda'), device='cpu')
        rng = np.random.default_rng(8)
        lower, upper, _, _ = self.model.limits64()
        middle = np.where(np.isfinite(lower + upper), 0.5 * (lower + upper), 0.0)
        self.q = middle + 0.2 * rng.normal(size=len(middle))
        self.hand, self.elbow = map(self.model.body_index, ('panda_hand', 'panda_link4'))
        self.dofs = self.model.joint_dof_count
        self.geometry = fit_capsules(self.model, allow_missing=True)

    def turn(self, one, other):
        """Return two numbers in turn, one per joint."""
        return np.where(np.arange(len(self.q)) % 2, one, other)

    def objective(self, kind):
        model, hand = self.model, self.hand
        if kind is IKObjectivePose:
            return kind(hand, POSE)
        if kind is IKObjectivePosition:
            return kind(hand, (0.0, 0.0, 0.1), POSE[:3])
        if kind is IKObjectiveRotation:
            return kind(hand, (0.0, 0.0, 0.0, 1.0), POSE[3:])
        if kind is IKObjectiveLookAt:
            return kind(hand, (0.0, 0.0, 1.0), POSE[:3])
        if kind is IKObjectiveJointPosition:
            return kind(model, self.q + 0.1)
        if kind is IKObjectiveJointLimit:
            # Outside, below and above in turn.
            return kind(self.q + self.turn(0.05, -0.1), self.q + self.turn(0.1, -0.05), 1.0)
        if kind is IKObjectiveCenterOfMass:
            return kind([0.1, 0.1, 0.4])
        if kind is IKObjectiveManipulability:
            return kind(hand, 1.0, axes=(0, 1, 2))
        return kind([hand, 0], [[0.0, 0.0, 0.0]] * 2, [0.1, 0.1], [[0, 1]], minimum_distance=2.0)


# New values of attributes and arguments; a missing one is a fault of this test.
def others(rig):
    return {
        'link_index': rig.elbow,
        'reference_link_index': rig.model.body_index('panda_link1'),
        'target_poses': OTHER,
        'target_positions': OTHER[:3],
        'target_rotations': OTHER[3:],
        'link_offset': [0.1, 0.2, 0.3],
        'link_offset_rotation': [0.0, 0.6, 0.0, 0.8],
        'link_axis': [1.0, 0.0, 0.0],
        'canonicalize_quat_err': False,
        'exact_jacobian': False,
        'weight': 0.3,
        'position_weight': 0.3,
        'rotation_weight': 0.3,
        'model': rig.model,
        'bodies': [rig.elbow],
        'joint_limit_lower': rig.q + rig.turn(0.02, -0.2),
        'joint_limit_upper': rig.q + rig.turn(0.2, -0.02),
        'threshold': 2.0,
        'axes': (0, 1),
        'link_indices': [rig.elbow, 0],
        'centers': [[0.1, 0.0, 0.0]] * 2,
        'radii': [0.2, 0.2],
        'pairs': [[1, 0]],
        'minimum_distance': 1.5,
        'n_problems': 1,
    }


KINDS = (
    IKObjectivePose, IKObjectivePosition, IKObjectiveRotation, IKObjectiveLookAt,
    IKObjectiveJointPosition, IKObjectiveJointLimit, IKObjectiveCenterOfMass,
    IKObjectiveManipulability, IKObjectiveSelfDistance,
)  # fmt: skip
# Written by solvers when they set an objective up, or kept for reading.
NOT_DATA = {
    'device', 'total_residuals', 'residual_offset', 'n_batch', 'has_record', 'serves_any_rows',
    'is_recordable', 'changes', 'read_once', 'construction_only', 'formula',
}  # fmt: skip


def names_of(kind, made):
    """Return public attributes that hold data, and the arguments of the constructor."""
    arguments = set(inspect.signature(kind.__init__).parameters) - {'self', 'parameters'}
    attributes = {
        name
        for name in (*vars(made), *dir(kind))
        if not name.startswith('_') and not callable(getattr(made, name, None))
    }
    return sorted((arguments | attributes) - NOT_DATA)


CASES = [
    (kind, name)
    for kind in KINDS
    for name in sorted(
        set(inspect.signature(kind.__init__).parameters) - {'self'}
        | {'n_problems', 'weight'}
        | {n for n, v in inspect.getmembers(kind) if isinstance(v, property)}
        - {'name', 'formula'}
    )
]


@pytest.fixture(scope='module')
def rig():
    return Rig()


@pytest.mark.parametrize('kind', KINDS)
def test_no_attribute_is_left_out(rig, kind):
    assert set(names_of(kind, rig.objective(kind))) == {n for k, n in CASES if k is kind}


def value_for(rig, kind, name):
    value = others(rig)[name]
    if kind is IKObjectivePose and name == 'link_offset':
        return [*value, 0.0, 0.6, 0.0, 0.8]
    if kind is IKObjectiveJointPosition and name == 'target_positions':
        return rig.q - 0.2
    return value


def step_of(rig, solver, task):
    out = np.zeros(rig.dofs)
    solver.solve_ik(rig.q, [task], (), (), out, 1e-6)
    return np.concatenate([out, solver.task_errors(rig.q, [task])[0]])


def batch_of(rig, solver):
    q = to_warp(rig.q[None])
    solver.step(q, q, iterations=3)
    return np.concatenate([q.numpy()[0], solver.costs.numpy()])


@pytest.mark.parametrize(('kind', 'name'), CASES, ids=[f'{k.__name__}-{n}' for k, n in CASES])
def test_of_objectives(rig, kind, name):
    objective, value = rig.objective(kind), value_for(rig, kind, name)
    step, task = DifferentialIK(rig.model), Task(objective)
    batch = IKSolver(rig.model, 1, [objective], jacobian_mode='analytic', respect_limits=False)
    before = [step_of(rig, step, task), batch_of(rig, batch)]
    try:
        setattr(objective, name, value)
    except REFUSED:
        fresh = objective
    else:
        fresh = rig.objective(kind)
        setattr(fresh, name, value)
    expected = [
        step_of(rig, DifferentialIK(rig.model), Task(fresh)),
        batch_of(
            rig,
            IKSolver(rig.model, 1, [fresh], jacobian_mode='analytic', respect_limits=False),
        ),
    ]
    found = [step_of(rig, step, task), batch_of(rig, batch)]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-7)
    changed = any(np.max(np.abs(a - b)) > 1e-4 for a, b in zip(expected, before, strict=True))
    # A value that was neither refused nor has an effect equals the one before.
    assert changed or fresh is objective or name in ('n_problems', 'canonicalize_quat_err')


@pytest.mark.parametrize('kind', KINDS)
def test_arrays_that_are_shown_cannot_be_written(rig, kind):
    objective = rig.objective(kind)
    for name in names_of(kind, objective):
        shown = getattr(objective, name, None)
        if isinstance(shown, np.ndarray):
            with pytest.raises(ValueError, match='read-only'):
                shown[...] = 0.0


def test_of_tasks(rig):
    task = Task(rig.objective(IKObjectivePose), max_error=1.0)
    with pytest.raises(AttributeError):
        task.objective = rig.objective(IKObjectivePosition)
    for priority in (0, 1.5, '2', None):
        with pytest.raises(ArgumentError, match='priority'):
            task.priority = priority
    assert task.priority == 1
    for shown in (task.weight, task.max_error):
        with pytest.raises(ValueError, match='read-only'):
            shown[0] = 0.5


def limits_of(rig):
    return {
        'position': (PositionLimit(gain=0.5, margin=0.001), {'gain': 0.01, 'margin': 0.01}),
        'velocity': (VelocityLimit(), {'velocity': np.full(rig.dofs, 0.1), 'scale': 0.5}),
        'acceleration': (
            AccelerationLimit(np.ones(rig.dofs)),
            {'acceleration': np.full(rig.dofs, 0.1), 'scale': 0.5, 'position_margin': 0.1},
        ),
        'jerk': (
            JerkLimit(np.ones(rig.dofs)),
            {'jerk': np.full(rig.dofs, 0.1), 'scale': 0.5, 'velocity': np.ones(rig.dofs)},
        ),
    }  # fmt: skip


LIMITS = [
    ('position', 'gain'), ('position', 'margin'), ('velocity', 'velocity'), ('velocity', 'scale'),
    ('acceleration', 'acceleration'), ('acceleration', 'scale'),
    ('acceleration', 'position_margin'), ('jerk', 'jerk'), ('jerk', 'scale'),
    ('jerk', 'velocity'),
]  # fmt: skip


@pytest.mark.parametrize(('kind', 'name'), LIMITS)
def test_of_limits(rig, kind, name):
    def solved(solver, task, limit):
        out = np.zeros(rig.dofs)
        solver.solve_ik(rig.q, [task], [limit], (), out)
        return out

    limit, values = limits_of(rig)[kind]
    solver, task = DifferentialIK(rig.model), Task(rig.objective(IKObjectivePose))
    solved(solver, task, limit)
    try:
        setattr(limit, name, values[name])
    except REFUSED:
        return
    fresh = limits_of(rig)[kind][0]
    setattr(fresh, name, values[name])
    other = Task(rig.objective(IKObjectivePose))
    expected = solved(DifferentialIK(rig.model), other, fresh)
    np.testing.assert_array_equal(solved(solver, task, limit), expected)


def test_each_argument_of_limits_is_named(rig):
    for kind, (limit, _) in limits_of(rig).items():
        arguments = set(inspect.signature(type(limit).__init__).parameters) - {'self'}
        assert arguments == {name for of_kind, name in LIMITS if of_kind == kind}


def barriers_of(rig):
    scene = CollisionScene(rig.geometry, max_obstacles=1)
    return (
        PositionBarrier(rig.hand, [-1.0] * 3, [1.0] * 3),
        SelfCollisionBarrier(rig.geometry),
        WorldCollisionBarrier(scene),
        BodyPairBarrier(
            rig.geometry, 'panda_hand', 'panda_link0', point_a=[0.0] * 3, point_b=[0.0] * 3
        ),
    )


@pytest.mark.parametrize('k', range(4))
def test_of_barriers(rig, k):
    barrier = barriers_of(rig)[k]
    solver = DifferentialIK(rig.model)  # lives, and keeps the barrier
    solver.barrier_values(rig.q, [barrier])
    public = [name for name in vars(barrier) if not name.startswith('_')]
    assert {'margin', 'safe_displacement_gain'} < set(public)
    for name in {*public, 'recovery_speed'} - {'name', 'dropped_pairs'}:
        with pytest.raises(ArgumentError, match=name):
            setattr(barrier, name, getattr(barrier, name))
        shown = getattr(barrier, name)
        if isinstance(shown, np.ndarray):
            with pytest.raises(ValueError, match='read-only'):
                shown[...] = 0


@wp.kernel
def keep_low(
    body_q: wp.array2d(dtype=wp.transformd), link: int, height: wp.float64, start: int,
    values: wp.array2d(dtype=wp.float64),
):  # fmt: skip
    row = wp.tid()
    values[row, start] = height - wp.transform_get_translation(body_q[row, link])[2]


class Ceiling(Barrier):
    """A barrier of the caller: a link stays below a height."""

    row_count = 1

    def __init__(self, link, height):
        super().__init__()
        self.link, self.height = link, height

    def _allocate(self, state):
        self._at = self.height

    def links(self):
        return None

    def launch_values(self, body_q, values, start_idx):
        wp.launch(
            keep_low, dim=body_q.shape[0],
            inputs=[body_q, self.link, min(self.height, self._at), start_idx], outputs=[values],
            device=body_q.device,
        )  # fmt: skip

    def launch_jacobian(self, jacobian, start_idx):
        jacobian.zero_()


def test_of_barriers_of_the_caller(rig):
    solver, ceiling = DifferentialIK(rig.model), Ceiling(rig.hand, 2.0)
    height = solver.body_poses(rig.q)[rig.hand, 2]
    found = []
    for ceiling.height in (2.0, 1.0, 3.0):
        found.append(solver.barrier_values(rig.q, [ceiling])[0] + height)
    np.testing.assert_allclose(found, [2.0, 1.0, 3.0], atol=1e-12)
    for height in (2.0, -1.0):
        ceiling.height, step = height, np.full(rig.dofs, 1e-3)
        status = solver.enforce_barriers(rig.q, [ceiling], step)
        assert np.any(step) == (height > 0.0), status


@wp.kernel
def bound(step: wp.float64, lower: wp.array2d(dtype=wp.float64),
          upper: wp.array2d(dtype=wp.float64)):  # fmt: skip
    row, k = wp.tid()
    lower[row, k] = wp.max(lower[row, k], -step)
    upper[row, k] = wp.min(upper[row, k], step)


class Short(Limit):
    """A limit of the caller: no step is longer than this."""

    def __init__(self, step):
        self.step = step

    def _allocate(self, state):
        pass

    def launch(self, lower, upper):
        wp.launch(bound, dim=lower.shape, inputs=[self.step], outputs=[lower, upper],
                  device=lower.device)  # fmt: skip


def test_of_limits_of_the_caller(rig):
    solver, limit = DifferentialIK(rig.model), Short(0.01)
    task, out = Task(rig.objective(IKObjectivePose)), np.zeros(rig.dofs)
    for limit.step in (0.01, 0.001, 0.02):
        solver.solve_ik(rig.q, [task], [limit], (), out)
        assert np.max(np.abs(out)) == pytest.approx(limit.step, rel=1e-6)


def test_of_barriers_of_the_caller_in_optimal_control(rig):
    ceiling = Ceiling(rig.hand, 2.0)
    solver = OptimalControl(rig.model, barriers=[ceiling])
    found = []
    for ceiling.height in (2.0, 1.5, 3.0):
        found.append(solver._arrays.sample(np.zeros(solver.group.n_variables))[0])
    np.testing.assert_allclose(np.diff(found), [-0.5, 1.5], atol=1e-12)


def solvers_of(rig):
    return (
        DifferentialIK(rig.model),
        IKSolver(rig.model, 1, [rig.objective(IKObjectivePose)]),
        IKSolver(rig.model, 1, [rig.objective(IKObjectivePose)], use_fused=False)._backend,
        ChainIK(rig.model, 'panda_hand', 1),
        IkChain(rig.model, 'panda_hand'),
        OptimalControl(rig.model),
        CollisionChecker(rig.model, 1),
        CollisionScene(rig.geometry),
    )


@pytest.mark.parametrize('k', range(8))
def test_of_solvers(rig, k):
    solver = solvers_of(rig)[k]
    assert len(solver.read_once) > 1
    for name in solver.read_once:
        with pytest.raises(ArgumentError, match=f'{name} of {type(solver).__name__}'):
            setattr(solver, name, getattr(solver, name))
        shown = getattr(solver, name)
        if isinstance(shown, np.ndarray) and shown.size:
            with pytest.raises(ValueError, match='read-only'):
                shown[...] = 0.0
    for name in ('settings', 'dt'):  # of any class, where there is one
        if hasattr(solver, name):
            with pytest.raises(REFUSED):
                setattr(solver, name, None)


PARTS = [
    (kind, name)
    for kind in (test_steps.OBJECTIVES, test_steps.LIMITS, test_steps.BARRIERS)
    for name in kind
]


@pytest.mark.parametrize(('cases', 'name'), PARTS, ids=[name for _, name in PARTS])
def test_no_argument_of_a_constructor_can_be_set_without_effect(rig, cases, name):
    model = rig.model
    part = cases[name](model.joint_dof_count if cases is test_steps.LIMITS else model)
    arguments = set(inspect.signature(type(part).__init__).parameters) - {'self'}
    attributes = {name for name in (*vars(part), *dir(type(part))) if not name.startswith('_')}
    assert not arguments - attributes - part.construction_only


@pytest.mark.parametrize(('name', 'value', 'speed'), [
    ('velocity_scale', 0.05, 0.1), ('acceleration_scale', 0.01, 0.1),
])  # fmt: skip
def test_scales_of_a_motion_limit(rig, name, value, speed):
    most = [np.full(rig.dofs, number) for number in (2.0, 10.0, 1e6)]
    solver, limit, step = DifferentialIK(rig.model), MotionLimit(*most), np.zeros(rig.dofs)
    task = Task(IKObjectiveJointPosition(rig.model, rig.q + 0.3))
    solver.solve_ik(rig.q, [task], [limit], (), step)
    setattr(limit, name, value)
    assert getattr(limit, name) == value
    last = before_last = np.zeros(rig.dofs)
    for _ in range(100):
        limit.set_last_displacements(last, before_last)
        solver.solve_ik(rig.q, [task], [limit], (), step)
        before_last, last = last, step.copy()
    assert np.abs(step).max() <= speed * 0.01 * (1.0 + 1e-6)
    assert np.abs(step).max() > 0.5 * speed * 0.01
