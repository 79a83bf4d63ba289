# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Find every configuration of a pose, and keep those without close links.

    tools/run python examples/library/all_solutions.py
"""

import numpy as np

from ros_ik import all_solutions
from ros_ik import closed_form
from ros_ik import CollisionChecker
from ros_ik import Model
from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path

# Near the base, with the tool down: x y z [m], qx qy qz qw.
POSE = np.array([-0.2, 0.15, 0.1, 0.0, 1.0, 0.0, 0.0])
MARGIN = 0.03  # minimum distance between links [m]


def main() -> None:
    """Print each solution and its two closest links."""
    ur5 = find_robot('ur5')
    meshes = robot_data_path().parents[1]
    model = Model.from_urdf(ur5.urdf_path, ur5.srdf_path, [meshes], device='cpu')
    form = closed_form(model, 'tool0')
    print(f'{form.family.name}, {"exact" if form.exact else "nearly"}')

    result = all_solutions(
        model, 'tool0', POSE[None], seeds=model.neutral_joint_q(ur5.home)[None]
    )

    found = result.joint_q[0, : result.n_found[0]]
    checker = CollisionChecker(model, len(found))
    distances, pairs = checker.distances(found)
    for joint_q, distance, pair in zip(found, distances, pairs, strict=True):
        (first, _), (second, _) = checker.pair_names(int(pair))
        verdict = 'kept' if distance > MARGIN else 'too near'
        joints = ' '.join(f'{position:5.2f}' for position in joint_q)
        print(f'{joints}  {verdict}: {1000 * distance:.0f} mm from {first} to {second}')
    print(f'{np.count_nonzero(distances > MARGIN)} of {len(found)} solutions are kept')


if __name__ == '__main__':
    main()
