# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors cross process boundaries with their text and attributes."""

import ast
import copy
from pathlib import Path
import pickle

import pytest

import ros_ik
from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.errors import RosIkError
from ros_ik.model.building.tables.custom_attribute import ModelAttributeError
from ros_ik.node.actions.action_server import GoalError
from ros_ik.node.services.moveit import _MoveItError
from ros_ik.node.transport.message_stats import Drop
from ros_ik.planning import RequestError
from ros_ik.planning import UnmeasuredError
from ros_ik.settings import SettingsError
from ros_ik.solvers.chain.ik_chain_path import IkChainError

_ERRORS = (
    RosIkError('a fault'),
    ModelError("joint 'elbow'", 'lacks <parent>'),
    ArgumentError('poses must be numbers'),
    ModelAttributeError('no attribute'),
    GoalError(Drop.INVALID_GOAL, 'no points'),
    _MoveItError(-31, 'no solution'),
    RequestError('no seed'),
    UnmeasuredError(('hand', 'finger')),
    SettingsError('rate', 'must be positive'),
    IkChainError('no link'),
)


def test_every_error_of_the_package_is_listed():
    found = set()
    for path in Path(ros_ik.__file__).parent.rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base) for base in node.bases]
                if any(base.endswith(('Error', 'Exception')) for base in bases):
                    found.add(node.name)
    assert found == {type(error).__name__ for error in _ERRORS}


@pytest.mark.parametrize('error', _ERRORS, ids=lambda error: type(error).__name__)
def test_errors_are_copied_and_pickled_with_text_and_attributes(error):
    copies = [pickle.loads(pickle.dumps(error, k)) for k in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in (*copies, copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error) and again.args == error.args
        assert vars(again) == vars(error)
