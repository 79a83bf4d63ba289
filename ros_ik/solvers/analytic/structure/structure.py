# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Geometry of the joint axes of a serial chain, and the families of closed forms.

With all joints at zero, axis i has a direction h_i and passes through a point p_i, and

    X_tool(q) = E_1(q_1) .. E_n(q_n) X_tool(0),   E_i(q) the rotation by q about axis i.

Two families of six revolute joints have fast closed forms: three consecutive axes that intersect
in one point (Pieper 1968), and three consecutive parallel axes. All others are GENERAL, see
:mod:`ros_ik.solvers.analytic.candidates.general_axes.general_source`. Chains with prismatic joints
have separate families, see :mod:`ros_ik.solvers.analytic.candidates.slide_candidates`. The
structures and subproblems are those of Elias and Wen, "IK-Geo" (2022).
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.serial_chain import LEAST_REACH
from ros_ik.model.conventions.poses import cross

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain


# Cosine below which directions are perpendicular, and component of a prismatic joint's direction
# below which it is zero.
RIGHT_ANGLE = 1e-7
# Number of revolute axes from which on their distances tell the size of an arm.
_LEAST_AXES = 4
# Ratio of eigenvalues below which axes do not determine the point nearest to all along one of
# them: the square of their angles [rad].
_FLAT = 1e-3


class ClosedFormFamily(enum.Enum):
    """Structure of a chain that determines the closed form; the value is its name in messages.

    SPHERICAL, PARALLEL and GENERAL are structures of six revolute joints, SLIDING and CARTESIAN of
    six joints with prismatic ones. Chains with fewer joints are completed to six.
    """

    SPHERICAL = 'three axes in one point'
    PARALLEL = 'three parallel axes'
    GENERAL = 'six general axes'
    SLIDING = 'slides before three axes in one point'
    CARTESIAN = 'three slides'
    NONE = 'none'


class Split(enum.Enum):
    """Order of solving for the two unknown angles x and y of the first stage."""

    X_FIRST = 'x first'  # one equation does not depend on y
    Y_FIRST = 'y first'  # one equation does not depend on x
    JOINT = 'joint'  # a quartic


@dataclasses.dataclass(frozen=True)
class StructureTolerances:
    """Tolerances for parallel and for intersecting axes.

    Attributes:
        angle: Largest angle between parallel axes [rad]. Calibrated UR arms deviate by 1e-3.
        length: Largest gap between intersecting axes, relative to the extent of the revolute axes.
            Calibrated arms deviate by 1e-3, the wrist of Baxter by 7e-3.
        exact: Deviation, an angle or a relative length, up to which a structure is exact. URDF
            files with nine digits of pi deviate by 1e-9 and are exact; those with five digits
            deviate by 1e-5 and are not.
    """

    angle: float = 5e-3
    length: float = 1e-2
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
    """Joint axes of a chain with all joints at zero, with lengths in units of the reach.

    Attributes:
        directions: Unit vectors h, shape [n, 3].
        points: Points p on the axes, shape [n, 3], near the origin.
        tool: Pose of the tool, homogeneous matrix [4, 4].
        origin: Origin of the points [m], [3].
        reach: Unit of length [m].
        slides: True for each prismatic joint, False for a revolute one.
        extent: Distances from each revolute axis to the next, summed, at most 1. The tool does not
            change it, except that it is 1 for fewer than four such axes.
    """

    directions: np.ndarray
    points: np.ndarray
    tool: np.ndarray
    origin: np.ndarray
    reach: float
    slides: tuple[bool, ...]
    extent: float = 1.0


def joint_axes(chain: SerialChain) -> Axes:
    """Return the axes of a chain."""
    pose = np.eye(4)
    directions, points = [], []
    for constant in chain.constants[:-1]:
        pose = pose @ constant
        directions.append(pose[:3, 2].copy())
        points.append(pose[:3, 3].copy())
    tool = pose @ chain.constants[-1]
    h, p = np.array(directions), np.array(points)
    turning = ~np.array(chain.slides)
    extent = _extent(h[turning], p[turning])
    # Points far out on their axes, as in calibrated descriptions, would lose digits.
    p += h * np.sum(h * (tool[:3, 3] - p), axis=1, keepdims=True)
    origin = np.mean(p, axis=0)
    p += h * np.sum(h * (origin - p), axis=1, keepdims=True)
    steps = np.diff(np.vstack([p, tool[:3, 3]]), axis=0)
    reach = float(np.sum(np.linalg.norm(steps, axis=1)))
    # Prismatic joints without limits add no length.
    travel = np.where(chain.slides, (chain.upper - chain.lower)[list(chain.variables)], 0.0)
    reach += float(np.sum(np.abs(chain.coef1) * np.where(np.isfinite(travel), travel, 0.0)))
    # If all axes pass through the tool, the reach is zero, and any length will do.
    reach = reach if reach > LEAST_REACH else 1.0
    tool[:3, 3] = (tool[:3, 3] - origin) / reach
    extent = min(max(extent, LEAST_REACH) / reach, 1.0)
    return Axes(h, (p - origin) / reach, tool, origin, reach, chain.slides, extent)


def _extent(h: np.ndarray, p: np.ndarray) -> float:
    """Return the length of a line from axis to axis through their points nearest to all [m].

    It is infinite for fewer than four axes: three of them may meet, and any length will do.

    Args:
        h: Directions, shape [k, 3].
        p: Points, shape [k, 3].
    """
    if len(h) < _LEAST_AXES:
        return np.inf
    across, from_first = np.eye(3) - h[:, :, None] * h[:, None, :], p - p[0]
    center = point_among(h, from_first)
    feet = center - np.einsum('kij,kj->ki', across, center - from_first)
    return float(np.sum(np.linalg.norm(np.diff(feet, axis=0), axis=1)))


def point_among(h: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the point of least squared distances to axes, [3].

    Along nearly parallel axes any point will do, and the exact one may be far away; it is then as
    far along them as the first point.

    Args:
        h: Directions, shape [k, 3].
        p: Points, shape [k, 3].
    """
    across, from_first = np.eye(3) - h[:, :, None] * h[:, None, :], p - p[0]
    normal = across.sum(axis=0)
    offset = np.linalg.pinv(normal, rcond=_FLAT, hermitian=True) @ np.einsum(
        'kij,kj->i', across, from_first
    )
    return p[0] + offset


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Return the angle between two lines [rad], at most a quarter turn."""
    across = cross(a, b)
    return float(np.arctan2(math.sqrt(across @ across), abs(float(a @ b))))


def turned(h: np.ndarray, angle: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rotate vectors v about unit vectors h by angles [rad]; shapes are broadcast."""
    along = h * np.sum(h * v, axis=-1, keepdims=True)
    c, s = np.cos(angle)[..., None], np.sin(angle)[..., None]
    return along + c * (v - along) + s * cross(h, v)


def meeting_point(h: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the point nearest to lines, and its largest distance to one; inf for parallel lines.

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
