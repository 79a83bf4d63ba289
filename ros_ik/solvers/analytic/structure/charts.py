# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Charts of six joint axes: their order and idealised geometry in a closed form.

A chain read backwards has the same solutions, E_6(-q_6) .. E_1(-q_1) = M^-1 for E_1 .. E_6 = M. So
has a chain with the last axis moved to the front, E_6' E_1 .. E_5 = M, where axis 6' is axis 6
moved by M. With both, the three special axes may be anywhere among the six.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import functools

import numpy as np

from ros_ik.model.conventions.poses import cross
from ros_ik.solvers.analytic.structure.structure import angle_between
from ros_ik.solvers.analytic.structure.structure import Axes
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily
from ros_ik.solvers.analytic.structure.structure import meeting_point
from ros_ik.solvers.analytic.structure.structure import RIGHT_ANGLE
from ros_ik.solvers.analytic.structure.structure import Split
from ros_ik.solvers.analytic.structure.structure import StructureTolerances

# Distance of parallel axes, relative to the extent of all, below which they coincide.
_MIN_LINK = 1e-4


@dataclasses.dataclass(frozen=True)
class Chart:
    """Chart of a solution: the axes of a chain in the order of the solution, idealised.

    Axes are numbered 1 to 6 in this order.

    Attributes:
        family: Structure of the solution.
        split: Order of the first stage.
        row: Equation of the first stage with a single unknown, 0 or 1; 0 if both have two.
        backwards: True if the chain is read from the tool to the base.
        wrapped: True if the last axis of that order is moved to the front.
        order: Joint of each axis, [6].
        directions: Directions of the axes, shape [6, 3], negated if read backwards.
        points: Points on the axes, shape [6, 3], in units of the reach.
        center: Intersection of the last three axes, or a point of the last axis (parallel), [3].
        signs: +1 or -1 for axes 2, 3, 4, direction relative to the common one, [3].
        deviation: Largest angle [rad], or length relative to the extent of the axes, by which
            axes were moved.
    """

    family: ClosedFormFamily
    split: Split
    row: int
    backwards: bool
    wrapped: bool
    order: tuple[int, ...]
    directions: np.ndarray
    points: np.ndarray
    center: np.ndarray
    signs: np.ndarray
    deviation: float


@dataclasses.dataclass(frozen=True)
class SlideChart:
    """Chart of a solution of six joints with prismatic ones; see :class:`Chart`.

    Attributes:
        family: SLIDING or CARTESIAN.
        backwards: True if the chain is read from the tool to the base.
        order: Joint of each axis, [6].
        directions: Directions of the axes, shape [6, 3], negated if read backwards.
        points: Points on the axes, shape [6, 3], in units of the reach.
        slides: True for each axis of a prismatic joint, [6].
        center: Intersection of the last three axes, [3]; the origin for CARTESIAN.
        deviation: Largest length, relative to the extent of the axes, by which axes were moved.
    """

    family: ClosedFormFamily
    backwards: bool
    order: tuple[int, ...]
    directions: np.ndarray
    points: np.ndarray
    slides: tuple[bool, ...]
    center: np.ndarray
    deviation: float

    @property
    def split(self) -> Split:
        """JOINT if the first stage needs a quartic."""
        first, middle, last = self.slides[:3]
        h = self.directions
        if self.family is ClosedFormFamily.CARTESIAN or (first and last):
            return Split.X_FIRST
        if middle:
            turning = not first and not last
            right = min(abs(float(h[0] @ h[1])), abs(float(h[2] @ h[1])))
            return Split.JOINT if turning and right > RIGHT_ANGLE else Split.X_FIRST
        slide = h[0] if first else h[2]
        flat = abs(float(slide @ h[1])) < RIGHT_ANGLE
        other = h[2] if first else h[0]
        flat = flat or angle_between(other, h[1]) < RIGHT_ANGLE
        return Split.X_FIRST if flat else Split.JOINT


def best_chart(axes: Axes, tolerances: StructureTolerances) -> Chart | None:
    """Return the best chart for six axes, or None.

    An exact structure is better than an approximate one, two quadratic equations are better than a
    quartic, and the order of the chain is better than any other.
    """

    @functools.cache
    def angle(first: int, second: int) -> float:
        return angle_between(axes.directions[first], axes.directions[second])

    found = [
        chart
        for backwards in (False, True)
        for wrapped in (False, True)
        for chart in _charts(axes, angle, backwards, wrapped, tolerances)
    ]
    return min(found, key=lambda chart: chart_rank(chart, tolerances)) if found else None


def best_slide_chart(axes: Axes, tolerances: StructureTolerances) -> SlideChart | None:
    """Return the best chart for six joints with prismatic ones, or None."""
    made: list[SlideChart] = []
    for backwards in (False, True):
        order = np.arange(6)[::-1] if backwards else np.arange(6)
        h = axes.directions[order] * (-1.0 if backwards else 1.0)
        points, slides = axes.points[order], np.array(axes.slides)[order]
        family, center, gap = ClosedFormFamily.CARTESIAN, np.zeros(3), 0.0
        if slides.sum() != 3:
            family = ClosedFormFamily.SLIDING
            if slides[3:].any():
                continue
            center, gap = meeting_point(h[3:], points[3:])
            straight = min(angle_between(h[3], h[4]), angle_between(h[4], h[5]))
            gap /= axes.extent
            if gap > tolerances.length or straight < tolerances.angle:
                continue
        made.append(
            SlideChart(
                family=family, backwards=backwards, order=tuple(int(k) for k in order),
                directions=h, points=points, slides=tuple(bool(slide) for slide in slides),
                center=center, deviation=gap,
            )
        )  # fmt: skip
    return min(made, key=lambda chart: chart_rank(chart, tolerances)) if made else None


