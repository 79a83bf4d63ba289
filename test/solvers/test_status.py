# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Statuses and reasons print as names and count as numbers."""

import json

import numpy as np
import pytest

from ros_ik import SolveStatus
from ros_ik import StopReason

CODES = [*SolveStatus, *StopReason]


@pytest.mark.parametrize('code', CODES, ids=repr)
def test_a_code_prints_as_its_name(code, capsys):
    print(code)
    assert capsys.readouterr().out == f'{code.name}\n'
    assert f'{code}' == '%s' % code == '{}'.format(code) == code.name  # noqa: UP031, UP032
    assert f'{code:>20}' == code.name.rjust(20) and f'{code:s}' == code.name
    assert repr(code) == f'<{type(code).__name__}.{code.name}: {int(code)}>'
    assert code.message in (code.message.strip(), '') and code.message


@pytest.mark.parametrize('code', CODES, ids=repr)
def test_a_code_counts_as_a_number(code):
    number = int(code)
    assert code == number and hash(code) == hash(number)
    assert f'{code:d}' == f'{code:n}' == '%d' % code == str(number)  # noqa: UP031
    assert f'{code:03d}' == f'{number:03d}' and f'{code:.1f}' == f'{number:.1f}'
    assert json.dumps({'code': code}) == json.dumps({'code': number})
    assert type(code)(np.int32(number)) is code


def test_numpy_compares_codes():
    codes = np.array([0, 3, 0, 5], dtype=np.int32)
    np.testing.assert_array_equal(codes == SolveStatus.CONVERGED, [True, False, True, False])
    np.testing.assert_array_equal(np.isin(codes, [SolveStatus.HALTED_BY_BARRIER]), codes == 5)
    filled = np.full(2, SolveStatus.NON_FINITE_INPUT)
    assert np.issubdtype(filled.dtype, np.integer) and filled[0] == 3
    where = np.where(codes == 0, SolveStatus.RELAXED, codes)
    np.testing.assert_array_equal(where, [1, 3, 1, 5])
