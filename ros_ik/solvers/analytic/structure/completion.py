# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Completion of chains to six joints by virtual joints, so that the closed forms of six solve
them.

Free rotations of the tool are virtual joints after the last joint, at the tool, with arbitrary
values. The other virtual joints are locked: the solutions of the chain are the solutions of the
six joints in which the locked joints are zero. Locked axes may be anywhere before the first joint
or after the last. They are placed so that the six joints have a closed form: through the
intersection of the last two axes, through a point of the last axis, or two of them through one
point. For chains with prismatic joints they may be prismatic too, up to three in total.

The six joints may be singular where the chain itself is not, for example with a wrist stretched
out along a locked axis. Locked axes therefore have directions unlike those of other axes, and each
chain has two completions with different locked axes, whose candidates are combined.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.model.conventions.poses import cross
from ros_ik.solvers.analytic.structure.charts import best_chart
from ros_ik.solvers.analytic.structure.charts import best_slide_chart
from ros_ik.solvers.analytic.structure.charts import Chart
from ros_ik.solvers.analytic.structure.charts import chart_rank
from ros_ik.solvers.analytic.structure.charts import SlideChart
from ros_ik.solvers.analytic.structure.structure import Axes
from ros_ik.solvers.analytic.structure.structure import meeting_point
from ros_ik.solvers.analytic.structure.structure import point_among
from ros_ik.solvers.analytic.structure.structure import StructureTolerances
from ros_ik.solvers.analytic.structure.structure import turned

_JOINTS = 6
# Number of random configurations at which a chain is evaluated.
_TRIALS = 24
# Least ratio of the least to the largest singular value of a regular Jacobian, lengths in reaches.
# Rounding leaves 1e-16, and arms in wide use have 5e-3 or more. A structure is called exact up to
# a deviation of 2e-8, which a ratio of this size amplifies to 0.02 rad, from where the polish
# finds every solution. At a ratio of 2e-8, 9 of 10 poses were unsolved.
_MIN_RANK = 1e-6
# Least unit of length for the rank, in reaches, from where on rounding stays below that.
_LEAST_UNIT = 1e-6
# Least median of this ratio for the six joints, relative to that of the chain itself.
_MIN_REGULARITY = 1e-2
# Largest number of random sets of locked axes for a template until one is regular enough. For
# chains of one joint, a set fails for two chains in five.
_DRAWS = 16


@dataclasses.dataclass(frozen=True)
class Completion:
    """Six joints that include the joints of a chain.

    Attributes:
        axes: Axes of the six joints.
        real: Index of each joint of the chain among the six, [n].
        locked: Indices of the virtual joints that stay at zero.
        chart: Chart of the solution; None for six general revolute axes.
    """

    axes: Axes
    real: np.ndarray
    locked: np.ndarray
    chart: Chart | SlideChart | None


def completions(axes: Axes, free: np.ndarray, tolerances: StructureTolerances) -> list[Completion]:
    """Complete a chain to six joints.

    Args:
        axes: Axes of the chain, n of them.
        free: Axes of the tool about which it may rotate freely, shape [f, 3]; n + f is at
            most six.
        tolerances: Tolerances for parallel and for intersecting axes.

    Returns:
        The best completion, and a second one with other locked axes, if there are locked axes and
        a kernel solves them. Empty if all completions are singular.
    """
    count = _JOINTS - len(axes.directions) - len(free)
    own = _regularity(axes, free, range(len(axes.directions)))
    least = _MIN_REGULARITY * own
    templates = [(make, at_base) for at_base in (False, True) for make in _TEMPLATES]
    if not any(axes.slides):
        templates = [(make, at_base) for make, at_base in templates if make is not _prismatic_axes]
    if count == 0:
        templates = [(_random_axes, False)]
    ranked = []
    for k, (make, at_base) in enumerate(templates):
        tried = _try_template(axes, free, tolerances, make, at_base, least, 0)
        if tried is None or (tried.completion.chart is None and any(axes.slides)):
            continue
        rank = chart_rank(tried.completion.chart, tolerances)
        ranked.append((*rank, -tried.regularity, k, tried))
        if not any(rank):
            # Exact, without a quartic, in the order of the chain.
            break
    if not ranked:
        return []
    *_, k, best = min(ranked, key=lambda row: row[:-1])
    if count == 0 or best.completion.chart is None:
        return [best.completion]
    other = _try_template(axes, free, tolerances, *templates[k], least, best.draw + 1)
    return [best.completion] if other is None else [best.completion, other.completion]


