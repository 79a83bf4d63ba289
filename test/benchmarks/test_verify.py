# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The judge of the benchmarks counts nothing that is outside limits or tolerance."""

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio, the judge, is not installed')

from benchmarks.harness.problems import random_problems  # noqa: E402
from benchmarks.harness.robots import BENCHMARK_ROBOTS  # noqa: E402
from benchmarks.harness.robots import load_robot  # noqa: E402
from benchmarks.harness.verify import Arm  # noqa: E402
from benchmarks.harness.verify import judge  # noqa: E402
from ros_ik import eval_fk  # noqa: E402
from ros_ik.model import Model  # noqa: E402


@pytest.mark.parametrize('name', [*BENCHMARK_ROBOTS, 'jaco2', 'pr2_arm'])
def test_the_judge_and_our_forward_kinematics_agree(name):
    robot = load_robot(name)
    model = Model.from_urdf(robot.urdf, device='cpu')
    q = random_problems(robot, 20).starts
    body_q = np.zeros((len(q), model.body_count, 7))
    eval_fk(model, q, body_q)
    ours = body_q[:, model.body_index(robot.tip)]
    arm = Arm(robot.urdf, robot.tip, robot.joints)
    errors = judge(arm, robot.lower, robot.upper, ours, q)
    # Both compute in float64.
    assert errors.success(1e-9, 1e-7).all()


def test_what_the_judge_refuses():
    robot = load_robot('panda')
    arm = Arm(robot.urdf, robot.tip, robot.joints)
    q = np.tile(0.5 * (robot.lower + robot.upper), (5, 1))
    q[1, 0] = np.nan
    q[2, 3] = robot.upper[3] + 1e-4
    poses = arm.poses(np.nan_to_num(q))
    poses[3, 0] += 2e-3
    poses[4, 3:] = [1.0, 0.0, 0.0, 0.0]
    errors = judge(arm, robot.lower, robot.upper, poses, q)
    assert errors.success(1e-3, 1e-2).tolist() == [True, False, False, False, False]
    assert errors.success(3e-3, 1e-2).tolist() == [True, False, False, True, False]
    assert errors.success_each_component(1e-5).tolist() == [True, False, False, False, False]


def test_fewer_problems_are_the_first_of_more():
    robot = load_robot('ur10')
    few, many = random_problems(robot, 3), random_problems(robot, 8)
    np.testing.assert_array_equal(few.poses, many.poses[:3])
    np.testing.assert_array_equal(few.starts, many.starts[:3])
    assert len(many.first(3).repeated(7).poses) == 7


def test_a_tip_elsewhere_is_refused():
    from benchmarks.harness.robots import robot_from_urdf

    with pytest.raises(ValueError, match="'panda_link0' does not descend from 'panda_hand'"):
        robot_from_urdf('panda', load_robot('panda').urdf, 'panda_hand', 'panda_link0')
