# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Geometry of the joint axes of a serial chain, and the closed form that it allows.

With every joint at zero, axis i has a direction h_i and passes through a point p_i, and

    X_tool(q) = E_1(q_1) .. E_n(q_n) X_tool(0),   E_i(q) the rotation by q about axis i.

Two families of six revolute joints have fast closed forms here: three consecutive axes that
meet in one point (Pieper 1968), and three consecutive parallel axes. All others are GENERAL
(``general``). Joints that slide have families of their own (``slide_candidates``). The list of
structures and subproblems is that of Elias and Wen, "IK-Geo" (2022).

A chain read backwards has the same solutions: E_6(-q_6) .. E_1(-q_1) = M^-1 for E_1 .. E_6 = M.
So has a chain whose last axis comes first: E_6' E_1 .. E_5 = M, axis 6' being axis 6 moved by M.
With both, three special axes may stand anywhere among the six.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.kinematics.runtime.arguments import checked_number

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain


# Cosine of the angle of directions that count as at right angles, and share of the direction of a
# slide that counts as none.
RIGHT_ANGLE = 1e-7
# Parallel axes nearer than this, over the reach, coincide.
_LEAST_LINK = 1e-4


class ClosedFormFamily(enum.Enum):
    """Structure that decides how a pose is solved; the value is its name in messages.

    SPHERICAL, PARALLEL and GENERAL are those of six joints that turn, SLIDING and CARTESIAN those
    of six of which some slide; chains of fewer are completed to six.
    """

    SPHERICAL = 'three axes in one point'
    PARALLEL = 'three parallel axes'
    GENERAL = 'six general axes'
    SLIDING = 'slides before three axes in one point'
    CARTESIAN = 'three slides'
    NONE = 'none'


class Split(enum.Enum):
    """Order in which the two unknown angles x and y of the first stage are found."""

    X_FIRST = 'x first'  # one equation is free of y
    Y_FIRST = 'y first'  # one equation is free of x
    JOINT = 'joint'  # a quartic


