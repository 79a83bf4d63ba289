# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Chains completed to six joints by virtual ones, so that the solution of six joints solves them.

Turns of the tool that do not matter are virtual joints behind the last one, at the tool, that may
take any value. The others, up to six, are locked: a pose that the chain reaches is one of the six
joints with the locked ones at zero, and of the solutions of the six these are the ones that count.
Locked axes may stand anywhere, before the first joint or behind the last. They are put where the
six have a closed form: through the point where the last two axes meet, through a point of the last
axis, two of them through one point. Beside joints that slide they may slide, too, up to three.

Six joints are singular at configurations where the chain itself is not, such as a wrist that is
stretched out along a locked axis. Locked axes therefore have directions of no other axis, and each
chain has two completions with different ones, whose candidates are joined.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import numpy as np

from ros_ik.solvers.analytic.structure.elimination import turned
from ros_ik.solvers.analytic.structure.structure import Axes
from ros_ik.solvers.analytic.structure.structure import best_chart
from ros_ik.solvers.analytic.structure.structure import best_slide_chart
from ros_ik.solvers.analytic.structure.structure import Chart
from ros_ik.solvers.analytic.structure.structure import chart_rank
from ros_ik.solvers.analytic.structure.structure import meeting_point
from ros_ik.solvers.analytic.structure.structure import SlideChart
from ros_ik.solvers.analytic.structure.structure import StructureTolerances

_JOINTS = 6
# Random configurations at which a chain is judged.
_TRIALS = 24
# Least singular value, over the largest, of a Jacobian that is regular at some configuration.
_LEAST_RANK = 1e-8
# Least share of it that six joints keep of that of the chain itself, in the median.
_LEAST_KEPT = 1e-2
# Most sets of locked axes that are drawn for one template until one keeps it. Of one joint, whose
# six joints are as regular at every configuration, a draw fails for two chains in five.
_DRAWS = 16


@dataclasses.dataclass(frozen=True)
class Completion:
    """Six joints that a chain is part of.

    Attributes:
        axes: Their axes.
        real: Place of each joint of the chain among the six, [n].
        locked: Places of the virtual joints that stay at zero.
        chart: How to solve them; None for six general axes that turn.
    """

    axes: Axes
    real: np.ndarray
    locked: np.ndarray
    chart: Chart | SlideChart | None


def completions(axes: Axes, free: np.ndarray, tolerances: StructureTolerances) -> list[Completion]:
    """Complete a chain to six joints.

    Args:
        axes: Axes of the chain, n of them.
        free: Axes of the tool about which it may turn as it likes, shape [f, 3]; n + f is at
            most six.
        tolerances: Deviations up to which axes count as parallel or as meeting.

    Returns:
        The best completion, and one more of its kind with other locked axes where a kernel solves
        them and there are any. Empty where every one is singular.
    """
    count = _JOINTS - len(axes.directions) - len(free)
    own = _regularity(axes, free, np.arange(len(axes.directions)))
    least = _LEAST_KEPT * own
    templates = [(make, at_base) for at_base in (False, True) for make in _TEMPLATES]
    if not any(axes.slides):
        templates = [(make, at_base) for make, at_base in templates if make is not _slides]
    if count == 0:
        templates = [(_general, False)]
    ranked = []
    for k, (make, at_base) in enumerate(templates):
        tried = _completed(axes, free, tolerances, make, at_base, least, 0)
        if tried is None or (tried.completion.chart is None and any(axes.slides)):
            continue
        rank = chart_rank(tried.completion.chart, tolerances)
        ranked.append((*rank, -tried.regularity, k, tried))
        if not any(rank):
            # Exact, with square roots alone, in the order of the chain.
            break
    if not ranked:
        return []
    *_, k, best = min(ranked, key=lambda row: row[:-1])
    if count == 0 or best.completion.chart is None:
        return [best.completion]
    other = _completed(axes, free, tolerances, *templates[k], least, best.draw + 1)
    return [best.completion] if other is None else [best.completion, other.completion]


def idle_joint(axes: Axes, free: np.ndarray) -> tuple[bool, int | None]:
    """Tell whether some motion of the joints always leaves the tool where it is.

    Args:
        axes: Axes of the chain.
        free: Axes of the tool about which turns do not matter, shape [f, 3].

    Returns:
        Whether there is one, and the joint that makes it alone, None where several do.
    """
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_TRIALS, len(axes.directions)))
    _, values, rows = np.linalg.svd(tool_jacobians(axes, q, free))
    values = np.pad(values, ((0, 0), (0, q.shape[1] - values.shape[1])))
    share = values[:, -1] / values[:, 0]
    if share.max() > _LEAST_RANK:
        return False, None
    motion = np.abs(rows[:, -1]).min(axis=0)
    joint = int(np.argmax(motion))
    return True, joint if motion[joint] > 1.0 - _LEAST_RANK else None


