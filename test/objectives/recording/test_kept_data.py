# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Data of a user's objective, held in any form: the next solve sees changes."""

import array
import collections
import functools
import types

import numpy as np
import pytest
from support.solvers.ik_problems import panda
import warp as wp

from ros_ik import IKObjective
from ros_ik import IKSolver

FIRST, SECOND = (0.3, 0.2, 0.1), (-0.4, 0.1, 0.5)


@wp.struct
class Goal:
    place: wp.vec3


@wp.kernel
def pull_to(
    joint_q: wp.array2d(dtype=float), goal: wp.vec3, start: int, residuals: wp.array2d(dtype=float)
):
    row = wp.tid()
    for k in range(3):
        residuals[row, start + k] = joint_q[row, k] - goal[k]


class Pull(IKObjective):
    """An objective of the targets that ``goal`` returns for the first three joints."""

    def residual_dim(self):
        return 3

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            pull_to, dim=len(joint_q), inputs=[joint_q, wp.vec3(*self.goal()), start_idx],
            outputs=[residuals], device=joint_q.device,
        )  # fmt: skip


class Slotted:
    __slots__ = ('place',)


class Source:
    def __init__(self):
        self.place = FIRST

    def read(self):
        return self.place


class Described:
    def __init__(self):
        self.kept = {'place': FIRST}

    def __get__(self, objective, kind):
        return self.kept['place']


def in_a_deque():
    class Own(Pull):
        def goal(self):
            return self.places[-1]

    own = Own()
    own.places = collections.deque([FIRST], maxlen=2)
    return own, lambda: own.places.append(SECOND)


def in_an_array_of_python():
    class Own(Pull):
        def goal(self):
            return self.place

    own = Own()
    own.place = array.array('f', FIRST)

    def change():
        own.place[:] = array.array('f', SECOND)

    return own, change


def in_bytes():
    class Own(Pull):
        def goal(self):
            return [float(x) for x in memoryview(self.place).cast('f')]

    own = Own()
    own.place = bytearray(array.array('f', FIRST).tobytes())

    def change():
        own.place[:] = array.array('f', SECOND).tobytes()

    return own, change


def in_a_slot():
    class Own(Pull):
        def goal(self):
            return self.slotted.place

    own = Own()
    own.slotted = Slotted()
    own.slotted.place = FIRST
    return own, lambda: setattr(own.slotted, 'place', SECOND)


def in_a_struct_of_warp():
    class Own(Pull):
        def goal(self):
            return self.kept.place

    own = Own()
    own.kept = Goal()
    own.kept.place = wp.vec3(*FIRST)
    return own, lambda: setattr(own.kept, 'place', wp.vec3(*SECOND))


def in_the_object_of_a_bound_method():
    class Own(Pull):
        def goal(self):
            return self.read()

    own, source = Own(), Source()
    own.read = source.read
    return own, lambda: setattr(source, 'place', SECOND)


def in_arguments_of_a_partial():
    class Own(Pull):
        def goal(self):
            return self.read()

    kept = {'place': FIRST}
    own = Own()
    own.read = functools.partial(read, kept)
    return own, lambda: kept.update(place=SECOND)


def read(kept):
    return kept['place']


def in_a_module():
    class Own(Pull):
        def goal(self):
            return self.module.place

    own = Own()
    own.module = types.ModuleType('goals_of_a_test')
    own.module.place = FIRST
    return own, lambda: setattr(own.module, 'place', SECOND)


def in_a_default():
    kept = [FIRST]

    class Own(Pull):
        def goal(self, places=kept):
            return places[0]

    def change():
        kept[0] = SECOND

    return Own(), change


def in_a_descriptor():
    described = Described()

    class Own(Pull):
        place = described

        def goal(self):
            return self.place

    return Own(), lambda: described.kept.update(place=SECOND)


def in_a_method_that_is_replaced():
    class Own(Pull):
        def goal(self):
            return FIRST

    own = Own()
    return own, lambda: setattr(own, 'goal', lambda: SECOND)


def in_a_method_of_the_class_that_is_replaced():
    class Own(Pull):
        def goal(self):
            return FIRST

    return Own(), lambda: setattr(Own, 'goal', lambda self: SECOND)


KEPT = [
    in_a_deque, in_an_array_of_python, in_bytes, in_a_slot, in_a_struct_of_warp,
    in_the_object_of_a_bound_method, in_arguments_of_a_partial, in_a_module, in_a_default,
    in_a_descriptor, in_a_method_that_is_replaced, in_a_method_of_the_class_that_is_replaced,
]  # fmt: skip


@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
@pytest.mark.parametrize('make', KEPT, ids=lambda make: make.__name__)
def test_the_next_solve_sees_it(make, optimizer):
    model = panda()
    own, change = make()
    solver = IKSolver(
        model, n_problems=1, objectives=[own], optimizer=optimizer, jacobian_mode='mixed'
    )
    for goal in (FIRST, SECOND):
        if goal is SECOND:
            change()
        joint_q = wp.zeros((1, model.joint_coord_count), dtype=float)
        for _ in range(2):
            solver.step(joint_q, joint_q, iterations=8)
        np.testing.assert_allclose(joint_q.numpy()[0, :3], goal, atol=1e-3)