@dataclasses.dataclass(frozen=True)
class StructureTolerances:
    """Deviations up to which axes count as parallel or as meeting.

    Attributes:
        angle: Largest angle between axes that count as parallel [rad]. Calibrated UR arms are off
            by 1e-3.
        length: Largest gap between axes that count as meeting, over the reach of the chain.
            Calibrated arms are off by 1e-3 m at a reach of 1 m.
        exact: Deviation, an angle or a relative length, up to which a structure is exact. URDF
            files that write half turns with nine digits are off by 1e-9; those with five digits
            by 1e-5 are not exact.
    """

    angle: float = 5e-3
    length: float = 5e-3
    exact: float = 2e-8

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ArgumentError: A number that is not positive.
        """
        for field in dataclasses.fields(self):
            checked_number(field.name, getattr(self, field.name), positive=True)


@dataclasses.dataclass(frozen=True)
class Axes:
    """Joint axes of a chain with every joint at zero, lengths in units of the reach.

    Attributes:
        directions: Unit vectors h, shape [n, 3].
        points: Points p on the axes, shape [n, 3], near the origin.
        tool: Pose of the tool, homogeneous matrix [4, 4].
        origin: Point that lengths are measured from [m], [3].
        reach: Unit of length [m].
        slides: Whether each joint moves along its axis; the others turn about it.
    """

    directions: np.ndarray
    points: np.ndarray
    tool: np.ndarray
    origin: np.ndarray
    reach: float
    slides: tuple[bool, ...]


@dataclasses.dataclass(frozen=True)
class Chart:
    """A way to solve a chain: its axes in the order of the solution, made exact.

    Attributes:
        family: Structure that the solution uses.
        split: Order of the first stage.
        row: Equation of the first stage that has one unknown: 0 or 1; 0 where both have two.
        backwards: Whether the chain is read from the tool to the base.
        wrapped: Whether the last axis of that order comes first.
        order: Joint of each place, [6].
        directions: Directions of the axes by place, shape [6, 3], negated where read backwards.
        points: Points on them by place, shape [6, 3], in units of the reach.
        center: Where the last three axes meet, or a point of the last axis (parallel), [3].
        signs: +1 or -1 for places 2, 3, 4: direction along the common one, [3].
        deviation: Largest angle [rad] or relative length that the axes were moved by.
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
    """A way to solve six joints of which some slide; see ``slide_candidates``.

    Attributes:
        family: SLIDING or CARTESIAN.
        backwards: Whether the chain is read from the tool to the base.
        order: Joint of each place, [6].
        directions: Directions of the axes by place, shape [6, 3], negated where read backwards.
        points: Points on them by place, shape [6, 3], in units of the reach.
        slides: Whether the joint of each place slides, [6].
        center: Where the last three axes meet, [3]; the origin for CARTESIAN.
        deviation: Largest relative length that the axes were moved by.
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
        """JOINT where the first stage takes a quartic."""
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


def joint_axes(chain: SerialChain) -> Axes:
    """Return the axes of a chain of joints that turn or slide."""
    pose = np.eye(4)
    directions, points = [], []
    for constant in chain.constants[:-1]:
        pose = pose @ constant
        directions.append(pose[:3, 2].copy())
        points.append(pose[:3, 3].copy())
    tool = pose @ chain.constants[-1]
    h, p = np.array(directions), np.array(points)
    # Points far out on their axes, as calibrated descriptions have them, would cost digits.
    p += h * np.sum(h * (tool[:3, 3] - p), axis=1, keepdims=True)
    origin = np.mean(p, axis=0)
    p += h * np.sum(h * (origin - p), axis=1, keepdims=True)
    steps = np.diff(np.vstack([p, tool[:3, 3]]), axis=0)
    reach = float(np.sum(np.linalg.norm(steps, axis=1)))
    # Slides without limits add nothing.
    travel = (chain.upper - chain.lower)[np.array(chain.slides)]
    reach += float(np.sum(travel[np.isfinite(travel)]))
    # Axes that all meet in the tool have no reach; any length does there.
    reach = reach if reach > 1e-9 else 1.0
    tool[:3, 3] = (tool[:3, 3] - origin) / reach
    return Axes(h, (p - origin) / reach, tool, origin, reach, chain.slides)


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Return the angle between two lines [rad], at most a quarter turn."""
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), abs(float(a @ b))))


