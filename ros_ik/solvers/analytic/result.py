# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings and results of closed-form inverse kinematics."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.kinematics.runtime.arguments import MAX_ITERATIONS
from ros_ik.solvers.analytic.structure.structure import StructureTolerances
from ros_ik.solvers.pose_ik.interface.batch_result import BatchResult

# Rounding of a solution [m over the reach, rad].
ROUNDING = 1e-14


@dataclasses.dataclass(frozen=True)
class ClosedFormSettings:
    """Tolerances of closed-form solutions.

    Attributes:
        structure: Tolerances for parallel and for intersecting axes.
        position_tolerance: Largest distance of a solution [m]. For arms with a reach below 1 m it
            is multiplied by their reach in metres. It is at least 1e-14 of the reach, because of
            rounding.
        rotation_tolerance: Largest angle of a solution [rad].
        separation: Solutions are distinct if any joint differs by more than this [rad, reaches].
            Closer solutions are next to a singular configuration, where two branches meet.
        singular_value: Singular value of the Jacobian below which a solution is marked singular,
            with lengths in units of ``length``. At about this value, branches that meet are
            ``separation`` apart.
        length: Length that is equivalent to a radian, relative to the reach of the arm.
        max_steps: Largest number of polishing steps of a candidate.
    """

    structure: StructureTolerances = dataclasses.field(default_factory=StructureTolerances)
    position_tolerance: float = 1e-10
    rotation_tolerance: float = 1e-10
    separation: float = 1e-5
    singular_value: float = 1e-5
    length: float = 0.3
    max_steps: int = 40

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ArgumentError: A number that is not positive, no steps, or another type.
        """
        checked_instance('structure', StructureTolerances, self.structure)
        for name in (
            'position_tolerance', 'rotation_tolerance', 'separation', 'singular_value', 'length',
        ):  # fmt: skip
            checked_number(name, getattr(self, name), positive=True)
        checked_count('max_steps', self.max_steps, 1, MAX_ITERATIONS)

    def position_tolerance_at(self, reach: float) -> float:
        """Return the largest distance of a solution of an arm with this reach [m]."""
        return max(self.position_tolerance * min(1.0, reach), ROUNDING * reach)


_DEFAULT = ClosedFormSettings()


def checked_settings(settings: ClosedFormSettings | None) -> ClosedFormSettings:
    """Check and return settings; None for the defaults.

    Raises:
        ArgumentError: Another type.
    """
    if settings is None:
        return _DEFAULT  # made once, because its checks take longer than a solution
    return checked_options('settings', ClosedFormSettings, settings)


@dataclasses.dataclass(frozen=True)
class AllSolutions(BatchResult):
    """All solutions of n poses, up to s each, nearest to the seed first.

    The next solve of a :class:`ClosedFormIK` overwrites its arrays. With ``check_collisions``
    these are the collision-free solutions.

    Attributes:
        joint_q: Configurations of the whole model, shape [n, s, joint_coord_count]; unused entries
            repeat the first solution.
        n_found: Number of solutions in joint_q, shape [n].
        n_exist: Number of solutions within the limits, shape [n]; more than n_found if s is too
            small. With ``all_turns`` it ends at 2,147,483,647, for as many or more.
        status: :class:`SolveStatus` codes, shape [n]: CONVERGED if there are solutions; AT_LIMITS
            if all are outside the limits, or the best configuration is at the limits; UNREACHABLE
            if there are none; IN_COLLISION if all collide, with the nearest one;
            NON_FINITE_INPUT; NUMERICAL_FAILURE if the verification failed. With AT_LIMITS and
            UNREACHABLE the configuration has locally least error.
        position_error: Distance to the pose [m] by an independent forward kinematics, [n, s].
        rotation_error: Angle to the pose [rad], shape [n, s]. With a free axis of rotation it is
            the error of the axis direction, and 0 if the rotation is free.
        singular: True if branches meet in a solution, or a motion of the joints does not move the
            tool, shape [n, s]. Such a solution represents a continuum.
        free_direction: This motion as a unit vector of the chain's joints, zero for regular
            solutions, shape [n, s, joints]. For seven joints the redundant one is at rest.
    """

    joint_q: np.ndarray
    n_found: np.ndarray
    n_exist: np.ndarray
    status: np.ndarray
    position_error: np.ndarray
    rotation_error: np.ndarray
    singular: np.ndarray
    free_direction: np.ndarray
