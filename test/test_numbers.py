# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Numbers from outside: conversions, and refusals that name the element."""

import math

import numpy as np
import pytest
from support.solvers.array_kinds import StandardArray
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.numbers import check_bounded
from ros_ik.numbers import host_array
from ros_ik.numbers import integer_array
from ros_ik.numbers import is_bounded
from ros_ik.numbers import real_array
from ros_ik.numbers import real_value


@pytest.mark.parametrize(
    'given',
    [
        [1, 2, 3],
        (1, 2.0, 3),
        np.array([1, 2, 3]),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1, 2, 3], dtype=object),
        np.float32([1, 2, 3]),
        wp.vec3(1.0, 2.0, 3.0),
    ],
    ids=lambda given: f'{type(given).__name__} {getattr(given, "dtype", "")}',
)
def test_integers_and_floats_become_float64(given):
    array = real_array('x', given)
    assert array.dtype == np.float64 and array.tolist() == [1.0, 2.0, 3.0]
    assert array is not given


def test_value_of_warp_may_be_the_only_element_of_an_array():
    matrix = np.arange(16.0).reshape(4, 4)
    for given in (wp.mat44d(matrix), wp.array(matrix[None], dtype=wp.mat44, device='cpu')):
        np.testing.assert_array_equal(real_value('x', given), matrix)
    one = wp.array([[1.0, 2.0, 3.0]], dtype=wp.vec3, device='cpu')
    assert real_value('x', one).shape == (3,) and real_array('x', one).shape == (1, 3)


@pytest.mark.parametrize(
    'given, element',
    [
        ([1.0, 2j], 'x[1]'),
        (np.array([1.0, 2j]), 'x[0]'),
        ([[1.0, 2.0], [3.0, 4 + 1j]], 'x[1][1]'),
        (['1', '2'], 'x[0]'),
        ([1.0, '2'], 'x[1]'),
        ([1.0, None], 'x[1]'),
        (np.array([True, False]), 'x[0]'),
        ('0.5', 'x'),
        (None, 'x'),
        ([[1.0, 2.0], [3.0]], 'x'),
        ([10**400], 'x'),
        ({1.0}, 'x'),
    ],
    ids=str,
)
def test_what_is_no_real_number_is_refused_by_name(given, element):
    with pytest.raises(ArgumentError) as caught:
        real_array('x', given)
    text = str(caught.value)
    assert text.startswith('x must be numbers')
    assert element == 'x' or f': {element} is ' in text
    assert 'np.' not in text and 'array(' not in text and len(text) < 300


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf, 1.1e9, -1e300])
def test_what_no_robot_has_is_refused_by_name(value):
    check_bounded('x', np.array([[1e9, -1e9], [0.0, 5e-324]]))
    assert is_bounded([1e9, -1e9, 0, -0.0]) and not is_bounded([0.0, value])
    with pytest.raises(ArgumentError, match=r'^x\[1\]\[0\] must be finite and at most 1e\+09'):
        check_bounded('x', np.array([[0.0, 1.0], [value, 0.0]]))


@pytest.mark.parametrize('value', [1j, '1', None])
def test_few_values_that_are_no_numbers_are_not_bounded(value):
    assert not is_bounded([0.0, value])


class Refuses(StandardArray):
    """An array of which only explicit copies are allowed, as those of CuPy."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError('implicit conversion to a NumPy array is not allowed')


@pytest.mark.parametrize('kind', [StandardArray, Refuses])
def test_arrays_with_dlpack_alone_become_numbers(kind):
    for dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8):
        values = np.arange(6, dtype=dtype).reshape(2, 3)
        np.testing.assert_array_equal(host_array(kind(values)), values)
        np.testing.assert_array_equal(host_array(kind(values.T[::2])), values.T[::2])
        assert real_array('x', kind(values)).dtype == np.float64
    assert host_array(kind(np.array([True, False]))).tolist() == [True, False]
    assert integer_array('x', kind(np.arange(3))).tolist() == [0, 1, 2]
    with pytest.raises(ArgumentError, match='x must be numbers'):
        real_array('x', kind(np.array([True, False])))
    with pytest.raises(ArgumentError, match='x must be integers'):
        integer_array('x', kind(np.arange(3.0)))
    with pytest.raises(ArgumentError, match='x must be numbers'):
        real_array('x', kind(np.array([1j])))
