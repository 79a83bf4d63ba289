# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""~/markers: drawn by a separate process while there are subscribers."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from ros_ik.node.control.control_loop import ControlLoop
from ros_ik.node.control.inbox import ControlledServo
from ros_ik.node.execution.child_process import start_module
from ros_ik.node.markers.process_link import DrawnRobot
from ros_ik.node.markers.process_link import DrawnTask
from ros_ik.node.markers.process_link import MarkerState
from ros_ik.node.markers.process_link import ReceivedObstacle
from ros_ik.node.model_loading.package_paths import package_paths
from ros_ik.node.transport.pipe_objects import read_object
from ros_ik.node.transport.pipe_objects import write_object
from ros_ik.node.transport.qos_profiles import LATEST
from ros_ik.servo import Servo
from ros_ik.servo import TaskReport
from ros_ik.servo import TwistTarget
from ros_ik.servo.interface.measurement import completed_coords
from ros_ik.servo.targets.tracking import TargetKind
from ros_ik.servo.targets.tracking import TaskTracker
from ros_ik.settings import Settings

# Time without subscribers after which the process is ended [s].
_IDLE_TIME = 30.0
# Lifetime of markers, unless three periods are longer [s].
_LIFETIME = 1.0
# Longest wait until subscribers have received that all markers are deleted [s].
_ACKNOWLEDGEMENT_TIMEOUT = 0.5
# Delay before a crashed process is restarted [s].
_RESTART_DELAY = 10.0


