# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Violated barriers that no joint can change make a step RELAXED, and hold no joint back."""

import numpy as np
import pytest
import warp as wp

from ros_ik.barriers import CollisionScene
from ros_ik.barriers import LinkFunctionBarrier
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

# A bar on a hinge about z; shapes below it cannot be left.
HINGE = """<robot name="hinge"><link name="base"/>
  <link name="bar"><collision><origin xyz="{middle} 0 0"/>
    <geometry><box size="{length} {width} {height}"/></geometry></collision></link>
  <joint name="joint" type="revolute"><parent link="base"/><child link="bar"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="2" effort="1"/></joint></robot>"""
# An arm on a mount that is turned by arbitrary angles, so no direction is exact in floating point.
ARM = """<robot name="arm"><link name="base"/><link name="mount"/><link name="a"/><link name="b"/>
  <joint name="turned" type="fixed"><parent link="base"/><child link="mount"/>
    <origin xyz="0 0 0.1" rpy="{roll} {pitch} {yaw}"/></joint>
  <joint name="one" type="revolute"><parent link="mount"/><child link="a"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="2" effort="1"/></joint>
  <joint name="two" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="2" effort="1"/></joint></robot>"""
N = 200
LIMITS = [PositionLimit, VelocityLimit]


def hinge(scale):
    return Model.from_urdf(
        HINGE.format(
            middle=0.25 * scale, length=0.5 * scale, width=0.12 * scale, height=0.1 * scale
        ),
        device='cpu',
    )


def obstacle_barrier(model, scale, shape, *, ranks_rows, recovery_speed):
    scene = CollisionScene(model)
    scene.add_obstacle('obstacle', shape)
    barrier = WorldCollisionBarrier(
        scene, d_min=0.01 * scale, d_max=0.25 * scale, gain=5.0, safe_displacement_gain=0.0
    )
    barrier.ranks_rows, barrier.recovery_speed = ranks_rows, recovery_speed
    return scene, barrier


@pytest.mark.parametrize('scale', [1e-3, 1.0, 100.0])
@pytest.mark.parametrize('ranks_rows', [False, True])
@pytest.mark.parametrize('recovery_speed', [np.inf, 0.1])
def test_a_box_below_a_hinge_changes_no_step(scale, ranks_rows, recovery_speed):
    model, rng = hinge(scale), np.random.default_rng(0)
    box = CollisionShape.box([0.1 * scale, 0.1 * scale, 0.08 * scale])
    scene, barrier = obstacle_barrier(
        model, scale, box, ranks_rows=ranks_rows, recovery_speed=recovery_speed
    )
    solver, tasks = DifferentialIK(model), [Task(IKObjectiveJointPosition(model, [0.5]), gain=0.1)]
    limits, step, free = [limit() for limit in LIMITS], np.zeros(1), np.zeros(1)
    for _ in range(N):
        place = [rng.uniform(0.1, 0.4), rng.uniform(-0.04, 0.04), -rng.uniform(0.03, 0.11)]
        scene.move_obstacle('obstacle', [*np.multiply(place, scale), 0, 0, 0, 1])
        joint_q = rng.uniform(-0.05, 0.05, 1)
        assert solver.solve_ik(joint_q, tasks, limits, [barrier], step) is SolveStatus.RELAXED
        assert solver.solve_ik(joint_q, tasks, limits, [], free) is SolveStatus.CONVERGED
        np.testing.assert_array_equal(step, free)


