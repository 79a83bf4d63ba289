# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Everything that takes a model refuses what is none, and names the argument."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

import ros_ik
from ros_ik import CollisionGeometry
from ros_ik.errors import ArgumentError

# Records of results, which programs do not make.
_RECORDS = {'CollisionGeometry'}
NOTHING = {
    'None': None, 'path': 'robot.urdf', 'array': np.zeros(3), 'bare object': SimpleNamespace(),
}  # fmt: skip
_POSES = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
# Other arguments without a default; a model is checked before they are.
OTHERS = {
    'link': 0, 'link_index': 0, 'end_link': 0, 'n_problems': 1, 'n_batch': 1, 'n': 1,
    'objectives': (), 'link_a': 0, 'link_b': 1, 'tip': 0,
}  # fmt: skip


def takers(argument):
    """Return public functions and classes with an argument of this name."""
    found = {name: getattr(ros_ik, name) for name in ros_ik.__all__}
    found['CollisionGeometry.from_model'] = CollisionGeometry.from_model
    return {
        name: value for name, value in found.items()
        if name not in _RECORDS and callable(value) and argument in _parameters(value)
    }  # fmt: skip


def _parameters(function):
    try:
        return inspect.signature(function).parameters
    except ValueError:  # of an exception or an enumeration
        return {}


def call(function, argument, value):
    """Call a function with a value for one argument and something for the others it needs."""
    needed = [
        name for name, parameter in _parameters(function).items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]  # fmt: skip
    return function(
        **{name: OTHERS.get(name, _POSES) for name in needed} | {argument: value}
    )


@pytest.mark.parametrize('nothing', NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize('name', takers('model'))
def test_no_model(name, nothing):
    with pytest.raises(ArgumentError, match='model must be a '):
        call(takers('model')[name], 'model', nothing)


@pytest.mark.parametrize('nothing', NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize('argument', ['source', 'geometry'])
def test_no_shapes(argument, nothing):
    found = takers(argument)
    assert found
    for function in found.values():
        with pytest.raises(ArgumentError, match=f'{argument} must be a CollisionGeometry or a'):
            call(function, argument, nothing)
