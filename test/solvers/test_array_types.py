# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every public function and class takes arrays of Warp and NumPy, in float32 and float64.

The oracle of each case is its result for NumPy in float64. Functions that write into arrays of the
caller are tested for more types in test/kinematics/test_warp_types.py. An array on another device
is copied, or refused by an error that names the argument and both devices.
"""

import inspect
import re

import numpy as np
import pytest
from support.long_forms import either
from support.solvers import array_cases
from support.solvers.array_cases import CASES
from support.solvers.array_cases import flat
from support.solvers.array_cases import Rig
from support.solvers.array_forms import FarForm
from support.solvers.array_forms import Form
from support.solvers.array_forms import StandardForm
from support.solvers.array_forms import TYPES
from support.solvers.far_memory import FAR
from support.solvers.far_memory import far_memory

import ros_ik

# Joint by joint, a search that ends at a tolerance may end elsewhere for rounded numbers.
LOOSE = dict.fromkeys(
    (
        'closed', 'redundant', 'path', 'motion', 'batch', 'chain_search', 'inverse',
        'frames_of_a_search', 'frames_of_a_call', 'frames_of_solutions', 'frames_of_intervals',
    ),
    5e-3,
)  # fmt: skip

# Without arrays of the caller.
ELSEWHERE = {
    'AllSolutions', 'ClosedForm', 'ClosedFormFamily', 'ClosedFormSettings', 'StructureTolerances',
    'Barrier', 'IKObjective', 'ArgumentError', 'ModelError', 'RosIkError',
    'IkChainError',
    'CommandHeaderBuilder', 'GoalSetResult', 'ChainIKResult', 'ChainIKSettings', 'ChainLink',
    'DifferentialIKSettings', 'EnforceMode', 'IKJacobianType', 'IKOptimizer', 'IKSampler',
    'JointFunctionLimit', 'JointGroup', 'JointType', 'LinkFunctionBarrier', 'Model',
    'ModelBuilder', 'OptimalControlCommand',
    'OptimalControlFeedback', 'OptimalControlResult', 'OptimalControlSettings', 'PathResult',
    'RolloutResult', 'SelfCollisionBarrier', 'SolveStatus', 'StopReason', 'fit_spheres',
    'link_dofs',
}  # fmt: skip

# Number type, True for Warp, True for a vector in an array.
FORMS = either(
    [('float32', False, False), ('float64', True, False), ('float32', True, True)],
    [
        (scalar, *kind)
        for scalar in TYPES
        for kind in ((False, False), (True, False), (True, True))
    ],
)


@pytest.fixture(scope='module')
def rig():
    return Rig()


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.__name__)
def test_answers_are_the_same(rig, case):
    expected = rig.expected(case)
    assert np.any(expected) and np.all(np.isfinite(expected[np.abs(expected) < 1e9]))
    for scalar, is_warp, in_array in FORMS:
        found = flat(case(rig, Form(scalar, is_warp, in_array)))
        # float32 rounds what is given, to 1e-7 of it.
        near = LOOSE.get(case.__name__, 2e-4) if scalar == 'float32' else 1e-9
        np.testing.assert_allclose(found, expected, rtol=near, atol=near)


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.__name__)
def test_arrays_with_dlpack_alone_are_read(rig, case):
    expected, found = rig.expected(case), flat(case(rig, StandardForm()))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def is_answered(rig, case, form):
    """Check the answer, or the words of the refusal; return True for an answer."""
    try:
        found = flat(case(rig, form))
    except ros_ik.ArgumentError as error:
        text = str(error)
        assert re.match(r'[a-z_]+ (must be|is a Warp array) on', text), text
        assert {'cpu', FAR} <= set(re.findall(r'[a-z0-9:]+', text)), text
        return False
    np.testing.assert_allclose(found, rig.expected(case), rtol=1e-9, atol=1e-9)
    return True


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.__name__)
def test_arrays_on_another_device_are_copied_or_refused(rig, case):
    with far_memory() as memory:
        every = FarForm(memory, range(1000))
        all_copied = is_answered(rig, case, every)
        assert every.count
        # Where all are copied at once, each is; a refusal tells of one of them alone.
        if not either(all_copied, False):
            none = FarForm(memory, ())
            assert is_answered(rig, case, none)
            for place in range(none.count):
                is_answered(rig, case, FarForm(memory, [place]))


def test_nothing_is_left_out():
    # Without the imports, which name everything.
    used = inspect.getsource(array_cases).partition('class Rig')[2]
    missing = {name for name in ros_ik.__all__ if name not in used} - ELSEWHERE
    assert not missing
