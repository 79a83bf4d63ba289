# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of primitives that touch by design, or only because their fits are thicker.

A barrier allows a pair that is too near only to move apart, so such pairs would block a robot
needlessly. They are found by sampling configurations:

    near     Nearer than the margin at the neutral and at 95 % of random configurations; also if
             this holds for the shapes, with meshes as convex hulls, and if these never overlap by
             more than twice the margin in a larger set of configurations.
    thick    Nearer at the neutral or at 5 % of random configurations, while the shapes meet
             nowhere in that set, which includes configurations at the limits of the joints.

:mod:`ros_ik.servo.robot.shape_contacts` judges the shapes of near pairs:

    always   They touch at nearly all configurations.
    thick    They never meet.
    tight    They meet at some configurations: their hulls are checked, without the margin.
    hidden   The same, but the hulls would hold the robot at its neutral or at most
             configurations: they are not checked.

All pairs that are free at some configurations and in collision at others are checked, except the
hidden ones:

    often    Checked, and nearer than the margin at half of random configurations or more.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib

import numpy as np

from ros_ik.barriers import always_close
from ros_ik.barriers.pair_sampling import sample_pair_distances
from ros_ik.errors import ModelError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.collision.distance.contact import in_contact
from ros_ik.model import Model
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik.model.hulls.fit_cache import FitCache
from ros_ik.model.readers.mesh_files import MeshFile
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.servo.robot.shape_contacts import Contact
from ros_ik.servo.robot.shape_contacts import pair_hulls
from ros_ik.servo.robot.shape_contacts import shape_contacts
from ros_ik.servo.robot.shape_fits import farthest_vertices
from ros_ik.servo.robot.shape_fits import hull_primitive
from ros_ik.servo.robot.shape_fits import scaled_vertices
from ros_ik.servo.robot.shape_fits import ShapeFits

# Number of configurations for the fits, and fraction of them that makes a pair a touching one.
# Many pairs have fewer configurations, to bound the number of distances.
_SAMPLES, _OFTEN, _MAX_DISTANCES = 500, 0.05, 2_000_000
# Fraction of the configurations at which a checked pair causes a warning.
_WARNED_FRACTION = 0.5
# Number of configurations for the shapes, half of them with joints at their limits.
_PROOF, _BLOCK, _SEED = 4000, 500, 1
# Largest number of pairs of shapes, because a description is untrusted. The tested robots have up
# to 300 that touch often, which takes seconds. Beyond this number all pairs are checked.
_MAX_CANDIDATES = 2000
# Number of directions whose extreme vertices represent a mesh, and thickness added for the others,
# as a fraction of the size.
_EXTREMES, _LEFT_OUT = 1000, 0.005
# Increase when the result changes for the same robot.
_VERSION = 8
_MASKS = ('always', 'thick', 'tight', 'hidden', 'often')
_MODEL_ARRAYS = (
    'joint_type',
    'joint_parent',
    'joint_child',
    'joint_X_p',
    'joint_X_c',
    'joint_axis',
    'constraint_mimic_joint0',
    'constraint_mimic_joint1',
    'constraint_mimic_coef0',
    'constraint_mimic_coef1',
)
_COLUMNS = ('kind', 'body', 'pose', 'size', 'radius', 'points', 'shape')


@dataclasses.dataclass(frozen=True, eq=False)
class TouchingPairs:
    """Masks of pairs by how often they touch.

    Attributes:
        always: Pairs whose shapes touch at nearly all configurations, bool [n].
        thick: Pairs that are too near only because of their fits, bool [n].
        tight: Pairs that are always too near, and whose hulls are to be checked, bool [n].
        hidden: Pairs that are always too near, whose shapes may meet unchecked, bool [n].
        often: Other pairs that are too near at half of random configurations, bool [n].
    """

    always: np.ndarray
    thick: np.ndarray
    tight: np.ndarray
    hidden: np.ndarray
    often: np.ndarray

    @classmethod
    def none(cls, count: int) -> TouchingPairs:
        """Return empty masks."""
        return cls(*np.zeros((5, count), dtype=bool))

    @property
    def excluded(self) -> np.ndarray:
        """Pairs that are not checked as they are, bool [n]."""
        return self.always | self.thick | self.tight | self.hidden


