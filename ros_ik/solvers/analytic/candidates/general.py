# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Candidate configurations of six general revolute joints, for batches of poses on the host.

The elimination of :mod:`ros_ik.solvers.analytic.structure.elimination` can begin at any joint and
read the chain in either direction. With E_1' = M^-1 E_1 M (axis 1 moved by M^-1),
E_2 .. E_6 E_1' = M has the same solutions, and so on for six shifts. Each of these twelve charts
fails for some arms and poses. Its first two axes must be skew. If all neighbouring axes of an arm
intersect or are parallel, only the pair of axis 6 and axis 1' remains, and poses can make these
parallel, often for a tool that points straight down. Charts are therefore tried in the order of
their accuracy at a few random poses of the arm. Each is used for the poses at which the previous
ones lost too many digits. If all fail, slightly rotated targets are solved.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.model.conventions.poses import rotate
from ros_ik.solvers.analytic.structure.elimination import angles
from ros_ik.solvers.analytic.structure.elimination import eliminate
from ros_ik.solvers.analytic.structure.elimination import null_vectors
from ros_ik.solvers.analytic.structure.elimination import roots
from ros_ik.solvers.analytic.structure.elimination import turned
from ros_ik.solvers.analytic.structure.structure import Axes

# Largest number of candidates of a pose: two null vectors for each of 16 roots, in up to four
# charts, or in two charts for each of two rotated targets if all charts fail.
_PARTS = 4
GENERAL_CANDIDATES = _PARTS * 2 * 16
# Largest imaginary part of a root that may be real [rad]. Double roots have an error of the square
# root of the rounding, and for a target rotated by _ASIDE of about its square root.
NEARLY_REAL = 0.08
# Number of poses solved at a time, at about 0.1 MB each.
_CHUNK = 64
# Distance of real roots [rad] below which they are inaccurate, so that a second chart is used.
_CLOSE = 0.02
# Largest number of charts tried at a pose, and number of random poses for sorting them.
_MOST_CHARTS, _TRIALS = 6, 24
# Largest error of a chart that is tried, unless it is the best [rad].
_MOST_ERROR = 0.1
# Largest relative rounding of the determinant for which an elimination is trusted.
_MOST_ROUNDING = 1e-12
# Rotation of the targets for a pose at which all charts fail [rad], and the two axes.
_ASIDE = 2e-3
_TURN_AXES = np.array([[1.0, 2.0, 3.0], [-3.0, 1.0, 2.0]]) / np.sqrt(14.0)
# Number of roots of each pose that become candidates even if they are not real. They are the
# starts of the search for the nearest configuration of an unreachable pose.
_LEAST_ROOTS = 2


@dataclasses.dataclass(frozen=True)
class GeneralChart:
    """Order of the joints in an elimination.

    Attributes:
        shift: Number of joints moved from the beginning of the chain to its end.
        backwards: Whether the shifted chain is then read from its end.
    """

    shift: int
    backwards: bool

    @property
    def order(self) -> np.ndarray:
        """Joint of each place, int [6]."""
        order = np.roll(np.arange(6), -self.shift)
        return order[::-1] if self.backwards else order


