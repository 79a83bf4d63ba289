# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A planner of a robot of the demo, and the same robot in Pinocchio."""

import functools

import numpy as np
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot

from ros_ik.demo.robots import find_robot
from ros_ik.planning import Planner
from ros_ik.settings import read_settings

ROBOTS = ('panda', 'ur5', 'tiago')


@functools.cache
def robot_text(name):
    """Return the robot description."""
    return find_robot(name).urdf_path.read_text()


def make_planner(
    name, measured=True, srdf='', package_paths=(), device='cpu', text='', **values
):
    """Return a planner with parameters by name, dots as double underscores, measured at home.

    A text takes the place of the robot description.
    """
    files = find_robot(name)
    given = {'ee.frame': files.tip_link, 'base_frame': files.base_link}
    given.update({key.replace('__', '.'): value for key, value in values.items()})
    text = text or robot_text(name)
    planner = Planner(text, srdf, read_settings(given), package_paths, device)
    if measured:
        joint_q = planner.model.neutral_joint_q()
        for joint, position in files.home.items():
            joint_q[planner.robot.coord_of[joint]] = position
        planner.measure(joint_q, np.ones(len(joint_q), dtype=bool))
    return planner


@functools.cache
def shared_planner(name):
    """Return a planner that no test changes."""
    return make_planner(name)


class Twin:
    """Pinocchio's view of a planner's robot."""

    def __init__(self, planner, name):
        self.planner = planner
        self.robot = PinocchioRobot(robot_text(name), planner.model)

    def pose(self, joint_q, link, reference):
        """Return position and rotation matrix of a link seen from another one."""
        poses = self.robot.poses(joint_q)
        (p, r), (p0, r0) = poses[link], poses[reference]
        return r0.T @ (p - p0), r0.T @ r

    def poses(self, rows, link, reference):
        """Return poses of a link, [n, 7]."""
        return np.array([_row(*self.pose(row, link, reference)) for row in rows])

    def errors(self, joint_q, link, reference, target):
        """Return distance [m] and angle [rad] to a pose, [7]."""
        position, rotation = self.pose(joint_q, link, reference)
        wanted = rotation_matrix(target[3:])
        cosine = 0.5 * (np.trace(wanted.T @ rotation) - 1.0)
        # Near the identity the arc cosine loses half of the digits; the skew part does not.
        skew = wanted.T @ rotation - rotation.T @ wanted
        sine = np.linalg.norm([skew[2, 1], skew[0, 2], skew[1, 0]]) / 2.0
        return np.linalg.norm(position - target[:3]), np.arctan2(sine, cosine)


def rotation_matrix(quaternion):
    """Return the matrix of a quaternion x y z w, by Rodrigues' formula."""
    x, y, z, w = np.asarray(quaternion) / np.linalg.norm(quaternion)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def _row(position, rotation):
    return np.concatenate([position, pin.Quaternion(rotation).coeffs()])


def random_configurations(planner, n, seed, margin=0.05):
    """Return configurations with the controlled joints well inside their limits."""
    robot, rng = planner.robot, np.random.default_rng(seed)
    dofs = robot.group.variable_dof
    low = np.maximum(robot.lower[dofs], -np.pi) + margin
    high = np.minimum(robot.upper[dofs], np.pi) - margin
    values = rng.uniform(low, high, (n, len(dofs)))
    return planner.configurations(robot.coords, values)
