# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Restarts of a search that ended in a local minimum, from the ends of a batch of seeds.

The batch solver minimises the same costs from random configurations within the limits. It ignores
barriers and uses single precision, so its ends are only the starts of new searches.
"""

from __future__ import annotations

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.solvers.batch_ik.solver import IKSolver
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.least_cost.costs import CommandCosts
from ros_ik.solvers.optimal_control.timing.limits import VariableLimits

# Number of seeds, and of iterations from each. With these, all of 1000 reachable poses of each of
# Panda, UR5, Tiago and xArm7 were met.
_SEEDS, _ITERATIONS = 64, 60
# Ratio to the least cost up to which an end is used for a search, and the least difference of
# costs that single precision can distinguish [1 at weight 1].
_COST_RATIO, _MIN_DIFFERENCE = 2.0, 1e-6
# Ends are distinct if any joint differs by more than this [rad or m].
_SEPARATION = 0.1


class BatchRestarts:
    """Batch solver that finds ends for commands of one structure."""

    def __init__(
        self, model: Model, group: JointGroup, moves: np.ndarray, command: OptimalControlCommand
    ) -> None:
        """Create the batch solver.

        Args:
            model: The model.
            group: The joints that may move.
            moves: True for each variable of the group that has a nonzero speed limit, bool
                [n_variables].
            command: A command of the structure.
        """
        self._costs = CommandCosts(model, command)
        driven = group.dof_variable >= 0
        driven[driven] = moves[group.dof_variable[driven]]
        with LAUNCH_LOCK.shared():
            mask = wp.array(driven, dtype=bool, device=model.device)
            self._out = wp.zeros(
                (1, model.joint_coord_count), dtype=wp.float32, device=model.device
            )
        self._solver = IKSolver(
            model,
            1,
            self._costs.objectives,
            jacobian_mode='analytic',
            sampler='roberts',
            n_seeds=_SEEDS,
            joint_dof_mask=mask,
        )
        self._device = model.device
        self._coords = dof_coordinates(model)[group.variable_dof]

    def ends(
        self,
        command: OptimalControlCommand,
        joint_q: np.ndarray,
        limits: VariableLimits,
        most: float,
    ) -> list[np.ndarray]:
        """Return displacements [n_variables] of low cost, the nearest to the start first.

        Args:
            command: The command.
            joint_q: Coordinates at the start [joint_coord_count].
            limits: Limits of the variables.
            most: Cost above which an end is useless.
        """
        self._costs.load(command)
        with LAUNCH_LOCK.shared():
            start = wp.array(joint_q[None].astype(np.float32), device=self._device)
        self._solver.reset()
        self._solver.step(start, self._out, iterations=_ITERATIONS)
        costs = self._solver.costs.numpy().astype(np.float64) + self._costs.constant
        u = self._solver.joint_q.numpy()[:, self._coords].astype(np.float64)
        u -= joint_q[self._coords]
        u = np.clip(limits.without_turns(u), limits.low, limits.high)
        good = np.flatnonzero(costs < most)
        if not len(good):
            return []
        difference = _MIN_DIFFERENCE * command.error_scaling**2
        good = good[costs[good] <= _COST_RATIO * float(np.min(costs[good])) + difference]
        return _distinct(u[good[np.argsort(np.linalg.norm(u[good], axis=1))]])


def _distinct(ends: np.ndarray) -> list[np.ndarray]:
    """Return the rows without those that repeat an earlier end."""
    kept: list[np.ndarray] = []
    for end in ends:
        if all(np.max(np.abs(end - other)) >= _SEPARATION for other in kept):
            kept.append(end)
    return kept
