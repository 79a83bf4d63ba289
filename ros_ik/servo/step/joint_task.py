# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint task of a step: the posture or a joint target, and the damping of changes of a step.

Joints with limited jerk do not follow a wanted step at once. Where their acceleration may only
turn as fast as it can, they pass the wanted velocity with an acceleration left, and swing about it
forever. Frames are asked for motions that the joints can follow. Two things are not: the motion
that frames leave free, towards the posture, and that near a singularity, where a small change of a
reference changes a step much. So the cost of a step dq after dq' has, beside the posture
w^2 |dq - g e|^2 and the damping lambda^2 |dq|^2,

    mu^2 |dq - dq'|^2,    mu^2 = (lambda^2 + w^2) T / dt

T is the time in which an acceleration builds up. The step then follows a change in about T where
posture and damping outweigh the tasks, and much sooner elsewhere. Joint targets (w = g = 1) are
motions that joints can follow, and are not damped. This term has the form of a joint task. The sum
with the joint task is that of one task,

    (w^2 + mu^2) |dq - (w^2 g e + mu^2 dq') / (w^2 + mu^2)|^2

mu^2 is rounded up to a power of two, so that the weight changes rarely: that takes 20 us.
"""

from __future__ import annotations

import math

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import Task


class JointTask:
    """Joint task of the steps of one robot; owned by the control thread.

    Attributes:
        task: The task of the solver.
    """

    def __init__(self, model: Model) -> None:
        """Start at the neutral configuration of a model."""
        self._target = model.neutral_joint_q()
        # Targets are written to the array that the solver reads.
        self._written = HostBuffer((1, len(self._target)), wp.float64, model.device)
        self._row = self._written.host[0]
        self.task = Task(IKObjectiveJointPosition(model, self._written.array))
        coords = dof_coordinates(model)
        self._dofs = np.flatnonzero(coords >= 0)
        self._coords = coords[self._dofs]
        self._weight, self._gain, self._square = 1.0, 1.0, 0.0
        self._write(self._target)

    def set_target(self, joint_q: np.ndarray) -> None:
        """Set the coordinates of the posture or of the joint target [joint_coord_count]."""
        self._target = joint_q
        if self._square == 0.0:
            self._write(joint_q)

    def set_weight(self, weight: float, gain: float) -> None:
        """Set the weight w and the gain g of the posture or of the joint target."""
        self._weight, self._gain, self._square = weight, gain, 0.0
        self.task.weight, self.task.gain = weight, gain
        self._write(self._target)

    def damp_change(self, square: float, joint_q: np.ndarray, last_step: np.ndarray) -> None:
        """Damp the change of the next step.

        Args:
            square: mu^2; 0 for no damping.
            joint_q: Commanded coordinates [joint_coord_count].
            last_step: Previous step [joint_dof_count].
        """
        if square == 0.0 == self._square:
            return
        # frexp returns a mantissa in [0.5, 1).
        rounded = 2.0 ** math.frexp(square)[1] if square > 0.0 else 0.0
        of_target = self._weight * self._weight
        total = of_target + rounded
        if rounded != self._square:
            self._square = rounded
            self.task.weight = math.sqrt(total)
            self.task.gain = 1.0 if rounded > 0.0 else self._gain
        if rounded == 0.0:
            self._write(self._target)
            return
        coords = self._coords
        q = joint_q[coords]
        blend = self._target[coords] - q
        blend *= self._gain * of_target / total
        blend += rounded / total * last_step[self._dofs]
        blend += q
        self._row[coords] = blend
        self._written.upload()

    def _write(self, joint_q: np.ndarray) -> None:
        """Write targets of the objective."""
        self._row[:] = joint_q
        self._written.upload()
