# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solver of poses by the closed form of six joints, and by search for the unsolved ones."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import functools
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.model import Model
from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.selection import chain_checker
from ros_ik.solvers.analytic.selection import collision_free
from ros_ik.solvers.analytic.selection import separated
from ros_ik.solvers.analytic.solver import ClosedFormIK
from ros_ik.solvers.analytic.structure.form import closed_form
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily
from ros_ik.solvers.default_tolerances import POSITION_TOLERANCE
from ros_ik.solvers.default_tolerances import ROTATION_TOLERANCE
from ros_ik.solvers.pose_ik.interface.result import ChainIKResult
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.interface.result import checked_chain_settings
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.search.setup import checked_rows
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

if TYPE_CHECKING:
    from ros_ik.model import JointGroup

# Number of joints for the closed form. With more joints, the search is faster. With fewer, only
# the search solves a pose that is off by rounding.
_JOINTS = 6
# Largest number of poses in a batch of the search.
_SEARCHED_AT_ONCE = 1024
# Statuses for which the search cannot help.
_CONCLUSIVE = (SolveStatus.CONVERGED, SolveStatus.NON_FINITE_INPUT)


def is_closed_form_faster(
    model: Model,
    link: str | int,
    joint_group: JointGroup | str | Sequence[str] | None,
    joint_q: np.ndarray | None,
    offset: np.ndarray | None,
    tolerance: PoseTolerance,
) -> bool:
    """Return True if the closed form of a chain is faster than the search, and as good.

    Args:
        model: The model.
        link: Link whose frame is to reach the poses.
        joint_group: Joints that may move.
        joint_q: Configuration at which the other joints are locked.
        offset: Pose of the tool in the link.
        tolerance: Tolerances of a solution.

    Raises:
        ArgumentError: See :func:`closed_form`.
    """
    least = ClosedFormSettings()
    exact = (least.position_tolerance, least.rotation_tolerance)
    wanted = tolerance.lengths
    if any(not low <= each < np.inf for low, each in zip(exact, wanted, strict=True)):
        return False
    chain, _ = folded_chain(model, link, joint_group, joint_q, offset)
    if chain.n_variables != _JOINTS:
        return False
    form = closed_form(model, link, joint_group, joint_q=joint_q, offset=offset)
    slow = (ClosedFormFamily.NONE, ClosedFormFamily.GENERAL)
    return form.exact and form.family not in slow


class ClosedFormFirstIK:
    """Solver for batches of one size, for chains for which :func:`is_closed_form_faster`.

    Attributes:
        n_problems: Number of poses per solve.
        chain: The chain to the link.
        n_bytes: Approximate memory of its arrays.
    """

    def __init__(
        self,
        model: Model,
        link: str | int,
        n_problems: int = 1,
        *,
        joint_group: JointGroup | str | Sequence[str] | None = None,
        joint_q: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        n_solutions: int = 1,
        check_collisions: bool = False,
        collision_pairs: Sequence[Sequence[int]] | np.ndarray | None = None,
        collision_margin: float = 0.0,
        position_tolerance: float = POSITION_TOLERANCE,
        rotation_tolerance: float = ROTATION_TOLERANCE,
        settings: ChainIKSettings | None = None,
        n_threads: int | None = None,
    ) -> None:
        """Compile and allocate the closed form.

        Args:
            model: The model.
            link: Link whose frame is to reach the poses.
            n_problems: Number of poses per solve.
            joint_group: Joints that may move.
            joint_q: Configuration at which the other joints are locked.
            offset: Pose of the tool in the link.
            n_solutions: Number of distinct solutions per pose.
            check_collisions: True to return only collision-free solutions.
            collision_pairs: Pairs of shapes to check, see :func:`inverse_kinematics`.
            collision_margin: Distance [m] that the shapes of a pair must keep.
            position_tolerance: Largest distance of a solution of the search [m].
            rotation_tolerance: Largest angle of a solution of the search [rad].
            settings: Settings of the search.
            n_threads: CPU threads that share a search; None for one per core.

        Raises:
            ArgumentError: See :class:`ChainIK` and :class:`ClosedFormIK`.
        """
        settings = checked_chain_settings(settings)
        common: dict[str, Any] = {
            'joint_group': joint_group, 'joint_q': joint_q, 'offset': offset,
        }  # fmt: skip
        self.n_problems = n_problems
        self._n_solutions, self._width = n_solutions, model.joint_coord_count
        self._checker = None
        if check_collisions:
            self._checker = chain_checker(
                model, link, **common, pairs=collision_pairs, margin=collision_margin
            )
        # Colliding and nearly equal solutions are removed from the set of all solutions.
        several = check_collisions or n_solutions > 1
        n_entries = max(n_solutions, MAX_CANDIDATES) if several else 1
        self._closed = ClosedFormIK(
            model, link, n_problems, n_entries, least_error=False, **common
        )
        self.chain, self.n_bytes = self._closed.chain, self._closed.n_bytes
        self._separation = settings.separation
        self._make_search = functools.partial(
            ChainIK, model, link, min(n_problems, _SEARCHED_AT_ONCE), **common,
            position_tolerance=position_tolerance, rotation_tolerance=rotation_tolerance,
            n_solutions=n_solutions, check_collisions=check_collisions,
            collision_pairs=collision_pairs, collision_margin=collision_margin,
            settings=settings, n_threads=n_threads,
        )  # fmt: skip

    @functools.cached_property
    def search(self) -> ChainIK:
        """Search for the poses that the closed form leaves unsolved, compiled at first use."""
        search = self._make_search()
        self.n_bytes += search.n_bytes
        return search

    def solve(self, poses: np.ndarray, seeds: np.ndarray | None = None) -> ChainIKResult:
        """Find configurations; arguments, results and errors are those of :class:`ChainIK`."""
        found = self._closed.solve(poses, seeds)
        if self._checker is not None:
            found = collision_free(found, self._checker, found.joint_q.shape[1])
        if self._n_solutions > 1:
            found = separated(found, self._separation)
        result = as_chain_result(found, self._n_solutions)
        left = np.flatnonzero(~np.isin(result.status, _CONCLUSIVE))
        if not len(left):
            return result
        targets = checked_rows('poses', poses, self.n_problems, 7)
        starts = None
        if seeds is not None:
            starts = checked_rows('seeds', seeds, self.n_problems, self._width)
        size = min(self.n_problems, _SEARCHED_AT_ONCE)
        for first in range(0, len(left), size):
            rows = left[first : first + size]
            # The rest of the batch is padded with NaN.
            some = np.full((size, 7), np.nan)
            some[: len(rows)] = targets[rows]
            some_starts = None
            if starts is not None:
                some_starts = np.zeros((size, self._width))
                some_starts[: len(rows)] = starts[rows]
            rest = self.search.solve(some, some_starts)
            for field in dataclasses.fields(result):
                getattr(result, field.name)[rows] = getattr(rest, field.name)[: len(rows)]
        return result


def as_chain_result(found: AllSolutions, n_solutions: int) -> ChainIKResult:
    """Return solutions in the layout of the search."""
    entries: int | slice = slice(n_solutions) if n_solutions > 1 else 0
    return ChainIKResult(
        joint_q=found.joint_q[:, entries].copy(),
        status=found.status.copy(),
        n_found=np.minimum(found.n_found, n_solutions),
        position_error=found.position_error[:, entries].copy(),
        rotation_error=found.rotation_error[:, entries].copy(),
    )
