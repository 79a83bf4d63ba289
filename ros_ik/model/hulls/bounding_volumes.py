# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Enclosing spheres and capsules of points, and the splitting of convex hulls.

Every sphere and capsule encloses its points; the size of a capsule is only approximately minimal.
Its axis comes from the iteration of Badoiu and Clarkson ("Smaller core-sets for balls", SODA 2003)
across some directions: walk towards the farthest point by 1 / (k + 1) of the way.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.model.conventions.poses import perpendicular
from ros_ik.model.hulls.planar_hull import planar_hull
from ros_ik.model.hulls.smallest_sphere import smallest_sphere_center

# Number of steps towards the farthest point for each candidate axis of a capsule.
_AXIS_STEPS = 30
# Number of candidate axes of a capsule, and angles of the refinements about the best one [rad].
_AXES, _ROUNDS, _ANGLE = 32, 7, 0.3
# Factors on the radius of the cylinder; a larger radius can give a shorter capsule.
_RADIUS_FACTORS = (1.0, 1.02, 1.05, 1.1)
# Allowance for rounding errors, relative to the size.
_ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class Capsule:
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
        around = self.radius * uniform_directions(count)
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


def uniform_directions(n: int) -> np.ndarray:
    """Return unit vectors evenly spread over the sphere, from -z to z (a spiral), [n, 3]."""
    z = (2.0 * np.arange(n) + 1.0) / n - 1.0
    angle = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(n)
    across = np.sqrt(1.0 - z * z)
    return np.stack([across * np.cos(angle), across * np.sin(angle), z], axis=1)


def enclosing_sphere(points: np.ndarray) -> Capsule:
    """Return the smallest sphere about points [m], [n, 3]."""
    center = smallest_sphere_center(points)
    radius = float(np.linalg.norm(points - center, axis=1).max())
    return Capsule(np.stack([center, center]), radius + _rounding_allowance(points))


def enclosing_capsule(points: np.ndarray) -> Capsule:
    """Return a capsule of small volume about points [m], [n, 3]."""
    spread = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    axes = np.concatenate([spread, uniform_directions(2 * _AXES)[:_AXES]])
    axis, best = _best_capsule(points, axes)
    angle = _ANGLE
    for _ in range(_ROUNDS):
        near = axis + angle * uniform_directions(_AXES)
        near_axis, found = _best_capsule(points, near)
        if found.volume < best.volume:
            axis, best = near_axis, found
        angle *= 0.5
    sphere = enclosing_sphere(points)
    return min(best, sphere, key=lambda shape: shape.volume)


def _best_capsule(points: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, Capsule]:
    """Return the axis and the capsule of least volume among some axes [m, 3]."""
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    middle = points.mean(axis=0)
    offset = points - middle
    along = axes @ offset.T  # [m, n]
    centers, reach = _smallest_circles(offset, axes, along)
    radius = reach.max(axis=1)[:, None] * np.array(_RADIUS_FACTORS)[None]  # [m, w]
    # A point at height z and reach rho lies in the capsule where z is in [low - s, high + s].
    s = np.sqrt(np.maximum(radius[..., None] ** 2 - reach[:, None] ** 2, 0.0))  # [m, w, n]
    high = (along[:, None] - s).max(axis=2)
    low = (along[:, None] + s).min(axis=2)
    half = np.maximum(0.5 * (high - low), 0.0)
    volume = radius**2 * (2.0 * half + 4.0 / 3.0 * radius)
    k, w = np.unravel_index(int(np.argmin(volume)), volume.shape)
    height = 0.5 * (low[k, w] + high[k, w]) + half[k, w] * np.array([[-1.0], [1.0]])
    ends = middle + centers[k] + height * axes[k]
    return axes[k], Capsule(
        ends, _distance_from_segment(points, ends) + _rounding_allowance(points)
    )


def _distance_from_segment(points: np.ndarray, ends: np.ndarray) -> float:
    """Return the largest distance of points from a segment."""
    axis = ends[1] - ends[0]
    squared = float(axis @ axis)
    t = np.zeros(len(points))
    if squared > 0.0:
        t = np.clip((points - ends[0]) @ axis / squared, 0.0, 1.0)
    return float(np.linalg.norm(points - ends[0] - t[:, None] * axis, axis=1).max())


def _smallest_circles(
    points: np.ndarray, axes: np.ndarray, along: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate the smallest circles around points, seen along axes.

    Args:
        points: Points about their mean [m], [n, 3].
        axes: Directions, [m, 3].
        along: Heights of the points along each [m], [m, n].

    Returns:
        The centres, perpendicular to their axes [m], [m, 3], and the distances of the points from
        them across the axes [m], [m, n].
    """
    rows = np.arange(len(axes))
    own = np.sum(points**2, axis=1) - along**2
    center = np.zeros(axes.shape)
    best, least = center, np.full(len(axes), np.inf)
    for step in range(_AXIS_STEPS):
        # |p - c|^2 across the axis, without |c|^2, which does not affect the choice of a point.
        far = np.argmax(own - 2.0 * (center @ points.T), axis=1)
        across = points[far] - along[rows, far, None] * axes
        squared = np.sum((across - center) ** 2, axis=1)
        better = squared < least
        least = np.where(better, squared, least)
        best = np.where(better[:, None], center, best)
        center = center + (across - center) / (step + 2.0)
    squared = own - 2.0 * (best @ points.T) + np.sum(best**2, axis=1)[:, None]
    return best, np.sqrt(np.maximum(squared, 0.0))


def _rounding_allowance(points: np.ndarray) -> float:
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
    rim = cut[_planar_outline(cut, normal)]
    return [np.concatenate([below, rim]), np.concatenate([above, rim])]


def _planar_outline(points: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the indices of points in a plane that span their hull."""
    u = perpendicular(normal)
    return planar_hull(points @ np.stack([u, np.cross(normal, u)]).T)
