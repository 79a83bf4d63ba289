# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of different lengths are refused by the name of their argument."""

import numpy as np
import pytest

from ros_ik import AccelerationLimit
from ros_ik import all_solutions
from ros_ik import ChainIK
from ros_ik import CollisionShape
from ros_ik import DifferentialIK
from ros_ik import eval_com
from ros_ik import IKObjectiveJointPosition
from ros_ik import IKObjectiveSelfDistance
from ros_ik import inverse_kinematics
from ros_ik import JerkLimit
from ros_ik import Model
from ros_ik import OptimalControlCommandBuilder
from ros_ik import PositionBarrier
from ros_ik import redundant_intervals
from ros_ik import RedundantClosedFormIK
from ros_ik import solve_path
from ros_ik import Task
from ros_ik.demo.robots import find_robot
from ros_ik.errors import ArgumentError
from ros_ik.numbers import host_array

POSE = [0.4, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]
TCP = 'panda_hand_tcp'



def last_velocity(model, rows):
    limit = AccelerationLimit(np.ones(9))
    task = Task(IKObjectiveJointPosition(model, model.neutral_joint_q()))
    solver = DifferentialIK(model)
    solver.solve_ik(model.neutral_joint_q(), [task], [limit], np.zeros(9))
    limit.set_last_velocity(rows)


CALLS = {
    'inverse_kinematics': ('poses', lambda model, rows: inverse_kinematics(model, TCP, rows)),
    'inverse_kinematics seeds': (
        'seeds', lambda model, rows: inverse_kinematics(model, TCP, POSE, rows),
    ),
    'all_solutions': ('poses', lambda model, rows: all_solutions(model, TCP, rows)),
    'all_solutions seeds': ('seeds', lambda model, rows: all_solutions(model, TCP, POSE, rows)),
    'redundant_intervals': ('poses', lambda model, rows: redundant_intervals(model, TCP, rows)),
    'solved_at': (
        'values', lambda model, rows: RedundantClosedFormIK(model, TCP, 1).solved_at([POSE], rows),
    ),
    'solve_path': ('poses', lambda model, rows: solve_path(model, TCP, rows)),
    'ChainIK': ('poses', lambda model, rows: ChainIK(model, TCP, 1).solve(rows)),
    'eval_com': ('joint_q', eval_com),
    'convex': ('vertices', lambda model, rows: CollisionShape.convex(rows)),
    'self distance': (
        'centers', lambda model, rows: IKObjectiveSelfDistance([0, 1], rows, [1, 1], [[0, 1]]),
    ),
    'self distance pairs': (
        'pairs', lambda model, rows: IKObjectiveSelfDistance([0], [[0, 0, 0]], [1], rows),
    ),
    'position barrier': (
        'axes', lambda model, rows: PositionBarrier(0, [0, 0, 0], [1, 1, 1], axes=rows),
    ),
    'centre of mass': (
        'pose',
        lambda model, rows: OptimalControlCommandBuilder().set_center_of_mass_target('', rows),
    ),
    'last displacement': (
        'displacement',
        lambda model, rows: AccelerationLimit(np.ones(9)).set_last_displacement(rows),
    ),
    'last velocity': ('velocity', last_velocity),
    'last steps': (
        'before_last',
        lambda model, rows: JerkLimit(np.ones(9)).set_last_displacements(np.zeros(9), rows),
    ),
    'limits of variables': (
        'limits', lambda model, rows: model.joint_group().variable_limits(rows),
    ),
}  # fmt: skip


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(find_robot('panda').urdf_path, device='cpu')


@pytest.mark.parametrize('rows', [[[1, 2], [3]], [[[1.0, 2.0]], [[3.0]]]], ids=['2d', '3d'])
@pytest.mark.parametrize('call', CALLS)
def test_ragged_rows_are_refused_by_name(panda, call, rows):
    name, function = CALLS[call]
    with pytest.raises(ArgumentError, match=rf'^{name} must be numbers, got \[\['):
        function(panda, rows)


def test_ragged_rows_without_a_name():
    with pytest.raises(ArgumentError, match=r'^array must be numbers, got \[\[1, 2\], \[3\]\]$'):
        host_array([[1, 2], [3]])


@pytest.mark.parametrize('seeds', ['abc', 1.0, {}])
def test_seeds_that_are_no_rows(panda, seeds):
    for solve in (inverse_kinematics, all_solutions):
        with pytest.raises(ArgumentError, match='^seeds must be rows of numbers, got '):
            solve(panda, TCP, POSE, seeds)


def test_values_of_another_shape(panda):
    solver = RedundantClosedFormIK(panda, TCP, 1)
    for values in (0.5, [0.5], [[0.5], [0.6]]):
        with pytest.raises(ArgumentError, match=r'values must have shape \[1, k\], got'):
            solver.solved_at([POSE], values)
