# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Data of any kind that a user's objective reads, changed between two solves.

The residual is q[1] - v, so that the answer is v.
"""

import argparse
import collections
import ctypes
import functools
import mmap
from pathlib import Path
import sys
import threading
import types

import numpy as np
import pytest
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjective
from ros_ik import IKSolver
from ros_ik import Task

pin = pytest.importorskip('pinocchio')
mujoco = pytest.importorskip('mujoco')
pytestmark = pytest.mark.oracle
BEFORE, AFTER = 0.3, -0.4
OUTSIDE = types.SimpleNamespace(v=BEFORE)


@wp.kernel
def difference(
    joint_q: wp.array2d(dtype=float), v: float, start: int, residuals: wp.array2d(dtype=float)
):
    row = wp.tid()
    residuals[row, start] = joint_q[row, 1] - v


class Hold(IKObjective):
    """An objective that holds a joint at the value of the data; subclasses hold the data."""

    def residual_dim(self):
        return 1

    def value(self):
        raise NotImplementedError

    def change(self):
        raise NotImplementedError

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            difference, dim=len(joint_q), inputs=[joint_q, float(self.value()), start_idx],
            outputs=[residuals], device=joint_q.device,
        )  # fmt: skip


def nested(depth):
    """Return an object at the end of a chain of objects of a user's class, and its start."""
    first = node = Node()
    for _ in range(depth):
        node.next = Node()
        node = node.next
    node.v = BEFORE
    return first, node


class Node:
    """Message-like object."""


def kept(data, read, write):
    """Return an objective that holds data, with functions that read and change them."""

    class Kept(Hold):
        def __init__(self):
            super().__init__()
            self.data = data()

        def value(self):
            return read(self.data)

        def change(self):
            write(self.data)

    return Kept


def set_attribute(data):
    data.v = AFTER


def set_item(data):
    data['v'] = AFTER


def set_first(data):
    data[0] = AFTER


def of_chain(data):
    node = data[0]
    while hasattr(node, 'next'):
        node = node.next
    return node.v


def local(kind):
    data = kind()
    data.v = BEFORE
    return data


def memory():
    data = mmap.mmap(-1, 8)
    data[:] = np.float64(BEFORE).tobytes()
    return data


def placed():
    return pin.SE3(np.eye(3), np.array([BEFORE, 0.0, 0.0]))


def simulated():
    text = '<mujoco><worldbody><body mocap="true"><geom size="1"/></body></worldbody></mujoco>'
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(text))
    data.mocap_pos[0, 0] = BEFORE
    return data


KEPT = {
    'namespace': kept(lambda: types.SimpleNamespace(v=BEFORE), lambda d: d.v, set_attribute),
    'arguments': kept(lambda: argparse.Namespace(v=BEFORE), lambda d: d.v, set_attribute),
    'user dict': kept(lambda: collections.UserDict(v=BEFORE), lambda d: d['v'], set_item),
    'chain map': kept(lambda: collections.ChainMap({'v': BEFORE}), lambda d: d['v'], set_item),
    'thread': kept(lambda: local(threading.local), lambda d: d.v, set_attribute),
    'memory': kept(
        memory, lambda d: np.frombuffer(d[:])[0],
        lambda d: d.__setitem__(slice(0, 8), np.float64(AFTER).tobytes()),
    ),
    'number of C': kept(
        lambda: ctypes.c_double(BEFORE), lambda d: d.value, lambda d: setattr(d, 'value', AFTER)
    ),
    'array of C': kept(lambda: (ctypes.c_double * 2)(BEFORE, 0.0), lambda d: d[0], set_first),
    'objects': kept(
        lambda: np.array([[BEFORE], None], dtype=object), lambda d: d[0][0],
        lambda d: d[0].__setitem__(0, AFTER),
    ),
    'deep': kept(lambda: nested(6), of_chain, lambda d: setattr(d[1], 'v', AFTER)),
    'pinocchio': kept(
        placed, lambda d: d.translation[0],
        lambda d: setattr(d, 'translation', np.array([AFTER, 0.0, 0.0])),
    ),
    'MuJoCo': kept(
        simulated, lambda d: d.mocap_pos[0, 0],
        lambda d: d.mocap_pos.__setitem__((0, 0), AFTER),
    ),
}  # fmt: skip


