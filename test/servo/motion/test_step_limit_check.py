# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The last check of a tracking step: its text names the joint and the limit."""

import numpy as np
import pytest
from support.rigs.servo_rig import Rig


@pytest.mark.parametrize('joint', [1, 4, 7])
@pytest.mark.parametrize('limit', ['velocity', 'position'])
def test_a_step_that_would_break_a_limit_is_refused_by_the_name_of_its_joint(joint, limit):
    rig = Rig.shared()
    robot, check = rig.robot, rig.servo._solver.limits.check
    name = f'panda_joint{joint}'
    index = robot.group.joint_names.index(name)
    coord, dof = robot.coords[index], robot.group.variable_dof[index]
    joint_q, step = rig.q.copy(), np.zeros(rig.model.joint_dof_count)
    assert check.violation(joint_q, step, joint_q) == ''
    if limit == 'velocity':
        step[dof] = 1.01 * robot.velocity[dof] * rig.dt
    else:
        joint_q[coord], step[dof] = robot.upper[dof] - 1e-4, 2e-4
    after = joint_q.copy()
    after[coord] += step[dof]
    found = check.violation(joint_q, step, after)
    assert found == f'the step would break the {limit} limit of joint {name}'