def touching_pairs(
    geometry: CollisionGeometry,
    pairs: np.ndarray,
    margin: float,
    padding: float,
    fits: ShapeFits,
    cache: FitCache,
) -> TouchingPairs:
    """Find the pairs that touch by design, or only because their fits are thicker.

    Args:
        geometry: The primitives, padding included.
        pairs: Pairs of them, int [n, 2].
        margin: Distance to keep between links [m].
        padding: Thickness added to the shapes of the robot [m].
        fits: The shapes of the robot, which the primitives represent.
        cache: Cache of results on disk.
    """
    if not len(pairs):
        return TouchingPairs.none(0)
    key = _key(geometry, pairs, margin, padding)
    known = cache.load_masks(key, _MASKS, len(pairs))
    if known is None:
        near = always_close(geometry, pairs, margin)
        left = np.flatnonzero(~near)
        at_neutral, share = _closeness(geometry, pairs[left], margin)
        touching = at_neutral | (share >= _OFTEN)
        graze, thick = _by_shapes(geometry, pairs[left], touching, margin, padding)
        near[left[graze]] = True
        watched = ~(graze | thick)
        contact = _contacts(geometry, pairs, near, fits)
        known = {
            'always': contact == Contact.ALWAYS,
            'thick': contact == Contact.NEVER,
            'tight': contact == Contact.SOMETIMES,
            'hidden': contact == Contact.HIDDEN,
            'often': np.isin(np.arange(len(pairs)), left[watched & (share >= _WARNED_FRACTION)]),
        }
        known['thick'][left[thick]] = True
        cache.store_masks(key, known)
    return TouchingPairs(*(known[name] for name in _MASKS))


