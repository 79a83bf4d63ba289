# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Paths of seven joints stay inside limits of any numbers, which sums of them may round beyond."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.arms import robot
from support.robots.axis_arms import arm
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import tool_poses
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text
from support.robots.urdf_limits import urdf_limits

from ros_ik import all_solutions
from ros_ik import redundant_intervals
from ros_ik import solve_path

# Arms of seven joints with a closed form: file, base, tool.
SEVEN_JOINTS = [
    ('pr2', 'torso_lift_link', 'r_gripper_palm_link'),
    ('pr2', 'torso_lift_link', 'l_gripper_palm_link'),
    ('talos_reduced', 'torso_2_link', 'gripper_left_base_link'),
    ('talos_reduced', 'torso_2_link', 'gripper_right_base_link'),
    ('baxter', 'torso', 'left_gripper'),
    ('baxter', 'torso', 'right_gripper'),
    ('tiago', 'torso_lift_link', 'arm_tool_link'),
    ('panda', 'panda_link0', 'panda_hand_tcp'),
    ('xarm7', 'link_base', 'link7'),
]


@pytest.mark.parametrize(('name', 'base', 'tool'), SEVEN_JOINTS)
def test_arms_of_seven_joints_have_paths_inside_the_limits_of_their_description(name, base, tool):
    model, oracle = robot(name), PinocchioRobot(urdf_text(name), robot(name))
    group = model.joint_group(f'{base}:{tool}')
    starts = model.joint_q_start.numpy()
    columns = [starts[model.joint_index(joint)] for joint in group.joint_names]
    limits = urdf_limits(urdf_text(name), group.joint_names)
    q = model.neutral_joint_q()
    q[columns] = model.random_joint_q(1, 5)[0, columns]
    position, rotation = oracle.pose(q, tool)
    poses = np.tile([*position, *Rotation.from_matrix(rotation).as_quat()], (3, 1))
    for start in (None, q):
        path = solve_path(model, tool, poses, start, joint_group=group, method='closed_form')
        assert path.fraction == 1.0
        moved = path.joint_q[:, columns]
        assert np.all(moved >= limits.lower) and np.all(moved <= limits.upper)
        for row in path.joint_q:
            assert np.linalg.norm(oracle.pose(row, tool)[0] - position) < 1e-4


def test_limits_of_random_digits_are_kept():
    rng = np.random.default_rng(3)
    for _ in range(either(25, 300)):
        # The first joint turns about any axis, and is the redundant one.
        h, p, tool = random_axes('wrist, 2 parallel 3', rng)
        axes = np.vstack([rng.normal(size=3), h]), np.vstack([rng.uniform(-0.3, 0.3, 3), p]), tool
        axes[0][0] /= np.linalg.norm(axes[0][0])
        digits = int(rng.integers(1, 17))
        lower, upper = (np.round(rng.uniform(0.5, 3.1, 7), digits) for _ in range(2))
        lower = -lower
        model = arm(*axes, limits=(lower, upper))
        q = rng.uniform(lower, upper)
        at_limit = rng.random(7) < 0.3
        q[at_limit] = np.where(rng.random(7) < 0.5, lower, upper)[at_limit]
        pose = tool_poses(*axes, q[None])
        for start in (None, q):
            path = solve_path(model, 'tool', np.repeat(pose, 2, axis=0), start)
            assert np.all((path.joint_q >= lower) & (path.joint_q <= upper))
            # Few values of the redundant joint have solutions beside limits, or none.
            assert path.fraction == 1.0
            there = tool_poses(*axes, path.joint_q)
            np.testing.assert_allclose(there[:, :3], pose[[0, 0], :3], rtol=0.0, atol=1e-4)


def test_a_turn_up_to_a_limit_of_many_turns_does_not_pass_it():
    """64 to 128 rad have steps of 1.4e-14 rad, in which a turn more may round up."""
    rng = np.random.default_rng(4)
    h, p, tool = random_axes('wrist, 2 parallel 3', rng)
    axes = np.vstack([[0.0, 0.0, 1.0], h]), np.vstack([np.zeros(3), p]), tool
    for upper in rng.uniform(64.0, 128.0, either(10, 200)):
        limits = np.r_[-upper, np.full(6, -3.0)], np.r_[upper, np.full(6, 3.0)]
        model = arm(*axes, limits=limits)
        q = np.r_[upper, rng.uniform(-2.0, 2.0, 6)]
        pose = tool_poses(*axes, q[None])
        beyond = q + 0.1
        found = all_solutions(model, 'tool', pose, seeds=beyond[None], max_solutions=64)
        assert found.n_found[0] and np.all(found.joint_q[0, : found.n_found[0], 0] <= upper)
        (intervals,) = redundant_intervals(model, 'tool', pose, redundant_values=16)
        assert np.all(np.abs(intervals) <= upper)