def self_motion_joint(axes: Axes, free: np.ndarray) -> tuple[bool, int | None]:
    """Return True if the chain can move at every configuration without moving the tool.

    Args:
        axes: Axes of the chain.
        free: Axes of the tool about which rotations are ignored, shape [f, 3].

    Returns:
        True if there is such a motion, judged by the rank of the Jacobian at random
        configurations of which a single regular one suffices; and its joint, or None if it
        involves several joints.
    """
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_TRIALS, len(axes.directions)))
    _, values, rows = np.linalg.svd(_jacobians_of_rank(axes, q, free))
    share = values[:, -1] / values[:, 0]
    if share.max() > _MIN_RANK:
        return False, None
    motions = np.abs(rows[:, -1, : q.shape[1]])
    motion = (motions / np.linalg.norm(motions, axis=1, keepdims=True)).min(axis=0)
    joint = int(np.argmax(motion))
    return True, joint if motion[joint] > 1.0 - _MIN_RANK else None


def _jacobians_of_rank(axes: Axes, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return Jacobians whose rank tells self-motions, [m, 6, n + f].

    The Jacobian of any point of the last link has the same rank as that of the tool. Near the
    axes, and in units of their extent, its singular values do not fall with the distance of the
    tool. The last f columns span the free rotations, which are about the tool.

    Args:
        axes: Axes of a chain of n joints.
        q: Configurations [rad, reaches], shape [m, n].
        free: Axes of the tool about which rotations are ignored, shape [f, 3].
    """
    turning = ~np.array(axes.slides)
    near = axes.tool.copy()
    if turning.any():
        near[:3, 3] = point_among(axes.directions[turning], axes.points[turning])
    at_axes = dataclasses.replace(axes, tool=near)
    jacobian = tool_jacobians(at_axes, q, np.zeros((0, 3)))
    unit = max(axes.extent, _LEAST_UNIT)
    jacobian[:, :3, turning] /= unit
    if not len(free):
        return jacobian
    # The rotation of the last link, and the way from the point to the tool.
    _, _, turn, _ = _moved_axes(axes, q)
    along = np.einsum('mij,kj->mki', turn @ axes.tool[:3, :3], free)
    arm = np.einsum('mij,j->mi', turn, near[:3, 3] - axes.tool[:3, 3]) / unit
    twists = np.concatenate([cross(along, arm[:, None]), along], axis=2).swapaxes(1, 2)
    spans, _ = np.linalg.qr(twists)
    return np.concatenate([jacobian, spans], axis=2)


def tool_jacobians(axes: Axes, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the Jacobians of the tool without free rotations.

    Args:
        axes: Axes of a chain of n joints.
        q: Configurations [rad, reaches], shape [m, n].
        free: Axes of the tool about which rotations are ignored, shape [f, 3].

    Returns:
        Shape [m, 6, n], linear rows first, lengths in reaches.
    """
    lines, points, R, t = _moved_axes(axes, q)
    arms = (R @ axes.tool[:3, 3] + t)[:, None] - points
    slides = np.array(axes.slides)[:, None]
    linear = np.where(slides, lines, cross(lines, arms))
    angular = np.where(slides, 0.0, lines)
    if len(free) == 3:
        angular = np.zeros_like(angular)
    for axis in free if len(free) == 1 else ():
        along = R @ axes.tool[:3, :3] @ axis
        angular = angular - np.einsum('mnk,mk->mn', angular, along)[..., None] * along[:, None]
    return np.concatenate([linear, angular], axis=2).swapaxes(1, 2)


def _moved_axes(
    axes: Axes, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return where configurations [m, n] move the axes and the last link.

    Returns:
        Directions and points of the axes, [m, n, 3]; rotation [m, 3, 3] and translation [m, 3]
        of the last link from its place at zero.
    """
    m, n = q.shape
    R, t = np.tile(np.eye(3), (m, 1, 1)), np.zeros((m, 3))
    lines, points = np.zeros((m, n, 3)), np.zeros((m, n, 3))
    turns = np.swapaxes(turned(axes.directions[:, None, None], q.T[..., None], np.eye(3)), 2, 3)
    for k in range(n):
        h, p = axes.directions[k], axes.points[k]
        lines[:, k], points[:, k] = R @ h, R @ p + t
        if axes.slides[k]:
            t = t + q[:, k, None] * lines[:, k]
        else:
            t = t + np.einsum('mij,mj->mi', R, p - turns[k] @ p)
            R = R @ turns[k]
    return lines, points, R, t


@dataclasses.dataclass(frozen=True)
class _ChainEnd:
    """End of the chain, at the base or at the tool, to which locked axes are added.

    Attributes:
        h: Directions of the joints, the nearest one last, [n, 3].
        p: Points on their axes, [n, 3].
        free: Direction of the axis of free rotation of the tool if it is next, else None.
        end: Position of the tool.
        length: Largest gap of intersecting axes.
        missing: Number of prismatic joints that the chain lacks to three.
    """

    h: np.ndarray
    p: np.ndarray
    free: np.ndarray | None
    end: np.ndarray
    length: float
    missing: int


_Lines = tuple[np.ndarray, np.ndarray]  # directions and points [k, 3], the nearest first


def _axis_through_intersection(
    chain_end: _ChainEnd, count: int, rng: np.random.Generator
) -> _Lines | None:
    """Return an axis through the intersection of the last two axes."""
    if count != 1 or len(chain_end.h) < 2:
        return None
    center, gap = meeting_point(chain_end.h[-2:], chain_end.p[-2:])
    if gap > chain_end.length:
        return None
    return _perpendicular_pair(chain_end.h[-1], rng)[:1], center[None]


def _wrist_axes(chain_end: _ChainEnd, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return perpendicular axes through a point of the last axis, or three separate ones."""
    if count > 2:
        return _intersecting_last_axes(3, count, rng)
    center = chain_end.p[-1] + rng.uniform(-0.5, 0.5) * chain_end.h[-1]
    first, second = _perpendicular_pair(chain_end.h[-1], rng)
    return np.array([first, second])[:count], np.tile(center, (count, 1))


def _axes_at_tool(chain_end: _ChainEnd, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return axes through the tool that are perpendicular to the free axis."""
    if chain_end.free is None:
        return None
    pair = _perpendicular_pair(chain_end.free, rng)[-count:]
    h, p = _random_axes(chain_end, count, rng)
    h[-2:], p[-2:] = pair, chain_end.end
    return h, p


def _parallel_axis(chain_end: _ChainEnd, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return an axis parallel to the last axis."""
    return None if count != 1 else (chain_end.h[-1:].copy(), rng.uniform(-0.5, 0.5, (1, 3)))


def _intersecting_pair(
    chain_end: _ChainEnd, count: int, rng: np.random.Generator
) -> _Lines | None:
    """Return axes of which the outermost two intersect."""
    return None if count < 2 else _intersecting_last_axes(2, count, rng)


def _random_axes(chain_end: _ChainEnd, count: int, rng: np.random.Generator) -> _Lines:
    """Return arbitrary axes."""
    h = rng.normal(size=(count, 3))
    return h / np.linalg.norm(h, axis=1, keepdims=True), rng.uniform(-0.5, 0.5, (count, 3))


def _prismatic_axes(chain_end: _ChainEnd, count: int, rng: np.random.Generator) -> _Lines | None:
    """Return axes of which the nearest are prismatic, so that there are three prismatic joints."""
    return None if not 0 <= chain_end.missing <= count else _random_axes(chain_end, count, rng)


_TEMPLATES = (
    _axis_through_intersection,
    _wrist_axes,
    _axes_at_tool,
    _parallel_axis,
    _intersecting_pair,
    _random_axes,
    _prismatic_axes,
)


def _intersecting_last_axes(meeting: int, count: int, rng: np.random.Generator) -> _Lines:
    """Return arbitrary axes, the last of which intersect at right angles."""
    h, p = rng.normal(size=(count, 3)), rng.uniform(-0.5, 0.5, (count, 3))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    h[-2:] = _perpendicular_pair(h[-3], rng) if meeting == 3 else _perpendicular_pair(h[-1], rng)
    p[-meeting:] = p[-1]
    return h, p


def _perpendicular_pair(axis: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return two unit vectors perpendicular to each other and to an axis, [2, 3]."""
    first = cross(axis, rng.normal(size=3))
    first /= np.linalg.norm(first)
    return np.array([first, cross(axis, first)])


@dataclasses.dataclass(frozen=True)
class _CompletionTrial:
    """Completion from a template.

    Attributes:
        completion: The six joints.
        regularity: Median ratio of least to largest singular value of their Jacobian.
        draw: Index of the random set of locked axes.
    """

    completion: Completion
    regularity: float
    draw: int


def _try_template(
    axes: Axes,
    free: np.ndarray,
    tolerances: StructureTolerances,
    make: Callable[[_ChainEnd, int, np.random.Generator], _Lines | None],
    at_base: bool,
    least: float,
    first_draw: int,
) -> _CompletionTrial | None:
    """Return the first completion from a template that is regular enough.

    Args:
        axes: Axes of the chain.
        free: Axes of the tool about which it may rotate freely, shape [f, 3].
        tolerances: Tolerances for parallel and for intersecting axes.
        make: The template.
        at_base: True if the locked axes are before the first joint, instead of after the last.
        least: Least regularity.
        first_draw: Index of the first random set to try.

    Returns:
        The completion; None if the template does not apply, or no set of its locked axes is
        regular enough.
    """
    for draw in range(first_draw, first_draw + _DRAWS):
        made = _with_locked_axes(axes, free, tolerances, make, at_base, draw)
        if made is None:
            return None
        six, real, locked = made
        moving = [k for k in range(_JOINTS) if k not in locked]
        regularity = _regularity(six, np.zeros((0, 3)), moving)
        if regularity >= least:
            find = best_slide_chart if any(six.slides) else best_chart
            return _CompletionTrial(
                Completion(six, real, locked, find(six, tolerances)), regularity, draw
            )
        if not len(locked):
            return None
    return None


def _with_locked_axes(
    axes: Axes,
    free: np.ndarray,
    tolerances: StructureTolerances,
    make: Callable[[_ChainEnd, int, np.random.Generator], _Lines | None],
    at_base: bool,
    draw: int,
) -> tuple[Axes, np.ndarray, np.ndarray] | None:
    """Return six axes, the indices of the chain's axes, and those of the locked ones."""
    n, f = len(axes.directions), len(free)
    count = _JOINTS - n - f
    end = axes.tool[:3, 3]
    at_tool = free @ axes.tool[:3, :3].T
    missing = 3 - sum(axes.slides)
    sense = -1 if at_base else 1
    chain_end = _ChainEnd(
        axes.directions[::sense], axes.points[::sense],
        at_tool[0] if f == 1 and not at_base else None, end,
        tolerances.length * axes.extent, missing,
    )  # fmt: skip
    made = make(chain_end, count, np.random.default_rng((count, draw)))
    if made is None:
        return None
    h, p = (rows[::sense] for rows in made)
    first = 0 if at_base else n
    sliding = (np.arange(count) < (missing if make is _prismatic_axes else 0))[::sense]
    locked = first + np.arange(count)
    real = np.delete(np.arange(n + count), locked)
    # Rows after those of the chain and the locked axes are the free ones.
    points = np.insert(axes.points, np.full(count, first), p, axis=0)
    points = np.vstack([points, *[end[None]] * f])
    directions = np.insert(axes.directions, np.full(count, first), h, axis=0)
    # The reach of the six includes the distances to the locked axes.
    longer = float(np.sum(np.linalg.norm(np.diff(np.vstack([points, end]), axis=0), axis=1)))
    longer = max(longer, 1.0)
    tool = axes.tool.copy()
    tool[:3, 3] /= longer
    six = Axes(
        np.vstack([directions, at_tool]), points / longer, tool, axes.origin,
        axes.reach * longer,
        tuple(np.append(np.insert(axes.slides, [first] * count, sliding), [False] * f).tolist()),
        axes.extent / longer,
    )  # fmt: skip
    return six, real, locked


def _regularity(axes: Axes, free: np.ndarray, moving: Sequence[int]) -> float:
    """Return the median ratio of the least to the largest singular value of a Jacobian.

    It is evaluated at random configurations of the movable joints, with the others at zero.
    """
    q = np.zeros((_TRIALS, len(axes.directions)))
    q[:, moving] = np.random.default_rng(1).uniform(-np.pi, np.pi, (_TRIALS, len(moving)))
    values = np.linalg.svd(tool_jacobians(axes, q, free), compute_uv=False)
    return float(np.median(values[:, -1] / values[:, 0]))
