# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Find every collision-free configuration of 1,000 grasps of a box, and the best for each.

    tools/run python examples/library/every_grasp.py
"""

import time

import numpy as np

from ros_ik import all_solutions
from ros_ik import Model
from ros_ik import SolveStatus
from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path

BOX = np.array([0.45, 0.1, 0.2])  # m, its centre
STANDOFF = 0.12  # m from the centre of the box to the flange, along the z of the tool


def grasps() -> np.ndarray:
    """Return 1,000 poses of the flange that point at the box, from level to straight down, [n, 7].

    Ten tilts, ten directions around and ten turns about the tool's own axis.
    """
    tilt, around, spin = np.meshgrid(
        np.linspace(0.5, 1.0, 10) * np.pi,
        np.linspace(-0.6, 0.6, 10) * np.pi,
        np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False),
        indexing='ij',
    )
    # Rz(around) Ry(tilt) Rz(spin)
    b = 0.5 * tilt.ravel()
    more, less = 0.5 * (around + spin).ravel(), 0.5 * (around - spin).ravel()
    quaternions = np.stack(
        [-np.sin(b) * np.sin(less), np.sin(b) * np.cos(less), np.cos(b) * np.sin(more),
         np.cos(b) * np.cos(more)], axis=1,
    )  # fmt: skip
    level, a = np.sin(tilt.ravel()), around.ravel()
    approach = np.stack([np.cos(a) * level, np.sin(a) * level, np.cos(tilt.ravel())], axis=1)
    return np.hstack([BOX - STANDOFF * approach, quaternions])


def main() -> None:
    """Print the number of free solutions, and the grasp nearest to the robot's configuration."""
    ur5 = find_robot('ur5')
    meshes = robot_data_path().parents[1]
    model = Model.from_urdf(ur5.urdf_path, ur5.srdf_path, [meshes], device='cpu')
    start = model.neutral_joint_q(ur5.home)
    poses = grasps()

    every = all_solutions(model, 'tool0', poses, start)
    begin = time.perf_counter()
    free = all_solutions(model, 'tool0', poses, start, check_collisions=True)
    seconds = time.perf_counter() - begin

    print(f'{len(poses)} grasps: {every.n_found.sum()} solutions, {free.n_found.sum()} are free')
    reached = free.status == SolveStatus.CONVERGED
    print(f'{reached.sum()} grasps can be reached without a collision; {1000 * seconds:.0f} ms')
    # Solutions are sorted, the nearest to the start first.
    ways = np.where(reached, np.linalg.norm(free.joint_q[:, 0] - start, axis=1), np.inf)
    print(f'nearest: grasp {ways.argmin()}, {ways.min():.2f} rad away')


if __name__ == '__main__':
    main()
