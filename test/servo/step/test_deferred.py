# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings that take effect once the robot can stop with them."""

import numpy as np

from ros_ik.servo.step.deferred import Deferred


def test_a_wanted_value_has_no_effect_before_it_is_applied():
    scale = Deferred(1.0)
    scale.request(0.5)
    assert (scale.in_force, scale.is_applied) == (1.0, False)
    scale.apply_requested()
    assert (scale.in_force, scale.is_applied) == (0.5, True)


def test_a_value_that_is_changed_back_is_not_deferred():
    margin = Deferred(np.zeros(3))
    margin.request(np.ones(3))
    margin.request(np.zeros(3))
    assert margin.is_applied


def test_a_value_in_force_reaches_the_wanted_one_in_parts():
    scale = Deferred(1.0)
    scale.request(0.5)
    scale.enforce(0.75)
    assert (scale.in_force, scale.requested, scale.is_applied) == (0.75, 0.5, False)
    scale.enforce(float('0.5'))
    assert scale.is_applied


def test_a_copy_has_the_value_in_force_and_the_wanted_one():
    first, second = Deferred(np.zeros(2)), Deferred(np.zeros(2))
    assert not second.differs_from(first)
    first.request(np.ones(2))
    second.continue_from(first)
    second.apply_requested()
    assert second.differs_from(first) and not first.is_applied
