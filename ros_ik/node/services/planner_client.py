# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Client of the planners' process: starts and restarts it, and sends it the robot.

rclpy creates a Python object for every pose of a request before any of our code runs. For 100,000
poses that takes one second, in which the control thread would wait for the interpreter. A second
process with its own interpreter and a lower priority therefore offers the services, and requests
never delay a tick. It receives the robot through a pipe, and ends when the pipe closes, even if
this process is killed.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import subprocess
import sys
import threading
import time
from typing import BinaryIO

import numpy as np
from rclpy.node import Node

from ros_ik.node.execution.child_process import start_module
from ros_ik.node.services.moveit_package import names_offered
from ros_ik.node.services.process_link import Description
from ros_ik.node.services.process_link import END_TIME
from ros_ik.node.services.process_link import END_TIME_IN_ORDER
from ros_ik.node.services.process_link import Frame
from ros_ik.node.services.process_link import NodeIdentity
from ros_ik.node.services.process_link import ObstacleState
from ros_ik.node.services.process_link import PlannerRobotState
from ros_ik.node.services.process_link import ReconfigurationAnswer
from ros_ik.node.services.process_link import ReconfigurationRequest
from ros_ik.node.services.process_link import ShutdownRequest
from ros_ik.node.services.process_link import SyncReply
from ros_ik.node.services.process_link import SyncRequest
from ros_ik.node.transport.pipe_objects import read_object
from ros_ik.node.transport.pipe_objects import write_object
from ros_ik.planning import Reconfiguration
from ros_ik.servo import Measurement
from ros_ik.servo import Obstacle
from ros_ik.settings import Settings

NAMES = ('solve_ik', 'solve_fk', 'check_trajectory', 'solve_optimal')
# Time after which a process that has not ended in time is killed [s].
_KILL_DELAY = 0.1
# Delay before a crashed process is restarted [s]; it doubles with each crash.
_RESTART, _LONGEST_RESTART = 1.0, 30.0
# Time after which a crash no longer counts as a repeated one [s].
_STABLE = 60.0


class PlannerServices:
    """Owner of the planners' process; used in the executor's thread.

    When the node shuts down, the main thread calls ``release``, and no process starts after it.
    """

    def __init__(self, node: Node, state: Callable[[], PlannerRobotState | None]) -> None:
        """Start without a process.

        Args:
            node: The node.
            state: Function that returns the measured state, or None; for any thread.
        """
        self._node, self._state = node, state
        # Held while a process is started or released.
        self._changing = threading.Lock()
        self._is_over = False
        self._child: _Child | None = None
        self._description: Description | None = None
        self._placed: tuple[Obstacle, ...] = ()
        self._restart_delay = _RESTART
        self._asked = 0

    def adopt(self, urdf: str, srdf: str, settings: Settings, generation: int) -> None:
        """Switch to this robot; running requests for the previous one are cancelled."""
        with self._changing:
            self._description = Description(urdf, srdf, settings, generation)
            self._placed = ()
            if self._child is None:
                self._start(self._description)
            else:
                self._child.post(self._description)

    def apply(self, settings: Settings) -> None:
        """Apply changed settings, in a process that starts later, too."""
        with self._changing:
            if self._child is not None and self._description is not None:
                self._description = dataclasses.replace(self._description, settings=settings)
                self._child.post(settings)

    def poll(self, measurement: Measurement, obstacles: tuple[Obstacle, ...]) -> None:
        """Send changed obstacles, placed by the measured state; restart a crashed process."""
        # Another thread may shut the node down meanwhile.
        child, description = self._child, self._description
        if child is None or description is None:
            return
        if child.process.poll() is None:
            if obstacles is not self._placed:
                self._placed = obstacles
                child.post(ObstacleState(description.generation, obstacles, measurement.joint_q))
        elif child.restart_at is None:
            now = time.monotonic()
            if now - child.started >= _STABLE:
                self._restart_delay = _RESTART
            child.restart_at = now + self._restart_delay
            self._node.get_logger().error(
                f'the process of the planner services ended with code {child.process.returncode}; '
                f'starting it again in {self._restart_delay:g} s'
            )
            self._restart_delay = min(2.0 * self._restart_delay, _LONGEST_RESTART)
        elif time.monotonic() >= child.restart_at:
            child.end(in_order=False)
            with self._changing:
                self._start(description)

    def ask(
        self,
        task: int,
        pose: np.ndarray,
        start: np.ndarray,
        tolerances: tuple[float, float],
        seconds: float,
    ) -> int:
        """Request another configuration for a pose; see :class:`ReconfigurationRequest`.

        Returns:
            The number of the request, for :meth:`answer`; a newer one of the task replaces it.
        """
        self._asked += 1
        child = self._child
        if child is not None:
            question = ReconfigurationRequest(self._asked, task, pose, start, tolerances, seconds)
            child.post(question)
        return self._asked

    def answer(self, number: int) -> Reconfiguration | None:
        """Return the answer to a request, or None."""
        child = self._child
        answers = child.answers if child is not None else {}
        found = [answer.found for answer in answers.values() if answer.number == number]
        return found[0] if found else None

    def release(self, *, in_order: bool) -> None:
        """Remove the services; the process ends in time, without waiting here.

        Args:
            in_order: True to allow ``END_TIME_IN_ORDER`` for the last answers. False if the node
                shuts down, which allows ``END_TIME``.
        """
        with self._changing:
            if self._child is not None:
                self._child.end(in_order)
            self._child = self._description = None
            self._restart_delay = _RESTART
            self._is_over = self._is_over or not in_order

    def _start(self, description: Description) -> None:
        """Start a process for a robot, unless the node shuts down."""
        if self._is_over:
            return
        node = self._node
        names = (*NAMES, *names_offered(description.settings))
        identity = NodeIdentity(
            node_name=f'{node.get_name()}_planning',
            namespace=node.get_namespace(),
            services={name: node.resolve_service_name(f'~/{name}') for name in names},
            arguments=tuple(sys.argv),
            domain_id=node.context.get_domain_id(),
            settings=description.settings,
        )
        self._child = _Child(identity, self._state)
        self._child.post(description)
        self._placed = ()


