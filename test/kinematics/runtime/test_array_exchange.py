# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries are read and written where they lie."""

import sys
import types
from types import SimpleNamespace

import numpy as np
import pytest
from support.solvers.array_kinds import address
from support.solvers.array_kinds import jax_numpy
from support.solvers.array_kinds import MAKERS
from support.solvers.array_kinds import numbers
from support.solvers.array_kinds import torch
from support.solvers.ik_problems import panda
import warp as wp

from ros_ik import CollisionChecker
from ros_ik import eval_bias_force
from ros_ik import eval_com
from ros_ik import eval_fk
from ros_ik import eval_jacobian
from ros_ik import eval_mass_matrix
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime import array_exchange
from ros_ik.kinematics.runtime.array_exchange import check_device
from ros_ik.kinematics.runtime.array_exchange import in_namespace
from ros_ik.kinematics.runtime.array_exchange import namespace_of
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.batch_arrays import batch_output

WRITABLE = [name for name in MAKERS if name != 'jax']


@pytest.fixture(scope='module')
def model():
    return panda()


def stream(number):
    """Return a stand-in for a CUDA stream."""
    return SimpleNamespace(cuda_stream=number, ptr=number)


@pytest.mark.parametrize(
    ('library', 'theirs', 'waits'),
    [('torch', 9, True), ('cupy', 9, True), ('torch', 7, False), ('unknown', 9, False)],
)
def test_a_library_waits_for_what_was_written_in_place(monkeypatch, library, theirs, waits):
    """On a GPU, for which stand-ins are used here, the library's stream waits for Warp's."""
    ours, found = stream(7), []
    device = SimpleNamespace(is_cuda=True, ordinal=2, stream=ours)
    cuda = SimpleNamespace(
        current_stream=lambda ordinal: stream(theirs) if ordinal == 2 else None,
        get_current_stream=lambda: stream(theirs),
    )
    module = types.ModuleType(library)
    module.cuda = cuda
    monkeypatch.setitem(sys.modules, library, module)
    view = SimpleNamespace(device=device, _source=type('Tensor', (), {'__module__': library})())

    def made(device, cuda_stream):
        return SimpleNamespace(wait_stream=lambda other: found.append((cuda_stream, other)))

    monkeypatch.setattr(wp, 'Stream', made)
    monkeypatch.setattr(array_exchange, 'exchanged', lambda name, given: given)
    array_exchange.wait_for_warp(view)
    assert found == ([(theirs, ours)] if waits else [])


def cases(model, n):
    """Return the functions that write into an array, with the shape of it."""
    hand, dofs = model.body_index('panda_hand'), model.joint_dof_count
    return {
        'eval_fk': (eval_fk, (n, model.body_count, 7)),
        'eval_jacobian': (lambda m, q, out: eval_jacobian(m, q, hand, out), (n, 6, dofs)),
        'eval_com': (eval_com, (n, 3)),
        'eval_com jacobian': (lambda m, q, out: eval_com(m, q, jacobian=out), (n, 3, dofs)),
        'eval_mass_matrix': (eval_mass_matrix, (n, dofs, dofs)),
        'eval_bias_force': (
            lambda m, q, out: eval_bias_force(m, q, 0.1 * np.ones((n, dofs)), out), (n, dofs)
        ),
    }  # fmt: skip


@pytest.mark.parametrize('kind', MAKERS)
def test_what_is_given_is_read_where_it_lies(kind):
    given = MAKERS[kind](np.arange(6.0).reshape(2, 3))
    view, scalar = batch_input('joint_q', given, 3, 'cpu')
    assert scalar is wp.float64 and view.ptr == address(given)
    np.testing.assert_array_equal(view.numpy(), numbers(given))


@pytest.mark.parametrize('kind', WRITABLE)
def test_results_are_computed_where_they_go(kind):
    given = MAKERS[kind](np.zeros((2, 5, 7)))
    view = batch_output('body_q', given, (2, 5), wp.transformd, 'cpu')
    assert view.ptr == address(given)
    view.fill_(wp.transformd(*range(7)))
    np.testing.assert_array_equal(numbers(given)[1, 4], range(7))


@pytest.mark.parametrize('kind', WRITABLE)
def test_functions_write_into_arrays_of_every_library(model, kind):
    q = model.random_joint_q(3, 0)
    for name, (function, shape) in cases(model, 3).items():
        expected = np.zeros(shape)
        function(model, q, expected)
        assert np.any(expected)
        out = MAKERS[kind](np.full(shape, 7.0))
        function(model, MAKERS[kind](q), out)
        np.testing.assert_array_equal(numbers(out), expected, err_msg=name)


def test_arrays_of_jax_are_read_and_never_written(model):
    q = jax_numpy().asarray(model.random_joint_q(2, 0))
    found, expected = (np.zeros((2, model.body_count, 7)) for _ in range(2))
    eval_fk(model, q, found)
    eval_fk(model, np.asarray(q), expected)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ArgumentError, match='body_q cannot be written to'):
        eval_fk(model, q, jax_numpy().zeros((2, model.body_count, 7)))


