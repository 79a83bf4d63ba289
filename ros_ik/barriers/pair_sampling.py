# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of primitives that are always or never close to each other, found by sampling."""

from __future__ import annotations

import numpy as np
import warp as wp

from ros_ik.barriers.collision_table import CollisionRows
from ros_ik.barriers.collision_table import CollisionTable
from ros_ik.barriers.pair_measurement import needs_gjk
from ros_ik.barriers.pair_measurement import PairMeasurement
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.collision.checks.lasting_contact import often_in_contact
from ros_ik.kinematics.collision.distance.contact import in_contact
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.shapes.collision_geometry import CollisionGeometry

# Fraction of random configurations at which pairs that are always close are in contact.
_FRACTION = 0.95


@shares_launch_lock
def sample_pair_distances(
    geometry: CollisionGeometry, pairs: np.ndarray, joint_q: np.ndarray
) -> np.ndarray:
    """Return the signed distances of pairs of primitives [m], float64 [k, n].

    Args:
        geometry: The primitives.
        pairs: Pairs of them, int [n, 2].
        joint_q: Configurations, [k, joint_coord_count].
    """
    if not len(pairs) or not len(joint_q):
        return np.zeros((len(joint_q), len(pairs)))
    model, scalar = geometry.model, wp.float64
    device, rows = model.device, CollisionRows(geometry, 0)
    measurement = PairMeasurement(
        rows,
        CollisionTable(rows, scalar, device),
        scalar,
        device,
        max_pairs=len(pairs),
        n_closest=None,
        d_min=0.0,
        d_max=None,
        convex=needs_gjk(rows.kind[pairs]),
    )
    measurement.set_pairs(np.asarray(pairs))
    q = wp.array(joint_q, dtype=scalar, device=device)
    body_q = wp.zeros((len(joint_q), model.body_count), dtype=wp.transformd, device=device)
    launch_forward_kinematics(kinematic_tree(model, scalar), q, body_q)
    values = wp.zeros((len(joint_q), len(pairs)), dtype=scalar, device=device)
    measurement.launch_values(body_q, measurement.work('all', len(joint_q)), values, 0)
    # The measurement reorders the pairs.
    column = {tuple(sorted(pair)): k for k, pair in enumerate(measurement.pairs.tolist())}
    order = [column[tuple(sorted(pair))] for pair in np.asarray(pairs).tolist()]
    return values.numpy()[:, order]


def always_close(geometry: CollisionGeometry, pairs: np.ndarray, distance: float) -> np.ndarray:
    """Find the pairs that are in contact at nearly all configurations.

    No step can keep such pairs apart; they are close by design. Pairs at exactly the distance are
    in contact, see :func:`in_contact`.

    Args:
        geometry: The primitives.
        pairs: Pairs of them, int [n, 2].
        distance: Distance [m] up to which a pair is in contact.

    Returns:
        bool [n], True for contact at the neutral and at 95 % of 200 random configurations.
    """
    pairs = np.asarray(pairs)

    def distances(joint_q: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the distances of some of the pairs [m], [k, m]."""
        return sample_pair_distances(geometry, pairs[rows], joint_q)

    return often_in_contact(geometry.model, len(pairs), distance, distances, _FRACTION)


def never_close(
    geometry: CollisionGeometry,
    pairs: np.ndarray,
    distance: float,
    *,
    n_samples: int = 10_000,
    seed: int = 0,
) -> np.ndarray:
    """Find the pairs that no sampled configuration brings into contact.

    A barrier without them takes less time. The samples make it likely, but do not prove, that they
    never meet.

    Args:
        geometry: The primitives.
        pairs: Pairs of them, int [n, 2].
        distance: Distance [m] up to which a pair is in contact.
        n_samples: Number of random configurations inside the limits.
        seed: Seed of the samples.

    Returns:
        bool [n].

    Raises:
        ArgumentError: No samples.
    """
    if n_samples < 1:
        raise ArgumentError(f'n_samples must be at least 1, got {n_samples}')
    rng, never = np.random.default_rng(seed), np.ones(len(pairs), dtype=bool)
    for start in range(0, n_samples, 1000):
        count = min(1000, n_samples - start)
        q = geometry.model.random_joint_q(count, rng)
        never &= ~np.any(in_contact(sample_pair_distances(geometry, pairs, q), distance), axis=0)
    return never
