# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of objectives on the device: arrays read in place, copies from the host."""

import numpy as np
import pytest
from support.solvers.apart_memory import apart_memory
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime import host_buffer
from ros_ik.objectives.base.parameter import Parameter


def test_an_array_that_is_read_in_place_must_be_where_the_solver_is(monkeypatch):
    given = Parameter('target_positions', wp.zeros((2, 3), dtype=wp.float64, device='cpu'), 3)
    numbers_of_host = Parameter('target_positions', np.zeros((2, 3)), 3, device='cpu')
    given.bind('cpu')
    with monkeypatch.context() as patch, pytest.raises(ArgumentError, match=(
        'target_positions is a Warp array on cpu, and the solver on cuda:0 would not see'
    )):  # fmt: skip
        patch.setattr(wp, 'get_device', lambda device: 'cuda:0')
        given.bind('cuda:0')
    numbers_of_host.bind('cpu')


def test_the_host_waits_before_it_changes_what_is_being_copied(monkeypatch):
    with apart_memory():
        parameter = Parameter('target_positions', np.zeros((2, 3)), 3, device='cpu')
        before = []
        monkeypatch.setattr(
            host_buffer, 'wait_for', lambda device: before.append(parameter.read()[:, 0].tolist())
        )
        parameter.write(np.ones((2, 3)))
        parameter.write_row(1, np.full(3, 2.0))
    assert before == [[0.0, 0.0], [1.0, 1.0]]
