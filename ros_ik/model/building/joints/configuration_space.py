# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Configuration space of a robot on the host: limits, quaternions and mimic joints.

A mimic joint follows its driver: q0 = coef0 + coef1 q1. Chains of mimic joints are composed, so
that no driver is a mimic joint itself.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import functools
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.joints.mimic_range import narrow_drivers
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import checked_norm
from ros_ik.model.conventions.sampling_range import sampling_range
from ros_ik.numbers import real_array

if TYPE_CHECKING:
    from ros_ik.model.building.tables.rows import MimicData

# Rounding of the norm of a unit quaternion, which is left as it is.
_UNIT = 1e-14


@dataclasses.dataclass(frozen=True)
class ConfigurationSpace:
    """Coordinates of a robot, float64.

    Attributes:
        n_coords: Number of coordinates.
        coords: Coordinates of one degree of freedom each, [k]; the others are of quaternion
            joints.
        lower: Their lower limits [rad or m], -inf where there is none, [k].
        upper: Their upper limits, [k].
        reach: Half of the length of a sampling range that lacks a limit: pi or 1 m, [k].
        quaternion_joints: First coordinate and first quaternion coordinate of each joint that
            holds a quaternion.
        followers: Coordinates of mimic joints, [m].
        drivers: Coordinates that they follow, [m].
        coef0: Their offsets, [m].
        coef1: Their factors, [m].
    """

    n_coords: int
    coords: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    reach: np.ndarray
    quaternion_joints: tuple[tuple[int, int], ...]
    followers: np.ndarray
    drivers: np.ndarray
    coef0: np.ndarray
    coef1: np.ndarray

    @functools.cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits, those of drivers narrowed by their mimic joints, both [k]."""
        lower, upper = np.full(self.n_coords, -np.inf), np.full(self.n_coords, np.inf)
        lower[self.coords], upper[self.coords] = self.lower, self.upper
        links = zip(
            self.followers.tolist(), self.drivers.tolist(), self.coef0.tolist(),
            self.coef1.tolist(), strict=True,
        )  # fmt: skip
        narrow_drivers(lower, upper, links)
        return lower[self.coords], upper[self.coords]

    def apply_mimic(self, joint_q: np.ndarray) -> np.ndarray:
        """Return a copy with the coordinates of mimic joints computed from their drivers."""
        result = real_array('joint_q', joint_q)
        if result.ndim == 0 or result.shape[-1] != self.n_coords:
            raise ArgumentError(
                f'joint_q must have shape [.., {self.n_coords}], got {list(result.shape)}'
            )
        result[..., self.followers] = self.coef0 + self.coef1 * result[..., self.drivers]
        return result

    def locked(self, name: str, joint_q: Any) -> np.ndarray:
        """Return a configuration with unit quaternions, shape [n_coords].

        Args:
            name: Name of the argument, for errors.
            joint_q: The configuration; None for the neutral one.

        Raises:
            ArgumentError: Another shape, a number that is not finite, or a quaternion that is not
                a rotation.
        """
        if joint_q is None:
            return self.neutral()
        given = checked_array(name, joint_q, (self.n_coords,))
        units = given.copy()
        for _, first in self.quaternion_joints:
            where = f'{name}: coordinates {first} to {first + 3}'
            norm = checked_norm(where, given[first : first + 4])
            if abs(norm - 1.0) > _UNIT:
                units[first : first + 4] /= norm
        units.setflags(write=False)
        return units

    def neutral(self) -> np.ndarray:
        """Return zero clipped to the limits, with unit quaternions, shape [n_coords]."""
        q = np.zeros(self.n_coords)
        for _, quaternion in self.quaternion_joints:
            q[quaternion + 3] = 1.0
        q[self.coords] = np.clip(0.0, *self.ranges)
        return self.apply_mimic(q)

    def random(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """Return random configurations, shape [n, n_coords]; see Model.random_joint_q."""
        n = checked_index('n', n, 2**31)
        # NumPy 2.4 does not survive a matrix as a seed.
        if isinstance(rng, bool | np.bool_ | np.matrix):
            raise ArgumentError(f'rng must be a generator or a seed, got {rng!r}')
        if not isinstance(rng, np.random.Generator):
            try:
                rng = np.random.default_rng(rng)
            except (TypeError, ValueError) as error:
                raise ArgumentError(f'rng must be a generator or a seed, got {rng!r}') from error
        q = np.zeros((n, self.n_coords))
        lower, upper = sampling_range(*self.ranges, self.reach)
        # NumPy refuses the range from 0 to -0, which adding 0 makes one from 0 to 0.
        q[:, self.coords] = rng.uniform(lower + 0.0, upper + 0.0, (n, len(self.coords)))
        for start, end in self.quaternion_joints:
            quaternion = rng.normal(size=(n, 4))
            q[:, start:end] = rng.uniform(-1.0, 1.0, (n, end - start))
            q[:, end : end + 4] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
        return self.apply_mimic(q)


def resolve_mimics(mimics: Sequence[MimicData]) -> dict[int, tuple[int, float, float]]:
    """Compose chains of mimics.

    Args:
        mimics: The constraints, one per following joint.

    Returns:
        For each mimic joint: its final driver, offset and factor.

    Raises:
        ArgumentError: Two constraints for one joint, or joints that follow each other.
    """
    direct: dict[int, MimicData] = {}
    for mimic in mimics:
        if mimic.joint0 in direct:
            raise ArgumentError(f'joint {mimic.joint0} follows two joints')
        direct[mimic.joint0] = mimic
    resolved: dict[int, tuple[int, float, float]] = {}
    for start in direct:
        path: dict[int, None] = {}  # an ordered set
        joint = start
        while joint in direct and joint not in resolved:
            if joint in path:
                raise ArgumentError(f'joint {joint} follows itself through its mimic constraints')
            path[joint] = None
            joint = direct[joint].joint1
        for follower in reversed(path):
            mimic = direct[follower]
            driver, coef0, coef1 = resolved.get(mimic.joint1, (mimic.joint1, 0.0, 1.0))
            resolved[follower] = (driver, mimic.coef0 + mimic.coef1 * coef0, mimic.coef1 * coef1)
    return resolved
