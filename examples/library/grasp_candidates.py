# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Choose among grasps: 144 candidates around a bottle, free of collisions, nearest first.

    tools/run python examples/library/grasp_candidates.py
"""

import numpy as np

from ros_ik import inverse_kinematics
from ros_ik import Model
from ros_ik import SolveStatus
from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path

BOTTLE = np.array([0.45, 0.2, 0.15])  # m
STANDOFF = 0.1  # m from the bottle, along the z of the tool


def candidates() -> np.ndarray:
    """Return poses of the tool that point at the bottle from all around, [n, 7]."""
    around, tilt = np.meshgrid(
        np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False), np.linspace(0.5, 1.0, 6) * np.pi
    )
    a, b = around.ravel() / 2.0, tilt.ravel() / 2.0
    # Rz(around) Ry(tilt): a quarter turn of tilt is level, half a turn comes from above.
    sines = -np.sin(a) * np.sin(b), np.cos(a) * np.sin(b), np.sin(a) * np.cos(b)
    quaternions = np.stack([*sines, np.cos(a) * np.cos(b)], axis=1)
    approach = np.stack(
        [np.cos(2 * a) * np.sin(2 * b), np.sin(2 * a) * np.sin(2 * b), np.cos(2 * b)], axis=1
    )
    return np.hstack([BOTTLE - STANDOFF * approach, quaternions])


def main() -> None:
    """Solve for all grasps at once and print the three nearest to the robot's configuration."""
    panda = find_robot('panda')
    meshes = robot_data_path().parents[1]
    model = Model.from_urdf(panda.urdf_path, panda.srdf_path, [meshes], device='cpu')
    start = model.neutral_joint_q(panda.home)

    result = inverse_kinematics(
        model, 'panda_hand_tcp', candidates(), seeds=start, check_collisions=True, joint_q=start
    )

    free = np.flatnonzero(result.status == SolveStatus.CONVERGED)
    print(f'{len(free)} of {len(result.status)} grasps can be reached without a collision')
    ways = np.abs(result.joint_q[free] - start).sum(axis=1)
    for k in np.argsort(ways)[:3]:
        print(f'grasp {free[k]}: joints move {ways[k]:.2f} rad in all')


if __name__ == '__main__':
    main()
