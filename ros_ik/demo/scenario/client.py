# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A client of the node that sends targets and records messages, by public interfaces only."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses
import math
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from ros_ik.demo.controller.simulated_robot import STATUS_SUFFIX
from ros_ik.demo.robots.demo_robot import COMMAND_TOPIC
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.phase import CIRCLE_TIME
from ros_ik.demo.scenario.phase import PATIENCE
from ros_ik.demo.scenario.phase import Phase
from ros_ik.demo.scenario.phase import Requirement
from ros_ik.demo.scenario.poses import pose_errors
from ros_ik.model.robot_joints import RobotJoints
from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.executor import serve_one
from ros_ik.node.transport.polled_events import PolledEventsMixin
from ros_ik.node.transport.qos_profiles import LATCHED
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

# Period of the targets [s]: 50 Hz, well inside the node's command_timeout.
_TARGET_PERIOD = 0.02
# Longest wait for the next message [s]. Constant, because with another timeout rclpy restarts its
# round, and on a busy machine the last subscriptions would never be served.
_LISTENING = 0.005
# Tolerances of a reached target [m, rad], and time within them [s].
_ARRIVED = (2e-4, 1e-3)
_SETTLED = 0.2
# A robot is at rest if no joint moves farther than this [rad or m] during this number of joint
# states, this number of statuses agree and report no delay, and the last command is this near
# [rad or m]: on a busy machine the robot may not have heard the newest ones yet.
_REST, _REST_STATES, _REST_STATUSES, _NEAR = 1e-4, 30, 10, 0.01
_DELAYED = (IkStatus.JOINT_STATE_STALE, IkStatus.COMMAND_STALE, IkStatus.FOLLOWING_ERROR)
# Longest time by which the ball advances per status [s].
_BALL_STRIDE = 0.05
# Time within which a robot must start to move [s].
_MIN_WAY = 1.0
# Maximum age of the last joint state at the end of a phase [s]. Longest time without a joint state
# on a busy machine [s].
_FRESH, _SILENT = 0.5, 20.0
_READY_CODES = (IkStatus.OK, IkStatus.COMMAND_STALE)


@dataclasses.dataclass(eq=False)
class PhaseRecord:
    """Time span of a phase on the clock of the recording [s]."""

    phase: Phase
    start: float
    end: float = math.nan


@dataclasses.dataclass(eq=False)
class Recording:
    """Sent and received messages, with times [s] since the first phase.

    Attributes:
        state_times: Times of the joint states.
        states: Coordinates of the model at each [joint_coord_count].
        velocities: Commanded velocities of the controlled joints [rad/s or m/s].
        commands: First point of each over the controlled joints [rad or m].
        targets: (time, pose) of the pose targets that were finite.
        phases: The phases.
        status: Last status.
        rejected: Number of trajectories that the robot rejected.
        codes: Status codes seen in each phase.
        barriers: Barriers that the node named in each phase.
        balls: (time, position in the root link [m]) of the ball while it is there.
    """

    state_times: list[float] = dataclasses.field(default_factory=list)
    states: list[np.ndarray] = dataclasses.field(default_factory=list)
    velocities: list[np.ndarray] = dataclasses.field(default_factory=list)
    commands: list[np.ndarray] = dataclasses.field(default_factory=list)
    targets: list[tuple[float, np.ndarray]] = dataclasses.field(default_factory=list)
    phases: list[PhaseRecord] = dataclasses.field(default_factory=list)
    status: IkStatus | None = None
    rejected: int = 0
    codes: list[set[int]] = dataclasses.field(default_factory=list)
    barriers: list[set[str]] = dataclasses.field(default_factory=list)
    balls: list[tuple[float, np.ndarray]] = dataclasses.field(default_factory=list)


