# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Custom attributes: the same as Newton's, and errors that name them."""
# A table of calls, one line each.
# ruff: noqa: E501

from model.building.newton_twins import Both
from model.building.newton_twins import newton
from model.building.newton_twins import Twins
import numpy as np
import pytest
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model import ModelBuilder

Frequency = Model.AttributeFrequency


def declare(twins, **settings):
    """Declare an attribute in both."""
    twins.add_custom_attribute(
        Both(
            ModelBuilder.CustomAttribute(**settings),
            newton.ModelBuilder.CustomAttribute(
                **{**settings, 'frequency': _theirs(settings['frequency'])}
            ),
        )
    )


def _theirs(frequency):
    return frequency if isinstance(frequency, str) else newton.Model.AttributeFrequency(frequency)


def robot():
    """Two joints and attributes of many frequencies and types."""
    twins = Twins()
    twins.add_custom_frequency(
        Both(
            ModelBuilder.CustomFrequency('pair', 'mine'),
            newton.ModelBuilder.CustomFrequency('pair', 'mine'),
        )
    )
    for name, dtype, frequency, extra in (
        ('heat', wp.float32, Frequency.BODY, {'default': 20.0}),
        ('colour', wp.vec3, Frequency.SHAPE, {'namespace': 'look'}),
        ('turn', wp.quat, Frequency.BODY, {'namespace': 'look'}),
        ('partner', wp.int32, Frequency.JOINT, {'references': 'body', 'default': -1}),
        ('gain', wp.float32, Frequency.JOINT_DOF, {'default': 1.0}),
        ('rest', wp.float32, Frequency.JOINT_COORD, {}),
        ('vendor', str, Frequency.ARTICULATION, {'default': 'nobody'}),
        ('version', wp.int32, Frequency.ONCE, {'values': {0: 3}}),
        ('stiff', wp.bool, Frequency.CONSTRAINT_MIMIC, {}),
        ('first', wp.int32, 'mine:pair', {'references': 'shape', 'namespace': 'mine'}),
        ('second', wp.int32, 'mine:pair', {'references': 'shape', 'namespace': 'mine'}),
        ('place', wp.int32, 'mine:pair', {'references': 'world', 'namespace': 'mine'}),
    ):
        declare(twins, name=name, dtype=dtype, frequency=frequency, **extra)
    a = twins.add_link(label='a', custom_attributes={'heat': 30.0})
    b = twins.add_link(
        label='b', custom_attributes={'heat': 35.0, 'look:turn': wp.quat(1.0, 0.0, 0.0, 0.0)}
    )
    first = twins.add_joint_ball(
        -1, a, label='first',
        custom_attributes={'partner': b, 'gain': [1.0, 2.0, 3.0], 'rest': 0.5},
    )  # fmt: skip
    second = twins.add_joint_revolute(
        a, b, axis=1, label='second', custom_attributes={'gain': {0: 4.0}, 'rest': [0.25]}
    )
    third = twins.add_joint_revolute(b, twins.add_link(label='c'), label='third')
    twins.add_constraint_mimic(third, second, custom_attributes={'stiff': True})
    twins.add_articulation(
        [first, second, third], label='robot', custom_attributes={'vendor': 'us'}
    )
    for body in (a, b):
        twins.add_shape_sphere(body, custom_attributes={'look:colour': (1.0, 0.0, float(body))})
    twins.add_custom_values(**{'mine:first': 0, 'mine:second': 1})
    twins.add_custom_values(**{'mine:first': 1})
    return twins


def assert_equal_attributes(twins):
    """Compare every custom attribute of both models."""
    ours, theirs = twins.finalize()
    for key, attribute in twins.ours.custom_attributes.items():
        holders = [
            getattr(m, attribute.namespace) if attribute.namespace else m for m in (ours, theirs)
        ]
        here, there = (getattr(holder, attribute.name) for holder in holders)
        if attribute.dtype is str:
            assert here == there, key
        else:
            assert here.dtype == there.dtype and here.shape == there.shape, key
            np.testing.assert_array_equal(here.numpy(), there.numpy(), err_msg=key)
        assert ours.get_attribute_frequency(key) == theirs.get_attribute_frequency(key)
    assert (
        ours.get_custom_frequency_count('mine:pair') == theirs.custom_frequency_counts['mine:pair']
    )
    return ours


