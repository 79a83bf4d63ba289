# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The servo: one tick of control without ROS, step(now, measurement, command) -> output.

While tracking, the command is integrated from the last command. When tracking ends, the command
decelerates within the limits and the point at rest is sent. Then nothing is sent, or with
``publish_when_idle`` that point again. Tracking starts again at the position that the controller
holds, see :mod:`ros_ik.servo.state.motion_start`.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.former_names import FormerName
from ros_ik.model import Model
from ros_ik.servo.barriers.watched_joints import WatchedJoints
from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.command import Command
from ros_ik.servo.interface.measurement import Measurement
from ros_ik.servo.interface.obstacle import Obstacle
from ros_ik.servo.interface.output import ServoOutput
from ros_ik.servo.interface.output import TaskReport
from ros_ik.servo.motion.drive_velocities import DriveVelocities
from ros_ik.servo.reports.measured_report import MeasuredReport
from ros_ik.servo.reports.motion_report import MotionReport
from ros_ik.servo.reports.motion_report import TrackedStep
from ros_ik.servo.reports.tick_reports import report_targets
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.servo.robot.settings_checks import check_center
from ros_ik.servo.robot.settings_checks import check_one_level
from ros_ik.servo.robot.settings_checks import check_per_joint
from ros_ik.servo.rollout import Rollout
from ros_ik.servo.state.command_events import CommandEvents
from ros_ik.servo.state.following_error import FollowingError
from ros_ik.servo.state.following_state import FollowingState
from ros_ik.servo.state.hold_reasons import hold_reason
from ros_ik.servo.state.hold_reasons import HoldReason
from ros_ik.servo.state.measured_state import measured_coords
from ros_ik.servo.state.motion_start import MotionStarts
from ros_ik.servo.state.servo_state import SERVO_TRANSITIONS
from ros_ik.servo.state.servo_state import ServoEvent
from ros_ik.servo.state.servo_state import ServoState
from ros_ik.servo.step.halt import Halt
from ros_ik.servo.step.step_solver import StepSolver
from ros_ik.servo.targets.references import set_references
from ros_ik.servo.targets.secondary_motion import SecondaryMotion
from ros_ik.servo.targets.target_selection import Choice
from ros_ik.servo.targets.target_selection import TargetSelection
from ros_ik.settings import Settings
from ros_ik.solvers import SolveStatus
from ros_ik.state_machine import StateMachine

# Reason for a hold after targets were dropped in motion.
_COMING_TO_REST = HoldReason(StatusCode.OK, 'coming to rest', resynchronise=True)


