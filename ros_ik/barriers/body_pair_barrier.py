# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barrier on the distance of two links, or of a point on each.

h = d - d_min,   d the least distance of their primitives, or of the two points
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ros_ik.barriers.collision_barrier import CollisionBarrier
from ros_ik.barriers.collision_scene import CollisionScene
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.checks import link_index
from ros_ik.model.shapes.collision_geometry import as_geometry
from ros_ik.model.shapes.collision_geometry import CollisionGeometry


class BodyPairBarrier(CollisionBarrier):
    """Keep two links at least d_min apart; they may be neighbours at a joint.

    Attributes:
        link_indices: The two links, -1 for the world.
    """

    read_once = CollisionBarrier.read_once | {'link_indices'}

    construction_only = frozenset(('source', 'link_a', 'link_b', 'point_a', 'point_b'))

    def __init__(
        self,
        source: Model | CollisionGeometry,
        link_a: int | str,
        link_b: int | str,
        *,
        point_a: Any = None,
        point_b: Any = None,
        n_collision_pairs: int | None = 1,
        gain: float = 1.0,
        safe_displacement_gain: float = 1.0,
        margin: float = 0.0,
        d_min: float = 0.02,
        d_max: float | None = None,
        name: str = '',
    ) -> None:
        """Create the barrier.

        Args:
            source: Primitives, or a model, whose shapes are used unchanged.
            link_a: Name or index of a link, -1 for the world.
            link_b: Name or index of the other link.
            point_a: Point in the frame of the first link that represents it [m], shape [3]; None
                for its primitives.
            point_b: Point that represents the second link, likewise.
            n_collision_pairs: Number of closest pairs that get a row; None for all pairs.
            gain: Fraction of the distance that may be used up per second [1/s].
            safe_displacement_gain: Weight of the damping cost; see :class:`Barrier`.
            margin: Distance kept beyond d_min in the step [m].
            d_min: Least distance [m].
            d_max: Distance [m] beyond which a pair is inactive; None: all are active.
            name: Name of the barrier in status texts.

        Raises:
            ArgumentError: A value outside its range, an unknown link, the same link twice, or a
                link that has neither primitives nor a point.
        """
        geometry = as_geometry('source', source)
        links = (
            link_index(geometry.model, link_a, name='link_a'),
            link_index(geometry.model, link_b, name='link_b'),
        )
        if links[0] == links[1]:
            raise ArgumentError(f'link_a and link_b must differ, got {link_a!r} twice')
        sides = [
            _side(geometry, side, link, point)
            for side, link, point in (('a', links[0], point_a), ('b', links[1], point_b))
        ]
        first, second = np.arange(len(sides[0])), len(sides[0]) + np.arange(len(sides[1]))
        self._pair_table = np.array([(a, b) for a in first for b in second], dtype=int)
        super().__init__(
            CollisionScene(sides[0] + sides[1], max_obstacles=0, max_attached=0),
            n_collision_pairs=n_collision_pairs,
            d_min=d_min,
            d_max=d_max,
            gain=gain,
            safe_displacement_gain=safe_displacement_gain,
            margin=margin,
            name=name,
        )
        self.link_indices = links

    @property
    def max_pairs(self) -> int:
        """Number of pairs."""
        return len(self._pair_table)

    def current_pairs(self) -> np.ndarray:
        """Return the pairs; see :meth:`CollisionBarrier.current_pairs`."""
        return self._pair_table


def _side(geometry: CollisionGeometry, side: str, link: int, point: Any) -> CollisionGeometry:
    """Return the primitives of the link of a side, or the point that represents it."""
    if point is not None:
        center = checked_array(f'point_{side}', point, (3,))[None]
        return CollisionGeometry.from_spheres(geometry.model, [link], center, 0.0)
    found = geometry.select(geometry.body == link)
    if not len(found):
        name = geometry.model.body_label[link] if link >= 0 else 'world'
        raise ArgumentError(f'link_{side}: link {name!r} has no primitives; give a point instead')
    return found