def tool_jacobians(axes: Axes, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the Jacobians of the tool without the turns that do not matter.

    Args:
        axes: Axes of a chain of n joints.
        q: Configurations [rad, reaches], shape [m, n].
        free: Axes of the tool about which turns do not matter, shape [f, 3].

    Returns:
        Shape [m, 6, n], linear rows first, lengths in reaches.
    """
    m, n = q.shape
    R, t = np.tile(np.eye(3), (m, 1, 1)), np.zeros((m, 3))
    lines, points = np.zeros((m, n, 3)), np.zeros((m, n, 3))
    for k in range(n):
        h, p = axes.directions[k], axes.points[k]
        lines[:, k], points[:, k] = R @ h, R @ p + t
        if axes.slides[k]:
            t = t + q[:, k, None] * lines[:, k]
        else:
            turn = np.swapaxes(turned(h, q[:, k, None], np.eye(3)), 1, 2)
            t = t + np.einsum('mij,mj->mi', R, p - turn @ p)
            R = R @ turn
    arms = (R @ axes.tool[:3, 3] + t)[:, None] - points
    slides = np.array(axes.slides)[:, None]
    linear = np.where(slides, lines, np.cross(lines, arms))
    angular = np.where(slides, 0.0, lines)
    if len(free) == 3:
        angular = np.zeros_like(angular)
    for axis in free if len(free) == 1 else ():
        along = R @ axes.tool[:3, :3] @ axis
        angular = angular - np.einsum('mnk,mk->mn', angular, along)[..., None] * along[:, None]
    return np.concatenate([linear, angular], axis=2).swapaxes(1, 2)


@dataclasses.dataclass(frozen=True)
class _Place:
    """Place of locked axes: between the chain and its end, read outwards.

    Attributes:
        h: Directions of the joints, the nearest one last, [n, 3].
        p: Points on them, [n, 3].
        free: Direction of the axis about which the tool may turn, if it comes next; else None.
        end: Position of the tool.
        length: Largest gap of axes that meet.
        missing: Slides that the chain has fewer than three.
    """

    h: np.ndarray
    p: np.ndarray
    free: np.ndarray | None
    end: np.ndarray
    length: float
    missing: int


_Lines = tuple[np.ndarray, np.ndarray]  # directions and points [k, 3], the nearest first


def _beside(place: _Place, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return an axis through the point where the last two joints meet."""
    if count != 1 or len(place.h) < 2:
        return None
    center, gap = meeting_point(place.h[-2:], place.p[-2:])
    if gap > place.length:
        return None
    return _across(place.h[-1], rng)[:1], center[None]


def _wrist(place: _Place, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return axes at right angles through a point of the last joint, or three of their own."""
    if count > 2:
        return _outermost(3, count, rng)
    center = place.p[-1] + rng.uniform(-0.5, 0.5) * place.h[-1]
    first, second = _across(place.h[-1], rng)
    return np.array([first, second])[:count], np.tile(center, (count, 1))


def _at_free_axis(place: _Place, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return axes at right angles to the free one through the tool."""
    if place.free is None:
        return None
    pair = _across(place.free, rng)[-count:]
    h, p = _general(place, count, rng)
    h[-2:], p[-2:] = pair, place.end
    return h, p


def _parallel(place: _Place, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return an axis parallel to the last joint."""
    return None if count != 1 else (place.h[-1:].copy(), rng.uniform(-0.5, 0.5, (1, 3)))


def _pair(place: _Place, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return axes of which the outermost two meet."""
    return None if count < 2 else _outermost(2, count, rng)


def _general(place: _Place, count: int, rng: np.random.Generator) -> _Lines:
    """Return axes of any kind."""
    h = rng.normal(size=(count, 3))
    return h / np.linalg.norm(h, axis=1, keepdims=True), rng.uniform(-0.5, 0.5, (count, 3))


def _slides(place: _Place, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return axes of which the nearest ones slide, so that there are three slides."""
    return None if not 0 <= place.missing <= count else _general(place, count, rng)


_TEMPLATES = (_beside, _wrist, _at_free_axis, _parallel, _pair, _general, _slides)


def _outermost(meeting: int, count: int, rng: np.random.Generator) -> _Lines:
    """Return axes of any kind, the last of which are at right angles and meet."""
    h, p = rng.normal(size=(count, 3)), rng.uniform(-0.5, 0.5, (count, 3))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    h[-2:] = _across(h[-3], rng) if meeting == 3 else _across(h[-1], rng)
    p[-meeting:] = p[-1]
    return h, p


def _across(axis: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return two unit vectors at right angles to each other and to an axis, [2, 3]."""
    first = np.cross(axis, rng.normal(size=3))
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(axis, first)])


@dataclasses.dataclass(frozen=True)
class _Tried:
    """Completion by one template.

    Attributes:
        completion: The six joints.
        regularity: Least singular value of their Jacobian over the largest, in the median.
        draw: Number of the draw of their locked axes.
    """

    completion: Completion
    regularity: float
    draw: int


def _completed(
    axes: Axes,
    free: np.ndarray,
    tolerances: StructureTolerances,
    make: Callable[[_Place, int, np.random.Generator], _Lines | None],
    at_base: bool,
    least: float,
    first_draw: int,
) -> _Tried | None:
    """Return the first completion by one template that is regular enough.

    Args:
        axes: Axes of the chain.
        free: Axes of the tool about which it may turn as it likes, shape [f, 3].
        tolerances: Deviations up to which axes count as parallel or as meeting.
        make: The template.
        at_base: Whether the locked axes stand before the first joint, not behind the last.
        least: Least regularity.
        first_draw: Number of the draw to begin with.

    Returns:
        The completion; None where the template does not fit, or no draw of its locked axes is
        regular enough.
    """
    for draw in range(first_draw, first_draw + _DRAWS):
        made = _with_locked_axes(axes, free, tolerances, make, at_base, draw)
        if made is None:
            return None
        six, real, locked = made
        regularity = _regularity(six, np.zeros((0, 3)), np.setdiff1d(np.arange(_JOINTS), locked))
        if regularity >= least:
            find = best_slide_chart if any(six.slides) else best_chart
            return _Tried(Completion(six, real, locked, find(six, tolerances)), regularity, draw)
        if not len(locked):
            return None
    return None


def _with_locked_axes(
    axes: Axes,
    free: np.ndarray,
    tolerances: StructureTolerances,
    make: Callable[[_Place, int, np.random.Generator], _Lines | None],
    at_base: bool,
    draw: int,
) -> tuple[Axes, np.ndarray, np.ndarray] | None:
    """Return six axes, the places of the chain's own and those of the locked ones."""
    n, f = len(axes.directions), len(free)
    count = _JOINTS - n - f
    end = axes.tool[:3, 3]
    at_tool = free @ axes.tool[:3, :3].T
    missing = 3 - sum(axes.slides)
    sense = -1 if at_base else 1
    place = _Place(
        axes.directions[::sense], axes.points[::sense],
        at_tool[0] if f == 1 and not at_base else None, end, tolerances.length, missing,
    )  # fmt: skip
    made = make(place, count, np.random.default_rng((count, draw)))
    if made is None:
        return None
    h, p = (rows[::sense] for rows in made)
    first = 0 if at_base else n
    sliding = (np.arange(count) < (missing if make is _slides else 0))[::sense]
    locked = first + np.arange(count)
    real = np.setdiff1d(np.arange(n + count), locked)
    # Rows behind those of the chain and the locked axes are those of the free ones.
    points = np.insert(axes.points, np.full(count, first), p, axis=0)
    points = np.vstack([points, *[end[None]] * f])
    directions = np.insert(axes.directions, np.full(count, first), h, axis=0)
    # The reach of the six is that of the chain and of the ways to the locked axes.
    longer = float(np.sum(np.linalg.norm(np.diff(np.vstack([points, end]), axis=0), axis=1)))
    longer = max(longer, 1.0)
    tool = axes.tool.copy()
    tool[:3, 3] /= longer
    six = Axes(
        np.vstack([directions, at_tool]), points / longer, tool, axes.origin,
        axes.reach * longer,
        tuple(np.append(np.insert(axes.slides, [first] * count, sliding), [False] * f).tolist()),
    )  # fmt: skip
    return six, real, locked


def _regularity(axes: Axes, free: np.ndarray, moving: np.ndarray) -> float:
    """Return the least singular value of a Jacobian over the largest, in the median.

    The configurations are random ones of the joints that move, the others are at zero.
    """
    q = np.zeros((_TRIALS, len(axes.directions)))
    q[:, moving] = np.random.default_rng(1).uniform(-np.pi, np.pi, (_TRIALS, len(moving)))
    values = np.linalg.svd(tool_jacobians(axes, q, free), compute_uv=False)
    return float(np.median(values[:, -1] / values[:, 0]))
