# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control steps on a GPU against the CPU: each objective, limit and barrier, and the checks."""

import functools

from gpu.agreement import assert_agree
from gpu.agreement import DEVICE
from gpu.agreement import on_gpu
from gpu.panda import configurations
from gpu.panda import control_steps
from gpu.panda import DT
from gpu.panda import panda
from gpu.panda import spheres
from gpu.panda import TIP
import numpy as np
import pytest
import warp as wp

from ros_ik.barriers import BodyPairBarrier
from ros_ik.barriers import CollisionScene
from ros_ik.barriers import LinkFunctionBarrier
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.kinematics.runtime.row_list import RowList
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import JointFunctionLimit
from ros_ik.limits import MotionLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.objectives import IKObjectiveCenterOfMass
from ros_ik.objectives import IKObjectiveJointLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectiveLinkFunction
from ros_ik.objectives import IKObjectiveLookAt
from ros_ik.objectives import IKObjectiveManipulability
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.objectives import IKObjectiveRotation
from ros_ik.objectives import IKObjectiveSelfDistance
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import rollout
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task
from ros_ik.solvers.differential_ik import step_arrays

pytestmark = on_gpu
POSE = np.array([0.4, 0.1, 0.5, 1.0, 0.0, 0.0, 0.0])
PLACE = POSE[:3]


def tip(model):
    """Return the index of the tool's link."""
    return model.body_index(TIP)


@wp.struct
class Floor:
    """Height of a floor, 0."""

    height: wp.float64


@wp.func
def height(floor: Floor, pose: wp.transformd) -> wp.float64:
    return wp.transform_get_translation(pose)[2] - floor.height


