# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arms of real robots, poses that they reach, and Pinocchio as the judge of solutions."""

import numpy as np
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik.kinematics import eval_fk

ARMS = (
    ('panda', 'panda_hand_tcp'),
    ('ur5_robot', 'tool0'),
    ('ur10_robot', 'tool0'),
    ('xarm7', 'link_eef'),
    ('kinova', 'j2s6s200_end_effector'),
    ('tiago', 'arm_tool_link'),
    ('baxter', 'left_gripper'),
    ('z1', 'gripperStator'),
    ('talos_full_v2', 'gripper_left_base_link'),
)
# Six and seven joints, joints without limits, a joint that slides: a kernel serves one kind.
SOME_ARMS = tuple(arm for arm in ARMS if arm[0] in ('panda', 'ur5_robot', 'kinova', 'tiago'))
# Pinocchio and the model differ by rounding of the description; far below any tolerance here.
ROUNDING = 1e-9


def robot(name):
    """Return the model of the URDF with this file name."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path)


def reachable(model, link, n, seed=0):
    """Return poses of a link at random configurations, and random other configurations."""
    rng = np.random.default_rng(seed)
    body_q = np.zeros((n, model.body_count, 7))
    eval_fk(model, model.random_joint_q(n, rng), body_q)
    return body_q[:, model.body_index(link)].copy(), model.random_joint_q(n, rng)


def errors(oracle, link, joint_q, pose):
    """Return distance and angle between a link in Pinocchio and a pose."""
    p, R = oracle.pose(joint_q, link)
    target = pin.Quaternion(pose[3:] / np.linalg.norm(pose[3:])).toRotationMatrix()
    return np.linalg.norm(p - pose[:3]), np.linalg.norm(pin.log3(target @ R.T))


def assert_solved(name, link, joint_q, poses, position=1e-3, rotation=1e-2):
    """Assert that a solution is at the pose, by Pinocchio, and inside the limits."""
    model = robot(name)
    lower, upper = model.limits64()[:2]
    oracle = PinocchioRobot(urdf_text(name), model)
    coords = np.arange(model.joint_coord_count)
    assert np.all(joint_q[:, coords] >= lower) and np.all(joint_q[:, coords] <= upper)
    for q, pose in zip(joint_q, poses, strict=True):
        distance, angle = errors(oracle, link, q, pose)
        assert distance <= position + ROUNDING and angle <= rotation + ROUNDING
