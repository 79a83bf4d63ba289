# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Further rounds of a search, for poses whose solutions collide.

In each round, the poses that lack free solutions are solved again from other random starts, with
more distinct solutions than before. All of them are checked in one launch. The rounds end for a
pose if it has enough free solutions, or if the last search used all its attempts without finding
the requested number of distinct solutions, so that more rounds are unlikely to find others.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.solvers.pose_ik.search.search import ChainSearch
from ros_ik.solvers.pose_ik.search.search import RowChecker
from ros_ik.solvers.status import SolveStatus

# Numbers of distinct solutions that the rounds request beyond the user's. With these, all of 3000
# poses with a free solution were solved on each of Panda, UR5, Tiago and an arm of TALOS; without
# the last round, 3 were missed.
_EXTRA_SOLUTIONS = (4, 16, 32)
# Largest number of candidates in memory, over all poses of a block.
_MAX_CANDIDATES = 32_768


@dataclasses.dataclass
class _FreeSolutions:
    """Free solutions of some poses; entries of a pose from index ``count`` on are unused."""

    joint_q: np.ndarray  # [n, n_solutions, joint_coord_count]
    errors: np.ndarray  # [n, n_solutions, 2]
    count: np.ndarray  # [n]

    def choose(
        self, rows: np.ndarray, joint_q: np.ndarray, errors: np.ndarray, valid: np.ndarray,
        seeds: np.ndarray, coordinates: np.ndarray, separation: float,
    ) -> None:  # fmt: skip
        """Keep the distinct solutions nearest to the seeds.

        Args:
            rows: The poses, [k].
            joint_q: Further candidates, [k, c, joint_coord_count].
            errors: Their distances and angles to the pose, [k, c, 2].
            valid: True for those that are free of collisions, [k, c].
            seeds: The seeds, of the chain's variables, [k, m].
            coordinates: Coordinates of the variables in a configuration, [m].
            separation: Least distance of distinct solutions.
        """
        n_solutions = self.joint_q.shape[1]
        kept = np.arange(n_solutions) < self.count[rows, None]
        joint_q = np.concatenate([self.joint_q[rows], joint_q], axis=1)
        errors = np.concatenate([self.errors[rows], errors], axis=1)
        values = joint_q[:, :, coordinates]
        distance = np.sum((values - seeds[:, None]) ** 2, axis=2)
        distance[~np.concatenate([kept, valid], axis=1)] = np.inf
        self.count[rows] = 0
        every = np.arange(len(rows))
        for slot in range(n_solutions):
            best = np.argmin(distance, axis=1)
            found = np.isfinite(distance[every, best])
            self.joint_q[rows[found], slot] = joint_q[every, best][found]
            self.errors[rows[found], slot] = errors[every, best][found]
            self.count[rows[found]] += 1
            apart = np.max(np.abs(values - values[every, best][:, None]), axis=2)
            distance[apart < separation] = np.inf


