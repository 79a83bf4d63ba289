# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arms of real robots, and poses that they reach."""

import numpy as np
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

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
