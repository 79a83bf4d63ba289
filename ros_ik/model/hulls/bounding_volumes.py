# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Enclosing spheres and capsules of points, and the splitting of convex hulls.

Every sphere and capsule encloses its points exactly; only its size is approximately minimal.
Centres come from the iteration of Badoiu and Clarkson ("Smaller core-sets for balls", SODA 2003):
walk towards the farthest point by 1 / (k + 1) of the way.
"""

from __future__ import annotations

import dataclasses

import numpy as np

# Number of steps towards the farthest point: for a sphere, and for each candidate axis of a
# capsule.
_CENTER_STEPS, _AXIS_STEPS = 300, 30
# Number of candidate axes of a capsule, and angles of the refinements about the best one [rad].
_AXES, _ROUNDS, _ANGLE = 32, 5, 0.3
# Factors on the radius of the cylinder; a larger radius can give a shorter capsule.
_WIDENING = (1.0, 1.02, 1.05, 1.1)
# Allowance for rounding errors, relative to the size.
_ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class Round:
    """A capsule, or a sphere if both ends coincide.

    Attributes:
        ends: Ends of the axis [m], [2, 3].
        radius: Radius [m].
    """

    ends: np.ndarray
    radius: float

    @property
    def volume(self) -> float:
        """Volume [m^3]."""
        length = float(np.linalg.norm(self.ends[1] - self.ends[0]))
        return np.pi * self.radius**2 * (length + 4.0 / 3.0 * self.radius)

    def surface(self, count: int) -> np.ndarray:
        """Return points evenly spread over both caps, and over the cylinder [m], [n, 3]."""
        around = self.radius * spread_directions(count)
        axis = self.ends[1] - self.ends[0]
        side = around @ axis
        caps = [self.ends[0] + around[side <= 0.0], self.ends[1] + around[side > 0.0]]
        length = float(np.linalg.norm(axis))
        if length > 0.0:
            # The middle of the cylinder is farthest from the shape.
            unit = axis / length
            across = around - np.outer(around @ unit, unit)
            norm = np.linalg.norm(across, axis=1, keepdims=True)
            across = self.radius * across / np.where(norm > 0.0, norm, 1.0)
            caps += [self.ends[0] + t * axis + across for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
        return np.concatenate(caps)


def spread_directions(n: int) -> np.ndarray:
    """Return unit vectors evenly spread over the sphere, from -z to z (a spiral), [n, 3]."""
    z = (2.0 * np.arange(n) + 1.0) / n - 1.0
    angle = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(n)
    across = np.sqrt(1.0 - z * z)
    return np.stack([across * np.cos(angle), across * np.sin(angle), z], axis=1)


def enclosing_sphere(points: np.ndarray) -> Round:
    """Return a small sphere about points [m], [n, 3]."""
    center = _centers(points[None], _CENTER_STEPS)[0]
    radius = float(np.linalg.norm(points - center, axis=1).max())
    return Round(np.stack([center, center]), radius + _slack(points))


def enclosing_capsule(points: np.ndarray) -> Round:
    """Return a capsule of small volume about points [m], [n, 3]."""
    spread = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    axes = np.concatenate([spread, spread_directions(2 * _AXES)[:_AXES]])
    axis, best = _best_capsule(points, axes)
    angle = _ANGLE
    for _ in range(_ROUNDS):
        near = axis + angle * spread_directions(_AXES)
        near_axis, found = _best_capsule(points, near)
        if found.volume < best.volume:
            axis, best = near_axis, found
        angle *= 0.5
    sphere = enclosing_sphere(points)
    return min(best, sphere, key=lambda shape: shape.volume)


def _best_capsule(points: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, Round]:
    """Return the axis and the capsule of least volume among some axes [m, 3]."""
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    along = axes @ points.T  # [m, n]
    across = points[None] - along[..., None] * axes[:, None]  # [m, n, 3]
    centers = _centers(across, _AXIS_STEPS)
    reach = np.linalg.norm(across - centers[:, None], axis=2)
    radius = reach.max(axis=1)[:, None] * np.array(_WIDENING)[None]  # [m, w]
    # A point at height z and reach rho lies in the capsule where z is in [low - s, high + s].
    s = np.sqrt(np.maximum(radius[..., None] ** 2 - reach[:, None] ** 2, 0.0))  # [m, w, n]
    high = (along[:, None] - s).max(axis=2)
    low = (along[:, None] + s).min(axis=2)
    middle = 0.5 * (low + high)
    half = np.maximum(0.5 * (high - low), 0.0)
    volume = radius**2 * (2.0 * half + 4.0 / 3.0 * radius)
    k, w = np.unravel_index(int(np.argmin(volume)), volume.shape)
    ends = (
        centers[k]
        + np.array([[middle[k, w] - half[k, w]], [middle[k, w] + half[k, w]]]) * (axes[k])
    )
    return axes[k], Round(ends, _reach(points, ends) + _slack(points))


def _reach(points: np.ndarray, ends: np.ndarray) -> float:
    """Return the largest distance of points from a segment."""
    axis = ends[1] - ends[0]
    squared = float(axis @ axis)
    t = np.zeros(len(points))
    if squared > 0.0:
        t = np.clip((points - ends[0]) @ axis / squared, 0.0, 1.0)
    return float(np.linalg.norm(points - ends[0] - t[:, None] * axis, axis=1).max())


def _centers(points: np.ndarray, steps: int) -> np.ndarray:
    """Return about the centres of the least spheres around sets of points [m, n, 3]."""
    rows = np.arange(len(points))
    center = points.mean(axis=1)
    best, least = center, np.full(len(points), np.inf)
    for step in range(steps):
        away = points - center[:, None]
        squared = np.einsum('mnk,mnk->mn', away, away)
        far = np.argmax(squared, axis=1)
        better = squared[rows, far] < least
        least = np.where(better, squared[rows, far], least)
        best = np.where(better[:, None], center, best)
        center = center + (points[rows, far] - center) / (step + 2.0)
    return best


def _slack(points: np.ndarray) -> float:
    """Return the allowance for rounding errors."""
    return _ROUNDING * float(np.ptp(points, axis=0).max() + np.abs(points).max())


def split_hull(points: np.ndarray, normal: np.ndarray, offset: float) -> list[np.ndarray]:
    """Split the hull of points by the plane normal . x = offset.

    Args:
        points: Points that span the hull [m], [n, 3].
        normal: Unit normal of the plane.
        offset: Its distance from the origin along the normal [m].

    Returns:
        Points that span each non-empty part. The cut is spanned by the intersections of the plane
        with the segments between points of both sides.
    """
    height = points @ normal - offset
    below, above = points[height < 0.0], points[height > 0.0]
    if not len(below) or not len(above):
        return [points]
    low, high = height[height < 0.0], height[height > 0.0]
    part = low[:, None] / (low[:, None] - high[None])  # [b, a]
    cut = below[:, None] + part[..., None] * (above[None] - below[:, None])
    cut = np.concatenate([cut.reshape(-1, 3), points[height == 0.0]])
    rim = cut[_rim(cut, normal)]
    return [np.concatenate([below, rim]), np.concatenate([above, rim])]


def _rim(points: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the indices of points in a plane that span their hull (Andrew's chain)."""
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    u = np.cross(normal, helper)
    flat = points @ np.stack([u, np.cross(normal, u)]).T
    order = np.lexsort((flat[:, 1], flat[:, 0]))
    if len(order) < 3:
        return order

    def chain(indices: np.ndarray) -> list[int]:
        kept: list[int] = []
        for k in indices:
            while len(kept) > 1:
                a, b = flat[kept[-1]] - flat[kept[-2]], flat[k] - flat[kept[-1]]
                if a[0] * b[1] - a[1] * b[0] > 0.0:
                    break
                kept.pop()
            kept.append(int(k))
        return kept

    return np.unique([*chain(order), *chain(order[::-1])])