class CollisionRetries:
    """Further rounds of a search whose solutions collide."""

    def __init__(self, rounds: list[ChainSearch]) -> None:
        """Store the searches of the rounds, which have the same batch size."""
        self._rounds = rounds

    def replace_colliding(self, search: ChainSearch) -> None:
        """Replace the solutions of a search that collide.

        Args:
            search: The search after its run; its host arrays are changed. A pose whose solutions
                all collide keeps the first, with the status IN_COLLISION.
        """
        if search.collides is None or not np.any(search.collides.host):
            return
        s = search.n_solutions
        collides = search.collides.host.reshape(-1, s) != 0
        taken = np.arange(s) < search.n_found.host[:, None]
        hit = np.any(collides & taken, axis=1) & (search.status.host == SolveStatus.CONVERGED)
        rows = np.flatnonzero(hit)
        size = self._rounds[0].n_problems
        for first in range(0, len(rows), size):
            block = rows[first : first + size]
            self._search_again(search, block, taken[block] & ~collides[block])

    def _search_again(self, search: ChainSearch, rows: np.ndarray, valid: np.ndarray) -> None:
        """Continue the search for some poses, with flags ``valid`` of their solutions."""
        s = search.n_solutions
        seeds, poses = search.seeds.host[rows], search.poses.host[rows]
        coordinates, separation = search.problem.chain.coordinates, search.settings.separation
        joint_q = search.joint_q.host.reshape(search.n_problems, s, -1)
        pool = _FreeSolutions(np.zeros_like(joint_q[rows]), np.zeros((len(rows), s, 2)),
                     np.zeros(len(rows), dtype=int))  # fmt: skip
        open_rows = np.arange(len(rows))
        pool.choose(
            open_rows, joint_q[rows], _errors(search)[rows], valid, seeds, coordinates, separation
        )
        for further in self._rounds:
            k, c = len(open_rows), further.n_solutions
            further.poses.host[:k], further.seeds.host[:k] = poses[open_rows], seeds[open_rows]
            further.run(k)
            pool.choose(
                open_rows,
                further.joint_q.host[: k * c].reshape(k, c, -1),
                _errors(further)[:k],
                _free_mask(further)[:k],
                seeds[open_rows],
                coordinates,
                separation,
            )
            open_rows = open_rows[(pool.count[open_rows] < s) & (further.n_found.host[:k] == c)]
            if not len(open_rows):
                break
        self._write(search, rows, joint_q, pool)

    def _write(
        self, search: ChainSearch, rows: np.ndarray, joint_q: np.ndarray, pool: _FreeSolutions
    ) -> None:
        """Write the solutions of the rounds into the arrays of a search."""
        some = pool.count > 0
        found = rows[some]
        slots = np.arange(search.n_solutions)
        # Unused entries repeat the first solution.
        slots = np.where(slots < pool.count[some, None], slots, 0)
        every = np.arange(len(found))[:, None]
        joint_q[found] = pool.joint_q[some][every, slots]
        errors = pool.errors[some][every, slots]
        search.position_error.host[found] = errors[..., 0]
        search.rotation_error.host[found] = errors[..., 1]
        search.n_found.host[rows] = pool.count
        stuck = rows[~some]
        search.status.host[stuck] = SolveStatus.IN_COLLISION
        joint_q[stuck] = joint_q[stuck, :1]
        for error in (search.position_error.host, search.rotation_error.host):
            error[stuck] = error[stuck, :1]


def make_collision_retries(
    search: ChainSearch, checker: RowChecker, n_threads: int
) -> CollisionRetries:
    """Create the further rounds of a search, with blocks of bounded size.

    Args:
        search: The first search.
        checker: Collision checker of solutions.
        n_threads: CPU threads that share a batch.
    """
    most = search.n_solutions + _EXTRA_SOLUTIONS[-1]
    size = max(1, min(search.n_problems, _MAX_CANDIDATES // most))
    rounds = []
    for k, further in enumerate(_EXTRA_SOLUTIONS, 1):
        settings = dataclasses.replace(search.settings, seed=search.settings.seed + k)
        rounds.append(
            ChainSearch(
                search.problem,
                size,
                search.n_solutions + further,
                settings,
                n_threads=n_threads,
                checker=checker,
            )  # fmt: skip
        )
    return CollisionRetries(rounds)


def _errors(search: ChainSearch) -> np.ndarray:
    """Return distances and angles to the poses, [n_problems, n_solutions, 2]."""
    return np.stack([search.position_error.host, search.rotation_error.host], axis=2)


def _free_mask(search: ChainSearch) -> np.ndarray:
    """Return which solutions are verified and free of collisions, [n_problems, n_solutions]."""
    taken = np.arange(search.n_solutions) < search.n_found.host[:, None]
    verified = search.status.host[:, None] == SolveStatus.CONVERGED
    if search.collides is None:
        return taken & verified
    return taken & verified & (search.collides.host.reshape(taken.shape) == 0)
