# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Move a robot's tool to a pose inside its limits, step by step.

    tools/run python examples/library/reach_a_pose.py panda.urdf panda_link0 panda_hand_tcp
"""

import argparse
from pathlib import Path

import numpy as np

from ros_ik import DifferentialIK
from ros_ik import IKObjectivePose
from ros_ik import Model
from ros_ik import PositionLimit
from ros_ik import Task
from ros_ik import VelocityLimit


def main(urdf_path: str, base_link: str, tip_link: str) -> float:
    """Reach a pose 5 cm from the start and return the remaining error [m]."""
    model = Model.from_urdf(Path(urdf_path).read_text(), device='cpu')
    solver = DifferentialIK(model, f'{base_link}:{tip_link}')
    joint_q = 0.5 * sum(np.clip(limit, -3.0, 3.0) for limit in model.limits64()[:2])
    tip = model.body_index(tip_link)

    target = solver.body_poses(joint_q)[tip]
    target[2] -= 0.05
    task = Task(IKObjectivePose(tip, target), gain=0.1)
    limits = [PositionLimit(), VelocityLimit()]
    step = np.zeros(model.joint_dof_count)
    for _ in range(200):
        solver.solve_ik(joint_q, [task], limits, (), step, regularization=1e-6)
        joint_q = solver.integrate(joint_q, step)

    error = float(np.linalg.norm(solver.body_poses(joint_q)[tip][:3] - target[:3]))
    print(f'{tip_link} is {1000 * error:.3f} mm from its target, joints {np.round(joint_q, 3)}')
    return error


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ('urdf_path', 'base_link', 'tip_link'):
        parser.add_argument(name)
    main(**vars(parser.parse_args()))