@pytest.mark.oracle
def test_attributes_equal_newtons():
    model = assert_equal_attributes(robot())
    np.testing.assert_array_equal(model.heat.numpy(), [30, 35, 20])
    np.testing.assert_array_equal(model.look.colour.numpy()[1], [1, 0, 1])
    assert model.get_attribute_frequency('look:colour') == Frequency.SHAPE
    assert model.get_attribute_frequency('joint_axis') == Frequency.JOINT_DOF
    assert 'colour' in repr(model.look)


@pytest.mark.oracle
def test_attributes_of_many_worlds_equal_newtons():
    scene = Twins()
    scene.add_shape_sphere(-1)
    scene.replicate(robot(), 3)
    scene.add_world(robot(), label_prefix='other')
    model = assert_equal_attributes(scene)
    np.testing.assert_array_equal(
        model.partner.numpy(), [1, -1, -1, 4, -1, -1, 7, -1, -1, 10, -1, -1]
    )
    np.testing.assert_array_equal(model.mine.place.numpy(), [0, 0, 1, 1, 2, 2, 3, 3])
    assert model.mine.first.numpy()[2] == 3  # behind the global shape and the two of world 0


def test_attributes_of_worlds_and_gradients():
    builder = ModelBuilder()
    builder.add_custom_attribute(
        ModelBuilder.CustomAttribute('wind', wp.vec3, Frequency.WORLD, default=(0, 0, 0))
    )
    builder.begin_world()
    builder.end_world()
    builder.begin_world(attributes={'wind': (1.0, 2.0, 3.0)})
    builder.end_world()
    model = builder.finalize('cpu', requires_grad=True)
    np.testing.assert_array_equal(model.wind.numpy(), [[0, 0, 0], [1, 2, 3]])
    assert model.wind.requires_grad


def test_misuse_is_named():
    builder = ModelBuilder()
    heat = ModelBuilder.CustomAttribute('heat', wp.float32, Frequency.BODY)
    builder.add_custom_attribute(heat)
    builder.add_custom_attribute(heat)
    for call, error, message in (
        (lambda: builder.add_custom_attribute(ModelBuilder.CustomAttribute('heat', wp.int32, Frequency.BODY)), ArgumentError, "'heat' is declared"),
        (lambda: ModelBuilder.CustomAttribute('two words', wp.int32, Frequency.BODY), ArgumentError, 'two words'),
        (lambda: ModelBuilder.CustomAttribute('x', object, Frequency.BODY), ArgumentError, "'x'.*Warp type"),
        (lambda: builder.add_custom_attribute(ModelBuilder.CustomAttribute('x', wp.int32, 'mine')), ArgumentError, "'x'.*'mine'"),
        (lambda: builder.add_link(custom_attributes={'cold': 1}), AttributeError, "'cold' is not declared"),
        (lambda: builder.add_shape_sphere(-1, custom_attributes={'heat': 1}), ArgumentError, "'heat' of shape"),
        (lambda: builder.add_custom_values(heat=1), ArgumentError, "'heat' has no frequency of its own"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            call()
    model = builder.finalize('cpu')
    numbers = wp.zeros(model.body_count, dtype=wp.float32, device='cpu')
    model.add_attribute('extra', numbers, Frequency.BODY)
    model.add_attribute('extra', numbers, Frequency.BODY, namespace='mine')
    assert model.mine.extra is model.extra is numbers
    for arguments, error in (
        (('extra', numbers, Frequency.BODY), AttributeError),
        (('body_q', numbers, Frequency.BODY), AttributeError),
        (('joint_index', numbers, Frequency.BODY), AttributeError),
        (('extra', numbers, Frequency.BODY, None, 'mine'), AttributeError),
        (('extra', numbers, Frequency.BODY, None, 'body_q'), AttributeError),
        (('short', wp.zeros(7, device='cpu'), Frequency.BODY), ArgumentError),
    ):
        with pytest.raises(error, match=arguments[-1] if len(arguments) == 5 else arguments[0]):
            model.add_attribute(*arguments)
    with pytest.raises(ArgumentError, match='nothing'):
        model.get_attribute_frequency('nothing')
    with pytest.raises(ArgumentError, match='nothing'):
        model.get_custom_frequency_count('nothing')
    with pytest.raises(AttributeError, match='nothing'):
        _ = model.mine.nothing
