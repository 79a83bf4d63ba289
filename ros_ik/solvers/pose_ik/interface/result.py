# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings of the search for configurations of a chain, and its results."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.solvers.pose_ik.interface.batch_result import BatchResult


@dataclasses.dataclass(frozen=True)
class ChainIKSettings:
    """Settings of the search of a chain. The defaults were tuned on Panda, UR10, xArm7 and Tiago.

    Attributes:
        max_attempts: Starts of one problem, the first from its seed.
        max_iterations: Iterations of one attempt.
        window: Iterations between two looks at the progress of an attempt.
        patient_window: The same for the last tenth of the attempts: poses near a singularity
            converge slowly from everywhere.
        progress: Factor by which the cost must shrink in a window for the attempt to go on.
        damping: Levenberg-Marquardt damping over the cost, dimensionless.
        relative_length: What an error of one radian counts for, over the reach of the chain.
        separation: Distance between solutions that count as two, in the joint that differs most
            [rad or m].
        seed: Seed of the random restarts; the same one gives the same answers.
    """

    max_attempts: int = 200
    max_iterations: int = 60
    window: int = 4
    patient_window: int = 12
    progress: float = 0.5
    damping: float = 0.1
    relative_length: float = 0.2
    separation: float = 0.1
    seed: int = 12345

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ArgumentError: A count below one, a number that is not positive, a negative seed.
        """
        for name in ('max_attempts', 'max_iterations', 'window', 'patient_window'):
            checked_count(name, getattr(self, name), 1)
        for name in ('progress', 'damping', 'relative_length', 'separation'):
            checked_number(name, getattr(self, name), positive=True)
        checked_count('seed', self.seed)


def checked_chain_settings(settings: ChainIKSettings | None) -> ChainIKSettings:
    """Return settings, those by default for None.

    Raises:
        ArgumentError: Anything else.
    """
    settings = ChainIKSettings() if settings is None else settings
    if not isinstance(settings, ChainIKSettings):
        raise ArgumentError(f'settings must be ChainIKSettings, got {settings!r}')
    return settings


@dataclasses.dataclass(frozen=True)
class ChainIKResult(BatchResult):
    """Answers to n problems; arrays of a :class:`ChainIK` are overwritten by its next solve.

    Attributes:
        joint_q: Configurations of the whole model, shape [n, joint_coord_count], or [n,
            n_solutions, joint_coord_count] where more than one was asked for: the nearest to the
            seed first, places without a solution of their own repeat the first.
        status: :class:`SolveStatus` codes, shape [n]: CONVERGED; UNREACHABLE and AT_LIMITS, with
            the best configuration found; IN_COLLISION, with the solution nearest to the seed, all
            of those found being in collision; NON_FINITE_INPUT, with the configuration that joints
            outside the chain have; NUMERICAL_FAILURE where the verification disagrees.
        n_found: Solutions found, shape [n]; with check_collisions those out of collision.
        position_error: Distance to the pose [m] by an independent forward kinematics, shape [n]
            or [n, n_solutions].
        rotation_error: Angle to the pose [rad], same shape.
    """

    joint_q: np.ndarray
    status: np.ndarray
    n_found: np.ndarray
    position_error: np.ndarray
    rotation_error: np.ndarray

    def in_places(self) -> ChainIKResult:
        """Return the answers with solutions in places, also where one was asked for."""
        if self.joint_q.ndim == 3:
            return self
        return dataclasses.replace(
            self,
            joint_q=self.joint_q[:, None],
            position_error=self.position_error[:, None],
            rotation_error=self.rotation_error[:, None],
        )


@dataclasses.dataclass(frozen=True)
class GoalSetResult(ChainIKResult):
    """Answers to n problems of several poses each, any of which will do.

    Attributes:
        goal: Index of the pose that a solution reaches, or comes nearest to, shape [n] or [n,
            n_solutions].
    """

    goal: np.ndarray

    def without_goals(self) -> ChainIKResult:
        """Return the answers alone."""
        names = (field.name for field in dataclasses.fields(ChainIKResult))
        return ChainIKResult(*(getattr(self, name) for name in names))
