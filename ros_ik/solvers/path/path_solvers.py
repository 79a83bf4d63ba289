# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solvers for paths of one chain, kept with the model from path to path."""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import copy
import dataclasses
import functools
from typing import Any
from typing import TYPE_CHECKING
from typing import TypeVar

import numpy as np
import warp as wp

from ros_ik.kinematics.serial_chain import joints_to
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import link_index
from ros_ik.solvers.analytic.redundant import RedundantClosedFormIK
from ros_ik.solvers.analytic.solver import ClosedFormIK
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.model_cache import max_bytes
from ros_ik.solvers.model_cache import PooledValue
from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.pose_ik.search.pairs import chain_pairs
from ros_ik.solvers.pose_ik.search.search import ChainProblem
from ros_ik.solvers.pose_ik.solver import ChainIK

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

_Solver = TypeVar('_Solver', ChainIK, ClosedFormIK, RedundantClosedFormIK)

# Largest number of solvers of a chain that stay until the next path. A path of a Panda that breaks
# takes 15.
_MAX_KEPT = 24


class PathSolvers:
    """Solvers of one chain for one path at a time; each is made when it is first needed.

    Attributes:
        model: The model.
        link: Link that follows the poses.
        chain: The chain to it.
        locked_joint_q: Configuration at which the other joints are locked, [joint_coord_count].
        offset: Pose of the tool in the link, [7], or None.
    """

    def __init__(
        self,
        model: Model,
        link: str | int,
        *,
        joint_group: JointGroup | str | Sequence[str] | None,
        joint_q: np.ndarray,
        offset: np.ndarray | None,
        check_collisions: bool,
        collision_pairs: Sequence[Sequence[int]] | np.ndarray | None,
        collision_margin: float,
    ) -> None:
        """Build the chain.

        Args:
            model: The model.
            link: Link that follows the poses.
            joint_group: Joints that may move.
            joint_q: Configuration at which the others are locked, [joint_coord_count].
            offset: Pose of the tool in the link, [7], or None.
            check_collisions: True if a path breaks at collisions.
            collision_pairs: Pairs of shapes to check, None for those of the model.
            collision_margin: Distance [m] that the shapes of a pair must keep.
        """
        self.model, self.link, self.offset = model, link, offset
        self.chain, self.locked_joint_q = folded_chain(model, link, joint_group, joint_q, offset)
        self._arguments: dict[str, Any] = {
            'joint_group': joint_group, 'joint_q': joint_q, 'offset': offset
        }  # fmt: skip
        self._collisions: dict[str, Any] = {
            'check_collisions': check_collisions, 'collision_pairs': collision_pairs,
            'collision_margin': collision_margin,
        }  # fmt: skip
        self._made: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()

    @functools.cached_property
    def check(self) -> MotionCheck:
        """Collision check of the pairs that the chain moves."""
        if not self._collisions['check_collisions']:
            return MotionCheck(self.model, None, np.zeros(0))
        link = link_index(self.model, self.link, least=0)
        tool = checked_pose('offset', self.offset)
        pairs, margins = chain_pairs(
            ChainProblem(self.model, link, self.chain, self.locked_joint_q, tool),
            self._collisions['collision_pairs'], self._collisions['collision_margin'],
        )  # fmt: skip
        return MotionCheck(self.model, pairs, margins)

    def search(
        self,
        n_problems: int,
        tolerances: tuple[float, float],
        *,
        is_free: bool = False,
        **arguments: Any,
    ) -> ChainIK:
        """Return a search for poses of the link.

        Args:
            n_problems: Number of poses.
            tolerances: Tolerances of position [m] and rotation [rad].
            is_free: True to reject collisions if they are checked.
            arguments: Further arguments of :class:`ChainIK`, which can be hashed.
        """
        key = ChainIK, n_problems, tolerances, is_free, tuple(sorted(arguments.items()))
        distance, angle = tolerances
        return self._solver(
            key,
            lambda: ChainIK(
                self.model, self.link, n_problems, **self._arguments, position_tolerance=distance,
                rotation_tolerance=angle, **(self._collisions if is_free else {}), **arguments,
            ),
        )  # fmt: skip

    def closed(self, n_problems: int, max_solutions: int) -> ClosedFormIK:
        """Return the closed form of six joints or fewer for a number of poses."""
        return self._solver(
            (ClosedFormIK, n_problems, max_solutions),
            lambda: ClosedFormIK(
                self.model, self.link, n_problems, max_solutions, **self._arguments
            ),
        )

    def redundant(
        self, n_problems: int, max_solutions: int, values: np.ndarray, **arguments: Any
    ) -> RedundantClosedFormIK:
        """Return the closed form of seven joints at values of the redundant joint.

        Args:
            n_problems: Number of poses.
            max_solutions: Largest number of solutions of a pose.
            values: The values, [k]; there are no solutions at NaN.
            arguments: Further arguments of :class:`RedundantClosedFormIK` that depend on the
                chain alone.
        """
        first = np.where(np.isnan(values), np.nanmin(values), values)
        solver = self._solver(
            (RedundantClosedFormIK, n_problems, max_solutions, len(values)),
            lambda: RedundantClosedFormIK(
                self.model, self.link, n_problems, max_solutions,
                redundant_values=first, **self._arguments, **arguments,
            ),
        )  # fmt: skip
        solver.set_redundant_values(values)
        return solver

    def _solver(self, key: Hashable, make: Callable[[], _Solver]) -> _Solver:
        """Return the solver of a key, made if there is none."""
        if key in self._made:
            self._made.move_to_end(key)
        else:
            self._made[key] = make()
        solver: _Solver = self._made[key]
        return solver

    @property
    def n_bytes(self) -> int:
        """Approximate memory of the solvers beside their collision checkers [bytes]."""
        return sum(solver.n_bytes for solver in self._made.values())

    def trim(self) -> None:
        """Drop the least recently used solvers if there are too many, or too large ones."""
        largest = max_bytes(wp.get_device(self.model.device))
        while len(self._made) > _MAX_KEPT or self.n_bytes > largest:
            self._made.popitem(last=False)