@pytest.mark.parametrize('scale', [1e-3, 1.0, 100.0])
@pytest.mark.parametrize('ranks_rows', [False, True])
def test_a_box_beside_a_hinge_still_pushes_it_away(scale, ranks_rows):
    model, rng = hinge(scale), np.random.default_rng(1)
    scene, barrier = obstacle_barrier(
        model,
        scale,
        CollisionShape.box([0.1 * scale] * 3),
        ranks_rows=ranks_rows,
        recovery_speed=np.inf,
    )
    solver, tasks = DifferentialIK(model), [Task(IKObjectiveJointPosition(model, [0.0]))]
    limits, step = [limit() for limit in LIMITS], np.zeros(1)
    for _ in range(N // 4):
        side = rng.choice([-1.0, 1.0])
        place = [0.4 * scale, side * scale * rng.uniform(0.13, 0.15), 0.0]
        scene.move_obstacle('obstacle', [*place, 0, 0, 0, 1])
        assert solver.solve_ik(np.zeros(1), tasks, limits, [barrier], step).ok
        assert step[0] * side < -1e-5


def test_a_batch_at_rest_does_not_move():
    model, rng = hinge(1.0), np.random.default_rng(2)
    box = CollisionShape.box([0.1, 0.1, 0.08])
    scene, barrier = obstacle_barrier(model, 1.0, box, ranks_rows=False, recovery_speed=np.inf)
    scene.move_obstacle('obstacle', [0.25, 0, -0.09, 0, 0, 0, 1])
    solver = DifferentialIK(model, n_robots=N)
    joint_q, step = rng.uniform(-0.15, 0.15, (N, 1)), np.zeros((N, 1))
    tasks = [Task(IKObjectiveJointPosition(model, joint_q), gain=0.1)]
    for _ in range(2):  # the second from the active constraints of the first
        status = solver.solve_ik(joint_q, tasks, [VelocityLimit()], [barrier], step)
        assert np.all(status == SolveStatus.RELAXED)
        np.testing.assert_allclose(step, 0.0, atol=1e-12)


# The origin of link a stays where it is; the second joint moves link b only in its own plane.
@pytest.mark.parametrize('link', ['a', 'b'])
@pytest.mark.parametrize('strict_priorities', [False, True])
def test_a_link_that_cannot_return_to_its_box_does_not_hold_the_others(link, strict_priorities):
    rng = np.random.default_rng(3)
    for _ in range(12):
        roll, pitch, yaw = rng.uniform(-3.0, 3.0, 3).tolist()
        model = Model.from_urdf(ARM.format(roll=roll, pitch=pitch, yaw=yaw), device='cpu')
        settings = DifferentialIKSettings(strict_priorities=strict_priorities)
        solver, index = DifferentialIK(model, '', settings), model.body_index(link)
        place = solver.body_poses(np.zeros(2))[index, :3]
        barrier = PositionBarrier(index, place + [0.05, -1, -1], place + 1.0, gain=5.0)
        objective = IKObjectiveJointPosition(model, [0.5, 0.5])
        tasks = [Task(objective, gain=0.1), Task(objective, gain=0.1, priority=2)]
        limits, step, free = [limit() for limit in LIMITS], np.zeros(2), np.zeros(2)
        joint_q = rng.uniform(-1.0, 1.0, 2)
        status = solver.solve_ik(joint_q, tasks, limits, [barrier], step)
        assert status is SolveStatus.RELAXED
        assert solver.barrier_values(joint_q, [barrier]).min() < -0.04
        solver.solve_ik(joint_q, tasks, limits, [], free)
        np.testing.assert_allclose(step, free, atol=1e-9)


@wp.struct
class Nothing:
    height: wp.float64


@wp.func
def below(parameters: Nothing, pose: wp.transformd) -> wp.float64:
    return wp.transform_get_translation(pose)[2] - parameters.height


@wp.func
def noise(parameters: Nothing, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.float64:
    return velocity[2] + wp.float64(1e-9) * velocity[5]


def test_derivatives_of_your_own_within_rounding_do_not_move_joints():
    model, parameters = hinge(1.0), Nothing()
    parameters.height = 0.1
    solver = DifferentialIK(model)
    tasks = [Task(IKObjectiveJointPosition(model, [0.0]), gain=0.1)]
    for gain in (0.0, 1.0):  # of the cost of motions
        barrier = LinkFunctionBarrier(
            model.body_index('bar'), below, noise, parameters, safe_displacement_gain=gain
        )
        barrier.recovery_speed = 0.1
        limits = [VelocityLimit(), AccelerationLimit(np.full(1, 20.0))]
        step = np.full(1, np.nan)
        status = solver.solve_ik(np.full(1, 0.01), tasks, limits, [barrier], step)
        assert status is SolveStatus.RELAXED
        np.testing.assert_allclose(step, -0.001, rtol=1e-6)
