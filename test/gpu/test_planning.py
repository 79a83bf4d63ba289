# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Planners' requests and optimal control on a GPU against the CPU."""

from gpu.agreement import assert_agree
from gpu.agreement import DEVICE
from gpu.agreement import on_gpu
from gpu.panda import panda
from gpu.panda import TIP
import numpy as np
import pytest
from support.rigs.planner_answers import every_answer
from support.rigs.planning_rig import make_planner

from ros_ik.barriers import PositionBarrier
from ros_ik.kinematics import eval_fk
from ros_ik.solvers import OptimalControl
from ros_ik.solvers import OptimalControlCommandBuilder

pytestmark = on_gpu


def test_requests_of_planners():
    here = every_answer(make_planner('panda'))
    # Each search branches on rounding, and takes its own way to the same targets.
    there = every_answer(make_planner('panda', device=DEVICE))
    assert_agree(there, here, rtol=1e-4, atol=1e-4)


def whole_motion(device, has_box=False, by=(0.1, 0.0, 0.05)):
    """Plan a motion of the tool."""
    model = panda(device)
    start = model.neutral_joint_q({'panda_joint4': -2.0, 'panda_joint6': 1.6})
    here, body_q = panda('cpu'), np.zeros((1, model.body_count, 7))
    eval_fk(here, start[None], body_q)
    tip = here.body_index(TIP)
    goal = np.eye(4)
    goal[:3, 3] = body_q[0, tip, :3] + np.array(by)
    goal[:3, :3] = np.diag([1.0, -1.0, -1.0])
    command = OptimalControlCommandBuilder()
    command.add_cartesian_target('panda_link0', TIP, goal, 1.0, 0.1)
    most = body_q[0, tip, :3] + 0.05
    barriers = [PositionBarrier(tip, [-2.0] * 3, most)] if has_box else []
    solver = OptimalControl(model, barriers=barriers)
    result = solver.solve(command.build(model), start)
    return {
        'status': np.array([int(result.status)]), 'reason': np.array([int(result.reason)]),
        'positions': result.positions[-1:],
    }  # fmt: skip


@pytest.mark.parametrize('has_box', [False, True])
@pytest.mark.parametrize('by', [[0.1, 0.0, 0.05], [0.6, 0.0, 0.3]], ids=['near', 'out of reach'])
def test_optimal_control(has_box, by):
    there, here = (whole_motion(device, has_box, by) for device in (DEVICE, 'cpu'))
    assert_agree(there, here, rtol=1e-3, atol=1e-3)
