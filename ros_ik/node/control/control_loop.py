# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The control thread: one tick per period, from mailboxes to publishers."""

from __future__ import annotations

from collections.abc import Callable
import math
import threading
import time

from ros_ik.node.control.clock_report import ClockReport
from ros_ik.node.control.deadline_monitor import DeadlineMonitor
from ros_ik.node.control.deadline_monitor import MISSED_PART
from ros_ik.node.control.inbox import ControlledServo
from ros_ik.node.control.inbox import Inbox
from ros_ik.node.control.publishing import empty_output
from ros_ik.node.control.publishing import StatusPublisher
from ros_ik.node.control.statistics import TickStatistics
from ros_ik.node.control.status_message import NodeState
from ros_ik.node.control.status_timer import StatusTimer
from ros_ik.node.control.tick_faults import TickFaults
from ros_ik.node.execution.realtime import disable_timer_slack
from ros_ik.node.execution.realtime import PauseCollector
from ros_ik.node.execution.realtime import schedule_thread
from ros_ik.node.execution.schedule import RosTimeSchedule
from ros_ik.node.execution.schedule import SteadySchedule
from ros_ik.node.execution.tick_gap import TickGap
from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik.servo import Servo
from ros_ik.servo import ServoOutput
from ros_ik.servo import StatusCode
from ros_ik.settings import Settings
from ros_ik.solvers.graph import recorded_graphs

# Period of the status without a servo [s].
_WAITING_PERIOD = 0.1
# Maximum age of the servo's reports without subscribers, for diagnostics, markers and actions [s].
_REPORT_PERIOD = 0.02
# Time limit to come to rest at shutdown [s]; the whole shutdown takes at most a second.
_REST_TIME = 0.6


