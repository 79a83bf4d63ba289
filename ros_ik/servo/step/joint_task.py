# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint task of a step: the posture or a joint target, and the damping of changes of a step.

Near a singularity a small change of a frame's reference changes a step much. Joints with limited
jerk do not follow at once, and would swing about the steps that the references ask for. So the
cost of a step dq after dq' has, beside the damping lambda^2 |dq|^2,

    mu^2 |dq - dq'|^2,    mu^2 = lambda^2 T / dt

T is the time in which an acceleration builds up. The step then follows a change in about T where
the damping outweighs a task, and in less than a tick elsewhere. This term has the form of a joint
task. With the joint task w^2 |dq - g e|^2, the sum of both is that of one task,

    (w^2 + mu^2) |dq - (w^2 g e + mu^2 dq') / (w^2 + mu^2)|^2

mu^2 is rounded up to a power of two, so that the weight changes rarely: that takes 20 us.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import Task


class JointTask:
    """Joint task of the steps of one robot; owned by the control thread.

    Attributes:
        task: The task of the solver.
    """

    def __init__(self, model: Model, priority: int) -> None:
        """Start at the neutral configuration.

        Args:
            model: The model.
            priority: Priority of the task.
        """
        self._target = model.neutral_joint_q()
        self._objective = IKObjectiveJointPosition(model, self._target)
        self.task = Task(self._objective, priority=priority)
        coords = dof_coordinates(model)
        self._dofs = np.flatnonzero(coords >= 0)
        self._coords = coords[self._dofs]
        self._weight, self._gain = 1.0, 1.0
        self._written, self._square = b'', 0.0

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
        q = joint_q[self._coords]
        step = self._gain * of_target * (self._target[self._coords] - q)
        step += rounded * last_step[self._dofs]
        blend = self._target.copy()
        blend[self._coords] = q + step / total
        self._write(blend)

    def _write(self, joint_q: np.ndarray) -> None:
        """Write targets of the objective, if they changed."""
        numbers = joint_q.tobytes()
        if numbers != self._written:
            self._written = numbers
            self._objective.set_target_positions(joint_q)
