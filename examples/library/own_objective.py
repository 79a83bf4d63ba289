# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A user-defined objective: carry a glass upright while the hand moves.

    tools/run python examples/library/own_objective.py

An objective is a function of the pose of a link and its rate, both written in Warp. It runs inside
the kernels of DifferentialIK and of the batch solver IKSolver, as fast as the built-in ones.
"""

import numpy as np
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjectiveLinkFunction
from ros_ik import IKObjectivePosition
from ros_ik import Model
from ros_ik import PositionLimit
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.demo.robots import find_robot


@wp.struct
class Glass:
    """Parameters: the axis of the glass in the link."""

    axis: wp.vec3d


@wp.func
def tilt(glass: Glass, pose: wp.transformd) -> wp.vec2d:
    """Residual: the horizontal part of the axis, zero where it is vertical."""
    seen = wp.transform_vector(pose, glass.axis)
    return wp.vec2d(seen[0], seen[1])


@wp.func
def tilt_rate(glass: Glass, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.vec2d:
    """Rate of the residual as the link moves: linear velocity first, then angular."""
    seen = wp.transform_vector(pose, glass.axis)
    rate = wp.cross(wp.spatial_bottom(velocity), seen)
    return wp.vec2d(rate[0], rate[1])


def main() -> None:
    """Move the hand 40 cm to the side and watch the glass."""
    panda = find_robot('panda')
    model = Model.from_urdf(panda.urdf_path, device='cpu')
    joint_q = model.neutral_joint_q(panda.home)
    solver = DifferentialIK(model, 'panda_link0:panda_hand_tcp')
    hand = model.body_index('panda_hand_tcp')
    target = solver.body_poses(joint_q)[hand, :3] + [0.1, 0.4, 0.1]
    place = IKObjectivePosition(hand, wp.vec3(0.0, 0.0, 0.0), target[None])
    glass = Glass()
    glass.axis = wp.vec3d(0.0, 0.0, 1.0)  # at home the z of the hand points down
    upright = IKObjectiveLinkFunction(hand, tilt, tilt_rate, glass)
    tasks = [Task(place, gain=0.05), Task(upright, gain=0.5)]
    limits, step, worst = [PositionLimit(), VelocityLimit()], np.zeros(model.joint_dof_count), 0.0
    for _ in range(200):
        solver.solve_ik(joint_q, tasks, limits, (), step, regularization=1e-4)
        joint_q = solver.integrate(joint_q, step)
        x, y, z, w = solver.body_poses(joint_q)[hand, 3:]
        worst = max(worst, np.hypot(2 * (x * z + w * y), 2 * (y * z - w * x)))
    away = np.linalg.norm(solver.body_poses(joint_q)[hand, :3] - target)
    print(f'{1000 * away:.2f} mm from the target, at most {np.degrees(worst):.2f} degrees of tilt')


if __name__ == '__main__':
    main()
