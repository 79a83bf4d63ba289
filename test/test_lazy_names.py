# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Packages offer every listed name, and import it at its first use, not before."""

import importlib
import subprocess
import sys

import pytest

from ros_ik.lazy_names import lazy_names

LAZY = ['ros_ik', 'ros_ik.kinematics', 'ros_ik.planning', 'ros_ik.solvers']


@pytest.mark.parametrize('name', LAZY)
def test_every_name_is_there_and_listed(name):
    package = importlib.import_module(name)
    assert len(package.__all__) > 5
    for offered in package.__all__:
        value = getattr(package, offered)
        assert getattr(value, '__name__', offered) == offered
        assert value.__module__.startswith('ros_ik.')
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match=f"'{name}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018


@pytest.mark.parametrize(
    ('code', 'absent'),
    [
        ('import ros_ik', 'warp'),
        ('import ros_ik; ros_ik.model.Model', 'ros_ik.solvers.differential_ik.solver'),
        ('from ros_ik import Model', 'ros_ik.solvers.differential_ik.solver'),
        ('from ros_ik.solvers import DifferentialIK', 'ros_ik.solvers.optimal_control'),
        ('import ros_ik.node.ros_ik_node', 'warp'),
        # Planners run in a process of their own.
        ('import ros_ik.node.ik_node', 'ros_ik.planning.context.planner'),
    ],
)
def test_what_is_not_asked_for_is_not_imported(code, absent):
    code = f'{code}\nimport sys; sys.exit({absent!r} in sys.modules)'
    assert subprocess.run([sys.executable, '-c', code], timeout=60).returncode == 0


def test_names_come_from_the_imports_for_type_checkers(tmp_path):
    source = tmp_path / '__init__.py'
    source.write_text(
        'from typing import TYPE_CHECKING\nimport math\n'
        'if TYPE_CHECKING:\n    from math import pi\n    from cmath import phase as angle\n'
    )
    get, listed = lazy_names(__name__, str(source))
    assert get('pi') == importlib.import_module('math').pi
    assert {'pi', 'angle'} <= set(listed())
    with pytest.raises(AttributeError):
        get('math')
