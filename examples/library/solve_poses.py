# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Find joint positions for a thousand poses of a robot's tool.

    tools/run python examples/library/solve_poses.py panda.urdf panda_hand_tcp
"""

import argparse
from pathlib import Path

import numpy as np

from ros_ik import eval_fk
from ros_ik import inverse_kinematics
from ros_ik import Model
from ros_ik import SolveStatus


def main(urdf_path: str, tip_link: str) -> float:
    """Solve for 1000 reachable poses and return the fraction that was solved."""
    model = Model.from_urdf(Path(urdf_path).read_text(), device='cpu')
    joint_q = model.random_joint_q(1000, np.random.default_rng(0))
    body_q = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    poses = body_q[:, model.body_index(tip_link)]

    result = inverse_kinematics(model, tip_link, poses)

    solved = float(np.mean(result.status == SolveStatus.CONVERGED))
    worst = float(np.max(result.position_error))
    print(f'{100 * solved:.1f} % of {len(poses)} poses solved, at most {1000 * worst:.2f} mm away')
    return solved


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ('urdf_path', 'tip_link'):
        parser.add_argument(name)
    main(**vars(parser.parse_args()))
