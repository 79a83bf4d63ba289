# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The same builder calls made to Newton and to us, and the models compared field by field."""

import warnings

import numpy as np
import pytest
import warp as wp

from ros_ik.model import ModelBuilder
from ros_ik.model.building.tables.columns import COLUMNS

newton = pytest.importorskip('newton', reason='newton, the oracle, is not installed')

# Fields of ours that Newton has under the same name; all but the inverses come from columns.
FIELDS = sorted(
    {name for name, column in COLUMNS.items() if column.on_model and column.dtype is not None}
    | {
        'joint_ancestor', 'body_inv_mass', 'body_inv_inertia', 'gravity',
        'body_world_start', 'joint_world_start', 'shape_world_start', 'articulation_world_start',
        'joint_coord_world_start', 'joint_dof_world_start', 'joint_constraint_world_start',
    }
)  # fmt: skip
COUNTS = (
    'body_count', 'joint_count', 'joint_coord_count', 'joint_dof_count', 'joint_constraint_count',
    'shape_count', 'articulation_count', 'constraint_mimic_count', 'world_count',
    'max_joints_per_articulation', 'max_dofs_per_articulation',
)  # fmt: skip
LABELS = ('body_label', 'joint_label', 'shape_label', 'articulation_label')
# Newton's placeholder for no velocity or effort limit is 1e6; ours is its 1e10 for all limits.
NO_LIMIT = {'joint_velocity_limit': 1e6, 'joint_effort_limit': 1e6}


class Twins:
    """Two builders that get the same calls; ``builder.ours`` and ``builder.theirs`` are each."""

    def __init__(self):
        self.ours, self.theirs = ModelBuilder(), newton.ModelBuilder()

    def __getattr__(self, name):
        def call(*args, **kwargs):
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')  # names that Newton is about to retire
                theirs = getattr(self.theirs, name)(*_pick(args, 1), **_pick(kwargs, 1))
            ours = getattr(self.ours, name)(*_pick(args, 0), **_pick(kwargs, 0))
            # Newton returns no index of an articulation.
            assert theirs is None or ours == theirs, (name, ours, theirs)
            return theirs

        return call

    def finalize(self, **kwargs):
        """Return our model and Newton's, on the CPU."""
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            # Newton would mend inertias that no body has; we keep what was given.
            theirs = self.theirs.finalize('cpu', skip_validation_inertia=True, **kwargs)
        return self.ours.finalize('cpu', **kwargs), theirs


class Both:
    """One value for us, another of the same meaning for Newton."""

    def __init__(self, ours, theirs):
        self.values = ours, theirs


def dof(**settings):
    """Return the same JointDofConfig for both."""
    return Both(
        ModelBuilder.JointDofConfig(**settings), newton.ModelBuilder.JointDofConfig(**settings)
    )


def shape_config(**settings):
    """Return the same ShapeConfig for both."""
    return Both(ModelBuilder.ShapeConfig(**settings), newton.ModelBuilder.ShapeConfig(**settings))


def _pick(value, side):
    """Take one side of every Both and Twins in an argument."""
    if isinstance(value, Both):
        return value.values[side]
    if isinstance(value, Twins):
        return (value.ours, value.theirs)[side]
    if isinstance(value, dict):
        return {key: _pick(item, side) for key, item in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, '_wp_scalar_type_'):
        return type(value)(_pick(item, side) for item in value)
    return value


def assert_equal_models(ours, theirs, rounded=(), skip=()):
    """Compare two models: types, shapes and values of all fields, counts, labels, pairs.

    Args:
        ours: Our model.
        theirs: Newton's.
        rounded: Fields that both compute, in another order of float32 or float64 operations.
        skip: Fields not to compare.
    """
    for name in COUNTS + LABELS:
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in FIELDS:
        if name in skip:
            continue
        here, there = getattr(ours, name), getattr(theirs, name)
        assert isinstance(here, wp.array), name
        assert here.dtype == there.dtype and here.shape == there.shape, name
        assert here.requires_grad == there.requires_grad, name
        expected = there.numpy()
        if name in NO_LIMIT:
            expected = np.where(expected == NO_LIMIT[name], np.float32(1e10), expected)
        if name in rounded or name.startswith('body_inv'):
            # A few float32 roundings; entries near zero are compared with the largest one.
            scale = np.abs(expected).max(initial=0.0)
            np.testing.assert_allclose(
                here.numpy(), expected, rtol=1e-6, atol=1e-6 * scale, err_msg=name
            )
        else:
            np.testing.assert_array_equal(here.numpy(), expected, err_msg=name)
    assert ours.shape_collision_filter_pairs == set(theirs.shape_collision_filter_pairs)
    pairs = theirs.shape_contact_pairs.numpy().reshape(-1, 2)
    ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    np.testing.assert_array_equal(ours.shape_contact_pairs.numpy().reshape(-1, 2), ordered)