@wp.func
def rise(floor: Floor, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.float64:
    return velocity[2]


@wp.func
def up_and_down(floor: Floor, q: wp.float64, dt: wp.float64) -> wp.vec2d:
    return wp.vec2d(wp.float64(-0.5) * dt, dt) - wp.vec2d(floor.height, floor.height)


def self_distance(model):
    """Return the objective that keeps spheres of three links apart."""
    links = [model.body_index(f'panda_link{k}') for k in (1, 4, 7)]
    return IKObjectiveSelfDistance(
        links, np.zeros((3, 3)), 0.1, [[0, 1], [0, 2], [1, 2]], minimum_distance=0.3
    )


OBJECTIVES = {
    'pose': lambda model: IKObjectivePose(tip(model), POSE),
    'pose, approximate': lambda model: IKObjectivePose(tip(model), POSE, exact_jacobian=False),
    'position': lambda model: IKObjectivePosition(tip(model), np.zeros(3), PLACE),
    'rotation': lambda model: IKObjectiveRotation(tip(model), [0.0, 0.0, 0.0, 1.0], POSE[3:]),
    'look at': lambda model: IKObjectiveLookAt(tip(model), [0.0, 0.0, 1.0], PLACE),
    'centre of mass': lambda model: IKObjectiveCenterOfMass(PLACE),
    'joint position': lambda model: IKObjectiveJointPosition(model, model.neutral_joint_q()),
    'joint limit': lambda model: IKObjectiveJointLimit(
        0.5 * model.joint_limit_lower.numpy(), 0.5 * model.joint_limit_upper.numpy()
    ),
    'manipulability': lambda model: IKObjectiveManipulability(tip(model), 0.3),
    'self distance': self_distance,
    'function of a link': lambda model: IKObjectiveLinkFunction(tip(model), height, rise, Floor()),
}
LIMITS = {
    'position': lambda dofs: PositionLimit(),
    'velocity': lambda dofs: VelocityLimit(),
    'acceleration': lambda dofs: AccelerationLimit(np.full(dofs, 10.0)),
    'jerk': lambda dofs: JerkLimit(np.full(dofs, 500.0)),
    'motion': lambda dofs: MotionLimit(*(np.full(dofs, most) for most in (2.0, 10.0, 500.0))),
    'function of a joint': lambda dofs: JointFunctionLimit(up_and_down, Floor()),
}


def world(model, shape):
    """Return the barrier of the arm's spheres against an obstacle."""
    scene = CollisionScene(spheres(model))
    scene.add_obstacle('thing', shape, [0.4, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0])
    return WorldCollisionBarrier(scene, d_max=None)


BARRIERS = {
    'position': lambda model: PositionBarrier(tip(model), [-0.6] * 3, [0.6, 0.6, 0.9]),
    'function of a link': lambda model: LinkFunctionBarrier(tip(model), height, rise, Floor()),
    'self collision': lambda model: SelfCollisionBarrier(
        spheres(model), n_collision_pairs=4, d_max=None
    ),
    'world, round': lambda model: world(model, CollisionShape.sphere(0.2)),
    'world, convex': lambda model: world(model, CollisionShape.box([0.1, 0.2, 0.05])),
    'two links': lambda model: BodyPairBarrier(spheres(model), 'panda_link1', 'panda_hand'),
    'two points': lambda model: BodyPairBarrier(
        spheres(model), 'panda_link0', TIP, point_a=np.zeros(3), point_b=np.zeros(3), d_min=0.3
    ),
}


@functools.cache
def steps(device, kind, name):
    """Take the steps of a case, with the objective alone or a pose, limits and barriers."""
    model = panda(device)
    if kind == 'objective':
        return control_steps(model, [OBJECTIVES[name](model)], [PositionLimit()])
    reach = [IKObjectivePose(tip(model), POSE, exact_jacobian=False)]
    if kind == 'limit':
        return control_steps(model, reach, [LIMITS[name](model.joint_dof_count)])
    return control_steps(model, reach, [VelocityLimit()], [BARRIERS[name](model)])


@pytest.mark.parametrize(
    ('kind', 'name'),
    [(kind, name) for kind, cases in (
        ('objective', OBJECTIVES), ('limit', LIMITS), ('barrier', BARRIERS)) for name in cases],
)  # fmt: skip
def test_steps(kind, name):
    here = steps('cpu', kind, name)
    assert_agree(steps(DEVICE, kind, name), here)
    assert np.mean(here['status'] == SolveStatus.CONVERGED) > 0.5
    assert np.abs(here['step']).max() > 1e-6


def test_steps_that_list_failures(monkeypatch):
    """Robots start on either side of the box, so many need the dual method."""
    monkeypatch.setattr(step_arrays, 'list_of_failed', RowList)

    def listed(device):
        model = panda(device)
        reach = [IKObjectivePose(tip(model), POSE, exact_jacobian=False)]
        box = PositionBarrier(tip(model), [-0.2] * 3, [0.2] * 3, gain=40.0)
        return control_steps(model, reach, [VelocityLimit()], [box])

    here = listed('cpu')
    assert_agree(listed(DEVICE), here)
    assert np.mean(here['status'] == SolveStatus.RELAXED) > 0.1


def steps_by_level(device):
    """Take steps with three tasks whose priorities change, in turn where the speed is limited."""
    model, n = panda(device), 100
    settings = DifferentialIKSettings(
        level_feedforward=True, curvature_feedforward=True, strict_priorities=True
    )
    solver = DifferentialIK(model, settings=settings, n_robots=n)
    tasks = [Task(OBJECTIVES[name](model), gain=0.3) for name in ('position', 'look at')]
    tasks.append(Task(OBJECTIVES['joint position'](model), weight=0.1, gain=0.1))
    limit = AccelerationLimit(np.full(model.joint_dof_count, 100.0))
    last = np.random.default_rng(5).uniform(-0.01, 0.01, (n, model.joint_dof_count))
    limit.set_last_displacement(last)
    limits = [limit, VelocityLimit()]
    joint_q, found = configurations(model, n), {}
    for levels in ((1, 1, 1), (1, 2, 3), (3, 1, 3), (2, 2, 1)):
        for task, level in zip(tasks, levels, strict=True):
            task.priority = level
        step = np.zeros_like(last)
        found[f'status {levels}'] = solver.solve_ik(joint_q, tasks, limits, (), step, 1e-3)
        found[f'step {levels}'] = step
    return found


def test_levels():
    here = steps_by_level('cpu')
    assert_agree(steps_by_level(DEVICE), here)
    steps = [value for name, value in here.items() if name.startswith('step')]
    assert min(np.abs(steps[0] - step).max() for step in steps[1:]) > 1e-4


def checked_steps(device):
    """Check random steps against barriers and against stopping."""
    model, n = panda(device), 100
    joint_q = configurations(model, n)
    solver = DifferentialIK(model, n_robots=n)
    box, own = BARRIERS['position'](model), BARRIERS['self collision'](model)
    step = np.random.default_rng(2).uniform(-0.05, 0.05, (n, model.joint_dof_count))
    last, found = 0.5 * step, {}
    found['status'] = solver.enforce_barriers(joint_q, [box, own], step)
    found['step'] = step.copy()
    found['stops'] = solver.limit_to_stoppable(
        joint_q, [box, own], step, last, np.full(model.joint_dof_count, 20.0)
    )
    return found | {'stopping step': step}


def test_checks_of_steps():
    # A step is halved until it passes: a value at rounding from zero halves it once more.
    assert_agree(checked_steps(DEVICE), checked_steps('cpu'), share=0.98)


def steps_ahead(device):
    """Take 20 steps ahead."""
    model, n = panda(device), 50
    settings = DifferentialIKSettings(dt=DT)
    solver = DifferentialIK(model, f'panda_link0:{TIP}', settings, n_robots=n)
    tasks = [Task(IKObjectivePose(tip(model), POSE), gain=0.2)]
    result = rollout(
        solver, configurations(model, n), tasks, [PositionLimit(), VelocityLimit()],
        [BARRIERS['position'](model)], n_steps=20,
    )  # fmt: skip
    return {name: value for name, value in vars(result).items() if isinstance(value, np.ndarray)}


def test_rollout():
    # Twenty steps on top of each other, near singularities some.
    assert_agree(steps_ahead(DEVICE), steps_ahead('cpu'), rtol=1e-4, atol=1e-6, share=0.95)
