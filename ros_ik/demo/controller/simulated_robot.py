# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot under joint_trajectory_controller, without ROS.

It rejects trajectories by the controller's rules and follows the accepted ones: the measured
position x of each joint tracks the desired position d by x' = (d - x) / lag.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math

import numpy as np

from ros_ik.demo.controller.trajectory_rules import check_trajectory
from ros_ik.demo.controller.trajectory_rules import NANOSECONDS
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_sampler import TrajectorySampler
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model.robot_joints import RobotJoints

# Suffix of the name of its diagnostics entry.
STATUS_SUFFIX = ': trajectories'


class SimulatedRobot:
    """Joint states that follow trajectories; all times in ns on one clock.

    Attributes:
        names: Every joint in the state, mimic joints included.
        controlled: The joints that trajectories move.
        accepted: Number of trajectories accepted.
        rejected: Number of rejected trajectories.
        last_reason: Reason for the last rejection, or ''.
        frozen: True if it stands still, as in a protective stop.
    """

    def __init__(
        self,
        model: Model,
        now: int,
        *,
        controlled: Sequence[str] = (),
        initial: Mapping[str, float] | None = None,
        lag: float = 0.02,
        controllers: int = 1,
    ) -> None:
        """Start at rest at the initial position.

        Args:
            model: The robot.
            now: Current time, ns.
            controlled: Joints of the controller, all of which a trajectory must name; empty for
                all except mimic joints, of which a trajectory may name some.
            initial: Initial positions that are not zero, rad or m.
            lag: Time constant of tracking, s; zero for none.
            controllers: Number of controllers that drive it; a joint follows the last one whose
                trajectory named it.

        Raises:
            ArgumentError: An unknown joint or a negative lag.
        """
        if not 0.0 <= lag < math.inf:
            raise ArgumentError(f'tracking lag must be a time >= 0 s, got {lag}')
        joints = RobotJoints(model)
        self._model = model
        self._lag = lag
        self._last = now
        self._state_coords = joints.coords
        self.names = joints.names
        self.controlled = tuple(controlled) or joints.driven
        self._allow_partial = not controlled
        self._coords = joints.coords_of(self.controlled)
        self._joint_q = joints.configuration(initial or {})
        self._velocity = np.zeros_like(self._joint_q)
        start = self._joint_q[self._coords]
        self._samplers = [TrajectorySampler(self.controlled, start) for _ in range(controllers)]
        self._driver = np.zeros(len(start), dtype=int)
        self.accepted = 0
        self.rejected = 0
        self.last_reason = ''
        self.frozen = False

    def command(self, trajectory: Trajectory, now: int, controller: int = 0) -> str | None:
        """Accept a trajectory for a controller, or return the reason for its rejection."""
        reason = check_trajectory(
            trajectory, self.controlled, now, allow_partial_joints_goal=self._allow_partial
        )
        if reason is None:
            self.accepted += 1
            self._samplers[controller].start(trajectory, now, self._desired(now))
            named = [self.controlled.index(name) for name in trajectory.joint_names]
            self._driver[named] = controller
        else:
            self.rejected += 1
            self.last_reason = reason
        return reason

    def update(self, now: int) -> None:
        """Move to ``now``."""
        elapsed = max(now - self._last, 0) / NANOSECONDS
        self._last = now
        if self.frozen:
            self._velocity[:] = 0.0
            return
        desired, velocity, _ = self._desired(now)
        position = desired
        if self._lag > 0.0:
            before = self._joint_q[self._coords]
            position = desired + (before - desired) * math.exp(-elapsed / self._lag)
            velocity = (desired - position) / self._lag
        self._joint_q[self._coords] = position
        self._velocity[self._coords] = velocity

    def _desired(self, now: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the desired position, velocity and acceleration of the joints."""
        states = np.array([sampler.sample(now) for sampler in self._samplers])
        position, velocity, acceleration = states[self._driver, :, np.arange(len(self._driver))].T
        return position, velocity, acceleration

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities of ``names``, mimic joints at their driven values."""
        position = self._model.apply_mimic(self._joint_q)
        # The mimic relation is affine, so its difference over the velocity is its derivative.
        velocity = self._model.apply_mimic(self._joint_q + self._velocity) - position
        return position[self._state_coords], velocity[self._state_coords]
