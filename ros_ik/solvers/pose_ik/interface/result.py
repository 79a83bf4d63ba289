# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings of the search for configurations of a chain, and its results."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.former_names import FormerName
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.solvers.pose_ik.interface.batch_result import BatchResult

# Largest number of attempts and iterations, ten times which is a number of the device too.
_MAX_ATTEMPTS = 10**8


@dataclasses.dataclass(frozen=True)
class ChainIKSettings:
    """Settings of the search, with defaults tuned on Panda, UR10, xArm7 and Tiago.

    Attributes:
        max_attempts: Largest number of attempts for a problem, the first from its seed. Several
            lanes share it, each rounded up.
        max_iterations: Largest number of iterations of an attempt.
        window: Number of iterations after which the progress of an attempt is tested.
        patient_window: The same for the last tenth of the attempts, because poses near a
            singularity converge slowly from any start.
        progress: Factor by which the cost must shrink in a window, or the attempt ends.
        damping: Levenberg-Marquardt damping relative to the cost, dimensionless.
        relative_length: Weight of a radian as a length, relative to the reach of the chain.
        separation: Solutions are distinct if any joint differs by more than this [rad or m].
        seed: Seed of the random restarts, which makes results reproducible.
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
            ArgumentError: A number of attempts or iterations below one, another number that is not
                positive, or a negative seed.
        """
        for name in ('max_attempts', 'max_iterations', 'window', 'patient_window'):
            checked_count(name, getattr(self, name), 1, _MAX_ATTEMPTS)
        for name in ('progress', 'damping', 'relative_length', 'separation'):
            checked_number(name, getattr(self, name), positive=True)
        checked_count('seed', self.seed)


def checked_chain_settings(settings: ChainIKSettings | None) -> ChainIKSettings:
    """Check and return settings; None for the defaults.

    Raises:
        ArgumentError: Another type.
    """
    return checked_options('settings', ChainIKSettings, settings)


@dataclasses.dataclass(frozen=True)
class ChainIKResult(BatchResult):
    """Results of n problems; the next solve of a :class:`ChainIK` overwrites its arrays.

    Attributes:
        joint_q: Configurations of the whole model, shape [n, joint_coord_count], or [n,
            n_solutions, joint_coord_count] for several solutions, the nearest to the seed first.
            If fewer were found, the rest repeats the first.
        status: :class:`SolveStatus` codes, shape [n]: CONVERGED; UNREACHABLE or AT_LIMITS with the
            best configuration found; IN_COLLISION with the solution nearest to the seed, if all
            solutions found collide; NON_FINITE_INPUT with the configuration at which other joints
            are locked; NUMERICAL_FAILURE if the verification failed.
        n_found: Number of solutions found, shape [n], without colliding ones if collisions are
            checked.
        position_error: Distance to the pose [m] by an independent forward kinematics, shape [n]
            or [n, n_solutions].
        rotation_error: Angle to the pose [rad], same shape.
    """

    joint_q: np.ndarray
    status: np.ndarray
    n_found: np.ndarray
    position_error: np.ndarray
    rotation_error: np.ndarray

    def with_solution_axis(self) -> ChainIKResult:
        """Return the result with a dimension for solutions, even for a single one."""
        if self.joint_q.ndim == 3:
            return self
        n, coords = self.joint_q.shape
        return dataclasses.replace(
            self,
            joint_q=self.joint_q.reshape((n, 1, coords)),
            position_error=self.position_error.reshape((n, 1)),
            rotation_error=self.rotation_error.reshape((n, 1)),
        )

    in_places = FormerName('with_solution_axis')


@dataclasses.dataclass(frozen=True)
class GoalSetResult(ChainIKResult):
    """Results of n problems with several alternative poses each.

    Attributes:
        goal: Index of the pose that a solution reaches, or to which it is nearest, shape [n] or
            [n, n_solutions].
    """

    goal: np.ndarray

    def without_goals(self) -> ChainIKResult:
        """Return the result without ``goal``."""
        names = (field.name for field in dataclasses.fields(ChainIKResult))
        return ChainIKResult(*(getattr(self, name) for name in names))