class OfModule(Hold):
    """An objective that reads a variable of its module by name."""

    def __init__(self):
        super().__init__()
        OUTSIDE.v = BEFORE

    def value(self):
        return globals()['OUTSIDE'].v

    def change(self):
        OUTSIDE.v = AFTER


class Imported(Hold):
    """An objective that imports the module of the value when it reads it."""

    def __init__(self):
        super().__init__()
        sys.modules['objective_settings'] = types.SimpleNamespace(v=BEFORE)

    def value(self):
        import objective_settings  # noqa: PLC0415

        return objective_settings.v

    def change(self):
        sys.modules['objective_settings'].v = AFTER


class Cached(Hold):
    """An objective that reads through a cache that is cleared."""

    def __init__(self):
        super().__init__()
        self.read = functools.lru_cache(lambda: OUTSIDE.v)
        OUTSIDE.v = BEFORE

    def value(self):
        return self.read()

    def change(self):
        OUTSIDE.v = AFTER
        self.read.cache_clear()


class FromFile(Hold):
    """An objective that reads a file with NumPy."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        np.array([BEFORE]).tofile(path)

    def value(self):
        return np.fromfile(self.path)[0]

    def change(self):
        np.array([AFTER]).tofile(self.path)


class OfOther(Hold):
    """An objective that reads an attribute of another one."""

    def __init__(self):
        super().__init__()
        self.other = Hold()
        self.other.v = BEFORE

    def value(self):
        return self.other.v

    def change(self):
        self.other.v = AFTER


class SetUp(Hold):
    """An objective that sets its value when a solver sets it up; the user changes it later."""

    def init_buffers(self, model, jacobian_mode):
        super().init_buffers(model, jacobian_mode)
        self.v = BEFORE

    def value(self):
        return self.v

    def change(self):
        self.v = AFTER


class SetUpArray(SetUp):
    """The same with an array that is replaced."""

    def init_buffers(self, model, jacobian_mode):
        super().init_buffers(model, jacobian_mode)
        self.v = wp.array([BEFORE], dtype=float)

    def value(self):
        return self.v.numpy()[0]

    def change(self):
        self.v = wp.array([AFTER], dtype=float)


CLASSES = {
    **KEPT,
    **{
        kind.__name__: kind
        for kind in (OfModule, Imported, Cached, FromFile, OfOther, SetUp, SetUpArray)
    },
}


@pytest.fixture(scope='module')
def model():
    return panda()


def made(kind, folder: Path):
    return kind(folder / 'value') if kind is FromFile else kind()


@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
@pytest.mark.parametrize('kind', CLASSES.values(), ids=CLASSES)
def test_a_solve_reads_it_again(model, kind, optimizer, tmp_path):
    objective = made(kind, tmp_path)
    solver = IKSolver(model, n_problems=2, objectives=[objective], optimizer=optimizer,
                      jacobian_mode='autodiff')  # fmt: skip
    q = to_warp(np.tile(model.neutral_joint_q(), (2, 1)))
    for v in (BEFORE, AFTER):
        if v == AFTER:
            objective.change()
        solver.step(q, q, iterations=8)
        np.testing.assert_allclose(q.numpy()[:, 1], v, atol=1e-3)


@pytest.mark.parametrize('kind', CLASSES.values(), ids=CLASSES)
def test_a_control_step_reads_it_again(model, kind, tmp_path):
    objective = made(kind, tmp_path)
    solver, task = DifferentialIK(model), Task(objective, gain=1.0)
    joint_q, out = model.neutral_joint_q(), np.zeros(model.joint_dof_count)
    for v in (BEFORE, AFTER):
        if v == AFTER:
            objective.change()
        for _ in range(2):
            solver.solve_ik(joint_q, [task], (), (), out)
            joint_q = joint_q + out
        np.testing.assert_allclose(joint_q[1], v, atol=1e-3)
        np.testing.assert_allclose(solver.task_errors(joint_q, [task])[0], 0.0, atol=1e-3)