class Markers:
    """Publisher of ~/markers, with a thread of its own."""

    def __init__(self, node: Node, settings: Settings, loop: ControlLoop) -> None:
        """Advertise the topic and start to check for subscribers."""
        self._node, self._settings, self._loop = node, settings, loop
        self._publisher = node.create_publisher(MarkerArray, '~/markers', LATEST)
        self._described: tuple[Servo | None, str, str] = (None, '', '')
        self._process: _MarkerProcess | None = None
        self._drawn: ControlledServo | None = None
        self._sent_settings: Settings | None = None
        self._received_obstacles: tuple[ReceivedObstacle, ...] = ()
        self._subscribed_time = self._crash_time = -float('inf')
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name='markers', daemon=True)
        self._thread.start()

    def adopt(self, servo: Servo, urdf: str, srdf: str) -> None:
        """Draw the robot of these descriptions while the loop runs its servo."""
        self._described = servo, urdf, srdf

    def apply(self, settings: Settings) -> None:
        """Apply changed settings."""
        self._settings = settings

    def end(self) -> None:
        """End thread and process; the publisher may be destroyed afterwards."""
        self._ended.set()
        process = self._process
        if process is not None:
            process.end()
        self._thread.join(0.2)

    def _run(self) -> None:
        while not self._ended.wait(1.0 / self._settings.marker_rate):
            try:
                self._publish_once()
            except OSError as error:
                self._wait_after_crash(f'{error}')
            except Exception as error:  # noqa: BLE001 the thread must not end before the node
                self._wait_after_crash(f'{type(error).__name__}: {error}')

    def _publish_once(self) -> None:
        """Publish one message if there are subscribers, otherwise end the process."""
        now = time.monotonic()
        controlled = self._loop.inbox.controlled.get()
        self._note_obstacles(controlled)
        if self._publisher.get_subscription_count() == 0:
            if self._process is not None and now - self._subscribed_time > _IDLE_TIME:
                self._end_process()
            return
        self._subscribed_time = now
        if controlled is None:
            if self._drawn is not None:
                self._clear()
            return
        if now - self._crash_time < _RESTART_DELAY:
            return
        self._draw(controlled)

    def _note_obstacles(self, controlled: ControlledServo | None) -> None:
        """Record the state of the robot at the arrival of obstacles."""
        obstacles = self._loop.inbox.command.get().obstacles if controlled is not None else ()
        known = {id(one.obstacle): one for one in self._received_obstacles}
        if (
            controlled is None
            or len(known) == len(obstacles)
            and all(id(obstacle) in known for obstacle in obstacles)
        ):
            return
        joint_q = _measured(controlled)
        self._received_obstacles = tuple(
            known.get(id(obstacle)) or ReceivedObstacle(obstacle, joint_q)
            for obstacle in obstacles
        )

    def _draw(self, controlled: ControlledServo) -> None:
        """Request one message, and publish it."""
        servo, urdf, srdf = self._described
        if servo is not controlled.servo:
            return  # the loop will run it soon
        if self._process is None:
            self._process, self._sent_settings = _MarkerProcess(), None
        if controlled is not self._drawn:
            self._clear()
        settings = self._settings
        if self._sent_settings is None:
            self._process.send(DrawnRobot(urdf, srdf, settings, package_paths()))
        elif settings is not self._sent_settings:
            self._process.send(settings)
        self._drawn, self._sent_settings = controlled, settings
        answer = self._process.request(self._marker_state(controlled))
        if self._ended.is_set():
            return
        if isinstance(answer, bytes):
            self._publisher.publish(answer)
        else:
            self._wait_after_crash(answer or 'it ended')

    def _marker_state(self, controlled: ControlledServo) -> MarkerState:
        """Return the scene of the current tick."""
        output, command = self._loop.output, self._loop.inbox.command.get()
        targets = controlled.servo.targets
        center = command.center_of_mass if output.center_of_mass is not None else None
        return MarkerState(
            joint_q=_measured(controlled),
            tasks=tuple(
                DrawnTask(
                    _target(tracker, report), report.current_pose, report.reached,
                    _twist(tracker, report),
                )
                for tracker, report in zip(targets.trackers, output.tasks, strict=True)
            ),
            center_of_mass=None if center is None else (center.frame_link, center.position),
            obstacles=self._received_obstacles,
            lifetime=max(_LIFETIME, 3.0 / self._settings.marker_rate),
        )  # fmt: skip

    def _clear(self) -> None:
        """Delete all markers."""
        everything = Marker(action=Marker.DELETEALL)
        self._publisher.publish(MarkerArray(markers=[everything]))
        # The next message would replace this one where a subscriber is late.
        self._publisher.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGEMENT_TIMEOUT))
        self._drawn = self._sent_settings = None

    def _wait_after_crash(self, reason: str) -> None:
        """Wait before a restart after a crash."""
        self._end_process()
        self._crash_time = time.monotonic()
        if not self._ended.is_set():
            self._node.get_logger().error(
                f'cannot draw ~/markers: {reason}; trying again in {_RESTART_DELAY:g} s'
            )

    def _end_process(self) -> None:
        process, self._process = self._process, None
        self._drawn = self._sent_settings = None
        if process is not None:
            process.end()


def _target(tracker: TaskTracker, report: TaskReport) -> np.ndarray | None:
    """Return the target pose of a task, None if it follows a velocity or nothing."""
    return tracker.accepted.pose if report.active and np.isfinite(report.linear_error) else None


def _twist(tracker: TaskTracker, report: TaskReport) -> TwistTarget | None:
    """Return the target velocity of a task, None if it follows a pose or nothing."""
    follows = report.active and tracker.target_kind is TargetKind.TWIST
    return tracker.accepted.twist if follows else None


def _measured(controlled: ControlledServo) -> np.ndarray:
    """Return the measured coordinates, neutral ones for joints without a state."""
    measurement = controlled.measurement.get()
    model = controlled.servo.robot.model
    return completed_coords(model, measurement.joint_q, measurement.known)


class _MarkerProcess:
    """The process that draws; it keeps no state, so it may be killed."""

    def __init__(self) -> None:
        self._process = start_module('ros_ik.node.markers.marker_main')

    def send(self, news: Any) -> None:
        """Send an object that needs no answer."""
        write_object(self._process.stdin, news)

    def request(self, scene: MarkerState) -> bytes | str | None:
        """Return the message of a scene as bytes, or an error; None if the process has ended."""
        self.send(scene)
        return read_object(self._process.stdout)

    def end(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()