class ControlLoop:
    """Loop that runs the ticks in a thread of its own.

    Attributes:
        inbox: Inputs.
        statistics: Durations of the ticks.
        tick_gap: Gate at which other threads wait for the end of a tick.
        output: Output of the last tick.
        faults: Errors of the ticks.
        now: Clock of the servo [s].
    """

    def __init__(
        self,
        inbox: Inbox,
        status: StatusPublisher,
        schedule: SteadySchedule | RosTimeSchedule,
        ros_nanoseconds: Callable[[], int],
        task_names: tuple[str, ...],
    ) -> None:
        """Prepare the thread.

        Args:
            inbox: Inputs.
            status: Publisher of the status.
            schedule: Schedule of the ticks.
            ros_nanoseconds: ROS time [ns], for stamps.
            task_names: Names of the frame tasks.
        """
        self.inbox = inbox
        self.statistics = TickStatistics()
        self.tick_gap = TickGap()
        self.faults: TickFaults[ControlledServo] = TickFaults()
        self._status, self._schedule, self.now = status, schedule, schedule.now
        self._ros_nanoseconds = ros_nanoseconds
        self._idle_output = empty_output(task_names)
        self.output: ServoOutput = self._idle_output
        self._running: ControlledServo | None = None
        self._generation = 0
        # True if the last tick left the robot at rest, and the command of that tick.
        self._resting = True
        self._seen: Command | None = None
        # Time of the last tick on the servo's clock [s], and True if the tick before had the same.
        self._stepped = math.nan
        self._stands = False
        self._finishing = False
        self._status_timer = StatusTimer()
        # Steady time of the last reports of the servo [s].
        self._reported = -math.inf
        self._deadlines = DeadlineMonitor()
        self._clock_report = ClockReport(schedule)
        self._collector = PauseCollector()
        self._thread = threading.Thread(target=self._run, name='control', daemon=True)

    @property
    def fault(self) -> str:
        """Text of the last error of a tick, or ''."""
        return self.faults.latest.text

    @property
    def failed(self) -> ControlledServo | None:
        """The servo to release, because it failed in consecutive ticks, or None."""
        return self.faults.to_release

    def start(self, priority: int = 0, cpu: int = -1) -> list[str]:
        """Start the thread.

        Args:
            priority: SCHED_FIFO priority, 0 for ordinary scheduling.
            cpu: Processor that runs the thread, -1 for any.

        Returns:
            A message for each of these settings that was not permitted.
        """
        self._thread.start()
        return schedule_thread(self._thread, priority, cpu)

    def is_resting(self) -> bool:
        """Return True if a tick has seen the latest command and left the robot at rest."""
        return self._resting and self._seen is self.inbox.command.get()

    def finish(self) -> bool:
        """Come to rest, send the last point and end the thread.

        Returns:
            True if the command came to rest. Each published trajectory ends at rest.
        """
        self._finishing = True
        self._thread.join(_REST_TIME + 0.2)
        publishers = self.inbox.publishers.get()
        if publishers is not None:
            publishers.wait_for_all_acked()
        return self._resting

    def _run(self) -> None:
        """Run ticks until the robot is at rest after :meth:`finish`, or its time is over."""
        disable_timer_slack()
        give_up = math.inf
        while time.monotonic() < give_up:
            started = time.perf_counter()
            finishing = self._finishing
            self._tick(started)
            self.statistics.add(1e3 * (time.perf_counter() - started))
            self.statistics.recorded = recorded_graphs()
            if finishing:
                give_up = min(give_up, time.monotonic() + _REST_TIME)
                if self._resting:
                    break
            pause = self._schedule.pause()
            if not self.tick_gap.open(pause):
                self._collector.collect_within(pause)
            missed = self._schedule.wait()
            self.statistics.miss(missed)
            self._deadlines.add(missed)
        self._stop_velocities()
        self.tick_gap.open(math.inf)

    def _stop_velocities(self) -> None:
        """Publish zero velocity to controllers whose last velocity is not zero."""
        publishers = self.inbox.publishers.get()
        if publishers is not None:
            publishers.stop_velocities()

    def _tick(self, started: float) -> None:
        """Run one tick; errors in it do not end the thread."""
        fault = self._read_streams(started)
        # The command is read before the servo: see Inbox.controlled.
        latest = self.inbox.command.get()
        try:
            self._answer(latest, fault, started)
        except Exception as error:  # noqa: BLE001 such as a publisher that is gone
            self.faults.note_loop(error)
        self._seen = latest

    def _answer(self, latest: Command, fault: Exception | None, started: float) -> None:
        """Run the servo of a tick, or report the missing inputs.

        Args:
            latest: Newest command.
            fault: Error in reading the topics, or None.
            started: Start of the tick [s].
        """
        command = latest.with_changes(active=False) if self._finishing else latest
        if command.active and not (self._seen is not None and self._seen.active):
            self.statistics.reset()
            self._deadlines.reset()
        controlled = self.inbox.controlled.get()
        self.faults.begin_tick(controlled)
        if controlled is None:
            if fault is not None:
                self.faults.note_reading(fault)
            self._running, self._resting = None, True
            self.faults.note_success()
            self.output = self._idle_output
            self._stop_velocities()
            self._report_waiting(started)
        else:
            try:
                if fault is not None:
                    raise fault
                self._control(controlled, command, started)
                self.faults.note_success()
            except Exception as error:  # noqa: BLE001 a tick that fails must not end the thread
                self._fail(controlled, error, started)

    def _read_streams(self, started: float) -> Exception | None:
        """Read the messages since the last tick; return an error in reading, or None."""
        try:
            self.inbox.streams.get().read(started)
        except Exception as error:  # noqa: BLE001 it must not end the thread
            return error
        return None

    def _control(self, controlled: ControlledServo, command: Command, started: float) -> None:
        """Step the servo, publish its command, and report if it is time."""
        servo = controlled.servo
        settings = self.inbox.settings.get()
        if controlled is not self._running:
            self._running, self._stepped = controlled, math.nan
            self._generation = controlled.generation
        changed = None if settings is servo.settings else settings
        if changed is not None and not command.model_loading:
            servo.apply(changed)
        measurement = controlled.measurement.get()
        publishers = self.inbox.publishers.get()
        status_period = _status_period(servo.settings) if command.active else _WAITING_PERIOD
        is_due = self._status_timer.is_due(started, status_period, servo.settings.period)
        sends_poses = is_due and publishers is not None and publishers.wants_poses()
        is_read = sends_poses or (is_due and self._status.has_subscribers())
        reports = is_read or started - self._reported >= _REPORT_PERIOD
        if reports:
            self._reported = started
        output = self._step(servo, measurement, command, reports)
        controlled.jumps.update(command)
        self._clock_report.add_to(output, started)
        now = self._ros_nanoseconds()
        if publishers is not None and output.publish:
            publishers.publish_command(output, controlled.templates, now)
        elif output.still or self._stands:
            # Otherwise the last velocity lasts until the next tick that is due.
            self._stop_velocities()
        self._add_remark(output)
        self.output = output
        # Set after publishing, so that the last point was sent when a wait for rest ends.
        self._resting = output.still and (
            not command.active or command.model_loading or not output.publish
        )
        if is_due:
            self._status_timer.note(started, status_period)
            if publishers is not None and sends_poses:
                publishers.publish_poses(output, controlled.templates, now)
            base = controlled.templates.base_frame
            unmeasured = servo.robot.unmeasured_links
            self._publish(output, controlled.generation, started, base, unmeasured)

    def _add_remark(self, output: ServoOutput) -> None:
        """Report missed deadlines, or the causes of a following error that the executor found."""
        if self._deadlines.many_missed and output.code == StatusCode.OK:
            output.code = StatusCode.DEADLINE_MISSED
            output.text += f'; more than {MISSED_PART:.0%} of the deadlines were missed'
        elif output.code == StatusCode.FOLLOWING_ERROR:
            remark = self.inbox.not_following.get()
            # While simulated time stands still, the output is that of the tick before.
            if not output.text.endswith(remark):
                output.text += remark

    def _step(
        self, servo: Servo, measurement: Measurement, command: Command, reports: bool
    ) -> ServoOutput:
        """Step the servo once per period of its clock.

        While simulated time is slow or stands still, so does the simulated robot, and the command
        would run ahead of it. Commands that end a motion take effect in such ticks, too, but the
        motion ends only as time passes.
        """
        now, before = self._schedule.now(), self._stepped
        self._stepped = now
        is_first = math.isnan(before)
        has_passed = now != before and (self._schedule.is_due or is_first)
        self._stands = now == before
        ends = command.stopped or command.paused or command.model_loading or not command.active
        if has_passed or ends:
            return servo.step(
                now, measurement, command, reports=reports, has_time_passed=has_passed
            )
        output = self.output
        output.publish = False
        return output

    def _report_waiting(self, started: float) -> None:
        if not self._status_timer.is_due(started, _WAITING_PERIOD):
            return
        self._status_timer.note(started, _WAITING_PERIOD)
        waiting = self.inbox.waiting.get()
        output = self._idle_output
        output.code, output.text = waiting.code, waiting.text
        output.waiting_for = waiting.waiting_for
        self._clock_report.add_to(output, started)
        self._publish(output, self._generation, started, '')

    def _fail(self, controlled: ControlledServo, error: Exception, started: float) -> None:
        """Hold after an error: send zero velocities only; published trajectories end at rest."""
        self.faults.note_tick(controlled, controlled.servo.robot.model.device, error)
        self._resting = True
        controlled.servo.interrupt()
        self._stop_velocities()
        self.output = self._idle_output
        self._idle_output.code = StatusCode.SOLVER_FAILED
        self._idle_output.text = self.faults.latest.text
        self._idle_output.waiting_for = ()
        if self.faults.failures == 1 or self._status_timer.is_due(started, _WAITING_PERIOD):
            self._status_timer.note(started)
            self._publish(self._idle_output, controlled.generation, started, '')

    def _publish(
        self,
        output: ServoOutput,
        generation: int,
        started: float,
        base: str,
        unmeasured: tuple[str, ...] = (),
    ) -> None:
        if not self._status.has_subscribers():
            return
        remarks = self.inbox.notice.get(), self.inbox.unknown_joints.get()
        notice = '; '.join(filter(None, remarks))
        state = NodeState(output.waiting_for, generation, notice, base, unmeasured)
        tick_ms = 1e3 * (time.perf_counter() - started)
        self._status.publish(output, state, self.statistics, tick_ms, self._ros_nanoseconds())


def _status_period(settings: Settings) -> float:
    """Return the time between two statuses [s]; 0 for every tick."""
    return 1.0 / settings.status_rate if settings.status_rate > 0.0 else 0.0
