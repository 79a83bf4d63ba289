# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Users' functions and structs declared twice, as by a notebook cell that runs again."""

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.barriers import LinkFunctionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import JointFunctionLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectiveLinkFunction
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import Task

TIP, DT = 'panda_hand_tcp', 0.01


def declare():
    """Declare a struct and functions of it; return all of them."""

    @wp.struct
    class Size:
        value: wp.float64

    @wp.func
    def bounds(size: Size, q: wp.float64, dt: wp.float64) -> wp.vec2d:
        return wp.vec2d(-size.value * dt, size.value * dt)

    @wp.func
    def height(size: Size, pose: wp.transformd) -> wp.float64:
        return wp.transform_get_translation(pose)[2] - size.value

    @wp.func
    def rise(size: Size, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.float64:
        return velocity[2]

    return Size, bounds, height, rise


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


def step(panda, kind, value):
    """Declare a function of some kind; return the step at its parameter."""
    size_type, bounds, height, rise = declare()
    size = size_type()
    size.value = value
    tip, tasks, limits, barriers = panda.body_index(TIP), [], [], []
    if kind == 'limit':
        limits = [JointFunctionLimit(bounds, size)]
    elif kind == 'barrier':
        barriers = [LinkFunctionBarrier(tip, height, rise, size)]
    else:
        tasks = [Task(IKObjectiveLinkFunction(tip, height, rise, size))]
    pose = np.array([0.4, 0.1, 0.2, 1.0, 0.0, 0.0, 0.0])
    tasks.append(Task(IKObjectivePose(tip, pose)))
    delta_q = np.zeros(panda.joint_dof_count)
    q = panda.random_joint_q(1, np.random.default_rng(3))[0]
    solver = DifferentialIK(panda, '', DifferentialIKSettings(dt=DT))
    solver.solve_ik(q, tasks, limits, barriers, delta_q)
    return delta_q


@pytest.mark.parametrize(
    ('kind', 'values'), [('limit', (0.5, 0.2)), ('barrier', (0.1, 0.4)), ('objective', (0.1, 0.5))]
)
def test_the_later_ones_are_used(panda, kind, values):
    first, other = (step(panda, kind, value) for value in values)
    np.testing.assert_array_equal(step(panda, kind, values[0]), first)
    assert np.max(np.abs(first - other)) > 1e-4
    if kind == 'limit':
        for value, taken in zip(values, (first, other), strict=True):
            assert np.max(np.abs(taken)) == pytest.approx(value * DT, rel=1e-9)


def declare_with_another_struct():
    """Declare functions of a struct, and again of a struct of the same name with a factor."""

    @wp.struct
    class Size:
        value: wp.float64

    @wp.func
    def bounds(size: Size, q: wp.float64, dt: wp.float64) -> wp.vec2d:
        return wp.vec2d(-size.value * dt, size.value * dt)

    @wp.func
    def height(size: Size, pose: wp.transformd) -> wp.float64:
        return wp.transform_get_translation(pose)[2] - size.value

    @wp.func
    def rise(size: Size, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.float64:
        return velocity[2]

    first = Size, bounds, height, rise

    @wp.struct
    class Size:
        value: wp.float64
        factor: wp.float64

    @wp.func
    def bounds(size: Size, q: wp.float64, dt: wp.float64) -> wp.vec2d:
        return wp.vec2d(-size.value * dt, size.factor * size.value * dt)

    @wp.func
    def height(size: Size, pose: wp.transformd) -> wp.vec2d:
        z = wp.transform_get_translation(pose)[2]
        return wp.vec2d(z - size.value, size.factor * z)

    @wp.func
    def rise(size: Size, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.vec2d:
        return wp.vec2d(velocity[2], size.factor * velocity[2])

    return first, (Size, bounds, height, rise)


def test_the_struct_may_change(panda):
    """Warp keeps functions of another struct as overloads of the first ones."""
    tip, q = panda.body_index(TIP), panda.random_joint_q(1, np.random.default_rng(3))[0]
    solver = DifferentialIK(panda, '', DifferentialIKSettings(dt=DT))
    z, step = solver.body_poses(q)[tip, 2], np.zeros(panda.joint_dof_count)
    away = [Task(IKObjectiveJointPosition(panda, q + 10.0))]
    declared = declare_with_another_struct()
    for (size_type, bounds, height, rise), rows, factor in zip(
        (*declared, declared[0]), (1, 2, 1), (1.0, 3.0, 1.0), strict=True
    ):
        size = size_type()
        size.value = 0.5
        if rows == 2:
            size.factor = factor
        assert IKObjectiveLinkFunction(tip, height, rise, size).residual_dim() == rows
        h = solver.barrier_values(q, [LinkFunctionBarrier(tip, height, rise, size)])
        np.testing.assert_allclose(h, [z - 0.5, factor * z][:rows], rtol=1e-12)
        solver.solve_ik(q, away, [JointFunctionLimit(bounds, [size])], step)
        assert np.max(step) == pytest.approx(factor * 0.5 * DT, rel=1e-9)


def test_a_struct_that_is_declared_after_its_functions_is_named():
    (_, bounds, height, rise), _ = declare_with_another_struct()
    size = declare()[0]()
    words = 'of another Size; declare the functions after the struct'
    with pytest.raises(ArgumentError, match=words):
        JointFunctionLimit(bounds, size)
    with pytest.raises(ArgumentError, match=words):
        LinkFunctionBarrier(1, height, rise, size)
    with pytest.raises(ArgumentError, match=words):
        IKObjectiveLinkFunction(1, height, rise, [size])
