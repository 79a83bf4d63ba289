# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Planners of a device with memory of its own give the answers of the CPU."""

import numpy as np
from support.rigs.planner_answers import every_answer
from support.rigs.planning_rig import make_planner
from support.solvers.apart_memory import apart_memory
import warp as wp

from ros_ik.model import ModelBuilder


def test_answers_of_every_kind_are_those_of_the_cpu():
    here = every_answer(make_planner('panda'))
    with apart_memory() as copies:
        there = every_answer(make_planner('panda'))
    assert copies.up > 10 and copies.down > 10
    assert not here['codes'].any() and here['other'].size and here['together'] is not None
    for name, expected in here.items():
        np.testing.assert_array_equal(there[name], expected, err_msg=name)


def test_every_model_is_made_for_the_device_of_the_planner(monkeypatch):
    wanted, devices = wp.get_device('cpu'), []
    finalize = ModelBuilder.finalize

    def recorded(builder, device=None, **options):
        devices.append(device)
        return finalize(builder, device, **options)

    monkeypatch.setattr(ModelBuilder, 'finalize', recorded)
    _ = make_planner('panda', device=wanted).bounded_model
    assert len(devices) == 2 and all(device is wanted for device in devices)
