# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closed-form solver for chains of seven joints: the first or the last one is given values.

With that joint at t the other six have to bring the tool to a pose that depends on t. For the last
joint, with C its frame seen from the tool and Z its motion, about or along its axis,

    X = F(q_1 .. q_6) C^-1 Z(t) C,  so that  F(q_1 .. q_6) = X C^-1 Z(-t) C

and for the first one, C its frame in the world, G(q_2 .. q_7) = C Z(-t) C^-1 X. The closed form of
the six is the same for every t.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.arguments import checked_count
from ros_ik.model import Model
from ros_ik.model.checks import checked_pose
from ros_ik.model.checks import link_index
from ros_ik.model.poses import inverse
from ros_ik.model.poses import multiply
from ros_ik.model.poses import pose_rows
from ros_ik.model.poses import rotate
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.numbers import real_array
from ros_ik.solvers.analytic.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.form import closed_form
from ros_ik.solvers.analytic.form import ClosedForm
from ros_ik.solvers.analytic.form import folded_chain
from ros_ik.solvers.analytic.form import without_form
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.result import checked_settings
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.solver import ClosedFormIK
from ros_ik.solvers.analytic.structure import joint_axes
from ros_ik.solvers.pose_ik.setup import checked_rows
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

if TYPE_CHECKING:
    from ros_ik.model import JointGroup

# Values about which the nearest solution is searched for, and how often the step is halved: the
# distance to the seed is flat at its minimum, so that it is exact to twice as many digits.
_MINIMA, _HALVINGS = 3, 16
# Rounding of the verification [m over the reach, rad].
_ROUNDING = 1e-14
# Tolerances of the search for one value where the samples have no solution [m, rad].
_SEARCH_TOLERANCE = 1e-8
# Solutions end at values where two branches meet; one side of the value that was found has some.
_BESIDE = np.array([0.0, -1e-8, 1e-8, -1e-6, 1e-6, -1e-4, 1e-4])


@dataclasses.dataclass(frozen=True)
class _Found:
    """Solutions of n poses at k values of the redundant joint, m places each.

    Attributes:
        joint_q: Configurations, [n, k, m, joint_coord_count].
        distance: Distance of each to the seed [rad]; inf for places without a solution, [n, k, m].
        error: Error of the first configuration at each value, a length in reaches plus an angle
            [rad], [n, k].
        status: SolveStatus codes, [n, k].
        exist: Solutions inside the limits, [n, k].
        singular: See :class:`AllSolutions`, [n, k, m].
        free_direction: Likewise, [n, k, m, 6].
    """

    joint_q: np.ndarray
    distance: np.ndarray
    error: np.ndarray
    status: np.ndarray
    exist: np.ndarray
    singular: np.ndarray
    free_direction: np.ndarray

    def beside(self, other: _Found) -> _Found:
        """Return both, with the values of the other one last."""
        fields = (field.name for field in dataclasses.fields(self))
        return _Found(
            *(np.concatenate([getattr(self, f), getattr(other, f)], axis=1) for f in fields)
        )


