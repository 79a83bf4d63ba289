# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The lifecycle node: robot description, model, and the connection of topics to the loop.

The main thread creates the node, and calls ``schedule_executor``, ``finish`` and ``destroy_node``.
All else runs in the thread of the executor. While the node is active, this thread waits only for
deactivation, which ends when the robot is at rest, and briefly for the end of a tick.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import threading
import time

from builtin_interfaces.msg import Time
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.lifecycle import LifecycleState
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from ros_ik.node.actions.commander import Commander
from ros_ik.node.actions.node_actions import Actions
from ros_ik.node.autostart import Autostart
from ros_ik.node.bond import ManagerBond
from ros_ik.node.bond import missing_bond
from ros_ik.node.control.inbox import Inbox
from ros_ik.node.control.loop_setup import make_control_loop
from ros_ik.node.execution.guard import fault_origin
from ros_ik.node.execution.guard import fault_text
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.realtime import schedule_thread
from ros_ik.node.execution.simulated_time import wait_in_executor
from ros_ik.node.markers.marker_client import Markers
from ros_ik.node.model_loading.build_log import log_built
from ros_ik.node.model_loading.model_builder import Built
from ros_ik.node.model_loading.model_source import ModelSource
from ros_ik.node.model_loading.srdf_lines import SrdfLines
from ros_ik.node.node_condition import NodeCondition
from ros_ik.node.node_interface import NodeInterface
from ros_ik.node.node_stage import NODE_TRANSITIONS
from ros_ik.node.node_stage import NodeEvent
from ros_ik.node.node_stage import NodeStage
from ros_ik.node.parameter_services import BoundedParameterServices
from ros_ik.node.parameters import NodeParameters
from ros_ik.node.reports.reporter import Reminder
from ros_ik.node.reports.reporter import Reporter
from ros_ik.node.reports.topic_senders import TopicSenders
from ros_ik.node.reports.unknown_joints import UnknownJoints
from ros_ik.node.services.moveit_package import missing_package
from ros_ik.node.services.planner_client import PlannerServices
from ros_ik.node.services.process_link import PlannerRobotState
from ros_ik.node.subscribers.transforms import ResolvedFrame
from ros_ik.node.subscribers.transforms import UnresolvedFrame
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_subscription import StreamNode
from ros_ik.servo import Rejection
from ros_ik.servo import Servo
from ros_ik.servo import StatusCode
from ros_ik.settings import read_settings
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError
from ros_ik.state_machine import StateMachine

# Period of checks of the other threads [ns], and during the start [s].
_POLL_NANOSECONDS, _START_PERIOD = 50_000_000, 0.01
# Period of the statistics of ticks [s].
_STATISTICS_PERIOD = 0.5
# Longest wait for rest in a transition [s]; meanwhile the executor answers nothing else.
_REST_TIMEOUT = 0.8
_NO_REST = 'the command did not come to rest in time; the last trajectory sent ends at rest'
_STILL_BRAKES = 'the command has not come to rest yet; it continues to brake while inactive'
_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_Transition = Callable[['IkNode', LifecycleState], TransitionCallbackReturn]


