# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Move both hands of a humanoid with its centre of mass over the supporting foot.

    tools/run python examples/library/optimal_control.py talos_reduced.urdf \\
        left_sole_link right_sole_link gripper_left_base_link gripper_right_base_link
"""

import argparse
from pathlib import Path

import numpy as np

from ros_ik import eval_com
from ros_ik import eval_fk
from ros_ik import Model
from ros_ik import OptimalControl
from ros_ik import OptimalControlCommandBuilder
from ros_ik import PositionBarrier


def main(urdf_path: str, foot: str, other_foot: str, *hands: str) -> float:
    """Reach 10 cm forward and up with each hand and return the total cost at the end."""
    model = Model.from_urdf(Path(urdf_path).read_text(), device='cpu')
    joint_q = model.neutral_joint_q()
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], body_q)
    positions = dict(zip(model.body_label, body_q[0, :, :3], strict=True))

    # The soles of the neutral pose are level: their axes are those of the world.
    command = OptimalControlCommandBuilder()
    for link, shift in [(other_foot, (0, 0, 0)), *((hand, (0.1, 0, 0.1)) for hand in hands)]:
        T = np.eye(4)
        T[:3, 3] = positions[link] + shift - positions[foot]
        command.add_cartesian_target(foot, link, T, 1.0, 1.0 if link == other_foot else 0.0)
    com = np.zeros((1, 3))
    eval_com(model, joint_q[None], com)
    over_the_foot = [0.0, 0.0, com[0, 2] - positions[foot][2] - 0.05]
    command.set_center_of_mass_target(foot, over_the_foot, weight=1.0)
    for joint in model.joint_group().joint_names:  # other joints keep their positions
        start = joint_q[model.joint_q_start.numpy()[model.joint_index(joint)]]
        command.add_joint_position_target(joint, start, weight=1e-5)
    command.set_velocity_limit_scaling(0.5)

    in_front = PositionBarrier(
        model.body_index(hands[0]), [-0.3, -np.inf, -np.inf], [np.inf] * 3,
        reference_link_index=model.body_index(foot),
    )  # fmt: skip
    solver = OptimalControl(model, barriers=[in_front])
    result = solver.solve(command.build(model), joint_q)

    feedback = result.feedback
    print(f'{result.status.name}: {result.reason.message}, after {result.iterations} iterations')
    print(f'{len(result.times)} points in {result.times[-1]:.2f} s')
    away = 1000 * np.sqrt(feedback.center_of_mass_cost)
    print(f'total cost {feedback.total_cost:.1e}, centre of mass {away:.3f} mm from its target')
    return feedback.total_cost


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ('urdf_path', 'foot', 'other_foot'):
        parser.add_argument(name)
    parser.add_argument('hands', nargs='+')
    given = parser.parse_args()
    main(given.urdf_path, given.foot, given.other_foot, *given.hands)
