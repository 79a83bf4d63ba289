# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tracking of the centre of mass: accepted target and the motion of its reference.

Positions are in the base frame, which is the supporting foot of a legged robot.
"""

from __future__ import annotations

from collections.abc import Callable
import copy
import math

import numpy as np

from ros_ik.kinematics.tree import precise_array
from ros_ik.model.conventions.poses import rotate
from ros_ik.servo.interface.output import CenterReport
from ros_ik.servo.interface.target import CenterOfMassTarget
from ros_ik.servo.motion.approach import Approach
from ros_ik.servo.motion.pose_math import float_scaled
from ros_ik.servo.motion.pose_math import length
from ros_ik.servo.motion.pose_math import quat_conjugate
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.targets.accepted_targets import TargetStream
from ros_ik.servo.targets.jump_check import pursued_distances
from ros_ik.settings import Settings


class CenterTracker:
    """Tracker of the targets of the centre of mass.

    Attributes:
        target: Accepted target [m], [3], or None.
        accepted: Stream of the targets.
        position: Commanded centre of mass [m] at the last :meth:`measure`.
        remaining: Distance to the target at the last :meth:`measure` [m].
    """

    def __init__(self, robot: ControlledRobot, dt: float) -> None:
        """Start without a target; :meth:`apply` must come next.

        Args:
            robot: The robot.
            dt: Duration of a tick [s].
        """
        self._base = robot.base_link
        mass = precise_array(robot.model, 'body_mass')
        self._bodies = np.flatnonzero(mass > 0.0)
        self._fractions = mass[self._bodies] / max(float(mass.sum()), 1e-300)
        self._centers = precise_array(robot.model, 'body_com')[self._bodies]
        self._approach, self._ramp, self._dt = Approach(dt), robot.ramp, dt
        self.target: np.ndarray | None = None
        self.accepted = TargetStream()
        self.position = np.zeros(3)
        self.remaining = math.nan
        self._previous: np.ndarray | None = None

    def branch(self) -> CenterTracker:
        """Return an independent copy."""
        other = copy.copy(self)
        other._approach = copy.copy(self._approach)
        return other

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._tolerance = settings.com_linear_tolerance
        self.accepted.apply(settings)
        longest, _ = pursued_distances(settings)
        self._limits = ApproachLimits(
            settings.com_max_linear_speed, settings.com_max_linear_acceleration, 1.0,
            longest, self._ramp,
        )  # fmt: skip

    def drop(self, sequence: int) -> None:
        """Drop the target, and ignore those up to ``sequence``."""
        self.target = None
        self.accepted.drop(sequence)
        self.rest()

    def rest(self) -> None:
        """Reset the velocity; the next motion starts from rest."""
        self._approach.reset()
        self._previous = None

    def set_initial_velocity(self, previous_body_q: np.ndarray, body_q: np.ndarray) -> None:
        """Start with the current velocity of the centre of mass, if it had no target before.

        Args:
            previous_body_q: Link poses of the previous tick [body_count, 7].
            body_q: Current link poses [body_count, 7].
        """
        if self._previous is not None:
            return
        self._previous = self.center(previous_body_q)
        self._set_velocity(self.center(body_q) - self._previous)

    def restart(self) -> None:
        """Go on at the velocity of the commanded centre of mass."""
        if self._previous is not None:
            self._set_velocity(self.position - self._previous)

    def accept(self, target: CenterOfMassTarget, body_q: np.ndarray) -> bool:
        """Accept a new target unless it is rejected as a jump; return True if it was accepted.

        Args:
            target: Target. In a moving link it is evaluated once, at the current pose of the link.
            body_q: Link poses at the commanded configuration [body_count, 7].
        """
        position = target.position
        if target.frame_link != self._base:
            link = body_q[target.frame_link]
            position = self._seen(link[:3] + quat_rotate(link[3:].tolist(), position), body_q)
        self.accepted.note(target, position.tolist())
        if self.accepted.rejects(target, lambda: (length(position - self.center(body_q)), 0.0)):
            return False
        self.target = position
        self.accepted.accept_time(target)
        return True

    def measure(self, body_q: np.ndarray) -> np.ndarray:
        """Return the remaining displacement to the target [m], [3]."""
        self.position = self.center(body_q)
        left: np.ndarray = self.target - self.position  # type: ignore[operator]
        self.remaining = length(left)
        return left

    def reference(
        self,
        body_q: np.ndarray,
        limits_along: Callable[[ApproachLimits, Vector, Vector], ApproachLimits],
    ) -> tuple[np.ndarray, float]:
        """Return the reference position of this tick, and its distance [m].

        Args:
            body_q: Link poses at the commanded configuration [body_count, 7].
            limits_along: Function that returns limits of a motion that the joints can keep, for
                the remaining displacement [m] and the displacement of the previous tick [m].
        """
        left: Vector = tuple(self.measure(body_q).tolist())
        previous = self.position if self._previous is None else self._previous
        moved: Vector = tuple((self.position - previous).tolist())
        self._previous = self.position
        limits = limits_along(self._limits, left, moved)
        step = np.array(self._approach.step(left, moved, limits))
        return self.position + step, length(step)

    def report(self, body_q: np.ndarray, active: bool) -> CenterReport:
        """Return the error report of the commanded centre of mass."""
        self.measure(body_q)
        return CenterReport(active, self.remaining, False, self.position)

    def report_measured(self, report: CenterReport, position: np.ndarray) -> None:
        """Add the error of the measured centre of mass [m], [3], to the report."""
        report.measured_linear_error = length(self.target - position)  # type: ignore[operator]
        worst = max(report.linear_error, report.measured_linear_error)
        report.reached = worst <= self._tolerance

    def center(self, body_q: np.ndarray) -> np.ndarray:
        """Return the centre of mass in the base frame [3]."""
        links = body_q[self._bodies]
        points = links[:, :3] + rotate(links[:, 3:], self._centers)
        return self._seen(self._fractions @ points, body_q)

    def _set_velocity(self, moved: np.ndarray) -> None:
        """Start with the displacement of the previous tick [m], [3]."""
        self._approach.velocity = float_scaled(tuple(moved.tolist()), 1.0 / self._dt)

    def _seen(self, point: np.ndarray, body_q: np.ndarray) -> np.ndarray:
        """Transform a point from the world to the base frame."""
        base = body_q[self._base]
        return quat_rotate(quat_conjugate(base[3:].tolist()).tolist(), point - base[:3])
