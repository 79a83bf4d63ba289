# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings and results of closed-form inverse kinematics."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.solvers.analytic.structure.structure import StructureTolerances
from ros_ik.solvers.pose_ik.interface.batch_result import BatchResult


@dataclasses.dataclass(frozen=True)
class ClosedFormSettings:
    """Tolerances of closed-form solutions.

    Attributes:
        structure: Deviations up to which axes count as parallel or as meeting.
        position_tolerance: Largest distance of a solution [m]; arms with a reach below 1 m are
            held to it times their reach in metres.
        rotation_tolerance: Largest angle of a solution [rad].
        separation: Distance between solutions that count as two, in the joint that differs most
            [rad, reaches]. Nearer ones lie beside a singular configuration, where two branches
            meet.
        singular_value: Singular value of the Jacobian below which a solution is marked singular,
            lengths in units of ``length``. Branches that meet are ``separation`` apart at about
            this value.
        length: Length that counts as one radian, over the reach of the arm.
        max_steps: Steps of polishing of one candidate.
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
            ArgumentError: A number that is not positive, or no step.
        """
        for name in (
            'position_tolerance', 'rotation_tolerance', 'separation', 'singular_value', 'length',
        ):  # fmt: skip
            checked_number(name, getattr(self, name), positive=True)
        checked_count('max_steps', self.max_steps, 1)


def checked_settings(settings: ClosedFormSettings | None) -> ClosedFormSettings:
    """Return settings, the default ones for None.

    Raises:
        ArgumentError: Anything else.
    """
    settings = ClosedFormSettings() if settings is None else settings
    if not isinstance(settings, ClosedFormSettings):
        raise ArgumentError(f'settings must be ClosedFormSettings, got {settings!r}')
    return settings


@dataclasses.dataclass(frozen=True)
class AllSolutions(BatchResult):
    """Every solution of n poses, s places each, nearest to the seed first.

    The arrays of a :class:`ClosedFormIK` are overwritten by its next solve. With
    ``check_collisions`` the solutions are those without collision.

    Attributes:
        joint_q: Configurations of the whole model, shape [n, s, joint_coord_count]; places
            without a solution of their own repeat the first.
        n_found: Solutions in joint_q, shape [n].
        n_exist: Solutions inside the limits, shape [n]; more than n_found where s are too few.
        status: :class:`SolveStatus` codes, shape [n]: CONVERGED; AT_LIMITS where every solution
            lies outside the limits, or the best configuration rests against them, and
            UNREACHABLE where there is none, both with a configuration of locally least error;
            IN_COLLISION where every solution collides, with the nearest one;
            NON_FINITE_INPUT; NUMERICAL_FAILURE where the verification disagrees.
        position_error: Distance to the pose [m] by an independent forward kinematics, [n, s].
        rotation_error: Angle to the pose [rad], shape [n, s]; that of the axis about which the
            rotation is free, 0 where the position alone counts.
        singular: Whether branches meet in a solution, or a motion of the joints leaves the tool
            where it is; the solution then stands for all of them. Shape [n, s].
        free_direction: That motion as a unit vector over the joints of the chain; zero where the
            solution is regular. Shape [n, s, joints], of seven joints the redundant one at rest.
    """

    joint_q: np.ndarray
    n_found: np.ndarray
    n_exist: np.ndarray
    status: np.ndarray
    position_error: np.ndarray
    rotation_error: np.ndarray
    singular: np.ndarray
    free_direction: np.ndarray