class _Child:
    """One process, and a thread that writes to it: a full pipe must not block the executor.

    Attributes:
        process: The process.
        answers: Newest answer for each frame task; replaced, never changed.
        started: Time of its start [s].
        restart_at: Time at which another process replaces this one, which crashed [s], or None.
    """

    def __init__(
        self, identity: NodeIdentity, state: Callable[[], PlannerRobotState | None]
    ) -> None:
        self._state = state
        self.process = start_module('ros_ik.node.services.planner_main')
        self._news = threading.Condition()
        # Newest unwritten frame of each kind, of requests for another configuration of each task.
        self._pending: dict[tuple[type, int | None], Frame] = {(NodeIdentity, None): identity}
        self._ending, self._grace = False, END_TIME + _KILL_DELAY
        self.answers: dict[int, ReconfigurationAnswer] = {}
        self.started = time.monotonic()
        self.restart_at: float | None = None
        threading.Thread(target=self._write, name='planner_services', daemon=True).start()
        threading.Thread(target=self._listen, name='planner_answers', daemon=True).start()

    def post(self, frame: Frame) -> None:
        """Queue a frame after all others; it replaces an unwritten one of the same kind.

        Requests for another configuration are of the same kind if they are of the same task.
        """
        task = frame.task if isinstance(frame, ReconfigurationRequest) else None
        kind = type(frame), task
        with self._news:
            self._pending.pop(kind, None)
            self._pending[kind] = frame
            self._news.notify()

    def end(self, in_order: bool) -> None:
        """End the process; ``in_order`` allows time for its last answers."""
        with self._news:
            if in_order:
                self._pending[ShutdownRequest, None] = ShutdownRequest()
                self._grace = END_TIME_IN_ORDER + _KILL_DELAY
            self._ending = True
            self._news.notify()
        if not in_order:
            # While it imports, it does not read the pipe yet.
            self.process.terminate()

    def _write(self) -> None:
        pipe = self.process.stdin
        is_last = False
        try:
            while not is_last:
                with self._news:
                    self._news.wait_for(lambda: self._pending or self._ending)
                    news, self._pending = list(self._pending.values()), {}
                    is_last = self._ending
                for item in news:
                    if not self._ending or isinstance(item, ShutdownRequest):
                        write_object(pipe, item)
        except OSError:
            pass  # the process crashed; poll() detects it
        finally:
            # After an error of another kind, too: the process ends with its pipe.
            self._close(pipe)

    def _listen(self) -> None:
        """Process answers and requests until the process ends; an error ends it."""
        try:
            self._process_news()
        except BaseException:
            # Without replies it would answer no request; poll() starts another one.
            self.end(in_order=False)
            raise

    def _process_news(self) -> None:
        with self.process.stdout as pipe:
            while (news := read_object(pipe)) is not None:
                if isinstance(news, SyncRequest):
                    # The robot may move: the state is that of the request.
                    state = self._state()
                    if state is not None:
                        self.post(state)
                    self.post(SyncReply(news.number))
                else:
                    # The executor reads them meanwhile.
                    self.answers = {**self.answers, news.task: news}

    def _close(self, pipe: BinaryIO) -> None:
        try:
            pipe.close()
        except OSError:
            pass  # unwritten news is obsolete
        try:
            self.process.wait(self._grace)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