def _contacts(
    geometry: CollisionGeometry, pairs: np.ndarray, near: np.ndarray, fits: ShapeFits
) -> np.ndarray:
    """Return how the shapes of near pairs touch, values of Contact, int [n]; -1 for the others."""
    found = np.full(len(pairs), -1)
    found[near] = Contact.HIDDEN
    behind = np.sort(geometry.shape[pairs], axis=1)
    judged = near & np.all(behind >= 0, axis=1)
    shapes, number = np.unique(behind[judged], axis=0, return_inverse=True)
    if 0 < len(shapes) <= _MAX_CANDIDATES:
        model, rng = geometry.model, np.random.default_rng(_SEED)
        q = np.vstack([_proof(model, rng) for _ in range(_PROOF // _BLOCK)])
        found[judged] = shape_contacts(fits, model, shapes, q)[number.reshape(-1)]
    return found


def _by_shapes(
    geometry: CollisionGeometry,
    pairs: np.ndarray,
    touching: np.ndarray,
    margin: float,
    padding: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Find touching pairs whose shapes are always near, and those whose shapes never meet.

    Args:
        geometry: The primitives.
        pairs: Pairs of them, int [n, 2].
        touching: Mask of the pairs to check, bool [n].
        margin: Distance to keep between links [m].
        padding: Thickness added to the shapes of the robot [m].

    Returns:
        Both bool [n].
    """
    behind = np.sort(geometry.shape[pairs], axis=1)
    touching = touching & np.all(behind >= 0, axis=1)
    if not touching.any():
        return touching, touching
    candidates = np.unique(behind[touching], axis=0)
    if len(candidates) > _MAX_CANDIDATES:
        return np.zeros_like(touching), np.zeros_like(touching)
    graze, apart = _shape_contacts(geometry.model, candidates, margin, padding)
    number = {tuple(pair): k for k, pair in enumerate(candidates.tolist())}
    of_pair = np.array([number.get(tuple(pair), -1) for pair in behind.tolist()])
    return (of_pair >= 0) & graze[of_pair], touching & apart[of_pair]


def _closeness(
    geometry: CollisionGeometry, pairs: np.ndarray, margin: float
) -> tuple[np.ndarray, np.ndarray]:
    """Measure how often pairs are nearer than a margin.

    Returns:
        True if they are at the neutral configuration, bool [n]; fraction of random configurations
        at which they are, in [0, 1], [n].
    """
    model, rng = geometry.model, np.random.default_rng(_SEED)
    count = int(np.clip(_MAX_DISTANCES // max(len(pairs), 1), 50, _SAMPLES))
    q = np.vstack([model.neutral_joint_q(), model.random_joint_q(count, rng)])
    close = in_contact(sample_pair_distances(geometry, pairs, q), margin)
    return close[0], close[1:].mean(axis=0)


def _shape_contacts(
    model: Model, pairs: np.ndarray, margin: float, padding: float
) -> tuple[np.ndarray, np.ndarray]:
    """Find pairs of shapes that are always near, and those that never meet.

    Args:
        model: The model.
        pairs: Pairs of its shapes, int [n, 2].
        margin: Distance to keep between links [m].
        padding: Thickness added to the shapes of the robot [m].

    Returns:
        Both bool [n]; False where a shape cannot be measured.
    """
    hulls, known, rows = pair_hulls(model, pairs, functools.partial(_rough_hull, model))
    rng = np.random.default_rng(_SEED)
    close, least = always_close(hulls, rows, margin), np.full(len(rows), np.inf)
    left = np.arange(len(rows))
    for _ in range(_PROOF // _BLOCK):
        q = _proof(model, rng)
        distance = sample_pair_distances(hulls, rows[left], q).min(axis=0, initial=np.inf)
        least[left] = np.minimum(least[left], distance - 2.0 * padding)
        left = np.flatnonzero((least > 0.0) | (close & (least > -2.0 * margin)))
    graze, apart = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool)
    graze[known], apart[known] = close & (least > -2.0 * margin), least > 0.0
    return graze, apart & ~graze


def _rough_hull(model: Model, shape: int) -> CollisionGeometry:
    """Return a shape, if it is a mesh the hull of its extreme vertices.

    Reducing the hull of all vertices takes long for a humanoid. The omitted vertices are within
    the thickness that is added.

    Raises:
        ModelError: A mesh that cannot be read.
    """
    source = model.shape_source[shape]
    if not isinstance(source, MeshFile):
        return CollisionGeometry.from_shapes(model, [shape])
    vertices = scaled_vertices(source, model.shape_scale.numpy()[shape].astype(np.float64))
    thickness = _LEFT_OUT * float(np.ptp(vertices, axis=0).max())
    return hull_primitive(model, shape, farthest_vertices(vertices, _EXTREMES), thickness)


def _proof(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Return a block of configurations, half of them with joints at their limits."""
    return np.vstack([model.random_joint_q(_BLOCK // 2, rng), _at_limits(model, rng)])


def _at_limits(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Return configurations with two thirds of the limited coordinates at a limit.

    The distance of two links depends on few joints, and is smallest at their limits.
    """
    q = model.random_joint_q(_BLOCK // 2, rng)
    lower, upper = driver_limits(model)
    for dof, coord in enumerate(dof_coordinates(model).tolist()):
        if coord >= 0 and np.isfinite([lower[dof], upper[dof]]).all():
            end = rng.integers(0, 3, len(q))
            q[end == 1, coord], q[end == 2, coord] = lower[dof], upper[dof]
    return model.apply_mimic(q)


def _key(geometry: CollisionGeometry, pairs: np.ndarray, margin: float, padding: float) -> str:
    """Return a hash of all inputs of the result."""
    model = geometry.model
    digest = hashlib.sha256(f'{_VERSION} {margin!r} {padding!r}'.encode())
    arrays = [pairs, *(getattr(geometry, name) for name in _COLUMNS), *model.limits64()[:2]]
    arrays += [getattr(model, name).numpy() for name in _MODEL_ARRAYS]
    for array in arrays:
        values = np.ascontiguousarray(array, dtype=np.float64)
        digest.update(f'{values.shape}'.encode())
        digest.update(values.tobytes())
    for shape in np.unique(geometry.shape[geometry.shape >= 0]).tolist():
        digest.update(_content_digest(model.shape_source[shape]).encode())
    return digest.hexdigest()


def _content_digest(source: object) -> str:
    """Return a hash of the content of a mesh file, or '' without a readable file."""
    try:
        content = source.read() if isinstance(source, MeshFile) else None
    except ModelError:
        return ''
    return '' if content is None else content.digest()
