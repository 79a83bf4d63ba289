# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""An objective of one's own: carry a glass upright, wherever the hand goes.

    tools/run python examples/library/own_objective.py

The residual is a Warp kernel; its Jacobian comes from a tape. The same class serves DifferentialIK
and the batch solver IKSolver.
"""

import numpy as np
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjective
from ros_ik import IKObjectivePosition
from ros_ik import Model
from ros_ik import PositionLimit
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.demo.robots import find_robot


@wp.kernel
def tilt(
    body_q: wp.array2d(dtype=wp.transform),
    link: int,
    axis: wp.vec3,
    start: int,
    residuals: wp.array2d(dtype=float),
):
    """Residual: the horizontal part of an axis of the link, zero where it is vertical."""
    row = wp.tid()
    seen = wp.transform_vector(body_q[row, link], axis)
    residuals[row, start] = seen[0]
    residuals[row, start + 1] = seen[1]


class Upright(IKObjective):
    """Keeps an axis of a link vertical; turning about it stays free."""

    def __init__(self, link: int, axis: tuple[float, float, float]) -> None:
        """Keep the index of the link and the axis in its frame."""
        super().__init__()
        self.link, self.axis = link, wp.vec3(*axis)

    def residual_dim(self) -> int:
        """Return the number of residuals."""
        return 2

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        """Launch the kernel on the rows of the batch."""
        inputs = [body_q, self.link, self.axis, start_idx]
        wp.launch(
            tilt, body_q.shape[0], inputs=inputs, outputs=[residuals], device=self.device
        )


def main() -> None:
    """Move the hand 40 cm to the side and watch the glass."""
    panda = find_robot('panda')
    model = Model.from_urdf(panda.urdf_path, device='cpu')
    joint_q = model.neutral_joint_q(panda.home)
    solver = DifferentialIK(model, 'panda_link0:panda_hand_tcp')
    hand = model.body_index('panda_hand_tcp')
    target = solver.body_poses(joint_q)[hand, :3] + [0.1, 0.4, 0.1]
    place = IKObjectivePosition(hand, wp.vec3(0.0, 0.0, 0.0), target[None])
    # At home the z of the hand points down.
    tasks = [Task(place, gain=0.05), Task(Upright(hand, (0.0, 0.0, 1.0)), gain=0.5)]
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
