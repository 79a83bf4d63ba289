# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Draw a square with the tool: a joint path without flips, and the times for a constant speed.

    tools/run python examples/library/cartesian_path.py
"""

import numpy as np

from ros_ik import eval_fk
from ros_ik import Model
from ros_ik import solve_path
from ros_ik.demo.robots import find_robot

CORNERS = np.array([[0, 0, 0], [0.15, 0, 0], [0.15, 0.15, 0], [0, 0.15, 0], [0, 0, 0]])  # m
SPACING = 0.005  # m between two points of the path
SPEED = 0.1  # m/s of the tool


def square(start: np.ndarray) -> np.ndarray:
    """Return poses along the square that begins at a pose [7], shape [n, 7]."""
    sides = []
    for corner, end in zip(CORNERS[:-1], CORNERS[1:], strict=True):
        count = int(np.ceil(np.linalg.norm(end - corner) / SPACING))
        sides.append(np.linspace(corner, end, count, endpoint=False))
    places = np.concatenate([*sides, CORNERS[-1:]])
    return np.hstack([start[:3] + places, np.tile(start[3:], (len(places), 1))])


def main() -> None:
    """Solve for the path, and print its quality and speed."""
    panda = find_robot('panda')
    model = Model.from_urdf(panda.urdf_path, panda.srdf_path, device='cpu')
    start = model.neutral_joint_q(panda.home)
    tip = model.body_index('panda_hand_tcp')
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, start[None], body_q)

    poses = square(body_q[0, tip])
    path = solve_path(model, 'panda_hand_tcp', poses, start=start)
    print(f'{100 * path.fraction:.0f} % of the path, {len(path.breaks)} breaks')

    # Between two points the joints move on straight lines, so the tool deviates slightly from its
    # line.
    middle_q = 0.5 * (path.joint_q[1:] + path.joint_q[:-1])
    middles = np.zeros((len(middle_q), model.body_count, 7))
    eval_fk(model, middle_q, middles)
    away = np.linalg.norm(middles[:, tip, :3] - 0.5 * (poses[1:, :3] + poses[:-1, :3]), axis=1)
    durations = np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1) / SPEED
    speeds = np.abs(np.diff(path.joint_q, axis=0)) / durations[:, None]
    print(f'between its points at most {1e6 * away.max():.0f} um from the line')
    print(f'{durations.sum():.1f} s at {SPEED} m/s, joints at most {speeds.max():.2f} rad/s')


if __name__ == '__main__':
    main()