def chart_rank(
    chart: Chart | SlideChart | None, tolerances: StructureTolerances
) -> tuple[bool, bool, bool, bool, float]:
    """Return a sort key, with the better chart first, and None (six general axes) last."""
    if chart is None:
        return True, False, False, False, 0.0
    exact = chart.deviation <= tolerances.exact
    wrapped = isinstance(chart, Chart) and chart.wrapped
    rounded = 0.0 if exact else chart.deviation
    return False, not exact, chart.split is Split.JOINT, wrapped, rounded


_Angle = Callable[[int, int], float]  # of two axes, by their places in the order


def _charts(
    axes: Axes, angle: _Angle, backwards: bool, wrapped: bool, tolerances: StructureTolerances
) -> list[Chart]:
    """Return the charts for one order of the axes; ``angle`` is of axes in that of the chain."""
    order = np.arange(6)[::-1] if backwards else np.arange(6)
    order = np.roll(order, 1) if wrapped else order
    h = axes.directions[order] * (-1.0 if backwards else 1.0)
    p = axes.points[order]
    places = order.tolist()

    def between(first: int, second: int) -> float:
        return angle(*sorted((places[first], places[second])))

    makers = (_spherical_charts, _parallel_charts)
    return [
        Chart(
            family=family, split=split, row=row, backwards=backwards, wrapped=wrapped,
            order=tuple(places), directions=directions, points=points,
            center=center, signs=signs, deviation=deviation,
        )
        for make in makers
        for family, split, row, directions, points, center, signs, deviation in make(
            h, p, axes.extent, between, wrapped, tolerances
        )
    ]  # fmt: skip


_Made = tuple[
    ClosedFormFamily, Split, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, float
]  # the fields of a Chart that depend on the order


def _spherical_charts(
    h: np.ndarray,
    p: np.ndarray,
    extent: float,
    between: _Angle,
    wrapped: bool,
    tolerances: StructureTolerances,
) -> list[_Made]:
    """Return charts with intersecting axes 4, 5, 6; x is the angle of axis 1, y of axis 3."""
    # If two of the three axes coincide, the wrist has only two independent rotations.
    if min(between(3, 4), between(4, 5)) < tolerances.angle:
        return []
    center, gap = meeting_point(h[3:], p[3:])
    gap /= extent
    if gap > tolerances.length:
        return []
    points = p.copy()
    points[3:] = center
    signs = np.ones(3)
    made: list[_Made] = [
        (ClosedFormFamily.SPHERICAL, Split.JOINT, 0, h, points, center, signs, gap)
    ]
    # The first axis of a wrapped order depends on the pose, so its intersections are accidental.
    for first, split in ((1, Split.X_FIRST), (0, Split.Y_FIRST)):
        if first == 0 and wrapped:
            continue
        pair = slice(first, first + 2)
        tilt = between(first, first + 1)
        if tilt <= tolerances.angle:
            along = h.copy()
            along[pair] = _common_direction(h[pair])
            made.append(
                (
                    ClosedFormFamily.SPHERICAL,
                    split,
                    0,
                    along,
                    points,
                    center,
                    signs,
                    max(gap, tilt),
                )
            )
            continue
        corner, apart = meeting_point(h[pair], p[pair])
        apart /= extent
        if apart <= tolerances.length:
            through = points.copy()
            through[pair] = corner
            made.append(
                (ClosedFormFamily.SPHERICAL, split, 1, h, through, center, signs, max(gap, apart))
            )
    return made


def _parallel_charts(
    h: np.ndarray,
    p: np.ndarray,
    extent: float,
    between: _Angle,
    wrapped: bool,
    tolerances: StructureTolerances,
) -> list[_Made]:
    """Return charts with parallel axes 2, 3, 4; x is the angle of axis 1, y of axis 5."""
    tilt = max(between(1, 2), between(2, 3), between(1, 3))
    if tilt > tolerances.angle:
        return []
    links = np.linalg.norm(cross(np.diff(p[1:4], axis=0), h[1]), axis=1)
    # The first axis of a wrapped order depends on the pose.
    ends = between(4, 3) if wrapped else min(between(4, 3), between(0, 1))
    # With coinciding axes, or a fourth parallel one, a pose does not determine all angles.
    if links.min() < _MIN_LINK * extent or ends < tolerances.angle:
        return []
    directions = h.copy()
    directions[1:4] = _common_direction(h[1:4])
    signs = np.sign(directions[1:4] @ directions[1])
    made: list[_Made] = [
        (ClosedFormFamily.PARALLEL, Split.JOINT, 0, directions, p, p[5], signs, tilt)
    ]
    bend = between(4, 5)
    if bend <= tolerances.angle:
        along = directions.copy()
        along[4:] = _common_direction(h[4:])
        made.append(
            (ClosedFormFamily.PARALLEL, Split.X_FIRST, 1, along, p, p[5], signs, max(tilt, bend))
        )
        return made
    pairs = [(Split.X_FIRST, [4, 5])] + ([(Split.Y_FIRST, [0, 5])] if wrapped else [])
    for split, pair in pairs:
        corner, apart = meeting_point(h[pair], p[pair])
        apart /= extent
        if apart <= tolerances.length:
            through = p.copy()
            through[pair] = corner
            made.append(
                (
                    ClosedFormFamily.PARALLEL,
                    split,
                    0,
                    directions,
                    through,
                    corner,
                    signs,
                    max(tilt, apart),
                )
            )
    return made


def _common_direction(h: np.ndarray) -> np.ndarray:
    """Make directions [k, 3] parallel, without changing their signs."""
    sense = np.sign(h @ h[0])[:, None]
    mean = (sense * h).sum(axis=0)
    return sense * (mean / np.linalg.norm(mean))
