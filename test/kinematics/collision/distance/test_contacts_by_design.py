# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes whose distance equals the margin are in contact, whatever the rounding."""

import numpy as np
import pytest

from ros_ik.barriers import always_close
from ros_ik.barriers import never_close
from ros_ik.kinematics.collision.checks.collisions import always_colliding_pairs
from ros_ik.kinematics.collision.distance.contact import in_contact
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import CollisionGeometry

PAIR = np.array([[0, 1]])
# In float32 the first is exact and the second is smaller: at a margin of 0 the distances of
# float64 alternate around 0, or are 3e-9 m.
RADII = 0.125, 0.06


def stacked_spheres(radius, gap):
    """Return the model of two spheres at a constant distance, on an axis that both turn about."""
    sphere = f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'
    turn = '<axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint>'
    return Model.from_urdf(
        f'<robot name="stack"><link name="base">{sphere}</link><link name="middle"/>'
        f'<link name="top">{sphere}</link>'
        f'<joint name="lower" type="revolute"><parent link="base"/><child link="middle"/>{turn}'
        f'<joint name="upper" type="revolute"><parent link="middle"/><child link="top"/>'
        f'<origin xyz="0 0 {2.0 * radius + gap}"/>{turn}</robot>',
        device='cpu',
    )


@pytest.mark.parametrize('radius', RADII)
@pytest.mark.parametrize('margin', (0.0, 0.02))
def test_a_pair_at_its_margin_is_in_contact_by_design(radius, margin):
    geometry = CollisionGeometry.from_model(stacked_spheres(radius, margin))
    assert always_close(geometry, PAIR, margin).all()
    assert not never_close(geometry, PAIR, margin, n_samples=100).any()
    assert len(always_colliding_pairs(geometry.model, margin=margin, pairs=PAIR)) == 1


@pytest.mark.parametrize('radius', RADII)
def test_a_pair_beyond_its_margin_is_not_in_contact(radius):
    geometry = CollisionGeometry.from_model(stacked_spheres(radius, 0.02 + 1e-5))
    assert not always_close(geometry, PAIR, 0.02).any()
    assert never_close(geometry, PAIR, 0.02, n_samples=100).all()
    assert len(always_colliding_pairs(geometry.model, margin=0.02, pairs=PAIR)) == 0


def test_contacts_allow_for_rounding_alone():
    found = in_contact(np.array([-0.1, 0.0, 1e-8, 1e-5]), 0.0)
    assert found.tolist() == [True, True, True, False]
