# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The device of a servo is the first working one of the request."""

import pytest
import warp as wp

from ros_ik.errors import RosIkError
from ros_ik.node.model_loading.devices import choose_device

without_gpu = pytest.mark.skipif(wp.is_cuda_available(), reason='Warp finds a CUDA device')


@pytest.mark.parametrize('wanted', ['auto', 'cpu', 'cpu,cuda:0', ' auto '])
def test_the_cpu_always_works(wanted):
    assert choose_device(wanted) == ('cpu', ())


@without_gpu
@pytest.mark.parametrize('wanted', ['cuda,cpu', 'cuda:0, auto'])
def test_the_next_one_takes_the_place_of_one_that_does_not_work(wanted):
    device, faults = choose_device(wanted)
    assert device == 'cpu'
    assert faults == (f'{wanted.partition(",")[0]}: CUDA is not available',)


@without_gpu
def test_where_none_works_each_is_named():
    with pytest.raises(RosIkError, match="'cuda:0,cuda:1' was requested, but cuda:0.*; cuda:1"):
        choose_device('cuda:0,cuda:1')


@pytest.mark.gpu
@pytest.mark.skipif(not wp.is_cuda_available(), reason='Warp finds no CUDA device')
def test_a_gpu_that_works_is_taken_and_one_that_is_not_there_is_passed_over():
    assert choose_device('cuda:0') == ('cuda:0', ())
    device, (fault,) = choose_device('cuda:77,cuda:0')
    assert device == 'cuda:0' and 'cuda:77' in fault
