# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of tasks, objectives, limits and barriers, which may hold arrays of a device."""

import copy
import pickle

import numpy as np
import pytest
from support.robots.robots import urdf_text

from ros_ik.barriers import PositionBarrier
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task

TIP = 10
COPIES = [lambda part: pickle.loads(pickle.dumps(part)), copy.deepcopy]


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


def parts(model):
    """Return a task, a limit, a barrier and an objective that a solver has used."""
    rest = np.zeros(model.joint_dof_count)
    task = Task(IKObjectivePose(TIP, [0.4, 0.1, 0.5, 1.0, 0.0, 0.0, 0.0]), gain=0.1)
    posture = IKObjectiveJointPosition(model, model.neutral_joint_q())
    limit, barrier = VelocityLimit(), PositionBarrier(TIP, [-2.0] * 3, [2.0] * 3)
    solver = DifferentialIK(model)
    solver.solve_ik(model.neutral_joint_q(), [task, Task(posture)], [limit], [barrier], rest)
    return task, limit, barrier, posture


@pytest.mark.parametrize('duplicate', COPIES, ids=['pickle', 'deepcopy'])
def test_the_error_names_what_cannot_be_copied(panda, duplicate):
    names = 'IKObjectivePose', 'VelocityLimit', 'PositionBarrier', 'IKObjectiveJointPosition'
    for part, name in zip(parts(panda), names, strict=True):
        with pytest.raises(TypeError, match=f'^{name} holds arrays of a device .* make another'):
            duplicate(part)


@pytest.mark.parametrize('duplicate', [*COPIES, copy.copy], ids=['pickle', 'deepcopy', 'copy'])
def test_what_no_solver_has_used_can_be_copied(duplicate):
    limit = duplicate(PositionLimit(gain=0.5, margin=0.1))
    assert limit.gain == 0.5 and limit.margin == 0.1
    barrier = duplicate(PositionBarrier(TIP, [-2.0] * 3, [2.0] * 3, gain=3.0, name='box'))
    assert (barrier.gain, barrier.name) == (3.0, 'box')


def test_a_copied_task_shares_its_objective(panda):
    task, *_ = parts(panda)
    other = copy.copy(task)
    other.gain = 0.7
    assert (task.gain, other.gain) == (0.1, 0.7) and other.objective is task.objective
    assert copy.copy(task.objective).link_index == TIP