class DemoClient(PolledEventsMixin, Node):
    """Client that runs phases on the node ``ros_ik``.

    Attributes:
        recording: Recording so far.
    """

    def __init__(
        self,
        robot: DemoRobot,
        *,
        uses_orientation: bool,
        ball_radius: float,
        control_rate: float,
    ) -> None:
        """Connect to the node.

        Args:
            robot: The robot.
            uses_orientation: True if the orientation must be reached too.
            ball_radius: Radius of the ball [m].
            control_rate: Rate of the node [Hz]. The ball moves in the node's time, so that delays
                of a busy machine do not let it hit the robot.
        """
        super().__init__('ros_ik_demo')
        self.recording = Recording()
        self._robot, self._uses_orientation = robot, uses_orientation
        joints = RobotJoints(robot.model)
        self._coord_of = dict(zip(joints.names, joints.coords.tolist(), strict=True))
        # Targets are given in the root link.
        self._frame_id = robot.model.body_label[0]
        self._joint_q = robot.home.copy()
        self._started: float | None = None
        self._last_text = ''
        # Time of the last joint state on the monotonic clock [s].
        self._heard = -math.inf
        self._still_states = self._still_statuses = 0
        self._executor = make_executor()
        self._executor.add_node(self)
        self._pose = self.create_publisher(PoseStamped, 'ros_ik/target_pose', 1)
        self._joints = self.create_publisher(JointState, 'ros_ik/target_joints', 1)
        self._ball_radius, self._period = ball_radius, 1.0 / control_rate
        # Time of the ball [s].
        self._ball_time = 0.0
        self._obstacles = self.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        self._freeze = self.create_client(SetBool, 'mock_robot/freeze')
        self._frozen = False
        self.create_subscription(
            JointState, 'joint_states', self._on_state, qos_profile_sensor_data
        )
        self.create_subscription(JointTrajectory, COMMAND_TOPIC, self._on_command, 100)
        self.create_subscription(JointState, 'ros_ik/command_state', self._on_command_state, 100)
        self.create_subscription(IkStatus, 'ros_ik/status', self._on_status, 10)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def wait_until_ready(
        self, timeout: float, ended_child: Callable[[], str], say: Callable[[str], None]
    ) -> str:
        """Wait until the node follows targets; return an error text, or ''.

        Args:
            timeout: Longest wait [s].
            ended_child: Function that returns a description of an ended process, or ''.
            say: Function called with each new missing input of the node.
        """
        give_up = time.monotonic() + timeout
        while time.monotonic() < give_up:
            serve_one(self._executor, 0.05)
            status = self.recording.status
            if status is not None and status.text != self._last_text:
                self._last_text = status.text
                say(status.text)
            ready = status is not None and status.ticks > 0 and status.code in _READY_CODES
            if ready and self._is_connected():
                return ''
            if status is not None and status.code == IkStatus.INVALID:
                return f'the node says: {status.text}'
            if ended_child():
                return ended_child()
        problem = f'not ready after {timeout:g} s; the node says: {self._last_text or "nothing"}'
        if not self._lacks_joint_states():
            return problem
        return f'{problem}; {self._silence_causes("the last moments")}'

    def play(self, phase: Phase) -> str:
        """Send the targets of a phase until its last target is reached or its time is up.

        A robot that presses against something gets the time that it needs to come to rest.

        Returns:
            The reason why the phase cannot be evaluated, or ''.
        """
        if self._started is None:
            self._started = time.monotonic()
        record = PhaseRecord(phase, self._now())
        self.recording.phases.append(record)
        self.recording.codes.append(set())
        self.recording.barriers.append(set())
        next_target, settled_since, sent = record.start, math.inf, 0
        self._ball_time = 0.0
        # Discard messages of the previous phase.
        self._still_states = self._still_statuses = 0
        begun = time.monotonic()
        while (
            not self._is_over(phase, (now := self._now()) - record.start)
            or self._lacks_joint_states(begun)
        ):  # fmt: skip
            if time.monotonic() - max(begun, self._heard) > _SILENT:
                return self._silence_causes(f'{_SILENT:g} s in the phase {phase.name!r}')
            if now >= next_target:
                next_target += _TARGET_PERIOD
                self._disturb(phase, now - record.start)
                last = self._send(phase, now - record.start, sent)
                sent += 1
                ends = (
                    phase.requirement in (Requirement.REACH, Requirement.WAIT) and not self._frozen
                )
                if not ends or not last or not self._has_arrived(phase):
                    settled_since = math.inf
                elif settled_since == math.inf:
                    settled_since = now
            if now - settled_since > _SETTLED and not self._lacks_joint_states(begun):
                break
            serve_one(self._executor, _LISTENING)
        record.end = self._now()
        if phase.ball is not None:
            self._obstacles.publish(ObstacleArray(obstacles=[Obstacle(operation=Obstacle.CLEAR)]))
        return ''

    def settle(self, duration: float) -> None:
        """Receive messages for a time [s], for the robot's last count of rejections."""
        give_up = time.monotonic() + duration
        while time.monotonic() < give_up:
            serve_one(self._executor, 0.02)

    def close(self) -> None:
        """End the node."""
        self._executor.shutdown()
        self.destroy_node()

    def _is_connected(self) -> bool:
        """Return True if joint states arrive and every topic and service is connected."""
        listeners = [p.get_subscription_count() for p in (self._pose, self._joints)]
        senders = self.count_publishers(COMMAND_TOPIC)
        return (
            not self._lacks_joint_states() and min(listeners) > 0 and senders > 0
            and self._obstacles.get_subscription_count() > 0 and self._freeze.service_is_ready()
        )  # fmt: skip

    def _lacks_joint_states(self, since: float = -math.inf) -> bool:
        """Return True if no recent joint state arrived, or none since a time [s]."""
        return self._heard < max(since, time.monotonic() - _FRESH)

    def _silence_causes(self, when: str) -> str:
        """Return known causes of missing joint states."""
        status = self.recording.status
        return (
            f'no joint states were heard for {when}; publishers of joint_states: '
            f'{self.count_publishers("joint_states")}; '
            f'the node says: {status.text if status else "nothing"}. '
            'Look at the log of the mock robot or the driver, and run: ros2 topic hz joint_states'
        )

    def _now(self) -> float:
        return time.monotonic() - (self._started or 0.0)

    def _is_over(self, phase: Phase, elapsed: float) -> bool:
        if phase.ball is not None:
            return self._ball_time >= phase.duration or elapsed >= PATIENCE
        if phase.requirement in (
            Requirement.PRESS_BOX,
            Requirement.PRESS_LIMIT,
            Requirement.REFUSE,
        ):
            return elapsed >= PATIENCE or (self._rests() and elapsed >= _MIN_WAY)
        return elapsed >= phase.duration

    def _rests(self) -> bool:
        """Return True if the robot rests where the node commands it to be."""
        if self._still_states < _REST_STATES or self._still_statuses < _REST_STATUSES:
            return False
        if not self.recording.commands:
            return True
        ahead = self.recording.commands[-1] - self._joint_q[self._robot.coords]
        return bool(np.abs(ahead).max() <= _NEAR)

    def _disturb(self, phase: Phase, elapsed: float) -> None:
        """Move the ball, and freeze or release the robot, as the phase requires."""
        if phase.ball is not None:
            part = self._ball_time / phase.duration
            index = min(int(part * len(phase.ball)), len(phase.ball) - 1)
            center = phase.ball[index]
            ball = Obstacle(
                id='ball', type=Obstacle.SPHERE, dimensions=[self._ball_radius]
            )
            ball.header.frame_id = self._frame_id
            at = ball.pose.position
            at.x, at.y, at.z = (float(v) for v in center)
            self._obstacles.publish(ObstacleArray(obstacles=[ball]))
            self.recording.balls.append((self._now(), center))
        if phase.frozen is not None:
            begin, end = phase.frozen
            if IkStatus.FOLLOWING_ERROR not in self.recording.codes[-1]:
                # On a busy machine, the node may report it later.
                end = max(end, 0.5 * phase.duration)
            frozen = begin <= elapsed < end
            if frozen != self._frozen:
                self._freeze.call_async(SetBool.Request(data=frozen))
                self._frozen = frozen

    def _send(self, phase: Phase, elapsed: float, count: int) -> bool:
        """Send one target; return True if it is the last of the phase."""
        if phase.joints is not None:
            message = JointState(name=list(phase.joints), position=list(phase.joints.values()))
            self._joints.publish(message)
            return True
        poses: np.ndarray = phase.poses  # type: ignore[assignment]
        # The last target is repeated for the rest of the phase.
        index = min(int(elapsed / CIRCLE_TIME * len(poses)), len(poses) - 1)
        broken = phase.nan_messages and count % 2 == 1
        pose = np.full(7, np.nan) if broken else poses[index]
        message = PoseStamped()
        message.header.frame_id = self._frame_id
        at, turn = message.pose.position, message.pose.orientation
        at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w = (float(v) for v in pose)
        self._pose.publish(message)
        if not broken:
            self.recording.targets.append((self._now(), pose))
        return index == len(poses) - 1

    def _has_arrived(self, phase: Phase) -> bool:
        if phase.joints is not None:
            errors = [abs(self._joint_q[self._coord_of[n]] - v) for n, v in phase.joints.items()]
            return max(errors) < _ARRIVED[0]
        tip_pose = self._robot.tip_poses(self._joint_q[None])[0]
        distance, angle = pose_errors(tip_pose, phase.poses[-1])  # type: ignore[index]
        return bool(distance < _ARRIVED[0] and (angle < _ARRIVED[1] or not self._uses_orientation))

    def _on_state(self, message: JointState) -> None:
        """Record measured joints, and count states without motion."""
        # Joints of other robots or grippers may be on the same topic, also without positions.
        named = dict(zip(message.name, message.position, strict=False))
        known = named.keys() & self._coord_of.keys()
        if not known:
            return
        before = self._joint_q.copy()
        for name in known:
            self._joint_q[self._coord_of[name]] = named[name]
        moved = np.abs(self._joint_q - before).max() > _REST
        self._still_states = 0 if moved else self._still_states + 1
        if moved:
            self._still_statuses = 0
        self._heard = time.monotonic()
        if self._started is not None:
            self.recording.state_times.append(self._now())
            self.recording.states.append(self._joint_q.copy())

    def _on_command(self, message: JointTrajectory) -> None:
        if message.points:
            positions = self._in_order(message.joint_names, message.points[0].positions)
            self.recording.commands.extend(positions)

    def _on_command_state(self, message: JointState) -> None:
        self.recording.velocities.extend(self._in_order(message.name, message.velocity))

    def _in_order(self, names: Sequence[str], values: Sequence[float]) -> list[np.ndarray]:
        """Return the values of all controlled joints in one row, no row if one is missing.

        Another program may publish on the topic of a node that runs already.
        """
        named = dict(zip(names, values, strict=False))
        joints = self._robot.group.joint_names
        return [np.array([named[name] for name in joints])] if named.keys() >= {*joints} else []

    def _on_status(self, message: IkStatus) -> None:
        before = self.recording.status
        self.recording.status = message
        is_delayed = message.code in _DELAYED
        if before is not None and not is_delayed:
            # A delay of the machine must not make the ball jump.
            passed = self._period * (message.ticks - before.ticks)
            self._ball_time += min(max(passed, 0.0), _BALL_STRIDE)
        # A robot on a busy machine may stand still before it reaches what the node commands.
        agrees = before is not None and before.code == message.code
        self._still_statuses = self._still_statuses + 1 if agrees and not is_delayed else 0
        if self.recording.codes:
            self.recording.codes[-1].add(message.code)
            self.recording.barriers[-1].add(message.limiting_barrier)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.endswith(STATUS_SUFFIX):
                values = {entry.key: entry.value for entry in status.values}
                self.recording.rejected = int(values['rejected'])