@pytest.mark.parametrize('scalar', [wp.float32, wp.float64])
@pytest.mark.parametrize('kind', MAKERS)
def test_collision_checks_read_arrays_of_every_library(model, kind, scalar):
    checker = CollisionChecker(model, 4, scalar=scalar)
    q = model.random_joint_q(3, 0)
    expected = checker.distances(q)[0]
    assert np.all(np.isfinite(expected))
    for given in (q, q.astype(wp.dtype_to_numpy(scalar))):
        np.testing.assert_array_equal(checker.distances(MAKERS[kind](given))[0], expected)


@pytest.mark.parametrize('kind', ['numpy', 'torch', 'dlpack'])
def test_arrays_may_have_gaps(model, kind):
    q = np.zeros((6, 2 * model.joint_coord_count))
    q[::2, ::2] = model.random_joint_q(3, 0)
    expected = np.zeros((3, model.body_count, 7))
    eval_fk(model, q[::2, ::2], expected)
    every = MAKERS[kind](np.zeros((6, 2 * model.body_count, 9)))
    make = type(every) if kind == 'dlpack' else lambda values: values
    values = every.values if kind == 'dlpack' else every
    eval_fk(model, q[::2, ::2], make(values[::2, ::2, 1:8]))
    found = np.array(numbers(every))
    np.testing.assert_array_equal(found[::2, ::2, 1:8], expected)
    found[::2, ::2, 1:8] = 0.0
    assert not np.any(found)


@pytest.mark.parametrize('scalar', [np.float32, np.float64])
@pytest.mark.parametrize('kind', WRITABLE)
def test_outputs_may_have_gaps_in_any_axis(model, kind, scalar):
    q = model.random_joint_q(3, 0).astype(scalar)
    for name, (function, shape) in cases(model, 3).items():
        if name == 'eval_bias_force':
            speeds = np.full(shape, 0.1, dtype=scalar)

            def function(m, q, out, speeds=speeds):
                eval_bias_force(m, q, speeds, out)

        expected = np.zeros(shape, dtype=scalar)
        function(model, q, expected)
        for axis in range(len(shape)):
            sizes = np.array(shape)
            sizes[axis] *= 2
            places = tuple(slice(None, None, 1 + (k == axis)) for k in range(len(shape)))
            every = MAKERS[kind](np.full(sizes, 7.0, dtype=scalar))
            if kind == 'dlpack':
                function(model, q, type(every)(every.values[places]))
            else:
                function(model, q, every[places])
            found = np.array(numbers(every))
            np.testing.assert_array_equal(found[places], expected, err_msg=f'{name} {axis}')
            found[places] = 7.0
            assert np.all(found == 7.0)


def test_numbers_that_lie_backwards_or_repeat_are_read(model):
    q = model.random_joint_q(3, 0)
    expected, found = (np.zeros((3, model.body_count, 7)) for _ in range(2))
    eval_fk(model, q[::-1].copy(), expected)
    eval_fk(model, q[::-1], found)
    np.testing.assert_array_equal(found, expected)
    eval_fk(model, q[::-1], found[::-1])
    np.testing.assert_array_equal(found[::-1], expected)
    eval_fk(model, np.broadcast_to(q[0], q.shape), found)
    np.testing.assert_array_equal(found[2], found[0])


def test_what_cannot_be_used_is_named(model):
    q = model.random_joint_q(2, 0)
    fixed = np.zeros((2, model.body_count, 7))
    fixed.flags.writeable = False
    with pytest.raises(
        ArgumentError, match='body_q cannot be written to, got a read-only ndarray'
    ):
        eval_fk(model, q, fixed)
    with pytest.raises(ArgumentError, match='joint_q must be float32 or float64, got int64'):
        eval_fk(model, MAKERS['dlpack'](q.astype(np.int64)), np.zeros_like(fixed))
    with pytest.raises(ArgumentError, match=r'body_q must have shape \[2, .*\] of wp.transformd'):
        eval_fk(model, q, MAKERS['dlpack'](np.zeros((2, 3, 7))))


def test_tensors_that_require_a_gradient_are_refused(model):
    q = torch().tensor(model.random_joint_q(2, 0), requires_grad=True)
    out = torch().zeros(2, model.body_count, 7, dtype=q.dtype)
    with pytest.raises(ArgumentError, match='joint_q cannot be read as an array.*detach'):
        eval_fk(model, q, out)


def test_the_device_is_checked():
    here = wp.zeros(2, device='cpu')
    check_device('joint_q', here, wp.get_device('cpu'))
    with pytest.raises(ArgumentError, match='body_q must be on cuda:1, got an array on cpu'):
        check_device('body_q', here, 'cuda:1')
    there = SimpleNamespace(device='cuda:0')
    with pytest.raises(ArgumentError, match='joint_q must be on cpu, got an array on cuda:0'):
        check_device('joint_q', there, wp.get_device('cpu'))


def test_results_return_as_arrays_of_the_library_without_a_copy():
    result = wp.array(np.arange(4.0), device='cpu')
    for kind, make in MAKERS.items():
        try:
            given = make(np.zeros(1))
        except pytest.skip.Exception:
            continue
        module = namespace_of(given)
        expected = {'warp': np, 'dlpack': wp}.get(kind, module)
        found = in_namespace(result, module)
        assert module is expected and address(found) == result.ptr
        np.testing.assert_array_equal(numbers(found), result.numpy())
