# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Current joint limits; stricter ones are deferred until the robot can stop within them.

A robot in motion may be unable to keep limits that have just become stricter:

- A wider margin to position limits is deferred until the robot can stop before it, see
  :meth:`LimitsInForce.apply_deferred`. A narrower one applies at once.
- A lower scale of velocities applies at once to the request, and speeds decrease as fast as the
  joints can brake. A higher one applies at once. With strict jerk limits, :class:`StepLimitCheck`
  uses a lower scale only from the next rest on.
- A scale of accelerations passes two checks: stops before position limits here, and stops before
  barriers in :class:`BarrierStopCheck`. A lower scale is checked for position limits first, a
  higher one for barriers first. So a motion never relies on harder braking than the stops that are
  checked for barriers.

With strict jerk limits, whatever is deferred waits for rest.
"""

from __future__ import annotations

import numpy as np

from ros_ik.limits import AccelerationLimit
from ros_ik.limits import Limit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.servo.motion.position_stop_check import can_stop
from ros_ik.servo.motion.step_limit_check import StepLimitCheck
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.barrier_stop_check import BarrierStopCheck
from ros_ik.servo.step.deferred import Deferred
from ros_ik.servo.step.jerk_limits import JerkLimits
from ros_ik.servo.step.singularity import SingularityMonitor
from ros_ik.settings import Settings

# Relative rounding error of a limit.
_RELATIVE_ROUNDING = 1e-6


class LimitsInForce:
    """Current limits of positions, velocities, accelerations and jerks.

    Attributes:
        of_program: Limits of the quadratic program.
        check: Last check of a tracking step.
        acceleration: Acceleration limit of each variable of the group, scaled [rad/s^2 or m/s^2].
        step_before_last: The step before the last one [joint_dof_count], for jerk limits.
    """

    def __init__(
        self,
        robot: ControlledRobot,
        settings: Settings,
        stops: BarrierStopCheck,
        singularity: SingularityMonitor,
    ) -> None:
        """Set up the limits from the settings.

        Args:
            robot: The robot.
            settings: The settings.
            stops: Check of stops, whose deceleration follows these limits.
            singularity: Damping and speed limit near singularities, which follow these limits.
        """
        self._robot, self._settings = robot, settings
        self._stops, self._singularity = stops, singularity
        margin = robot.position_margin(settings)
        self._margin = Deferred(margin)
        self._acceleration_scale = Deferred(settings.limits_acceleration_scale)
        self._velocity_scale = Deferred(settings.limits_velocity_scale)
        self._acceleration_limit = AccelerationLimit(robot.acceleration, position_margin=margin)
        self._velocity_limit = VelocityLimit(robot.velocity, scale=settings.limits_velocity_scale)
        self._position_limit = PositionLimit(margin=margin)
        # None if no joint has a jerk limit.
        self._jerk = (
            JerkLimits(robot, settings, self._acceleration_limit, margin)
            if self.is_strict or np.isfinite(robot.jerk).any()
            else None
        )
        self.of_program: tuple[Limit, ...] = (self._acceleration_limit,)
        if not self.is_strict:
            self.of_program = self._position_limit, self._velocity_limit, *self.of_program
        if self._jerk is not None:
            self.of_program += self._jerk.of_program, self._jerk.damper
        self.step_before_last = np.zeros(robot.model.joint_dof_count)
        self.check = StepLimitCheck(robot)
        self._largest_change = robot.jerk * settings.period**3 * (1.0 + _RELATIVE_ROUNDING)
        self._set_margin(margin)
        self._scale_acceleration(settings.limits_acceleration_scale)
        self._scale_velocity(settings.limits_velocity_scale)
        if not settings.barriers_recheck:
            stops.rest()

    @property
    def is_strict(self) -> bool:
        """True if jerk limits are strict: kept in every motion and every stop."""
        return self._settings.limits_jerk == 'strict'

    @property
    def has_jerk_limits(self) -> bool:
        """True if any joint has a jerk limit for :meth:`jerk_limited_steps`."""
        return self._jerk is not None

    @property
    def is_applied(self) -> bool:
        """True if no setting is deferred."""
        return (
            self._acceleration_scale.is_applied
            and self._velocity_scale.is_applied
            and self._margin.is_applied
        )

    def apply(self, settings: Settings) -> None:
        """Apply settings; see the module about what is deferred until :meth:`apply_deferred`."""
        previous, self._settings = self._settings, settings
        if settings.limits_position_margin != previous.limits_position_margin:
            self._margin.request(self._robot.position_margin(settings))
            if (self._margin.requested <= self._margin.in_force).all():
                self._set_margin(self._margin.requested)
        scale = self._acceleration_scale
        scale.request(settings.limits_acceleration_scale)
        if not self.is_strict:
            # Motions may use harder braking once the check of stops uses it.
            harder = max(scale.requested, scale.in_force)
            self._stops.set_deceleration(self._robot.acceleration * harder)
        if not settings.barriers_recheck:
            self._stops.rest()
        speed = self._velocity_scale
        speed.request(settings.limits_velocity_scale)
        if speed.requested > speed.in_force:
            self._scale_velocity(speed.requested)
        self._scale_jerk()

    def apply_deferred(self, joint_q: np.ndarray, last_step: np.ndarray) -> None:
        """Apply deferred limits, as far as the robot can stop within them.

        With strict jerk limits this waits for rest.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            last_step: The last step [joint_dof_count].
        """
        if self.is_applied or (self.is_strict and last_step.any()):
            return
        margin = self._margin
        acceleration = self._acceleration_scale
        scale, in_force = acceleration.requested, acceleration.in_force
        if not last_step.any():
            self._stops.set_deceleration(self._robot.acceleration * max(scale, in_force))
            self._stops.rest()
        if scale > in_force and self._stops.allows_deceleration(self._robot.acceleration * scale):
            self._scale_acceleration(scale)
        elif scale < in_force and self._can_stop_with(scale, margin.in_force, joint_q, last_step):
            self._scale_acceleration(scale)
        if not margin.is_applied and self._can_stop_with(
            self._acceleration_scale.in_force, margin.requested, joint_q, last_step
        ):
            self._set_margin(margin.requested)
        if not last_step.any():
            self._scale_velocity(self._velocity_scale.requested)

    def continue_from(self, other: LimitsInForce) -> None:
        """Copy the limits of the same robot with the same settings."""
        self.step_before_last[:] = other.step_before_last
        if self._acceleration_scale.differs_from(other._acceleration_scale):
            self._scale_acceleration(other._acceleration_scale.in_force)
        if self._velocity_scale.differs_from(other._velocity_scale):
            self._scale_velocity(other._velocity_scale.in_force)
        if self._margin.differs_from(other._margin):
            self._set_margin(other._margin.in_force)

    def prepare_step(self, last_step: np.ndarray) -> None:
        """Give ``last_step`` [joint_dof_count] to the limits before the next solve.

        An earlier solve must have allocated their arrays.
        """
        self._acceleration_limit.write_last_displacement(last_step)
        if self._jerk is not None:
            self._jerk.of_program.write_last_displacements(last_step, self.step_before_last)
        scale = self._velocity_scale
        if not self.is_strict and scale.in_force > scale.requested:
            self._scale_velocity(max(scale.requested, scale.in_force - self._max_scale_decrease()))

    def choose(self, joint_mode: bool) -> None:
        """Set the kind of the targets: with joint targets no joint replaces another one."""
        if self._jerk is not None:
            self._jerk.damper.switch(not joint_mode)

    def begin_motion(self, step: np.ndarray) -> None:
        """Start a motion with a constant velocity; ``step`` is the displacement of a tick.

        A motion from rest may follow a stop at once. Strict jerk limits then apply to the change
        from the last deceleration of that stop.
        """
        if step.any() or not self.is_strict:
            self.step_before_last[:] = step

    def shift_steps(self, last_step: np.ndarray) -> None:
        """Make the last step [joint_dof_count] the one before it, because another one follows."""
        self.step_before_last[:] = last_step

    def rest(self) -> None:
        """Record that the robot was at rest for a tick."""
        self.step_before_last[:] = 0.0

    def is_reversing(self, step: np.ndarray) -> bool:
        """Return True if strict jerk limits forbid rest although the last step is zero.

        Args:
            step: Last step [joint_dof_count].
        """
        change = np.abs(step - self.step_before_last)
        return self.is_strict and bool((change > self._largest_change).any())

    def jerk_limited_steps(
        self,
        joint_q: np.ndarray,
        last_step: np.ndarray,
        displacement: np.ndarray,
        pace: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Return the steps of the controlled joints within the jerk limits.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            last_step: Previous step [joint_dof_count].
            displacement: See :meth:`ViableSteps.jerk_limited_steps`.
            pace: See :meth:`ViableSteps.jerk_limited_steps`.
        """
        assert self._jerk is not None, 'no jerk limits'
        steps = last_step, self.step_before_last
        return self._jerk.viable.jerk_limited_steps(joint_q, steps, displacement, pace)

    def clamp_step(self, joint_q: np.ndarray, step: np.ndarray, last_step: np.ndarray) -> None:
        """Move a step to the nearest one within the strict jerk limits.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            step: The step [joint_dof_count], changed in place.
            last_step: Previous step.
        """
        assert self._jerk is not None, 'no jerk limits'
        group = self._robot.group
        steps, joints = (last_step, self.step_before_last), step[group.variable_dof]
        group.write_steps(self._jerk.viable.clamp(joint_q, steps, joints), step)

    def _can_stop_with(
        self, scale: float, margin: np.ndarray, joint_q: np.ndarray, last_step: np.ndarray
    ) -> bool:
        """Return True if the robot can stop before a margin with scaled accelerations."""
        acceleration, dt = self._robot.acceleration * scale, self._settings.period
        return can_stop(self._robot, joint_q, last_step, acceleration, margin, dt)

    def _set_margin(self, margin: np.ndarray) -> None:
        """Set the margin to the position limits [joint_dof_count]."""
        self._margin.enforce(margin)
        self._position_limit.set_margin(margin)
        if self._jerk is not None:
            self._jerk.set_margin(margin)
        self._acceleration_limit.set_position_margin(margin)
        self._singularity.set_position_margin(margin)
        self.check.set_margin(margin)

    def _scale_acceleration(self, scale: float) -> None:
        self._acceleration_scale.enforce(scale)
        self._acceleration_limit.scale = scale
        self.acceleration = scale * self._robot.group.variable_limits(self._robot.acceleration)
        self._stops.set_deceleration(self._robot.acceleration * scale)
        self._singularity.demand.scale_acceleration(scale)
        self._scale_jerk()

    def _scale_jerk(self) -> None:
        """Set the scales of the jerk limits, which let speeds decrease as jerks permit."""
        speed, acceleration = self._velocity_scale.requested, self._acceleration_scale.in_force
        if self._jerk is not None:
            self._jerk.set_scales(speed, acceleration)

    def _scale_velocity(self, scale: float) -> None:
        self._velocity_scale.enforce(scale)
        self._velocity_limit.scale = scale
        self.check.set_velocity(self._robot.velocity * scale * self._settings.period)

    def _max_scale_decrease(self) -> float:
        """Return the largest decrease of the scale per tick that joints can follow."""
        dofs = self._robot.group.variable_dof
        velocity = self._robot.velocity[dofs]
        limited = np.isfinite(velocity) & (velocity > 0.0)
        decrease = self.acceleration[limited] * self._settings.period / velocity[limited]
        return float(np.min(decrease, initial=1.0))
