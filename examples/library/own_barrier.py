# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A barrier of one's own: the tool stays out of a column, however it is pulled through.

    tools/run python examples/library/own_barrier.py

A barrier is a function h of the configuration that must stay positive, here the distance of the
tool from the axis of the column less its radius, and its slope along each joint.
"""

import numpy as np
import warp as wp

from ros_ik import Barrier
from ros_ik import DifferentialIK
from ros_ik import IKObjectivePose
from ros_ik import Model
from ros_ik import PositionLimit
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.demo.robots import find_robot


@wp.func
def away(body_q: wp.array2d(dtype=wp.transformd), robot: int, link: int, center: wp.vec3d):
    """Return the horizontal vector from the axis of the column to the link."""
    p = wp.transform_get_translation(body_q[robot, link]) - center
    return wp.vec3d(p[0], p[1], wp.float64(0.0))


@wp.kernel
def column_values(
    body_q: wp.array2d(dtype=wp.transformd), link: int, center: wp.vec3d, radius: wp.float64,
    start: int, values: wp.array2d(dtype=wp.float64),
):  # fmt: skip
    """h = |p - c| - r, in the horizontal plane."""
    robot = wp.tid()
    values[robot, start] = wp.length(away(body_q, robot, link, center)) - radius


@wp.kernel
def column_jacobian(
    body_q: wp.array2d(dtype=wp.transformd), joint_S_s: wp.array2d(dtype=wp.spatial_vectord),
    dof_variable: wp.array(dtype=wp.int32), link: int, center: wp.vec3d, start: int,
    jacobian: wp.array3d(dtype=wp.float64),
):  # fmt: skip
    """dh/dq = n . (v + w x p), with the motion (v, w) of a joint at the world origin."""
    robot, dof = wp.tid()
    if dof_variable[dof] >= 0:
        S, p = joint_S_s[robot, dof], wp.transform_get_translation(body_q[robot, link])
        velocity = wp.spatial_top(S) + wp.cross(wp.spatial_bottom(S), p)
        normal = wp.normalize(away(body_q, robot, link, center))
        jacobian[robot, start, dof_variable[dof]] = wp.dot(normal, velocity)


class ColumnBarrier(Barrier):
    """Keeps a link out of a vertical column."""

    row_count = 1

    def __init__(self, link: int, center: tuple[float, float], radius: float, **settings) -> None:
        """Keep the place [m] and radius [m]; settings are those of Barrier, such as gain."""
        super().__init__(**settings)
        self.link, self.center, self.radius = link, wp.vec3d(*center, 0.0), radius

    def _allocate(self, state) -> None:
        pass

    def launch_values(self, body_q, values, start_idx):
        """Write h."""
        inputs = [body_q, self.link, self.center, self.radius, start_idx]
        wp.launch(column_values, len(body_q), inputs, [values], device=body_q.device)

    def launch_jacobian(self, jacobian, start_idx):
        """Write the slopes."""
        state, dofs = self._state, self._state.dof_variable
        inputs = [state.body_q, state.joint_S_s, dofs, self.link, self.center, start_idx]
        size = (state.n_robots, len(dofs))
        wp.launch(column_jacobian, size, inputs, [jacobian], device=state.device)


def main() -> None:
    """Pull the tool straight through the column; it goes round or stops."""
    panda = find_robot('panda')
    model = Model.from_urdf(panda.urdf_path, device='cpu')
    joint_q = model.neutral_joint_q(panda.home)
    solver = DifferentialIK(model, 'panda_link0:panda_hand_tcp')
    tip = model.body_index('panda_hand_tcp')
    start = solver.body_poses(joint_q)[tip]
    target = start + [0.3, 0.02, 0.0, 0, 0, 0, 0]
    settings = {'gain': 5.0, 'safe_displacement_gain': 0.0}
    column = ColumnBarrier(tip, start[:2] + [0.15, 0.0], 0.08, **settings)
    tasks, step = [Task(IKObjectivePose(tip, target), gain=0.05)], np.zeros(model.joint_dof_count)
    limits, least = [PositionLimit(), VelocityLimit()], np.inf
    for _ in range(600):
        solver.solve_ik(joint_q, tasks, limits, [column], step, regularization=1e-6)
        solver.enforce_barriers(joint_q, [column], step)
        joint_q = solver.integrate(joint_q, step)
        least = min(least, solver.barrier_values(joint_q, [column])[0])
    error = np.linalg.norm(solver.body_poses(joint_q)[tip, :3] - target[:3])
    print(f'never nearer than {1000 * least:.1f} mm, {1000 * error:.1f} mm from the target')


if __name__ == '__main__':
    main()
