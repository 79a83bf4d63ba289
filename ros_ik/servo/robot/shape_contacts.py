# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Contacts of pairs of shapes whose fits are always near, judged by hulls and triangles.

A fit is thicker than its mesh, so fits may always touch while the links are apart nearly always.
The convex hulls of meshes tell most such links from those that always touch; triangles tell the
others, whose hollows the hulls fill.
"""

from __future__ import annotations

from collections.abc import Callable
import enum
import time

import numpy as np

from ros_ik.barriers.pair_sampling import sample_pair_distances
from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.kinematics.collision.distance.contact import in_contact
from ros_ik.kinematics.link_poses import link_poses
from ros_ik.model import Model
from ros_ik.model.conventions import poses
from ros_ik.model.hulls.mesh_contact import surfaces_meet
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.servo.robot.shape_fits import ShapeFits

# Number of random configurations for the shares, fraction of them that makes links always touch,
# and fraction above which hulls in contact would hold the robot most of the time. Gap of hulls [m]
# at the neutral configuration below which they count as in contact there.
_SAMPLES, _SEED, _ALWAYS, _MOSTLY = 1000, 0, 0.95, 0.5
_LEAST_GAP = 0.001
# Number of configurations at which triangles are tested: those of the deepest hulls and as many
# others for links that may never meet, and fewer for those whose hulls always touch.
_DEEPEST, _FEW = 40, 40
# Time limit for tests of triangles [s], because a description is untrusted: TIAGo takes 3 s.
# Afterwards the hulls count as the shapes.
_TESTING_TIME = 60.0


class Contact(enum.IntEnum):
    """Contact of a pair of shapes over the configurations of a robot."""

    # At nearly all configurations.
    ALWAYS = 0
    # At no configuration that was tried.
    NEVER = 1
    # At some; the hulls are apart at the neutral configuration and at most others.
    SOMETIMES = 2
    # The hulls touch at the neutral configuration or at most others, the shapes not always.
    HIDDEN = 3


def shape_contacts(
    fits: ShapeFits, model: Model, pairs: np.ndarray, joint_q: np.ndarray
) -> np.ndarray:
    """Judge pairs of shapes.

    Args:
        fits: The fits of the shapes of a model.
        model: The model.
        pairs: Pairs of its shapes, int [n, 2].
        joint_q: Configurations at which contacts are searched, beside random ones
            [k, joint_coord_count].

    Returns:
        Values of :class:`Contact`, int [n]; HIDDEN where a shape cannot be measured.
    """
    found = np.full(len(pairs), int(Contact.HIDDEN))
    hulls, known, rows = pair_hulls(model, pairs, fits.hull)
    random = model.random_joint_q(_SAMPLES, np.random.default_rng(_SEED))
    q = np.vstack([model.neutral_joint_q(), random])
    distance = sample_pair_distances(hulls, rows, q)
    # Few contacts need a longer search.
    few = np.flatnonzero(in_contact(distance, 0.0).sum(axis=0) < _DEEPEST)
    more = sample_pair_distances(hulls, rows[few], joint_q)
    longer = dict(zip(few.tolist(), more.T, strict=True))
    surfaces, every = _Surfaces(fits, model), np.vstack([q, joint_q])
    for column, k in enumerate(np.flatnonzero(known).tolist()):
        of_pair = np.concatenate([distance[:, column], longer.get(column, np.zeros(0))])
        found[k] = _judge(surfaces, tuple(pairs[k].tolist()), every, of_pair)
    return found


def _judge(
    surfaces: _Surfaces, pair: tuple[int, int], q: np.ndarray, distance: np.ndarray
) -> Contact:
    """Judge a pair of shapes by the distances of their hulls at configurations.

    The first configuration is the neutral one, the next ones are random. The last ones may have
    no distance.
    """
    touch = in_contact(distance, 0.0)
    share = touch[1 : 1 + _SAMPLES].mean()
    if touch[0] and share >= _ALWAYS:
        met = [surfaces.meet(pair, one) for one in q[:_FEW]]
        return Contact.ALWAYS if met[0] and np.mean(met) >= _ALWAYS else Contact.HIDDEN
    hit = np.flatnonzero(touch)
    tried = np.concatenate([hit[np.argsort(distance[hit])][:_DEEPEST], hit[:_FEW]])
    if not any(surfaces.meet(pair, one) for one in q[tried]):
        return Contact.NEVER
    is_free = distance[0] > _LEAST_GAP and share < _MOSTLY
    return Contact.SOMETIMES if is_free else Contact.HIDDEN


class _Surfaces:
    """Contacts of the triangles of shapes; shapes without triangles count as their hulls."""

    def __init__(self, fits: ShapeFits, model: Model) -> None:
        self._fits, self._model = fits, model
        self._triangles: dict[int, np.ndarray | None] = {}
        self._body = model.shape_body.numpy()
        self._left = _TESTING_TIME

    def meet(self, pair: tuple[int, int], joint_q: np.ndarray) -> bool:
        """Return True if two shapes whose hulls touch at a configuration meet there."""
        start = time.thread_time()
        first, second = (self._of(shape) for shape in pair)
        if first is None or second is None or self._left <= 0.0:
            return True
        links = [*link_poses(self._model, joint_q), poses.IDENTITY_POSE]
        one, other = (links[self._body[shape]] for shape in pair)
        relative = poses.multiply(poses.inverse(other), one)
        moved = relative[:3] + poses.rotate(relative[3:], first.reshape(-1, 3))
        met = surfaces_meet(moved.reshape(first.shape), second)
        self._left -= time.thread_time() - start
        return met

    def _of(self, shape: int) -> np.ndarray | None:
        """Return the triangles of a shape in its link, or None."""
        if shape not in self._triangles:
            try:
                self._triangles[shape] = self._fits.triangles(shape)
            except (ModelError, OSError):
                self._triangles[shape] = None
        return self._triangles[shape]


def pair_hulls(
    model: Model, pairs: np.ndarray, hull_of: Callable[[int], CollisionGeometry | None]
) -> tuple[CollisionGeometry, np.ndarray, np.ndarray]:
    """Return hulls of the shapes of pairs.

    Args:
        model: The model.
        pairs: Pairs of its shapes, int [n, 2].
        hull_of: Function that returns the hull of a shape in one primitive, or None without one.
            It may raise ArgumentError, ModelError or OSError instead.

    Returns:
        The hulls; True for pairs of which both shapes have one, bool [n]; rows of their hulls, int
        [number of True, 2].
    """
    geometry = CollisionGeometry.from_shapes(model, [])
    for shape in np.unique(pairs).tolist():
        try:
            hull = hull_of(shape)
        except (ArgumentError, ModelError, OSError):
            continue
        if hull is not None:
            geometry = geometry + hull
    row = {int(shape): k for k, shape in enumerate(geometry.shape)}
    known = np.array([all(shape in row for shape in pair) for pair in pairs.tolist()], dtype=bool)
    rows = np.array([[row[a], row[b]] for a, b in pairs[known].tolist()], dtype=int)
    return geometry, known, rows.reshape(-1, 2)
