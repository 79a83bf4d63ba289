# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors for unusable arguments: every function names the argument at fault."""

import numpy as np
import pytest
from support.solvers.ik_problems import panda
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_bias_force
from ros_ik.kinematics import eval_com
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.kinematics import eval_mass_matrix
from ros_ik.kinematics import link_dofs
from ros_ik.kinematics.runtime import arguments
from ros_ik.solvers import ChainIKSettings
from ros_ik.solvers import ClosedFormSettings
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import DlsSolver
from ros_ik.solvers import GaussNewtonSolver
from ros_ik.solvers import IkChain


@pytest.fixture(scope='module')
def model():
    return panda()


def test_kinematics_of_no_model():
    q, out = np.zeros((1, 9)), np.zeros((1, 13, 7))
    for call in (
        lambda m: eval_fk(m, q, out),
        lambda m: eval_jacobian(m, q, 1, out),
        lambda m: eval_com(m, q, out),
        lambda m: eval_mass_matrix(m, q, out),
        lambda m: eval_bias_force(m, q, q, out),
        lambda m: link_dofs(m, 0),
        lambda m: IkChain(m, 'panda_hand'),
    ):
        for nothing in (None, 'robot.urdf', object()):
            with pytest.raises(ArgumentError, match='model must be a Model or any object with'):
                call(nothing)


def test_arguments_that_are_no_arrays(model):
    q, out = np.zeros((1, 9)), np.zeros((1, 13, 7))
    with pytest.raises(ArgumentError, match='joint_q must be float32 or float64'):
        eval_fk(model, None, out)
    with pytest.raises(ArgumentError, match='joint_q must be numbers'):
        eval_fk(model, [[0.0], [0.0, 1.0]], out)
    for given in (None, [[0.0]], 'out'):
        with pytest.raises(ArgumentError, match='body_q must be a NumPy or Warp array to write'):
            eval_fk(model, q, given)
        with pytest.raises(ArgumentError, match='jacobian must be a NumPy or Warp array to write'):
            eval_jacobian(model, q, 1, given)
    for link in (1.5, 'panda_hand', True, None):
        with pytest.raises(ArgumentError, match='link_index must be the integer index of a body'):
            eval_jacobian(model, q, link, np.zeros((1, 6, 9)))


def test_chains_and_their_solvers(model):
    chain = IkChain(model, 'panda_hand')
    for call, name in (
        (lambda: chain.get_end_effector_pose('x'), 'joint_q'),
        (lambda: chain.get_end_effector_pose(None), 'joint_q'),
        (lambda: chain.get_end_point_jac(np.zeros(9), 'x'), 'end_point'),
        (lambda: IkChain(model, 'panda_hand', None, 'x'), 'end_effector_offset'),
        (lambda: DlsSolver().solve(chain, np.zeros(9), 'x'), 'target_pose'),
        (lambda: DlsSolver().solve(chain, [['x']], np.zeros(7)), 'joint_q'),
        (lambda: DlsSolver(max_iter='a'), 'max_iter'),
        (lambda: DlsSolver(max_iter=1.5), 'max_iter'),
        (lambda: DlsSolver(step_size='a', adaptive_damping=False), 'step_size'),
        (lambda: DlsSolver(tolerance=None), 'tolerance'),
        (lambda: DlsSolver(damping='a'), 'damping'),
        (lambda: GaussNewtonSolver(step_size=0.0), 'step_size'),
        (lambda: GaussNewtonSolver(max_iter=-1), 'max_iter'),
    ):
        with pytest.raises(ArgumentError, match=f'{name} must be'):
            call()


def test_names_groups_and_random_configurations(model):
    for index in (3, None, ['panda_hand']):
        with pytest.raises(ArgumentError, match='name must be that of a link'):
            model.body_index(index)
    for spec in (3, None, [3], 2.5):
        with pytest.raises(ArgumentError, match='spec must be the name of a group'):
            model.joint_group(spec)
    for n in (-1, 1.5, 'a', None):
        with pytest.raises(ArgumentError, match='n: expected an index'):
            model.random_joint_q(n)
    for rng in ('a', -1, 0.5):
        with pytest.raises(ArgumentError, match='rng must be a generator or a seed'):
            model.random_joint_q(2, rng)


def test_random_configurations_of_a_seed_and_of_none(model):
    seeded = model.random_joint_q(3, 7)
    np.testing.assert_array_equal(seeded, model.random_joint_q(3, np.random.default_rng(7)))
    np.testing.assert_array_equal(seeded, model.random_joint_q(3, 7))
    assert not np.array_equal(model.random_joint_q(3), model.random_joint_q(3))
    assert model.random_joint_q(0).shape == (0, model.joint_coord_count)


@pytest.mark.parametrize(
    ('name', 'make'),
    [
        ('max_attempts', lambda count: ChainIKSettings(max_attempts=count)),
        ('max_iterations', lambda count: ChainIKSettings(max_iterations=count)),
        ('window', lambda count: ChainIKSettings(window=count)),
        ('max_iter', lambda count: DlsSolver(max_iter=count)),
        ('max_iterations', lambda count: DifferentialIKSettings(max_iterations=count)),
        ('max_steps', lambda count: ClosedFormSettings(max_steps=count)),
    ],
)
@pytest.mark.parametrize('count', [2**31 - 1, 2**31, 2**40, 10**400])
def test_a_count_that_the_device_cannot_hold_is_refused(name, make, count):
    with pytest.raises(ArgumentError, match=f'^{name} must be an integer of at most 10*, got '):
        make(count)


def test_a_refused_number_of_iterations_leaves_the_last_one(model):
    solver = DifferentialIK(model)
    before = solver.settings.max_iterations
    with pytest.raises(ArgumentError, match='max_iterations must be an integer of at most'):
        solver.set_max_iterations(2**31)
    assert solver.settings.max_iterations == before


@pytest.mark.parametrize('name', ['progress', 'damping', 'relative_length', 'separation'])
def test_a_text_is_no_number(name):
    with pytest.raises(ArgumentError, match=f"^{name} must be positive and finite, got '0.1'"):
        ChainIKSettings(**{name: '0.1'})


def test_batches_that_fit_into_memory_and_that_do_not(monkeypatch):
    arguments.check_memory('n', 1000, 1000, 'cpu')
    monkeypatch.setattr(arguments, '_free_bytes', lambda device: 1e6)
    arguments.check_memory('n', 1000, 1000, 'cpu')
    with pytest.raises(ArgumentError, match=r'n makes 1001 rows, which take 0.001 GB on cpu; '):
        arguments.check_memory('n', 1001, 1000, 'cpu')
    monkeypatch.setattr(arguments, '_free_bytes', lambda device: np.inf)
    arguments.check_memory('n', 2**31 - 1, 1, 'cpu')
    with pytest.raises(ArgumentError, match='n must make at most 2147483647 rows'):
        arguments.check_memory('n', 2**31, 1, 'cpu')


def test_free_memory_is_that_of_this_machine():
    free = arguments._free_bytes(wp.get_device('cpu'))
    assert 1e6 < free < 1e15