class RedundantClosedFormIK:
    """Solutions of poses of one link for chains of seven joints, the redundant one may slide.

    Attributes:
        model: The model.
        link: Link whose frame reaches the poses.
        chain: The chain to it.
        form: Its closed form, see :class:`ClosedForm`.
        n_problems: Poses per solve.
        max_solutions: Most solutions returned per pose.
    """

    def __init__(
        self,
        model: Model,
        link: str | int,
        n_problems: int = 1,
        max_solutions: int = 16,
        *,
        redundant_values: int | Sequence[float] | np.ndarray = 64,
        joint_group: JointGroup | str | Sequence[str] | None = None,
        joint_q: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        all_turns: bool = False,
        settings: ClosedFormSettings | None = None,
        form: ClosedForm | None = None,
    ) -> None:
        """Choose the redundant joint, compile and allocate.

        Args:
            model: The model.
            link: Name or index of the link whose frame is to reach the poses.
            n_problems: Poses per solve.
            max_solutions: Most solutions returned per pose, those nearest to the seed.
            redundant_values: Values of the redundant joint, see :func:`all_solutions`.
            joint_group: Joints that may move; None for every joint between world and link.
            joint_q: Configuration that holds the other joints, shape [joint_coord_count]; None
                for the neutral one.
            offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
            all_turns: Return each turn of a joint that its limits allow as a solution of its own.
            settings: Tolerances.
            form: What :func:`closed_form` has answered for the same chain; None to ask it.

        Raises:
            ArgumentError: A chain of another number of joints, or without a closed form, with
                the reason; an unknown link, a size below one, values that are no numbers.
        """
        checked_count('n_problems', n_problems, 1)
        self.n_problems = n_problems
        self.max_solutions = checked_count('max_solutions', max_solutions, 1)
        self._settings = checked_settings(settings)
        self.chain, held = folded_chain(model, link, joint_group, joint_q, offset)
        self._link, self.model = link_index(model, link, least=0), model
        self.link = model.body_label[self._link]
        self.form = form or closed_form(
            model, link, joint_group, joint_q=held, offset=offset,
            tolerances=self._settings.structure,
        )  # fmt: skip
        if not self.form.redundant_joint:
            raise without_form(self.link, self.form.reason or 'six joints leave none redundant')
        self._offset = checked_pose('offset', offset)
        joints = self.form.joints
        self._place = joints.index(self.form.redundant_joint)
        self._column = int(self.chain.coordinates[self._place])
        self._held = float(held[self._column])
        frame = self.chain.constants[0]
        if self._place:
            frame = np.linalg.inv(self.chain.constants[-1])
        # In the world where it is the first joint, in the tool where it is the last.
        self._axis, self._pivot = frame[:3, 2], frame[:3, 3]
        reach = joint_axes(self.chain).reach
        self._length = self._settings.length * reach
        self._tolerance = self._settings.position_tolerance * min(1.0, reach) + _ROUNDING * reach
        self._values, self._n_sampled = checked_values(redundant_values)
        self._check_values()
        self._all_turns = all_turns
        rest = [name for name in joints if name != self.form.redundant_joint]
        places = max(self.max_solutions, MAX_CANDIDATES) if all_turns else MAX_CANDIDATES
        common: dict[str, Any] = {'joint_q': held, 'offset': offset}
        n_rows = n_problems * (self._n_sampled or len(self._values))

        def solver(size: int, *, least_error: bool) -> ClosedFormIK:
            return ClosedFormIK(
                model, link, size, places, joint_group=rest, all_turns=all_turns,
                least_error=least_error, settings=settings, **common,
            )  # fmt: skip

        self._samples = solver(n_rows, least_error=False)
        self._unsolved = solver(n_problems, least_error=True)
        if self._n_sampled:
            self._between = solver(2 * _MINIMA * n_problems, least_error=False)
            self._search = ChainIK(
                model, link, n_problems, joint_group=joint_group, **common,
                position_tolerance=_SEARCH_TOLERANCE, rotation_tolerance=_SEARCH_TOLERANCE,
            )  # fmt: skip
        middle = held.copy()
        middle[self.chain.coordinates] = 0.5 * np.sum(self.chain.sampling_range(), axis=0)
        self._default_seed = middle

    def _check_values(self) -> None:
        """Raise ArgumentError where a given value lies outside the limits."""
        lower, upper = self.chain.lower[self._place], self.chain.upper[self._place]
        outside = self._values[(self._values < lower) | (self._values > upper)]
        if outside.size:
            raise ArgumentError(
                f'redundant_values: {outside[0]:g} is outside the limits of '
                f'{self.form.redundant_joint!r}, {lower:g} to {upper:g}'
            )

    def solve(self, poses: np.ndarray, seeds: np.ndarray | None = None) -> AllSolutions:
        """Find configurations that bring the tool to each pose.

        Args:
            poses: Targets in the world, shape [n_problems, 7], x y z qx qy qz qw.
            seeds: Configurations to be near to, shape [n_problems, joint_coord_count]; None for
                the middle of the limits.

        Returns:
            The solutions, with ``free_direction`` over the seven joints.

        Raises:
            ArgumentError: A wrong shape or type.
        """
        poses = pose_rows(checked_rows('poses', poses, self.n_problems, 7))
        width = self.model.joint_coord_count
        if seeds is None:
            seeds = np.tile(self._default_seed, (self.n_problems, 1))
        seeds = checked_rows('seeds', seeds, self.n_problems, width)
        readable = np.abs(seeds[:, self.chain.coordinates]) <= MAX_MAGNITUDE
        poses[~readable.all(axis=1)] = np.nan
        low, high = self._range(seeds)
        if not self._n_sampled:
            values = np.tile(self._values, (self.n_problems, 1))
            found = self._at(self._samples, poses, seeds, values)
            return self._result(poses, self._completed(poses, seeds, found, values))
        samples = low[:, None] + np.outer(high - low, _middles(self._n_sampled - 1))
        wanted = np.clip(seeds[:, self._column], low, high)
        values = np.column_stack([wanted, samples])
        found = self._at(self._samples, poses, seeds, values)
        if not np.isfinite(found.distance).any(axis=(1, 2)).all():
            values = self._search.solve(poses, seeds).joint_q[:, self._column, None]
            values = np.clip(values + _BESIDE, low[:, None], high[:, None])
            found = self._completed(poses, seeds, found, values)
        return self._result(poses, found.beside(self._nearest(poses, seeds, found, low, high)))

    def redundant_range(self) -> tuple[float, float]:
        """Return where the redundant joint may stand: its limits, or a turn about their middle."""
        low, high = self._range(self._default_seed[None])
        return float(low[0]), float(high[0])

    def solved_at(self, poses: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return whether poses [n, 7] have solutions at values of the redundant joint, [n, k]."""
        seeds = np.tile(self._default_seed, (len(poses), 1))
        solver = self._samples if values.shape[1] > 1 else self._between
        found = self._at(solver, pose_rows(poses), seeds, values)
        return np.isfinite(found.distance).any(axis=2)

    def _completed(
        self, poses: np.ndarray, seeds: np.ndarray, found: _Found, values: np.ndarray
    ) -> _Found:
        """Add configurations of least error at values [n, k] for poses without a solution."""
        lost = ~np.isfinite(found.distance).any(axis=(1, 2))
        if lost.any():
            values = np.where(lost[:, None], values, np.nan)
            found = found.beside(self._at(self._unsolved, poses, seeds, values))
        return found

    def _range(self, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where to sample the redundant joint: its limits, or a turn around the seed, [n].

        A sliding joint without limits is sampled pi metres to either side.
        """
        lower, upper = self.chain.lower[self._place], self.chain.upper[self._place]
        whole = self._all_turns or self.chain.slides[self._place]
        if whole and np.isfinite(upper - lower):
            return np.full(len(seeds), lower), np.full(len(seeds), upper)
        seed = np.clip(seeds[:, self._column], lower, upper)
        return np.maximum(lower, seed - np.pi), np.minimum(upper, seed + np.pi)

    def _at(
        self, solver: ClosedFormIK, poses: np.ndarray, seeds: np.ndarray, values: np.ndarray
    ) -> _Found:
        """Solve at given values of the redundant joint, [n, k]; at NaN there is no solution."""
        n, k = values.shape
        turn, targets = self._motions(self._held - values), poses[:, None]
        moved = multiply(turn, targets) if self._place == 0 else multiply(targets, turn)
        rows, starts = moved.reshape(-1, 7), np.repeat(seeds, k, axis=0)
        size = solver.n_problems
        parts = []
        for first in range(0, len(rows), size):
            # The last row fills what is left of the batch.
            index = np.minimum(first + np.arange(size), len(rows) - 1)
            result = solver.solve(rows[index], starts[index])
            parts.append(result.rows(slice(0, len(rows) - first)))
        part = AllSolutions.concatenate(parts)
        joint_q = part.joint_q.reshape(n, k, -1, self.model.joint_coord_count)
        joint_q[..., self._column] = np.where(np.isfinite(values), values, self._held)[..., None]
        change = (joint_q - seeds[:, None, None])[..., self.chain.coordinates]
        solved = part.status == SolveStatus.CONVERGED
        there = solved[:, None] & (np.arange(joint_q.shape[2]) < part.n_found[:, None])
        distance = np.where(there.reshape(n, k, -1), np.linalg.norm(change, axis=-1), np.inf)
        error = part.position_error[:, 0] / self._length + part.rotation_error[:, 0]
        return _Found(
            joint_q=joint_q,
            distance=distance,
            error=error.reshape(n, k),
            status=part.status.reshape(n, k),
            exist=np.where(solved, part.n_exist, 0).reshape(n, k),
            singular=part.singular.reshape(n, k, -1),
            free_direction=part.free_direction.reshape(n, k, -1, 6),
        )

    def _motions(self, values: np.ndarray) -> np.ndarray:
        """Return the motions by values about or along the redundant axis, shape [n, k, 7]."""
        motions = np.zeros((*values.shape, 7))
        if self.chain.slides[self._place]:
            motions[..., :3], motions[..., 6] = values[..., None] * self._axis, 1.0
            return motions
        half = 0.5 * values
        motions[..., 3:6], motions[..., 6] = np.sin(half)[..., None] * self._axis, np.cos(half)
        motions[..., :3] = self._pivot - rotate(motions[..., 3:], self._pivot)
        return motions

    def _nearest(
        self,
        poses: np.ndarray,
        seeds: np.ndarray,
        found: _Found,
        low: np.ndarray,
        high: np.ndarray,
    ) -> _Found:
        """Search between the values for the nearest solution; step left and right, then halve."""
        least = found.distance.min(axis=2)
        # Samples that are no minimum lead to one that is; the seed's own value comes first.
        beside = np.pad(least[:, 1:], ((0, 0), (1, 1)), constant_values=np.inf)
        higher = (least[:, 1:] > beside[:, :-2]) | (least[:, 1:] > beside[:, 2:])
        least[:, 1:][higher] = np.inf
        best = np.argsort(least, axis=1)[:, :_MINIMA]
        rows = np.arange(len(poses))[:, None]
        least, place = least[rows, best], found.joint_q[rows, best, 0, self._column]
        step = 0.5 * (high - low)[:, None] / self._n_sampled
        for _ in range(_HALVINGS):
            sides = np.stack([place - step, place + step])
            sides = np.clip(sides, low[:, None], high[:, None])
            tried = self._at(self._between, poses, seeds, np.concatenate(sides, axis=1))
            tried = tried.distance.min(axis=2)
            for side, distance in zip(sides, np.split(tried, 2, axis=1), strict=True):
                place = np.where(distance < least, side, place)
                least = np.minimum(distance, least)
            step = 0.5 * step
        return self._at(self._between, poses, seeds, place)

    def _result(self, poses: np.ndarray, found: _Found) -> AllSolutions:
        """Return the nearest solutions at all values, verified against the poses themselves."""
        n, s = len(poses), self.max_solutions
        values = found.joint_q[:, :, 0, self._column]
        # A value that came up before gives the same solutions.
        there = np.isfinite(found.distance).any(axis=2)
        apart = np.abs(values[:, :, None] - values[:, None, :])
        same = (apart < self._settings.separation) & there[:, :, None] & there[:, None, :]
        again = np.tril(same, -1).any(axis=2)
        distance = np.where(again[:, :, None], np.inf, found.distance).reshape(n, -1)
        order = np.argsort(distance, axis=1, kind='stable')[:, :s]
        order = np.pad(order, ((0, 0), (0, s - order.shape[1])), mode='edge')
        rows = np.arange(n)[:, None]
        n_exist = np.where(again, 0, found.exist).sum(axis=1).astype(np.int32)
        n_found = np.minimum(np.isfinite(distance).sum(axis=1), s).astype(np.int32)
        solved = n_found > 0
        # A pose without any takes the one of least error; places without one repeat the first.
        least = np.argmin(found.error, axis=1) * found.distance.shape[2]
        order[:, 0] = np.where(solved, order[:, 0], least)
        order = np.where(np.arange(s) < np.maximum(n_found, 1)[:, None], order, order[:, :1])
        joint_q = found.joint_q.reshape(n, -1, found.joint_q.shape[3])[rows, order]
        joint_q = self.model.apply_mimic(joint_q.reshape(n * s, -1)).reshape(n, s, -1)
        there = np.arange(s) < n_found[:, None]
        position_error, rotation_error = self._errors(joint_q, poses, there)
        wrong = (position_error > self._tolerance) | (
            rotation_error > self._settings.rotation_tolerance + _ROUNDING
        )
        status = np.select(
            [
                ~np.isfinite(poses).all(axis=1),
                (there & wrong).any(axis=1),
                solved,
                (found.status == SolveStatus.NUMERICAL_FAILURE).any(axis=1),
                (found.status == SolveStatus.AT_LIMITS).any(axis=1),
            ],
            [
                SolveStatus.NON_FINITE_INPUT, SolveStatus.NUMERICAL_FAILURE,
                SolveStatus.CONVERGED, SolveStatus.NUMERICAL_FAILURE, SolveStatus.AT_LIMITS,
            ],
            SolveStatus.UNREACHABLE,
        )  # fmt: skip
        singular = found.singular.reshape(n, -1)[rows, order] & there
        direction = found.free_direction.reshape(n, -1, 6)[rows, order] * singular[..., None]
        return AllSolutions(
            joint_q=joint_q,
            n_found=n_found,
            n_exist=n_exist,
            status=status.astype(np.int32),
            position_error=position_error,
            rotation_error=rotation_error,
            singular=singular,
            free_direction=np.insert(direction, self._place, 0.0, axis=2),
        )

    def _errors(
        self, joint_q: np.ndarray, poses: np.ndarray, there: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return distances [m] and angles [rad] of configurations [n, s, ..] to the poses.

        Places that are not ``there`` [n, s] repeat the first of their row.
        """
        first = np.arange(there.shape[1]) == 0
        rows = there | first
        body_q = np.zeros((int(rows.sum()), self.model.body_count, 7))
        eval_fk(self.model, joint_q[rows], body_q)
        reached = multiply(body_q[:, self._link], self._offset)
        miss = multiply(inverse(reached), poses[np.nonzero(rows)[0]])
        angle = 2.0 * np.arctan2(np.linalg.norm(miss[:, 3:6], axis=1), np.abs(miss[:, 6]))
        errors = np.full((2, *there.shape), np.inf)
        errors[:, rows] = np.where(
            np.isfinite(angle), [np.linalg.norm(miss[:, :3], axis=1), angle], np.inf
        )
        return tuple(np.where(rows, errors, errors[:, :, :1]))


def checked_values(values: int | Sequence[float] | np.ndarray) -> tuple[np.ndarray, int]:
    """Return the values that are given and 0, or none and how many to sample.

    Raises:
        ArgumentError: Neither a count of at least two nor finite positions.
    """
    if isinstance(values, int | np.integer):
        return np.zeros(0), checked_count('redundant_values', int(values), 2)
    given = np.atleast_1d(real_array('redundant_values', values))
    if given.ndim != 1 or not given.size or not np.all(np.abs(given) <= MAX_MAGNITUDE):
        raise ArgumentError(
            f'redundant_values must be a count or finite positions [k], got {values!r}'
        )
    return given, 0


def _middles(count: int) -> np.ndarray:
    """Return the middles of equal parts of [0, 1]."""
    return (np.arange(count) + 0.5) / count