@contextlib.contextmanager
def path_solvers(model: Model, link: str | int, **arguments: Any) -> Iterator[PathSolvers]:
    """Return a context with the solvers of a chain, which no other thread uses meanwhile.

    Args:
        model: The model.
        link: Link that follows the poses.
        arguments: Further arguments of :class:`PathSolvers`.
    """
    # Solvers are made later, too, when the caller may have changed lists and arrays.
    own: dict[str, Any] = {
        name: copy.deepcopy(value) if isinstance(value, (list, np.ndarray)) else value
        for name, value in arguments.items()
    }
    make = functools.partial(PathSolvers, model, link, **own)
    request = {'path_of_link': link, **own}
    with PooledValue(model, request, make, n_bytes=lambda made: made.n_bytes) as solvers:
        try:
            yield solvers
        finally:
            solvers.trim()


@dataclasses.dataclass(frozen=True)
class PathCoordinates:
    """Coordinates that differ between paths of a chain.

    Attributes:
        moved: Those that a path changes, and those of mimic joints that follow them, [k].
        elsewhere: Others on which the pose of the link does not depend, [m].
    """

    moved: np.ndarray
    elsewhere: np.ndarray

    @classmethod
    def of(
        cls, model: Model, link: str | int, joint_group: JointGroup | str | Sequence[str] | None
    ) -> PathCoordinates:
        """Return the coordinates for a link."""
        request = {'moved_with_link': link, 'joint_group': joint_group}
        make = functools.partial(cls._found, model, link, joint_group)
        with PooledValue(model, request, make) as coordinates:
            return coordinates

    @classmethod
    def _found(
        cls, model: Model, link: str | int, joint_group: JointGroup | str | Sequence[str] | None
    ) -> PathCoordinates:
        chain, _ = folded_chain(model, link, joint_group, None, None)
        moved = set(chain.coordinates.tolist())
        starts = model.joint_q_start.numpy().tolist()
        before = set()
        for joint in joints_to(model, link_index(model, link, least=0)):
            driver, *_ = model.mimic_driver.get(joint, (joint,))
            before.update(range(starts[driver], starts[driver + 1]))
        for joint, (driver, *_) in model.mimic_driver.items():
            for k, follower in enumerate(range(starts[joint], starts[joint + 1])):
                if starts[driver] + k in chain.coordinates:
                    moved.add(follower)
        elsewhere = set(range(model.joint_coord_count)) - moved - before
        return cls(np.array(sorted(moved)), np.array(sorted(elsewhere), dtype=int))


def batch_size(count: int, most: int) -> int:
    """Return the size of a batch of ``count`` poses, at most ``most``.

    Paths of similar lengths share a solver, because it is a power of two.
    """
    return min(1 << (count - 1).bit_length(), most)


def padded(rows: np.ndarray, size: int, filler: float = np.nan) -> np.ndarray:
    """Return rows [k, m] and further ones of a number, [size, m]; solvers leave out NaN."""
    missing = np.full((size - len(rows), rows.shape[1]), filler)
    return np.concatenate((rows, missing))
