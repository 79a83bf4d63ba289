# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps of the controlled joints within jerk limits: to rest, to a position, at a speed."""

import functools
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_functions
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.limits import MotionLimit
from ros_ik.limits.jerk_viable_step import viable_step_functions
from ros_ik.limits.motion import motion_struct
from ros_ik.limits.motion import steps_of_variable_function
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.solvers.graph import Graph


@no_type_check
@functools.cache
def aimed_step_kernel() -> wp.Kernel:
    """Build the kernel that computes the step of each variable towards its target, float64."""
    steps_of_variable = steps_of_variable_function(wp.float64)
    nearest_step = viable_step_functions(wp.float64).nearest_step
    next_change = jerk_limited_stop_functions(wp.float64).next_change
    Motion = motion_struct(wp.float64)

    @compiled_kernel(registers=255)
    def find_aimed_step(
        joint_q: wp.array2d(dtype=wp.float64),  # [1, joint_coord_count]
        motion: Motion,
        way: wp.array(dtype=wp.float64),  # [variables], NaN if there is none
        pace: wp.array(dtype=wp.float64),  # [variables], steps to go on with where there is none
        # out
        box: wp.array2d(dtype=wp.float64),  # [2, variables]
        step: wp.array(dtype=wp.float64),  # [variables]
    ):
        k = wp.tid()
        low, braking, high = steps_of_variable(motion, joint_q, 0, k)
        box[0, k] = low
        box[1, k] = high
        dof = motion.variable_dof[k]
        last = motion.last[0, dof]
        slowdown = motion.slowdown[k]
        jerk = motion.jerk[k]
        if wp.isnan(way[k]):
            # The difference to a speed decays as a speed does.
            change = next_change(last - pace[k], last - motion.before_last[0, dof], slowdown, jerk)
            step[k] = wp.clamp(last + change, low, high)
        else:
            step[k] = nearest_step(low, braking, high, last, way[k], slowdown, jerk)

    return find_aimed_step


class ViableSteps:
    """Steps from which the joints can still stop within all limits.

    Attributes:
        limit: Limits, with adjustable scales and margins.
    """

    def __init__(self, robot: ControlledRobot, dt: float) -> None:
        """Compile and capture; ``dt`` is the duration of a tick [s]."""
        model, count = robot.model, robot.group.n_variables

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, wp.float64, model.device)

        self._joint_q, self._displacement, self._pace = floats(1, model.joint_coord_count), *(
            floats(count) for _ in range(2)
        )
        self._box, self._step = floats(2, count), floats(count)
        self._joint_q.host[0] = model.neutral_joint_q()
        with LAUNCH_LOCK.shared():
            body_q = wp.zeros((1, model.body_count), dtype=wp.transformd, device=model.device)
        self.limit = MotionLimit(robot.velocity, robot.acceleration, robot.jerk)
        self._state = StepState.make(model, robot.group, self._joint_q.array, body_q, dt)
        self.limit.bind(self._state)
        self._graph = Graph(self._record, model.device)

    def jerk_limited_steps(
        self,
        joint_q: np.ndarray,
        steps: tuple[np.ndarray, np.ndarray],
        displacement: np.ndarray,
        pace: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Return the step of each controlled joint.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            steps: The last step and the one before it, each [joint_dof_count].
            displacement: Displacements at which the joints stop [rad or m]; NaN for joints that
                move at a pace.
            pace: Steps of those joints [rad or m]; 0 to stop.
        """
        self.limit.write_last_displacements(*steps)
        self._joint_q.host[0] = joint_q
        self._displacement.host[:], self._pace.host[:] = displacement, pace
        self._graph.launch()
        return self._step.host.copy()

    def clamp(
        self, joint_q: np.ndarray, steps: tuple[np.ndarray, np.ndarray], joints: np.ndarray
    ) -> np.ndarray:
        """Return the viable steps of the controlled joints nearest to the given ones.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            steps: The last step and the one before it, each [joint_dof_count].
            joints: Steps of the controlled joints [rad or m].
        """
        self.jerk_limited_steps(joint_q, steps, np.full(len(joints), np.nan))
        confined: np.ndarray = np.clip(joints, *self._box.host)
        return confined

    def _record(self) -> None:
        for buffer in (self._joint_q, self._displacement, self._pace):
            buffer.upload()
        launch(
            aimed_step_kernel(),
            dim=len(self._displacement.host),
            inputs=[
                self._joint_q.array, self.limit.motion, self._displacement.array, self._pace.array,
            ],
            outputs=[self._box.array, self._step.array],
            device=self._joint_q.array.device,
        )
        for buffer in (self._box, self._step):
            buffer.download()