def meeting_point(h: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the point nearest to lines and its largest distance to one; inf if all parallel.

    Args:
        h: Directions, shape [k, 3].
        p: Points, shape [k, 3].
    """
    across = np.eye(3) - h[:, :, None] * h[:, None, :]
    normal = across.sum(axis=0)
    if np.linalg.cond(normal) > 1e6:
        return np.full(3, np.nan), np.inf
    point = np.linalg.solve(normal, np.einsum('kij,kj->i', across, p))
    gaps = np.linalg.norm(np.einsum('kij,kj->ki', across, point - p), axis=1)
    return point, float(gaps.max())


def best_chart(axes: Axes, tolerances: StructureTolerances) -> Chart | None:
    """Return the chart to solve six axes with, None where no family fits.

    An exact structure is better than one that nearly fits, two quadratic equations are better
    than a quartic, and the order of the chain is better than another one.
    """
    found = [
        chart
        for backwards in (False, True)
        for wrapped in (False, True)
        for chart in _charts(axes, backwards, wrapped, tolerances)
    ]
    return min(found, key=lambda chart: chart_rank(chart, tolerances)) if found else None


def best_slide_chart(axes: Axes, tolerances: StructureTolerances) -> SlideChart | None:
    """Return the chart to solve six joints of which some slide with, None where none fits."""
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
    """Return a key that puts the better chart first; None, six general axes, comes last."""
    if chart is None:
        return True, False, False, False, 0.0
    exact = chart.deviation <= tolerances.exact
    wrapped = isinstance(chart, Chart) and chart.wrapped
    rounded = 0.0 if exact else chart.deviation
    return False, not exact, chart.split is Split.JOINT, wrapped, rounded


def _charts(
    axes: Axes, backwards: bool, wrapped: bool, tolerances: StructureTolerances
) -> list[Chart]:
    """Return the charts of one order of the axes."""
    order = np.arange(6)[::-1] if backwards else np.arange(6)
    order = np.roll(order, 1) if wrapped else order
    h = axes.directions[order] * (-1.0 if backwards else 1.0)
    p = axes.points[order]
    makers = (_spherical_charts, _parallel_charts)
    return [
        Chart(
            family=family, split=split, row=row, backwards=backwards, wrapped=wrapped,
            order=tuple(int(k) for k in order), directions=directions, points=points,
            center=center, signs=signs, deviation=deviation,
        )
        for make in makers
        for family, split, row, directions, points, center, signs, deviation in make(
            h, p, wrapped, tolerances
        )
    ]  # fmt: skip


_Made = tuple[
    ClosedFormFamily, Split, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, float
]  # the fields of a Chart that depend on the order


def _spherical_charts(
    h: np.ndarray, p: np.ndarray, wrapped: bool, tolerances: StructureTolerances
) -> list[_Made]:
    """Return charts whose places 4, 5, 6 meet; x is the angle of place 1, y that of place 3."""
    center, gap = meeting_point(h[3:], p[3:])
    # Three axes in one plane turn about a line only: two of them are parallel.
    straight = min(angle_between(h[3], h[4]), angle_between(h[4], h[5]))
    if gap > tolerances.length or straight < tolerances.angle:
        return []
    points = p.copy()
    points[3:] = center
    signs = np.ones(3)
    made: list[_Made] = [
        (ClosedFormFamily.SPHERICAL, Split.JOINT, 0, h, points, center, signs, gap)
    ]
    # The first axis of a wrapped order moves with the pose: what it meets is no structure.
    for first, split in ((1, Split.X_FIRST), (0, Split.Y_FIRST)):
        if first == 0 and wrapped:
            continue
        pair = slice(first, first + 2)
        tilt = angle_between(h[first], h[first + 1])
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
        if apart <= tolerances.length:
            through = points.copy()
            through[pair] = corner
            made.append(
                (ClosedFormFamily.SPHERICAL, split, 1, h, through, center, signs, max(gap, apart))
            )
    return made


def _parallel_charts(
    h: np.ndarray, p: np.ndarray, wrapped: bool, tolerances: StructureTolerances
) -> list[_Made]:
    """Return charts whose places 2, 3, 4 are parallel; x is the angle of place 1, y of place 5."""
    tilt = max(angle_between(h[1], h[2]), angle_between(h[2], h[3]), angle_between(h[1], h[3]))
    links = np.linalg.norm(np.cross(np.diff(p[1:4], axis=0), h[1]), axis=1)
    # The first axis of a wrapped order moves with the pose.
    ends = angle_between(h[4], h[3])
    ends = ends if wrapped else min(ends, angle_between(h[0], h[1]))
    # Coinciding axes, or a fourth parallel one, leave a motion that no pose fixes.
    if tilt > tolerances.angle or links.min() < _LEAST_LINK or ends < tolerances.angle:
        return []
    directions = h.copy()
    directions[1:4] = _common_direction(h[1:4])
    signs = np.sign(directions[1:4] @ directions[1])
    made: list[_Made] = [
        (ClosedFormFamily.PARALLEL, Split.JOINT, 0, directions, p, p[5], signs, tilt)
    ]
    bend = angle_between(h[4], h[5])
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
    """Return directions [k, 3] made parallel, each keeping its sense."""
    sense = np.sign(h @ h[0])[:, None]
    mean = (sense * h).sum(axis=0)
    return sense * (mean / np.linalg.norm(mean))