def _transition(callback: _Transition) -> _Transition:
    """Return a callback of a transition that reports its error, which rclpy would drop."""

    @functools.wraps(callback)
    def call(node: IkNode, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return callback(node, state)
        except Exception as error:
            node.note_transition_fault(callback.__name__, error)
            raise

    return call


def _misfit(servo: Servo, settings: Settings) -> str:
    """Return the reason why settings do not fit a servo, or ''."""
    try:
        servo.check(settings)
    except SettingsError as error:
        return str(error)
    return ''


class IkNode(GuardedNode, StreamNode):
    """Node that turns pose, velocity and joint targets into joint trajectories."""

    def __init__(self) -> None:
        """Declare the parameters, subscribe to the description, and start the reports."""
        super().__init__('ros_ik', start_parameter_services=False)
        BoundedParameterServices(self)
        self._message_stats = MessageStats(self)
        self._inbox = Inbox.empty()
        self._machine = StateMachine(NodeStage.WAITING, NODE_TRANSITIONS)
        # Exists while the node is configured.
        self._interface: NodeInterface | None = None
        self._generation = 0
        # Text of the last error that a transition raised.
        self._transition_fault = ''
        self._bond: ManagerBond | None = None
        self._given = NodeParameters(self, self._on_settings)
        settings = self._given.settings or read_settings({'ee.frame': 'none'})
        self._inbox.settings.put(self._given.settings)
        self._loop = make_control_loop(self, self._inbox, settings, self._message_stats)
        is_valid = self._given.settings is not None
        self._autostart = Autostart(self, self._loop, is_enabled=settings.autostart and is_valid)
        self._reporter = Reporter(self, settings, self._loop, self._message_stats)
        self._condition = NodeCondition(self.get_logger(), self._inbox, self._reporter)
        self._unknown_joints = UnknownJoints(
            self.get_logger(), self._inbox, self._reporter, self._loop.now
        )
        self._source = ModelSource(
            self,
            lambda: self._given.settings,
            self._prepare_build,
            lambda servo: _misfit(servo, self._given.settings or servo.settings),
            self._loop.is_resting,
            self._condition.report_progress,
            self._message_stats,
        )
        self._reminder = Reminder(self)
        self._topic_senders = TopicSenders(
            self, (output.topic for output in settings.outputs), self._inbox.not_following
        )
        self._planning = PlannerServices(self, self._planner_state)
        SrdfLines(self, self._newest_servo)
        self._markers = Markers(self, settings, self._loop)
        commander = Commander(
            self._loop,
            lambda: self.get_clock().now().nanoseconds,
            self._find_frame,
            self._planning,
        )
        self._actions = Actions(self, commander, settings, self._message_stats)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._poll_timer = self.create_timer(_START_PERIOD, self._poll, clock=self._steady)
        self.create_timer(_STATISTICS_PERIOD, self._compute_statistics, clock=self._steady)
        # Callbacks run in reverse order of registration.
        self.add_on_set_parameters_callback(self._wait_for_gap)
        self._log_inputs()
        for sentence in self._loop.start(settings.rt_priority, settings.rt_cpu):
            self.get_logger().warning(sentence)
        self._priority_beside = max(0, settings.rt_priority - 1)

    @property
    def stage(self) -> NodeStage:
        """Current stage of the node."""
        return self._machine.state

    @property
    def _servo(self) -> Servo | None:
        """The running servo."""
        controlled = self._inbox.controlled.get()
        return None if controlled is None else controlled.servo

    def _newest_servo(self) -> Servo | None:
        """Return the running servo, or one that waits for the node to be configured."""
        ready = self._source.ready
        return self._servo if ready is None else ready.servo

    def schedule_executor(self, thread: threading.Thread) -> None:
        """Set the priority of the thread that spins this node, just below the control thread.

        Both threads share the interpreter: if this thread were delayed while it holds the
        interpreter, the tick would be delayed too.
        """
        # A missing permission was already reported for the control thread.
        schedule_thread(thread, self._priority_beside, -1)

    def on_fault(self, where: str, error: Exception) -> None:
        """Count an error in a callback, and log it with its origin."""
        text = f'{fault_text(error)} ({fault_origin(error)})'
        self._message_stats.add(where, Drop.INTERNAL_ERROR, lambda: text, event='an error in')

    def note_transition_fault(self, where: str, error: Exception) -> None:
        """Report the error of a transition, which :meth:`on_error` then names."""
        self._transition_fault = fault_text(error)
        self.on_fault(where, error)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release everything after a transition that raised an error, and report it."""
        self._autostart.cancel()
        self._release()
        self._refuse(f'a transition from {state.label} failed: {self._transition_fault}')
        return _SUCCESS

    def finish(self) -> bool:
        """Bring the robot to rest and end all threads.

        Returns:
            True if all threads have ended; otherwise one compiles, which no topic needs.
        """
        self._source.end(timeout=0.0)
        self._planning.release(in_order=False)
        self._actions.end('the node shuts down')
        if not self._loop.finish():
            self.get_logger().warning(_NO_REST)
        bond, self._bond = self._bond, None
        if bond is not None:
            bond.close()
        self._message_stats.log()
        self._markers.end()
        return self._source.end(timeout=0.1)

    def destroy_node(self) -> None:
        """Destroy what rclpy does not destroy by itself."""
        self._actions.destroy()
        super().destroy_node()
        # It holds the participant of DDS, whose shared memory would remain if the process ends
        # without the interpreter's.
        self._state_machine.destroy_when_not_in_use()

    @_transition
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Adopt the model, or wait for one up to ``robot_description_timeout``."""
        settings = self._given.settings
        if settings is None:
            return self._refuse('; '.join(self._given.errors))
        missing = missing_package(settings) or missing_bond(settings)
        if missing:
            return self._refuse(missing)
        timeout = settings.robot_description_timeout
        give_up = time.monotonic() + timeout
        while self._source.ready is None and not self._source.error:
            if not self._source.builder.busy:
                # A transition that failed released the model of the description.
                self._source.begin()
            built = self._source.wait(give_up - time.monotonic())
            if built is None:
                break
            self._on_built(built)
        # The main thread may discard it meanwhile.
        ready = self._source.ready
        if ready is None:
            has_description = self._source.has_description
            missing = 'the model was not built' if has_description else 'no robot_description'
            return self._refuse(self._source.error or f'{missing} within {timeout:g} s')
        self._interface = NodeInterface(
            self, settings, self._inbox, self._loop.now, self._message_stats, self._send_world
        )
        self._source.release()
        self._machine.handle(NodeEvent.CONFIGURE)
        self._adopt(self._interface, ready)
        return _SUCCESS

    @_transition
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Allow the servo to move; it waits for joint states and targets."""
        interface, settings = self._interface, self._given.settings
        if self.stage is not NodeStage.INACTIVE or interface is None or settings is None:
            self.get_logger().error('cannot activate: there is no model to run')
            return _FAILURE
        self._autostart.cancel()
        self._machine.handle(NodeEvent.ACTIVATE)
        if self._condition.failure:
            self._condition.note_failure('')
        interface.inputs.activate(True)
        period = settings.bond_heartbeat_period
        if period > 0.0:
            bond = self._bond = self._bond or ManagerBond(self, period)
            bond.begin()
        return _SUCCESS

    @_transition
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest."""
        self._autostart.cancel()
        self._machine.handle(NodeEvent.DEACTIVATE)
        self._actions.abort('the node is deactivated')
        self._wait_for_rest(_STILL_BRAKES)
        self._end_bond()
        return _SUCCESS

    @_transition
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release the model and the topics."""
        self._autostart.cancel()
        # A deactivation just before may not have sufficed.
        self._wait_for_rest(_NO_REST)
        self._release()
        if self._source.has_description:
            self._report_building()
            self._source.begin()
        return _SUCCESS

    @_transition
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest and release everything."""
        self._autostart.cancel()
        self._machine.handle(NodeEvent.SHUT_DOWN)
        self._actions.abort('the node shuts down')
        self._wait_for_rest(_NO_REST)
        # Discard a finished or unfinished model.
        self._source.end(timeout=0.0)
        self._release()
        self._condition.report_waiting(StatusCode.INVALID, 'the node is shut down')
        return _SUCCESS

    def _find_frame(self, frame_id: str, stamp: Time) -> ResolvedFrame | UnresolvedFrame:
        """Look up the frame of a goal."""
        if self._interface is None:
            return UnresolvedFrame(Rejection.NOT_READY, 'the node is not configured')
        return self._interface.inputs.transforms.find(frame_id, stamp)

    def _log_inputs(self) -> None:
        """Log the inputs, and report those that are missing."""
        for sentence in self._given.unknown:
            self.get_logger().warning(sentence)
        if self._given.errors:
            self._refuse('; '.join(self._given.errors))
        else:
            self._condition.report_waiting(
                StatusCode.WAITING_FOR_MODEL, 'waiting for robot_description', 'robot_description'
            )

    def _refuse(self, reason: str) -> TransitionCallbackReturn:
        """Fail a transition to configured, and report the reason."""
        self._condition.refuse_configuration(reason)
        return _FAILURE

    def _on_settings(self, settings: Settings) -> str:
        """Apply changed parameters, or return why they do not fit the model."""
        servo = self._newest_servo()
        reason = '' if servo is None else _misfit(servo, settings)
        if reason:
            return reason
        self._inbox.settings.put(settings)
        self._reporter.apply(settings)
        self._markers.apply(settings)
        self._planning.apply(settings)
        return ''

    def _prepare_build(self) -> bool:
        """Return True if a new description may be built, and prepare for it."""
        settings = self._given.settings
        if settings is None:
            return False
        if self._servo is None:
            self._report_building()
        elif settings.on_description_change == 'ignore':
            self.get_logger().warning(
                'ignored a new robot description: on_description_change is ignore'
            )
            return False
        return True

    def _report_building(self) -> None:
        self._machine.handle(NodeEvent.BUILDING)
        self._condition.report_waiting(StatusCode.WARMING_UP, 'building the model')

    def _poll(self) -> None:
        """Process the results of the other threads."""
        self._loop.tick_gap.wait()
        self._replace_servo()
        self._advance_start()
        self._send_world()
        self._report()
        if self._interface is not None:
            self._interface.inputs.settle_obstacles()
        if self._servo is None:
            self._remind()

    def _replace_servo(self) -> None:
        """Release a servo whose ticks fail, and adopt one that is built."""
        failed = self._loop.failed
        if failed is not None and failed is self._inbox.controlled.get():
            self._give_up(self._loop.fault)
        if self._source.rest_requested() and self._interface is not None:
            self._interface.set_model_loading(True)
        built = self._source.collect()
        if built is not None:
            self._on_built(built)

    def _advance_start(self) -> None:
        """Go on with the automatic start, and poll more slowly after it."""
        if self._autostart.is_pending:
            self._autostart.advance(self.stage)
        elif self._poll_timer.timer_period_ns != _POLL_NANOSECONDS:
            self._poll_timer.timer_period_ns = _POLL_NANOSECONDS

    def _report(self) -> None:
        """Log what has changed."""
        self._topic_senders.count(self._loop.output.code, time.monotonic())
        self._message_stats.log()
        self._reporter.log()
        self._unknown_joints.update(time.monotonic())

    def _remind(self) -> None:
        """Remind of a missing input, and subscribe again to a description that is missing."""
        code = self._inbox.waiting.get().code
        if self._reminder.remind(code, time.monotonic()) and not self._source.has_description:
            self._source.listen_again()

    def _planner_state(self) -> PlannerRobotState | None:
        """Return the measured state for planners; for any thread."""
        controlled = self._inbox.controlled.get()
        if controlled is None:
            return None
        measurement = controlled.measurement.get()
        timeout = controlled.servo.settings.joint_state_timeout
        return PlannerRobotState(
            controlled.generation,
            measurement.joint_q,
            measurement.known,
            measurement.current(self._loop.now(), timeout),
        )

    def _send_world(self) -> None:
        """Send changed obstacles to the planners' process."""
        controlled = self._inbox.controlled.get()
        if controlled is not None:
            obstacles = self._inbox.command.get().obstacles
            self._planning.poll(controlled.measurement.get(), obstacles)

    def _wait_for_gap(self, _: list[Parameter]) -> SetParametersResult:
        """Delay a parameter change to the end of a tick, as its check takes as long as a tick."""
        self._loop.tick_gap.wait()
        return SetParametersResult(successful=True)

    def _compute_statistics(self) -> None:
        """Compute statistics of the ticks."""
        self._loop.tick_gap.wait()
        self._loop.statistics.update()

    def _give_up(self, reason: str) -> None:
        """Deactivate, release a servo whose ticks fail, and build another one, once."""
        self.get_logger().error(f'{reason}: going to inactive')
        self._autostart.cancel()
        may_build = not self._condition.failure
        self._condition.report_waiting(StatusCode.SOLVER_FAILED, reason)
        self._condition.note_failure(reason)
        self._inbox.controlled.put(None)
        was_active = self.stage is NodeStage.ACTIVE
        self._machine.handle(NodeEvent.GIVE_UP)
        if was_active:
            self.trigger_deactivate()
        if may_build:
            self._source.begin()

    def _on_built(self, built: Built) -> None:
        """Adopt a new servo, or keep the current one and report the reason."""
        if built.servo is None or self._source.error:
            self._condition.refuse_description(self._source.error)
            if self._interface is not None:
                self._interface.set_model_loading(False)
            self._source.begin_former()
            return
        self._source.accept(built, waits=self._interface is None)
        self._condition.note_failure(self._condition.failure)
        summary = self._source.builder.progress.summary()
        log_built(self.get_logger(), built, built.servo, summary)
        if self._interface is None:
            self._machine.handle(NodeEvent.BUILT)
            text = 'a model is ready; waiting to be configured'
            self._condition.report_waiting(StatusCode.WARMING_UP, text)
            return
        reason = self._reason_to_deactivate(built.servo)
        if reason:
            self.get_logger().warning(f'{reason}: going to inactive')
            if self.stage is NodeStage.ACTIVE:
                # First, so that no target moves the new robot.
                self.trigger_deactivate()
        self._machine.handle(NodeEvent.REPLACE)
        self._adopt(self._interface, built)

    def _reason_to_deactivate(self, servo: Servo) -> str:
        """Return the reason why the node becomes inactive with another servo, or ''."""
        before, settings = self._servo, self._given.settings
        if before is None:
            return ''
        if before.robot.group.joint_names != servo.robot.group.joint_names:
            return 'the controlled joints changed'
        if settings is not None and settings.on_description_change == 'deactivate':
            return 'on_description_change is deactivate'
        return ''

    def _adopt(self, interface: NodeInterface, built: Built) -> None:
        """Run another servo from the next tick on."""
        servo, job = built.servo, built.job
        assert servo is not None  # a description without one is refused
        self._generation += 1
        self._markers.adopt(servo, job.urdf, job.srdf)
        interface.adopt(servo, self._generation)
        settings = self._given.settings or servo.settings
        self._planning.adopt(job.urdf, job.srdf, settings, self._generation)
        names = ', '.join(servo.robot.group.joint_names)
        self.get_logger().info(
            f'model {self._generation}: {servo.robot.group.n_variables} joints: {names}'
        )

    def _release(self) -> None:
        """Release the model, the topics and the services."""
        self._machine.handle(NodeEvent.RELEASE)
        self._end_bond()
        self._condition.note_failure('')
        self._inbox.controlled.put(None)
        self._planning.release(in_order=True)
        interface, self._interface = self._interface, None
        if interface is None:
            self._poll_until_rest()
        else:
            interface.destroy(self._poll_until_rest)

    def _wait_for_rest(self, otherwise: str) -> None:
        """Wait until the servo has come to rest; log ``otherwise`` if that takes too long."""
        if self._interface is not None:
            self._interface.inputs.activate(False)
            self._poll_until_rest()
            if not self._loop.output.still:
                self.get_logger().warning(otherwise)

    def _end_bond(self) -> None:
        """Announce an orderly end to the lifecycle manager, if there is a bond."""
        # The main thread may take it at the end.
        bond = self._bond
        if bond is not None:
            bond.end()

    def _poll_until_rest(self) -> None:
        wait_in_executor(self, self._loop.is_resting, _REST_TIMEOUT)
