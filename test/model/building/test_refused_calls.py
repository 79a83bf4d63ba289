# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A builder that refuses a call stays as it was, so that the call can be repeated."""

import numpy as np
import pytest
import warp as wp

from ros_ik.errors import RosIkError
from ros_ik.model import Model
from ros_ik.model import ModelBuilder

Frequency = Model.AttributeFrequency
UNKNOWN = {'custom_attributes': {'cold': 1}}


def arm():
    """Return a builder of two joints, one of which follows the other, and a free link."""
    builder = ModelBuilder()
    for name, frequency in (('heat', Frequency.BODY), ('gain', Frequency.JOINT_DOF)):
        builder.add_custom_attribute(ModelBuilder.CustomAttribute(name, wp.float32, frequency))
    links = [builder.add_link(label=label) for label in 'abc']
    joints = [
        builder.add_joint_revolute(parent, child, limit_lower=-1.0, limit_upper=1.0)
        for parent, child in ((-1, links[0]), (links[0], links[1]))
    ]
    builder.set_joint_mimic(joints[1], joints[0], coeffs=(0.0, 2.0))
    return builder


def other(**values):
    """Return a builder of one joint with other values."""
    builder = ModelBuilder()
    builder.add_joint_revolute(-1, builder.add_link(label='x'))
    for name, value in values.items():
        setattr(builder, name, value)
    return builder


def declared_otherwise():
    """Return a builder whose attribute of a body has another type."""
    builder = other()
    builder.add_custom_attribute(
        ModelBuilder.CustomAttribute('heat', wp.int32, Frequency.BODY)
    )
    return builder


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (lambda one: one.add_link(**UNKNOWN), 'cold'),
        (lambda one: one.add_shape_sphere(0, radius=0.1, **UNKNOWN), 'cold'),
        (lambda one: one.add_shape_sphere(0, custom_attributes={'heat': 1}), 'heat'),
        (lambda one: one.add_joint_prismatic(1, 2, **UNKNOWN), 'cold'),
        (lambda one: one.add_joint_prismatic(1, 2, custom_attributes={'gain': [1, 2]}), 'gain'),
        (lambda one: one.add_joint_ball(1, 2, custom_attributes={'gain': [1, 2]}), 'gain'),
        (lambda one: one.add_constraint_mimic(1, 0, **UNKNOWN), 'cold'),
        (lambda one: one.add_articulation([0, 1], **UNKNOWN), 'cold'),
        (lambda one: one.set_joint_mimic(1, 99), '99'),
        (lambda one: one.set_joint_mimic(1, 0, coeffs=(0.0, np.nan)), 'coef1'),
        (lambda one: one.begin_world(attributes={'cold': 1}), 'cold'),
        (lambda one: one.replicate(other(gravity=(0.0, 0.0)), 2), 'gravity'),
        (lambda one: one.add_builder(other(gravity=(0.0, 0.0))), 'gravity'),
        (lambda one: one.replicate(declared_otherwise(), 2), 'heat'),
    ],
)
def test_a_refused_call_leaves_no_part_of_it(call, message):
    builder = arm()
    before = repr(vars(builder))
    for _ in range(2):
        with pytest.raises((RosIkError, AttributeError), match=message):
            call(builder)
        assert repr(vars(builder)) == before
    builder.finalize('cpu')
