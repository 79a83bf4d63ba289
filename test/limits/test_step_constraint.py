# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limits and barriers belong to one solver, as long as it lives."""

import gc
import weakref

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import Limit
from ros_ik.limits import MotionLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])
MAKERS = {
    'position': lambda model: PositionLimit(margin=0.01),
    'velocity': lambda model: VelocityLimit(scale=0.01),
    'acceleration': lambda model: AccelerationLimit(np.full(9, 5.0)),
    'jerk': lambda model: JerkLimit(np.full(9, 100.0)),
    'motion': lambda model: MotionLimit(np.full(9, 2.0), np.full(9, 5.0), np.full(9, 100.0)),
    'box': lambda model: PositionBarrier(8, [-2.0] * 3, [2.0] * 3),
    'collision': lambda model: SelfCollisionBarrier(
        CollisionGeometry.from_spheres(model, [1, 6], [[0, 0, 0], [0, 0, 0]], 0.05)
    ),
}


def solved(model, constraint, solver=None):
    """Return the step of a solver, or of a new one that ends with this function."""
    diff, step = solver or DifferentialIK(model), np.zeros(9)
    task = Task(IKObjectiveJointPosition(model, HOME + 0.1))
    assert diff.solve_ik(HOME, [task], [constraint], step).ok
    return step


@pytest.fixture(scope='module')
def model():
    return load(PANDA)


@pytest.mark.parametrize('kind', MAKERS)
def test_the_constraint_of_a_deleted_solver_serves_another(model, kind):
    constraint = MAKERS[kind](model)
    first = solved(model, constraint)
    np.testing.assert_array_equal(solved(model, constraint), first)
    if kind != 'collision':  # its scene belongs to the model
        np.testing.assert_array_equal(solved(load(PANDA), constraint), first)


@pytest.mark.parametrize('kind', MAKERS)
def test_the_constraint_of_a_living_solver_serves_no_other(model, kind):
    constraint, solver = MAKERS[kind](model), DifferentialIK(model)
    solved(model, constraint, solver)
    with pytest.raises(ArgumentError, match='already belongs to another solver'):
        solved(model, constraint)
    solved(model, constraint, solver)


@pytest.mark.parametrize('kind', MAKERS)
def test_a_constraint_keeps_no_solver_in_memory(model, kind):
    constraint, solver = MAKERS[kind](model), DifferentialIK(model)
    solved(model, constraint, solver)
    state = weakref.ref(solver._state)
    del solver
    gc.collect()
    assert state() is None


@pytest.mark.parametrize('kind', MAKERS)
def test_a_solve_that_raises_binds_nothing(model, kind):
    constraint, solver = MAKERS[kind](model), DifferentialIK(model)
    wrong = PositionBarrier(999, [-2.0] * 3, [2.0] * 3)
    limits = [constraint] if isinstance(constraint, Limit) else []
    barriers = [wrong] if limits else [constraint, wrong]
    request = HOME, [Task(IKObjectiveJointPosition(model, HOME))], limits, barriers, np.zeros(9)
    with pytest.raises(ArgumentError, match='no link 999'):
        solver.solve_ik(*request)
    if not limits:
        with pytest.raises(ArgumentError, match='no link 999'):
            solver.barrier_values(HOME, barriers)
    other = DifferentialIK(model)
    solved(model, constraint, other)
    # After another request that raises it still belongs to the solver that has used it.
    with pytest.raises(ArgumentError, match='no link 999'):
        other.solve_ik(*request)
    with pytest.raises(ArgumentError, match='already belongs to another solver'):
        solved(model, constraint, solver)


def test_a_velocity_limit_of_the_model_follows_its_model(model):
    limit, other = VelocityLimit(), load(PANDA)
    solved(model, limit)
    assert limit.velocity is None
    solved(other, limit)
    limit.scale = 0.5
    assert limit.velocity is None
