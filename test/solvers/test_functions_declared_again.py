# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Users' functions and structs declared twice with the same text, as by a notebook cell."""

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.barriers import LinkFunctionBarrier
from ros_ik.limits import JointFunctionLimit
from ros_ik.model import Model
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