class Servo:
    """Control of one robot: targets in, steps out. Used by one thread at a time.

    Attributes:
        robot: Settings resolved in the model.
        settings: The current settings.
        targets: Known and active targets.
        joint_q: Commanded coordinates [joint_coord_count].
        following: Following error of the robot.
        watched: Joints on which the barriers depend; for one thread, which need not be that of the
            ticks.
    """

    def __init__(self, model: Model, settings: Settings) -> None:
        """Build the solver and run it once; the first time, compilation takes seconds.

        Raises:
            SettingsError: The settings name a link, joint or group that the model does not have.
        """
        self.settings = settings
        self.robot = resolve_robot(model, settings)
        self.watched = WatchedJoints.of_barriers(self.robot, self.robot.group.joint_names)
        self.targets = TargetSelection(self.robot, settings)
        self._solver = StepSolver(self.robot, settings)
        self._rollout = (
            Rollout(self.robot, settings, self._solver.scene) if settings.rollout_steps else None
        )
        self._events = CommandEvents()
        self._halt = Halt(self.robot, self._solver)
        self.following = FollowingError(self.robot, settings)
        self._starts = MotionStarts(self.robot, settings)
        self._motion_report = MotionReport(
            self.robot, self._solver, self.targets, self.following, settings.period
        )
        self._measured_report = MeasuredReport(self._solver.diff, self.targets, self.following)
        self._drives_velocities = any(
            output.type == 'float64_multi_array_velocities' for output in settings.outputs
        )
        self._drives = DriveVelocities(self.robot)
        # Masks of the coordinates that the servo commands, and of the others.
        self._commanded = np.zeros(model.joint_coord_count, dtype=bool)
        self._commanded[self.robot.moving_coords] = True
        self._not_commanded = ~self._commanded
        self._has_others = bool(self._not_commanded.any())
        # Last measurement from which the joints without a command were taken.
        self._followed: Measurement | None = None
        # Last measurement that was reported, and its coordinates, None if a joint is unknown.
        self._reported: Measurement | None = None
        self._reported_q: np.ndarray | None = None
        self.joint_q = model.neutral_joint_q()
        # Positions sent to joints of the outputs that are not controlled: those at the start.
        self._held = self.joint_q.copy()
        self._secondary = SecondaryMotion(self.robot, settings)
        self._obstacles: tuple[Obstacle, ...] = ()
        # Command whose targets were accepted last.
        self._accepted: Command | None = None
        self._step = np.zeros(model.joint_dof_count)
        # Array of the next step, which changes places with the last one.
        self._step_buffer = np.zeros(model.joint_dof_count)
        # Reason of the last braking; used if braking continues without a new reason.
        self._reason = _COMING_TO_REST
        self._motion_start = ''
        self._machine = StateMachine(ServoState.IDLE, SERVO_TRANSITIONS)

    @property
    def state(self) -> ServoState:
        """State after the last tick."""
        return self._machine.state

    goals = FormerName('targets')

    @property
    def acceleration(self) -> np.ndarray:
        """Acceleration limits in force of the controlled joints [n_variables].

        In motion a changed scale takes effect later, and those who lead a target by the braking
        distance need the limits by which the servo brakes. Any thread may read it.
        """
        return self._solver.limits.acceleration

    @property
    def moving(self) -> bool:
        """True if the command is in motion."""
        return (
            bool(np.count_nonzero(self._step))
            or self._solver.limits.is_reversing(self._step)
            or self._halt.is_turning(self.joint_q, self.settings)
        )

    def check(self, settings: Settings) -> None:
        """Check that settings fit the robot.

        Raises:
            SettingsError: Lists of the wrong length, ``com.weight`` above 0 for a model without
                mass, or priorities for which this servo was not prepared.
        """
        check_per_joint(settings, self.robot.group)
        check_center(settings, self.robot.model)
        if not self._solver.has_levels:
            check_one_level(settings)

    def apply(self, settings: Settings) -> None:
        """Apply changed settings; the next tick uses them.

        Stricter limits are deferred until the robot can stop within them.

        Args:
            settings: Settings that differ from the current ones in dynamic parameters only.

        Raises:
            SettingsError: See :meth:`check`; nothing has changed then.
        """
        self.check(settings)
        self._solver.apply(settings)
        if self._rollout is not None:
            self._rollout.apply(settings)
        self.settings = settings
        self.targets.apply(settings)
        self.following.apply(settings)
        self._starts.apply(settings)
        self._secondary.apply(settings, self.joint_q)
        # The values of barriers that it keeps lack the former margins.
        self._motion_report.forget_barriers()

    def step(
        self,
        now: float,
        measurement: Measurement,
        command: Command,
        *,
        reports: bool = True,
        has_time_passed: bool = True,
    ) -> ServoOutput:
        """Compute one tick.

        Args:
            now: Current time [s].
            measurement: Measured state.
            command: Command.
            reports: True to measure the frames and to find the limiting constraint; otherwise the
                last report is repeated.
            has_time_passed: False for a command that ends a motion while the clock is slow or
                stands still: it is noticed, and the robot brakes in later ticks.

        Returns:
            The command, if one is to be sent, and the report.
        """
        # At rest the device belongs to the thread that builds another servo.
        may_use_device = not command.model_loading or self.moving
        if may_use_device and (self.state is ServoState.TRACKING or not self.moving):
            # A stop that has begun continues unchanged.
            self._solver.limits.apply_deferred(self.joint_q, self._step)
        self._notice_events(now, command)
        resumes = self.state.resumes
        self._starts.observe(now, measurement, self.joint_q, moves=self.moving)
        if may_use_device:
            self._apply_obstacles(measurement, command)
        self.following.observe(
            now, measurement, self.joint_q, pursues=resumes, still=not self.moving
        )
        reason = hold_reason(
            self.robot, self.settings.joint_state_timeout, self.following, now, measurement,
            command,
        )  # fmt: skip
        if reason is None:
            self._accept_targets(now, measurement, command)
            choice = self.targets.select(now, command.mode)
            reason = self.targets.reason_to_hold(now, command.mode, choice, self._events)
            if reason is not None and self.state.resumes and not resumes and self.moving:
                # The motion just started with a velocity: something else moves the robot.
                self._step[:] = 0.0
                self._machine.handle(ServoEvent.DETACH)
                self._solver.limits.rest()
        if reason is None and not self.state.resumes:
            if self.moving:
                # Still braking; at rest the next motion gets its start.
                reason = self._reason
            else:
                self._synchronise(now, measurement)
        if reason is None:
            output = self._track(now, measurement, choice, reports)
        else:
            output = self._hold(now, reason, measurement, has_time_passed)
            if not (command.model_loading and output.still):
                self._report_targets(output, now)
        if not (command.model_loading and output.still):
            self._report_poses(output, measurement, reports)
        return output

    def interrupt(self) -> None:
        """Reset after a failed tick, because the commanded position is unknown.

        The next motion starts at the reference of the controller, or at the measured state.
        """
        self._step[:] = 0.0
        self._drives.begin(self._step)
        self._solver.limits.rest()
        self._halt.end()
        self.following.forget()
        self._starts.forget()
        self._motion_report.forget_barriers()
        self._reset_targets()
        # The failed tick may have accepted a part of the targets.
        self._accepted = None
        self._machine.handle(ServoEvent.FAIL)

    def _notice_events(self, now: float, command: Command) -> None:
        self._events.notice(now, command)
        if self._events.activated:
            self._machine.handle(ServoEvent.ACTIVATE)
        if self._events.forgets_command:
            self._starts.command.forget()
        if self._events.drops_targets:
            self.following.forget()
            self.targets.drop(self._events.last_dropped)
            self._machine.handle(ServoEvent.DETACH)

    def _apply_obstacles(self, measurement: Measurement, command: Command) -> None:
        """Apply changed obstacles, at the current link poses."""
        if command.obstacles is self._obstacles:
            return
        joint_q = self.joint_q
        if not (self.state.resumes or self.moving):
            measured = measured_coords(self.robot, measurement, joint_q)
            if measured is None:
                return
            joint_q = measured
        self._solver.set_obstacles(command.obstacles, self._solver.commanded_state.at(joint_q))
        self._obstacles = command.obstacles
        self._motion_report.forget_barriers()

    def _accept_targets(self, now: float, measurement: Measurement, command: Command) -> None:
        """Accept new targets, at the configuration from which the motion will start."""
        if command is self._accepted:
            return
        self._accepted, targets = command, self.targets
        poses, center = targets.new_poses(command), targets.new_center(command)
        targets.withdraw(command)
        targets.accept_twists(command)
        has_new_joints = targets.has_new_joints(command)
        if (poses or center or has_new_joints) and not (self.state.resumes or self.moving):
            self._synchronise(now, measurement)
        if targets.accept_joints(command):
            # Joints without a target any longer stay at their current positions.
            self._secondary.set_posture(self.joint_q)
        if poses or center:
            targets.accept_targets(self._poses(), poses, center)

    def _synchronise(self, now: float, measurement: Measurement) -> None:
        """Start a motion at the state that the controller holds, with its velocity."""
        known = measurement.known
        self._starts.command.rest(now, self.joint_q)
        start = self._starts.find(
            now, measurement, self.joint_q, self._solver.limits.acceleration
        )
        measured = measurement.joint_q.copy()
        if start.positions is None:
            known &= self._not_commanded
        else:
            measured[self.robot.coords] = start.positions
        self.joint_q[known] = measured[known]
        self._motion_start = start.source
        self.robot.group.write_steps(start.steps, self._step)
        self._drives.begin(self._step)
        self._solver.limits.begin_motion(self._step)
        self._solver.diff.forget_steps()
        if self.robot.model.mimic_driver:
            self.joint_q = self.robot.model.apply_mimic(self.joint_q)
        self._held[:] = self.joint_q
        self._followed = self._reported = None
        self.following.restart(now, measurement, self.joint_q)
        self._motion_report.forget_barriers()
        self._reset_targets()
        self._machine.handle(ServoEvent.BEGIN)

    def _reset_targets(self) -> None:
        """Reset the velocities of targets and of the secondary motion."""
        self.targets.rest()
        self._secondary.rest()

    def _track(
        self, now: float, measurement: Measurement, choice: Choice, reports: bool
    ) -> ServoOutput:
        """Make one step towards the targets."""
        self._machine.handle(ServoEvent.TRACK)
        self._reason = _COMING_TO_REST
        self._halt.end()
        self._starts.command.move()
        if self._has_others and measurement is not self._followed:
            self._follow_measurement(measurement)
        if self.targets.activate(choice):
            active = choice.active
            self._solver.choose(active)
            self._secondary.choose(active, self.joint_q)
            self._motion_report.forget_standstill()
            if self.moving:
                self._set_initial_velocities()
        solver = self._solver
        wanted = set_references(
            solver, self.targets, self._secondary, self.joint_q, self._step
        )
        damping = solver.update_damping()
        remaining = self.targets.remaining(self.joint_q)
        last_step, step = self._step, self._step_buffer
        status = solver.solve(self.joint_q, last_step, step)
        # A sum of squares is finite only where every number is.
        finite = math.isfinite(step.dot(step))
        if status == SolveStatus.NON_FINITE_INPUT or not finite:
            return self._brake(
                StatusCode.NON_FINITE_BLOCKED, 'the solver returned a number that is not finite'
            )
        if not status.ok:
            return self._brake(StatusCode.SOLVER_FAILED, status.message)
        slowed = self.following.limit(step, last_step, solver.limits.acceleration)
        if slowed and solver.limits.is_strict:
            solver.limits.clamp_step(self.joint_q, step, last_step)
        cut = solver.limit_to_stoppable(self.joint_q, step, last_step)
        after = solver.commanded_state.advance(self.joint_q, step)
        violation = solver.limits.check.violation(self.joint_q, step, after)
        if violation:
            return self._brake(StatusCode.SOLVER_FAILED, violation)
        solver.limits.shift_steps(last_step)
        tracked = TrackedStep(
            self.joint_q, after, step, last_step, wanted, remaining, damping, cut
        )
        self.joint_q, self._step, self._step_buffer = after, step, last_step
        output = self._output(StatusCode.OK, 'tracking', publish=True)
        if self._drives_velocities:
            output.measured_q = measured_coords(self.robot, measurement, self._held)
        self._report_targets(output, now)
        self._motion_report.update(output, now, tracked, reports=reports)
        if self._rollout is not None and self.moving and not self.following.slowed_by:
            self._predict(self._rollout, output)
        return output

    def _set_initial_velocities(self) -> None:
        """Start targets with the current velocity of their frames."""
        state = self._solver.commanded_state
        state.advance(self.joint_q, -self._step)
        self.targets.set_initial_velocity(state.poses, self._poses())

    def _predict(self, rollout: Rollout, output: ServoOutput) -> None:
        """Predict the next steps from the current inputs."""
        predicted, output.predicted_qd = rollout.predict(
            self.joint_q, self._step, self._solver, self.targets, self._secondary
        )
        if self._has_others:
            np.copyto(predicted, self._held, where=self._not_commanded)
        output.predicted_q = predicted

    def _follow_measurement(self, measurement: Measurement) -> None:
        """Set joints without a command to their measured positions."""
        follows = measurement.known & self._not_commanded
        np.copyto(self.joint_q, measurement.joint_q, where=follows)
        self._followed = measurement

    def _hold(
        self, now: float, reason: HoldReason, measurement: Measurement, has_time_passed: bool
    ) -> ServoOutput:
        """Brake, return after a stall, then rest."""
        self._reason = reason
        self._motion_report.forget_standstill()
        if reason.waiting_for:
            self._starts.command.forget()
        returns = reason.code == StatusCode.FOLLOWING_ERROR
        returns = returns and self.following.state is FollowingState.RETURNS
        if returns:
            self._halt.return_to(self.following.return_position)
        if self.moving and not has_time_passed:
            output = self._wait_for_time(reason)
        elif self.moving or returns:
            output = self._brake_for(reason, reason.may_return, returns)
        else:
            output = self._rest(now, reason, measurement)
        output.waiting_for = reason.waiting_for
        return output

    def _brake_for(self, reason: HoldReason, may_return: bool, returns: bool) -> ServoOutput:
        """Make one step towards rest for a reason."""
        self._begin_to_brake(reason)
        return self._brake(
            reason.code, reason.text, may_return=may_return, returns=returns,
            keeps_path=reason.keeps_path,
        )  # fmt: skip

    def _wait_for_time(self, reason: HoldReason) -> ServoOutput:
        """Brake for a reason in later ticks; until then, nothing is sent."""
        self._begin_to_brake(reason)
        text = f'{reason.text}; braking as soon as time passes'
        return self._output(reason.code, text, publish=False)

    def _begin_to_brake(self, reason: HoldReason) -> None:
        """Change to the state of a servo that brakes for a reason."""
        if reason.resynchronise:
            self._machine.handle(ServoEvent.DETACH)
        self._machine.handle(ServoEvent.BRAKE)

    def _rest(self, now: float, reason: HoldReason, measurement: Measurement) -> ServoOutput:
        """Repeat the command at rest, or send nothing."""
        self._halt.end()
        self._drives.begin(self._step)
        self._solver.limits.rest()
        self._starts.command.rest(now, self.joint_q)
        self._starts.command.observe(now, measurement.joint_q)
        if not (self.settings.publish_when_idle and reason.may_repeat):
            self._machine.handle(ServoEvent.SILENCE)
            return self._output(reason.code, reason.text, publish=False)
        if not self.state.repeats:
            self._synchronise(now, measurement)
            if self.moving:
                return self._brake_for(reason, may_return=False, returns=False)
        if reason.resynchronise:
            self._machine.handle(ServoEvent.DETACH)
        self._machine.handle(ServoEvent.REPEAT)
        return self._output(reason.code, reason.text, publish=True)

    def _brake(
        self,
        code: StatusCode,
        text: str,
        *,
        may_return: bool = True,
        returns: bool = False,
        keeps_path: bool = False,
    ) -> ServoOutput:
        """Make one step towards rest; see :meth:`Halt.advance`."""
        self.joint_q = self._halt.advance(
            self.joint_q, self._step, self.settings,
            may_return=may_return, returns=returns, keeps_path=keeps_path,
        )  # fmt: skip
        self._reset_targets()
        self._motion_report.forget_barriers()
        return self._output(code, text, publish=True, returns=returns)

    def _output(
        self, code: StatusCode, text: str, *, publish: bool, returns: bool = False
    ) -> ServoOutput:
        output = ServoOutput(
            code=code,
            text=text,
            joint_q=np.where(self._commanded, self.joint_q, self._held),
            joint_qd=self._step / self.settings.period,
            publish=publish,
            still=not self.moving,
            tasks=[TaskReport(task.name) for task in self.settings.tasks],
            joint_names=self.robot.group.joint_names,
            following_errors=self._measured_report.following_errors,
            motion_start=self._motion_start,
        )
        if publish and self._drives_velocities:
            self._set_drive_velocities(output, returns=returns)
        return output

    def _set_drive_velocities(self, output: ServoOutput, *, returns: bool) -> None:
        """Set the velocities for drives, and how fast their correction may rise."""
        period = self.settings.period
        change = self._solver.limits.acceleration * period**2
        part = self._drives.limit(self._step, self.following.left, change, returns=returns)
        output.drive_qd = part / period
        output.drive_change = self.robot.scaled_acceleration(self.settings) * period

    def _report_targets(self, output: ServoOutput, now: float) -> None:
        report_targets(output, self.targets, self._poses(), now)

    def _report_poses(
        self, output: ServoOutput, measurement: Measurement, reports: bool
    ) -> None:
        """Report the measured frames, once every joint is known."""
        if reports:
            if measurement is not self._reported:
                self._reported = measurement
                self._reported_q = measured_coords(self.robot, measurement, self._held)
            has_center = output.center_of_mass is not None
            self._measured_report.measure(self._reported_q, has_center=has_center)
        self._measured_report.update(output)

    def _poses(self) -> np.ndarray:
        """Return the link poses at the commanded configuration [body_count, 7]."""
        return self._solver.commanded_state.at(self.joint_q)
