# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Repeated calls with Warp arrays read no array of a GPU, and so do not wait for it.

Arrays of this machine stand for those of a GPU: what would be read there is counted.
"""

import sys

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik import all_solutions
from ros_ik import inverse_kinematics
from ros_ik.kinematics import eval_bias_force
from ros_ik.kinematics import eval_com
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.kinematics import eval_mass_matrix
from ros_ik.kinematics.runtime import content_reader
from ros_ik.model import Model
from ros_ik.solvers import ChainIK
from ros_ik.solvers import ClosedFormIK

N = 5
TIPS = {'panda': 'panda_hand_tcp', 'ur5_robot': 'tool0'}


class Arm:
    """A robot with Warp arrays of configurations, and of the poses of its tool there."""

    def __init__(self, name):
        self.model, self.tip = Model.from_urdf(urdf_text(name), device='cpu'), TIPS[name]
        self.joint_q = numbers(self.model.random_joint_q(N, 0))
        self.body_q = zeros((N, self.model.body_count), wp.transformd)
        eval_fk(self.model, self.joint_q, self.body_q)
        self.poses = numbers(self.body_q.numpy()[:, self.model.body_index(self.tip)])

    def evaluation(self, function, shape, *between, dtype=wp.float64):
        """Return a call of a function of the configurations."""
        out = zeros(shape, dtype)
        return lambda: function(self.model, self.joint_q, *between, out)


def numbers(values):
    return wp.array(values, dtype=wp.float64, device='cpu')


def zeros(shape, dtype=wp.float64):
    return wp.zeros(shape, dtype=dtype, device='cpu')


def evaluations():
    """Return calls of the functions of configurations, by name."""
    panda = Arm('panda')
    dofs, bodies = panda.model.joint_dof_count, panda.model.body_count
    call = panda.evaluation
    return {
        'eval_fk': call(eval_fk, (N, bodies), dtype=wp.transformd),
        'eval_jacobian': call(eval_jacobian, (N, 6, dofs), bodies - 1),
        'eval_com': call(eval_com, N, dtype=wp.vec3d),
        'eval_mass_matrix': call(eval_mass_matrix, (N, dofs, dofs)),
        'eval_bias_force': call(eval_bias_force, (N, dofs), zeros((N, dofs))),
    }


def solves():
    """Return calls of the solvers of poses, by name."""
    panda, ur5 = Arm('panda'), Arm('ur5_robot')

    def search(**options):
        return lambda: inverse_kinematics(
            panda.model, panda.tip, panda.poses, panda.joint_q, xp=wp, **options
        )

    chain = ChainIK(panda.model, panda.tip, N)
    closed = ClosedFormIK(ur5.model, ur5.tip, N)
    return {
        'inverse_kinematics': search(),
        'preference': search(preference='manipulability'),
        'all_solutions': lambda: all_solutions(
            ur5.model, ur5.tip, ur5.poses, ur5.joint_q, xp=wp
        ),
        'ChainIK': lambda: chain.solve(panda.poses, panda.joint_q, xp=wp),
        'ClosedFormIK': lambda: closed.solve(ur5.poses, ur5.joint_q, xp=wp),
    }


@pytest.fixture
def waits(monkeypatch):
    """Count what waits for a GPU: reading an array of it, or waiting for its stream."""
    found, read = [], wp.array.numpy

    def counted(array, *arguments, **options):
        found.append(array)
        return read(array, *arguments, **options)

    is_on_host = content_reader._is_on_host
    assert is_on_host(zeros(1))
    monkeypatch.setattr(content_reader, '_is_on_host', lambda array: type(array) is np.ndarray)
    monkeypatch.setattr(wp.array, 'numpy', counted)
    for name, module in list(sys.modules.items()):
        if name.startswith('ros_ik.') and hasattr(module, 'wait_for'):
            monkeypatch.setattr(module, 'wait_for', found.append)
    return found


@pytest.mark.parametrize('make', [evaluations, solves])
def test_the_second_call_waits_for_nothing(make, waits):
    calls = make()
    for call in calls.values():
        call()
    counted = {}
    for name, call in calls.items():
        waits.clear()
        call()
        counted[name] = len(waits)
    assert counted == dict.fromkeys(calls, 0)


def test_what_waits_is_counted(waits):
    panda = Arm('panda')
    solver = ChainIK(panda.model, panda.tip, N)
    for solve in (
        lambda: solver.solve(panda.poses),  # NumPy arrays are returned
        lambda: inverse_kinematics(
            panda.model, panda.tip, panda.poses, check_collisions=True, collision_pairs=[]
        ),
    ):
        solve()
        waits.clear()
        solve()
        assert waits
