# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Polytope of triangles inside the hull of points, which grows point by point.

Each triangle and the centre of the polytope form a tetrahedron with corners in the hull of the
points. A point in such a tetrahedron is in the hull, regardless of rounding errors in the
triangles. :meth:`IncrementalHull.locate` therefore never reports a point outside as inside.
"""

from __future__ import annotations

import numpy as np

from ros_ik.model.conventions.poses import cross

# Height above its plane from which a triangle is visible, relative to the size.
_VISIBLE = 1e-9
# Tolerance for negative barycentric weights.
_ROUNDING = 1e-9
# Maximum size of a table, so that it stays in the cache and one thread computes its products.
_MAX_ENTRIES = 1 << 16


class IncrementalHull:
    """The polytope; made by :meth:`around`.

    Attributes:
        center: A point inside, the mean of the corners of the first tetrahedron [m], [3].
    """

    def __init__(self, simplex: np.ndarray, size: float) -> None:
        """Start with a tetrahedron.

        Args:
            simplex: Its corners [m], [4, 3].
            size: Size of all points [m].
        """
        self.center = simplex.mean(axis=0)
        self._points = simplex
        self._eps = _VISIBLE * size
        faces = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
        if np.linalg.det(simplex[1:] - simplex[0]) > 0.0:
            faces = faces[:, ::-1]
        self._faces = np.zeros((0, 3), dtype=int)
        self._normal, self._offset = np.zeros((0, 3)), np.zeros(0)
        self._append(faces)

    @classmethod
    def around(cls, points: np.ndarray) -> IncrementalHull | None:
        """Return the polytope of points [n, 3], or None if they are almost coplanar."""
        size = float(np.ptp(points, axis=0).max())
        first = points[np.argmin(points[:, 0])]
        second = points[np.argmax(np.sum((points - first) ** 2, axis=1))]
        away = np.cross(points - first, second - first)
        third = points[np.argmax(np.sum(away**2, axis=1))]
        height = (points - first) @ np.cross(second - first, third - first)
        simplex = np.stack([first, second, third, points[np.argmax(np.abs(height))]])
        if abs(float(np.linalg.det(simplex[1:] - simplex[0]))) <= 1e-6 * size**3:
            return None
        hull = cls(simplex, size)
        hull.add(points)
        return hull

    def add(self, points: np.ndarray) -> None:
        """Grow the polytope around points [n, 3]."""
        for point in points:
            visible = self._normal @ point - self._offset > self._eps
            if not np.any(visible):
                continue
            count = len(self._points)
            edges = {
                edge
                for a, b, c in self._faces[visible].tolist()
                for edge in ((a, b), (b, c), (c, a))
            }
            # Edges between two visible triangles are inside.
            rim = [(a, b, count) for a, b in sorted(edges) if (b, a) not in edges]
            kept = ~visible
            self._faces, self._normal = self._faces[kept], self._normal[kept]
            self._offset = self._offset[kept]
            self._points = np.concatenate([self._points, point[None]])
            self._append(np.array(rim, dtype=int).reshape(-1, 3))

    def locate(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distance of points outside: an estimate and a guaranteed upper bound.

        Args:
            points: Points [m], [n, 3].

        Returns:
            The height above the triangle that the ray from the centre crosses [m], at least 0; and
            the distance from a point of that triangle, 0 inside its tetrahedron, inf for a
            degenerate triangle, [n] each.
        """
        height, bound = np.zeros((2, len(points)))
        room = self._offset - self._normal @ self.center
        corners = self._points[self._faces] - self.center
        inverses = self._inverse(corners)
        rows = max(1, _MAX_ENTRIES // len(self._faces))
        for first in range(0, len(points), rows):
            some = slice(first, first + rows)
            height[some], bound[some] = self._locate(points[some], room, corners, inverses)
        return height, bound

    def _locate(
        self, points: np.ndarray, room: np.ndarray, corners: np.ndarray, inverses: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Locate points.

        Args:
            points: Points [m], [n, 3].
            room: Distances of the triangles from the centre [m], [f].
            corners: Their corners, from the centre [m], [f, 3, 3].
            inverses: Matrices of barycentric weights, [f, 3, 3].
        """
        far = points - self.center
        gauge = far @ (self._normal / np.maximum(room, self._eps)[:, None]).T
        face = np.argmax(gauge, axis=1)
        height = np.maximum(gauge[np.arange(len(points)), face] - 1.0, 0.0) * room[face]
        inverse, corners = inverses[face], corners[face]
        is_inside = _is_in_tetrahedron(np.einsum('nk,nkj->nj', far, inverse))
        # Among coplanar triangles the wrong one may have been selected.
        doubtful = np.flatnonzero((height <= self._eps) & ~is_inside)
        rows = max(1, _MAX_ENTRIES // (3 * len(self._faces)))
        for first in range(0, len(doubtful), rows):
            some = doubtful[first : first + rows]
            weights = np.tensordot(far[some], inverses, axes=(1, 1))  # [n, faces, 3]
            is_inside[some] = _is_in_tetrahedron(weights).any(axis=1)
        foot = far - height[:, None] * self._normal[face]
        weight = np.maximum(np.einsum('nk,nkj->nj', foot, inverse), 0.0)
        total = weight.sum(axis=1, keepdims=True)
        weight /= np.where(total > 0.0, total, 1.0)
        distance = np.linalg.norm(far - np.einsum('nj,njk->nk', weight, corners), axis=1)
        is_known = ~np.isnan(distance) & (total[:, 0] > 0.0)
        return height, np.where(is_inside, 0.0, np.where(is_known, distance, np.inf))

    @staticmethod
    def _inverse(corners: np.ndarray) -> np.ndarray:
        """Return the matrix of barycentric weights of a tetrahedron, NaN for a degenerate one."""
        inverse = np.full(corners.shape, np.nan)
        volume = np.abs(np.linalg.det(corners))
        good = volume > 1e-12 * np.prod(np.linalg.norm(corners, axis=2), axis=1)
        inverse[good] = np.linalg.inv(corners[good])
        return inverse

    def _append(self, faces: np.ndarray) -> None:
        """Add triangles; degenerate ones are never visible."""
        a, b, c = self._points[faces].transpose(1, 0, 2)
        normal = cross(b - a, c - a)
        length = np.sqrt(np.einsum('fk,fk->f', normal, normal))[:, None]
        normal = normal / np.where(length > 0.0, length, 1.0)
        self._faces = np.concatenate([self._faces, faces])
        self._normal = np.concatenate([self._normal, normal])
        self._offset = np.concatenate([self._offset, np.sum(normal * a, axis=1)])


def _is_in_tetrahedron(weight: np.ndarray) -> np.ndarray:
    """Return True if barycentric weights of three corners are those of a point inside."""
    return np.all(weight >= -_ROUNDING, axis=-1) & (weight.sum(axis=-1) <= 1.0 + _ROUNDING)
