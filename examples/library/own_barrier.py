# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A user-defined barrier and limit: the tool avoids a column, and the elbow slows down.

    tools/run python examples/library/own_barrier.py

A barrier is a function of the pose of a link that must stay positive, here the distance of the
tool from the axis of the column less its radius, and its rate. A limit bounds the step of each
joint by its position. Both are written in Warp and run where the built-in ones do.
"""

import numpy as np
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjectivePose
from ros_ik import JointFunctionLimit
from ros_ik import LinkFunctionBarrier
from ros_ik import Model
from ros_ik import PositionLimit
from ros_ik import Task
from ros_ik.demo.robots import find_robot


@wp.struct
class Column:
    """Parameters of the barrier: a vertical column [m]."""

    center: wp.vec3d
    radius: wp.float64


@wp.func
def distance(column: Column, pose: wp.transformd) -> wp.float64:
    """h = |p - c| - r, in the horizontal plane."""
    p = wp.transform_get_translation(pose) - column.center
    return wp.length(wp.vec2d(p[0], p[1])) - column.radius


@wp.func
def distance_rate(
    column: Column, pose: wp.transformd, velocity: wp.spatial_vectord
) -> wp.float64:
    """Rate of h as the link moves: n . v."""
    p = wp.transform_get_translation(pose) - column.center
    return wp.dot(wp.normalize(wp.vec2d(p[0], p[1])), wp.vec2d(velocity[0], velocity[1]))


@wp.struct
class Slow:
    """Parameters of the limit: speeds of a joint [rad/s], fast around a position [rad]."""

    middle: wp.float64
    reach: wp.float64
    fast: wp.float64
    slow: wp.float64


@wp.func
def slower_outside(joint: Slow, q: wp.float64, dt: wp.float64) -> wp.vec2d:
    """Least and largest step of a joint at q."""
    step = dt * wp.where(wp.abs(q - joint.middle) < joint.reach, joint.fast, joint.slow)
    return wp.vec2d(-step, step)


def main() -> None:
    """Command the tool straight through the column; it moves around it or stops."""
    panda = find_robot('panda')
    model = Model.from_urdf(panda.urdf_path, device='cpu')
    joint_q = model.neutral_joint_q(panda.home)
    solver = DifferentialIK(model, 'panda_link0:panda_hand_tcp')
    tip = model.body_index('panda_hand_tcp')
    start = solver.body_poses(joint_q)[tip]
    target = start + [0.3, 0.02, 0.0, 0, 0, 0, 0]
    column = Column()
    column.center, column.radius = wp.vec3d(start[0] + 0.15, start[1], 0.0), 0.08
    settings = {'gain': 5.0, 'safe_displacement_gain': 0.0}
    barrier = LinkFunctionBarrier(tip, distance, distance_rate, column, **settings)
    joints = [Slow() for _ in range(model.joint_dof_count)]
    for joint, middle in zip(joints, joint_q, strict=True):
        joint.middle, joint.reach, joint.fast, joint.slow = middle, 0.3, 2.0, 0.2
    limits = [PositionLimit(), JointFunctionLimit(slower_outside, joints)]
    tasks, step = [Task(IKObjectivePose(tip, target), gain=0.05)], np.zeros(model.joint_dof_count)
    home, least, fastest = joint_q, np.inf, 0.0
    for _ in range(600):
        solver.solve_ik(joint_q, tasks, limits, [barrier], step, regularization=1e-6)
        solver.enforce_barriers(joint_q, [barrier], step)
        outside = np.abs(joint_q - home) >= 0.3
        fastest = max(fastest, np.abs(step[outside]).max(initial=0.0) / solver.settings.dt)
        joint_q = solver.integrate(joint_q, step)
        least = min(least, solver.barrier_values(joint_q, [barrier])[0])
    error = np.linalg.norm(solver.body_poses(joint_q)[tip, :3] - target[:3])
    print(f'never nearer than {1000 * least:.1f} mm, {1000 * error:.1f} mm from the target')
    print(f'joints far from home at most at {fastest:.2f} rad/s')


if __name__ == '__main__':
    main()
