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
from ros_ik.planning import solve_fk
from ros_ik.solvers import OptimalControl
from ros_ik.solvers import OptimalControlCommandBuilder

pytestmark = on_gpu


# Answers of searches, which take other ways on another device: several lanes search on a GPU.
SEARCHED = ('positions', 'other')


def planner_answers(device):
    """Return the answers of a planner; poses instead of configurations that were searched."""
    planner = make_planner('panda', device=device)
    found = every_answer(planner)
    names = planner.robot.group.joint_names
    for name in SEARCHED:
        found[name] = solve_fk(planner, names, np.atleast_2d(found[name]))
    return found


def test_requests_of_planners():
    there, here = planner_answers(DEVICE), planner_answers('cpu')
    for name in SEARCHED:
        found, expected = there.pop(name), here.pop(name)
        # A quaternion and its negative are the same rotation.
        found[..., 3:] *= np.sign(np.sum(found[..., 3:] * expected[..., 3:], axis=-1))[..., None]
        # Tolerances of a pose: 1 mm and 0.01 rad on each side.
        assert_agree({name: found}, {name: expected}, rtol=0.0, atol=1e-2)
    # The planned motion starts from a searched configuration and ends within its tolerances.
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
