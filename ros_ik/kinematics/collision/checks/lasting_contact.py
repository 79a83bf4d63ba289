# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of shapes that are in contact at every sampled configuration, or at most.

Checks of solutions leave out the pairs in contact at every sample: they overlap by design, and no
solution would be left. Barriers also leave out those in contact at most samples, which would hold
a robot that starts there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.kinematics.collision.distance.contact import in_contact

if TYPE_CHECKING:
    from ros_ik.model.model import Model

# Function that returns the distances [m], [k, m], of configurations [k, joint_coord_count] and of
# pairs, indices [m].
Distances = Callable[[np.ndarray, np.ndarray], np.ndarray]

# Number of random configurations that tell most pairs, and of further ones; the seed is fixed.
_FIRST, _FURTHER, _SEED = 200, 800, 0
# Number of all samples, the neutral configuration included.
CONTACT_SAMPLES = 1 + _FIRST + _FURTHER


def always_in_contact(model: Model, count: int, margin: float, distances: Distances) -> np.ndarray:
    """Find the pairs in contact at the neutral and at 1000 random configurations.

    Args:
        model: The model.
        count: Number of pairs.
        margin: Distance [m] up to which a pair is in contact, see :func:`in_contact`.
        distances: Function that measures pairs.

    Returns:
        bool [count].
    """
    found, rng = np.zeros(count, dtype=bool), np.random.default_rng(_SEED)
    left = np.arange(count)
    for q in (
        model.neutral_joint_q()[None],
        model.random_joint_q(_FIRST, rng),
        model.random_joint_q(_FURTHER, rng),
    ):
        if len(left):
            left = left[in_contact(distances(q, left), margin).all(axis=0)]
    found[left] = True
    return found


def often_in_contact(
    model: Model, count: int, margin: float, distances: Distances, fraction: float
) -> np.ndarray:
    """Find the pairs in contact at the neutral and at a fraction of 200 random configurations.

    Args:
        model: The model.
        count: Number of pairs.
        margin: Distance [m] up to which a pair is in contact.
        distances: Function that measures pairs.
        fraction: Least fraction of the random configurations, in [0, 1].

    Returns:
        bool [count].
    """
    found = np.zeros(count, dtype=bool)
    if count:
        neutral = model.neutral_joint_q()[None]
        found = in_contact(distances(neutral, np.arange(count)), margin)[0]
    left = np.flatnonzero(found)
    if len(left):
        q = model.random_joint_q(_FIRST, np.random.default_rng(_SEED))
        found[left] = in_contact(distances(q, left), margin).mean(axis=0) >= fraction
    return found
