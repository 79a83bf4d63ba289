# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""newton's own tests of inverse kinematics, with the classes of ros_ik in the place of newton.ik.

The tests come from the installed wheel of newton. Errors are compared by their type: their wording
is ours. The tests of :data:`PRIVATE` reach into newton's solver, and those of :data:`WIDER` want
what ros_ik solves to be refused; both lists are held to be exact.
"""

import importlib
import importlib.util
import sys
import types
import unittest

import pytest
from support.solvers.ik_problems import newton

import ros_ik

pytestmark = [
    pytest.mark.oracle,
    # Of newton, about the masses of its own little robots.
    pytest.mark.filterwarnings('ignore:Inertia validation'),
]
MODULES = ('test_ik', 'test_ik_lbfgs', 'test_ik_fk_kernels')

# Tests that read private parts of newton.ik.IKSolver, with these parts. Their subjects are tested
# in test/objectives (Jacobians against finite differences) and
# test/solvers/batch_ik/test_newton_compatibility.py (poses, Jacobians, loop joints).
PRIVATE = {
    'test_position_jacobian_compare': '_impl',
    'test_rotation_jacobian_compare': '_impl',
    'test_joint_limit_jacobian_compare': '_impl',
    'test_d6_jacobian_compare': '_impl',
    'test_translated_free_lm_jacobian_compare': '_impl',
    'test_translated_distance_lm_jacobian_compare': '_impl',
    'test_translated_free_lbfgs_jacobian_compare': '_impl',
    'test_translated_distance_lbfgs_jacobian_compare': '_impl',
    'test_fk_two_pass_parity': '_fk_two_pass',
    'test_ik_loop_joint_mapping_lm': '_fk_two_pass',
    'test_ik_loop_joint_mapping_lbfgs': '_fk_two_pass',
}

# Tests that expect a refusal of features of ros_ik: joint_dof_mask with L-BFGS and with samplers.
WIDER = ('test_joint_dof_mask_validation',)


def load(name):
    """Return a module of newton's tests that has ros_ik where it imports newton.ik."""
    place = importlib.util.find_spec(f'newton.tests.{name}')
    if place is None or place.loader is None:
        return None
    ik = types.ModuleType('newton.ik')
    for public in newton.ik.__all__:
        setattr(ik, public, getattr(ros_ik, public))
    module = importlib.util.module_from_spec(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newton, 'ik', ik)
        patch.setitem(sys.modules, 'newton.ik', ik)
        place.loader.exec_module(module)
    return module


def collect():
    """Return [name of the module, class, name of the test]."""
    found = []
    for name in MODULES:
        module = load(name)
        for kind in vars(module).values() if module else ():
            if isinstance(kind, type) and issubclass(kind, unittest.TestCase):
                tests = unittest.defaultTestLoader.getTestCaseNames(kind)
                found += [(name, kind, test) for test in tests]
    return found


TESTS = collect()
IDS = [f'{name}-{test}' for name, _, test in TESTS]


def listed(test, names):
    """Return the name under which a test is listed, that is without its device; else None."""
    for name in names:
        if test == name or test.startswith((f'{name}_cpu', f'{name}_cuda')):
            return name
    return None


def made(kind, test):
    """Return the case of a test, in which any wording of an error will do."""

    class Case(kind):
        def assertRaisesRegex(self, error, pattern, *args, **kwargs):
            return self.assertRaises(error, *args, **kwargs)

    return Case(test)


def test_the_wheel_has_them():
    if not TESTS:
        pytest.skip('this wheel of newton carries no newton/tests/test_ik*.py')
    assert {name for name, _, _ in TESTS} == set(MODULES)
    names = [test for _, _, test in TESTS]
    for left_out in (*PRIVATE, *WIDER):
        assert any(listed(test, (left_out,)) for test in names), left_out


@pytest.mark.parametrize(('module', 'kind', 'test'), TESTS, ids=IDS)
def test_newton_own(module, kind, test):
    case = made(kind, test)
    method = getattr(case, test)
    if getattr(method, '__unittest_skip__', False):
        pytest.skip('newton runs it on CUDA only')
    part = listed(test, PRIVATE)
    if part is not None:
        with pytest.raises(AttributeError, match=f"no attribute '{PRIVATE[part]}'"):
            method()
        pytest.skip(f'it reads the private {PRIVATE[part]} of newton.ik.IKSolver')
    if listed(test, WIDER):
        with pytest.raises(AssertionError, match='ValueError not raised'):
            method()
        pytest.skip('ros_ik solves what it wants refused')
    method()