class GeneralCandidates:
    """Solver for candidates of poses of an arm.

    Attributes:
        charts: The charts to try, the most accurate first.
    """

    def __init__(self, axes: Axes) -> None:
        """Sort the charts by accuracy."""
        self._axes = axes
        tool = np.linalg.inv(axes.tool)
        self._tool_rotation, self._tool_translation = tool[:3, :3], tool[:3, 3]
        self.charts = _best_charts(axes)

    def fill(self, poses: np.ndarray, candidates: np.ndarray, misses: np.ndarray) -> None:
        """Write the candidates of poses, those nearest to a real root first.

        Args:
            poses: Targets of the tool in the world, shape [n, 7], unit quaternions; rows of NaN
                get no candidate.
            candidates: Configurations [rad], shape [n, room, 6].
            misses: Imaginary parts of their roots, shape [n, room]; inf for unused entries. For a
                pose outside the reach they are at least 1 rad.
        """
        misses[:] = np.inf
        known = np.flatnonzero(np.isfinite(poses).all(axis=1))
        for first in range(0, len(known), _CHUNK):
            rows = known[first : first + _CHUNK]
            candidates[rows], misses[rows] = self._solve(poses[rows], candidates.shape[1])

    def _solve(self, poses: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the candidates of poses and their misses."""
        n = len(poses)
        candidates, misses = np.zeros((n, room, 6)), np.full((n, room), np.inf)
        position = (poses[:, :3] - self._axes.origin) / self._axes.reach
        # Points outside a sphere of the reach about a point of axis 1 are unreachable.
        out = position - self._axes.points[0]
        distance = np.linalg.norm(out, axis=1)
        far = np.maximum(distance - 1.0, 0.0)
        position = self._axes.points[0] + out / np.maximum(distance, 1.0)[:, None]
        # Rows of rotate() are the images of x, y and z: the columns of the matrix.
        rotation = np.swapaxes(rotate(poses[:, None, 3:], np.eye(3)), 1, 2)
        part = room // _PARTS
        # Number of charts that have given candidates, and number that is needed. Only a chart
        # that is accurate at a pose may require more.
        done, needed = np.zeros(n, dtype=int), np.ones(n, dtype=int)
        left = np.arange(n)
        for chart in self.charts:
            motion = self._motion(rotation[left], position[left])
            q, miss, rounding, wanted = _chart_candidates(self._axes, chart, *motion, part)
            slots = part * done[left, None] + np.arange(part)
            candidates[left[:, None], slots], misses[left[:, None], slots] = q, miss
            good = rounding <= _MOST_ROUNDING
            done[left[good]] += 1
            needed[left[good]] = np.maximum(needed[left[good]], wanted[good])
            left = left[done[left] < needed[left]]
            if len(left) == 0:
                break
        left = np.flatnonzero(done == 0)
        trials = [(chart, axis) for chart in self.charts[:2] for axis in _TURN_AXES]
        for k, (chart, axis) in enumerate(trials if len(left) else ()):
            aside = turned(axis, np.full(1, _ASIDE), np.eye(3)).T
            motion = self._motion(rotation[left] @ aside, position[left])
            q, miss, _, _ = _chart_candidates(self._axes, chart, *motion, part)
            block = slice(k * part, (k + 1) * part)
            candidates[left, block], misses[left, block] = q, miss
        misses[far > 0.0] += 1.0
        return candidates, misses

    def _motion(self, R: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the motion of tools with rotations [n, 3, 3] and positions [n, 3]."""
        return R @ self._tool_rotation, R @ self._tool_translation + t


def _best_charts(axes: Axes) -> list[GeneralChart]:
    """Return the charts that find known configurations most accurately."""
    planted = np.random.default_rng(0).uniform(-np.pi, np.pi, (_TRIALS, 6))
    R, t = _product(axes.directions[None], axes.points[None], planted)
    ranked = []
    for shift in range(6):
        for backwards in (False, True):
            chart = GeneralChart(shift, backwards)
            found, _, _, _ = _chart_candidates(axes, chart, R, t, GENERAL_CANDIDATES // _PARTS)
            off = np.abs(np.sin(0.5 * (found - planted[:, None]))).max(axis=2).min(axis=1)
            ranked.append((float(np.quantile(off, 0.9)), shift, backwards))
    ranked.sort()
    most = max(_MOST_ERROR, ranked[0][0])
    return [
        GeneralChart(shift, backwards)
        for off, shift, backwards in ranked[:_MOST_CHARTS]
        if off <= most
    ]


def _chart_candidates(
    axes: Axes, chart: GeneralChart, R: np.ndarray, t: np.ndarray, room: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Solve motions in one chart.

    Returns:
        Configurations [n, room, 6], their misses [n, room], the rounding [n], and the number of
        charts needed, int [n]: more than one if real roots are close to each other or have many
        null vectors.
    """
    n = len(R)
    h, p, R, t = _in_order(axes, chart, R, t)
    equations = eliminate(h, p, R, t)
    angle, imaginary = roots(equations)
    rank = np.argsort(np.argsort(imaginary, axis=1), axis=1)
    rows, places = np.nonzero((imaginary < NEARLY_REAL) | (rank < _LEAST_ROOTS))
    vectors, there, many = null_vectors(equations.matrices[rows], angle[rows, places])
    wanted = np.where(_close(angle, imaginary), 2, 1)
    wanted[rows[many]] = _PARTS
    pairs, which = np.nonzero(there)
    rows, places = rows[pairs], places[pairs]
    five = angles(equations, rows, angle[rows, places], vectors[pairs, which])
    q = np.zeros((len(rows), 6))
    q[:, chart.order[:5]] = five
    q[:, chart.order[5]] = _last_angle(h[rows], p[rows], R[rows], t[rows], five)
    miss = imaginary[rows, places]
    # Index of each among the candidates of its pose.
    order = np.lexsort((miss, rows))
    rows, q, miss = rows[order], q[order], miss[order]
    slot = np.arange(len(rows)) - np.searchsorted(rows, rows)
    kept = slot < room
    rows, slot = rows[kept], slot[kept]
    candidates, misses = np.zeros((n, room, 6)), np.full((n, room), np.inf)
    candidates[rows, slot], misses[rows, slot] = q[kept], miss[kept]
    return candidates, misses, equations.rounding, wanted


def _close(angle: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """Return whether roots that may be real are close to each other, [n]."""
    real = imaginary < NEARLY_REAL
    apart = np.abs(np.sin(0.5 * (angle[:, :, None] - angle[:, None, :])))
    both = real[:, :, None] & real[:, None, :] & ~np.eye(angle.shape[1], dtype=bool)
    return np.any(both & (apart < 0.5 * _CLOSE), axis=(1, 2))


def _in_order(
    axes: Axes, chart: GeneralChart, R: np.ndarray, t: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the axes of n motions in the order of a chart, and the motions, from its second axis.

    Returns:
        Directions and points [n, 6, 3], rotations [n, 3, 3] and translations [n, 3].
    """
    n = len(R)
    h = np.repeat(axes.directions[None], n, axis=0)
    p = np.repeat(axes.points[None], n, axis=0)
    moved = slice(0, chart.shift)
    h[:, moved] = h[:, moved] @ R
    p[:, moved] = (p[:, moved] - t[:, None]) @ R
    h, p = h[:, chart.order], p[:, chart.order]
    if chart.backwards:
        h = -h
        R = np.swapaxes(R, 1, 2)
        t = -np.einsum('nij,nj->ni', R, t)
    origin = p[:, 1]
    t = t + np.einsum('nij,nj->ni', R, origin) - origin
    return h, p - origin[:, None], R, t


def _product(h: np.ndarray, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the products of motions E_1(q_1) .. E_k(q_k) of axes.

    Args:
        h: Directions, shape [n or 1, at least k, 3].
        p: Points on them, of the same shape.
        q: Angles [rad], shape [n, k].

    Returns:
        Rotations [n, 3, 3] and translations [n, 3].
    """
    columns, t = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    for k in range(q.shape[1])[::-1]:
        columns = turned(h[:, k, None], q[:, k, None], columns)
        t = p[:, k] + turned(h[:, k], q[:, k], t - p[:, k])
    return np.swapaxes(columns, 1, 2), t


def _last_angle(
    h: np.ndarray, p: np.ndarray, R: np.ndarray, t: np.ndarray, five: np.ndarray
) -> np.ndarray:
    """Return the last angle [rad], shape [m], from the others [m, 5]."""
    reached, _ = _product(h, p, five)
    rest = np.swapaxes(reached, 1, 2) @ R
    h6 = h[:, 5]
    side = np.eye(3)[np.argmin(np.abs(h6), axis=1)]
    side = side - h6 * np.sum(h6 * side, axis=1, keepdims=True)
    goal = np.einsum('nij,nj->ni', rest, side)
    return np.arctan2(np.sum(h6 * np.cross(side, goal), axis=1), np.sum(side * goal, axis=1))
