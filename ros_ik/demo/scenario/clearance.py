# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances of the robot to itself and to a ball, by forward kinematics of measured positions.

The ball is a link on three prismatic joints in a copy of the model. The same closest-point search
then computes both distances, independently of the node.
"""

from __future__ import annotations

import re

import numpy as np

from ros_ik.demo.robots import mesh_prefix
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.kinematics import CollisionChecker
from ros_ik.model import Model

# Number of configurations per batch.
_ROWS = 256
_BALL = 'demo_ball'
# Rounding error of a distance [m].
_MOVED = 1e-6
# Position of the ball far from every robot [m].
_AWAY = np.array([0.0, 0.0, -50.0])
_SLIDE = (
    '<joint name="{name}" type="prismatic"><parent link="{parent}"/><child link="{name}"/>'
    '<axis xyz="{axis}"/><limit lower="-100" upper="100" velocity="1" effort="1"/></joint>'
    '<link name="{name}">{shape}</link>'
)


class Clearance:
    """Distances of a robot whose SRDF lists the links that touch by design."""

    def __init__(self, robot: DemoRobot, radius: float) -> None:
        """Read the shapes of the robot and add a ball.

        Args:
            robot: The robot, with an SRDF.
            radius: Radius of the ball [m].
        """
        names = [f'{_BALL}_x', f'{_BALL}_y', _BALL]
        parents = [robot.model.body_label[0], *names]
        sphere = f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'
        added = ''.join(
            _SLIDE.format(name=name, parent=parent, axis=axis, shape=shape)
            for name, parent, axis, shape in zip(
                names, parents[:3], ('1 0 0', '0 1 0', '0 0 1'), ('', '', sphere), strict=True
            )
        )
        text = re.sub(r'</robot>\s*$', f'{added}</robot>', robot.text)
        share = f'{mesh_prefix(robot.files)}/share'
        self.model = Model.from_urdf(text, robot.files.srdf_path, [share], device='cpu')
        self._checker = CollisionChecker(self.model, _ROWS)
        starts, own = self.model.joint_q_start.numpy(), robot.model.joint_q_start.numpy()
        self._ball = [int(starts[self.model.joint_index(name)]) for name in names]
        # Coordinates of the robot in the extended model, joint by joint.
        self._from, self._to = [], []
        for joint, name in enumerate(robot.model.joint_label):
            count = int(own[joint + 1] - own[joint])
            first = int(starts[self.model.joint_index(name)])
            self._from += range(own[joint], own[joint] + count)
            self._to += range(first, first + count)
        links = [
            [side[0] for side in self._checker.pair_names(k)]
            for k in range(len(self._checker.pairs))
        ]
        self._links = links
        self._of_ball = np.array([_BALL in pair for pair in links], bool)
        # Pairs of links whose relative pose the chain does not change.
        turned = robot.home.copy()
        turned[robot.coords] += 0.1
        both = self._distances(np.array([robot.home, turned]), np.tile(_AWAY, (2, 1)))
        self._moved = ~self._of_ball & (np.abs(both[1] - both[0]) > _MOVED)

    def to_itself(self, joint_q: np.ndarray) -> tuple[np.ndarray, list[list[str]]]:
        """Return the smallest distance between links [m], [n], and the two links of each.

        Args:
            joint_q: Coordinates of the robot, [n, joint_coord_count].
        """
        distances = self._distances(joint_q, np.tile(_AWAY, (len(joint_q), 1)))
        distances[:, ~self._moved] = np.inf
        nearest = distances.argmin(axis=1)
        return distances[np.arange(len(nearest)), nearest], [self._links[k] for k in nearest]

    def to_ball(self, joint_q: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Return the distance of the robot to the ball [m], [n].

        Args:
            joint_q: Coordinates of the robot, [n, joint_coord_count].
            centers: Position of the ball in the root link [m], [n, 3]; NaN without a ball.
        """
        there = np.isfinite(centers).all(axis=1)
        result = np.full(len(joint_q), np.nan)
        if there.any():
            distances = self._distances(joint_q[there], centers[there])
            result[there] = distances[:, self._of_ball].min(axis=1)
        return result

    def _distances(self, joint_q: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Return the distance of every pair [m], [n, n_pairs]."""
        rows = np.zeros((len(joint_q), self.model.joint_coord_count))
        rows[:, self._to] = joint_q[:, self._from]
        rows[:, self._ball] = centers
        parts = [
            self._checker.pair_distances(rows[first : first + _ROWS])[0]
            for first in range(0, len(rows), _ROWS)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, len(self._links)))
