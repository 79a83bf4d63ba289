# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solutions of poses against those of EAIK, which decomposes the same arms independently."""

from eaik.pybindings import EAIK
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.axis_arms import arm
from support.robots.axis_arms import has
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import SOME_STRUCTURES
from support.robots.axis_arms import STRUCTURES
from support.robots.axis_arms import tool_poses
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik import ClosedFormIK
from ros_ik.solvers.analytic.structure.structure import joint_axes

pytestmark = pytest.mark.oracle
ROBOTS = ('ur5_robot', 'ur10_robot', 'z1', 'kinova')
LINKS = ('tool0', 'tool0', 'gripperStator', 'j2s6s200_end_effector')
# Structures without a decomposition in EAIK.
BEYOND = {
    '2, 3, 4 meet', '3, 4, 5 meet', '1, 2, 3 parallel', '1, 2, 3 parallel, 4 meets 5',
    '4, 5, 6 parallel',
}  # fmt: skip
N_POSES = either(100, 300)


class Oracle:
    """EAIK's solver for an arm given by axes and the position of its tool at zero."""

    def __init__(self, h, p, tool):
        # EAIK finds nothing for parallel axes that point opposite ways.
        self.senses = np.ones(6)
        for k in range(1, 6):
            if h[k] @ h[k - 1] < -1.0 + 1e-9:
                self.senses[k] = -self.senses[k - 1]
            elif h[k] @ h[k - 1] > 1.0 - 1e-9:
                self.senses[k] = self.senses[k - 1]
        h = h * self.senses[:, None]
        steps = np.vstack([p[0], np.diff(p, axis=0), tool - p[5]])
        self.robot = EAIK.Robot(h.T, steps.T, np.eye(3), [], True)

    def solutions(self, position, rotation):
        """Return the configurations [k, 6] that EAIK's own forward kinematics confirms."""
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rotation, position
        found = np.array(self.robot.calculate_IK(pose).Q).reshape(-1, 6)
        return [q * self.senses for q in found if np.abs(self.robot.fwdkin(q) - pose).max() < 1e-8]


def assert_complete(model, link, axes, turn, q, poses):
    """Assert that each solution of EAIK is among ours, without limits."""
    oracle = Oracle(*axes)
    assert oracle.robot.has_known_decomposition()
    result = ClosedFormIK(model, link, len(poses)).solve(poses)
    rotations = Rotation.from_quat(poses[:, 3:]) * turn.inv()
    compared = 0
    for k, pose in enumerate(poses):
        ours = result.joint_q[k, : result.n_found[k]]
        for other in oracle.solutions(pose[:3], rotations[k].as_matrix()):
            assert has(ours, other)
            compared += 1
    assert compared >= len(poses)


# A chain with a shoulder is read from the tool to the base, unlike those of the other structures.
CASES = either([*SOME_STRUCTURES, 'shoulder'], STRUCTURES)


@pytest.mark.parametrize('structure', [name for name in CASES if name not in BEYOND])
def test_random_arms(structure):
    rng = np.random.default_rng(11)
    axes = random_axes(structure, rng)
    q = rng.uniform(-np.pi, np.pi, (N_POSES, 6))
    poses = tool_poses(*axes, q)
    at_zero = tool_poses(*axes, np.zeros((1, 6)))[0]
    assert_complete(arm(*axes), 'tool', axes, Rotation.from_quat(at_zero[3:]), q, poses)


@pytest.mark.parametrize(('name', 'link'), zip(ROBOTS, LINKS, strict=True))
def test_robots_at_hand(name, link):
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    found = joint_axes(ClosedFormIK(load(path), link).chain)
    tool = found.origin + found.reach * found.tool[:3, 3]
    axes = found.directions, found.origin + found.reach * found.points, tool
    rng = np.random.default_rng(3)
    q = rng.uniform(-np.pi, np.pi, (N_POSES, 6))
    poses = tool_poses(*axes, q)
    at_zero = tool_poses(*axes, np.zeros((1, 6)))[0]
    assert_complete(arm(*axes), 'tool', axes, Rotation.from_quat(at_zero[3:]), q, poses)
