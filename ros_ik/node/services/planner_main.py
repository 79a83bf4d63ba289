# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The process that answers planners: its services, its threads, and its end.

The main thread serves ROS, one thread answers requests, and one reads the node's messages. When
the node's end of the pipe closes, for any reason, requests are refused and the process ends as
soon as DDS has delivered its last answers: within ``END_TIME``, or ``END_TIME_IN_ORDER`` if the
node continues.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import gc
import math
import os
import signal
import sys
import threading
import time
from typing import Any
from typing import BinaryIO

import numpy as np
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.service import Service
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from ros_ik.errors import RosIkError
from ros_ik.node.execution.executor import spin_until
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.guard import internal_error
from ros_ik.node.execution.missed_events import take_requests
from ros_ik.node.execution.warp_programs import prepare_warp
from ros_ik.node.model_loading.package_paths import package_paths
from ros_ik.node.services import moveit
from ros_ik.node.services import moveit_package
from ros_ik.node.services import optimal
from ros_ik.node.services.idle_preparation import idle_steps
from ros_ik.node.services.jobs import Job
from ros_ik.node.services.jobs import Jobs
from ros_ik.node.services.messages import answer_check_trajectory
from ros_ik.node.services.messages import answer_solve_fk
from ros_ik.node.services.messages import answer_solve_ik
from ros_ik.node.services.messages import check_size
from ros_ik.node.services.messages import time_of
from ros_ik.node.services.pipe_sync import PipeSync
from ros_ik.node.services.process_link import Description
from ros_ik.node.services.process_link import END_TIME
from ros_ik.node.services.process_link import END_TIME_IN_ORDER
from ros_ik.node.services.process_link import NodeIdentity
from ros_ik.node.services.process_link import ObstacleState
from ros_ik.node.services.process_link import PlannerRobotState
from ros_ik.node.services.process_link import ReconfigurationAnswer
from ros_ik.node.services.process_link import ReconfigurationRequest
from ros_ik.node.services.process_link import ShutdownRequest
from ros_ik.node.services.process_link import SyncReply
from ros_ik.node.transport.pipe_objects import is_closed
from ros_ik.node.transport.pipe_objects import read_object
from ros_ik.node.transport.pipe_objects import write_object
from ros_ik.node.transport.qos_profiles import SERVICE
from ros_ik.planning import Budget
from ros_ik.planning import IkRequest
from ros_ik.planning import Planner
from ros_ik.planning import Reconfiguration
from ros_ik.planning import reconfigure
from ros_ik.planning import RequestError
from ros_ik.planning import solve_fk
from ros_ik.planning import solve_ik
from ros_ik.settings import Settings
from ros_ik_interfaces.srv import CheckTrajectory
from ros_ik_interfaces.srv import SolveFk
from ros_ik_interfaces.srv import SolveIk
from ros_ik_interfaces.srv import SolveOptimal

_TYPES = {
    'solve_ik': SolveIk,
    'solve_fk': SolveFk,
    'check_trajectory': CheckTrajectory,
    'solve_optimal': SolveOptimal,
    **moveit.service_types(),
}
# Time before the limit of the end at which the wait for answers ends [s].
_GOING = 0.3
# Time for which the process stays after its last answers [s]. DDS resends a lost one with its next
# heartbeat, every 3 s, while the process exists.
_DELIVERY = 3.5
# Distance beyond the reach of any robot [m].
_FAR = np.array([100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
_ENDING = 'the node shuts down or is cleaned up'


class PlannerNode(GuardedNode):
    """Node with the planners' services.

    Attributes:
        jobs: The thread that answers.
        pending: Number of requests without an answer.
    """

    def __init__(
        self,
        identity: NodeIdentity,
        executor: SingleThreadedExecutor,
        catch_up: Callable[[Budget], None],
    ) -> None:
        """Create the services.

        Args:
            identity: Names and settings.
            executor: The executor that spins this node.
            catch_up: Waits for all that the node sent before.
        """
        super().__init__(
            identity.node_name,
            namespace=identity.namespace,
            use_global_arguments=False,
            start_parameter_services=False,
        )
        self._settings, self._executor = identity.settings, executor
        self._names = {full_name: name for name, full_name in identity.services.items()}
        self.pending = 0
        threads = identity.settings.services_threads or max(1, (os.cpu_count() or 1) - 1)
        self._work: dict[str, Callable[..., Any]] = {
            'solve_ik': functools.partial(answer_solve_ik, threads=threads),
            'solve_fk': answer_solve_fk,
            'check_trajectory': functools.partial(
                answer_check_trajectory, most_checks=identity.settings.services_max_poses
            ),
            'solve_optimal': optimal.answer_solve_optimal,
            'compute_ik': functools.partial(moveit.answer_compute_ik, threads=threads),
            'compute_fk': moveit.answer_compute_fk,
        }
        self.jobs = Jobs(
            identity.settings.services_max_waiting, _prepare, self._log_error, package_paths(),
            catch_up, idle_steps,
        )  # fmt: skip
        # Other callback groups accept no request before the previous one is answered.
        group = ReentrantCallbackGroup()
        for name, full_name in identity.services.items():
            callback = functools.partial(self._on_request, name)
            self.create_service(
                _TYPES[name], full_name, callback, qos_profile=SERVICE, callback_group=group
            )

    def fault_response(self, service: Service, error: Exception) -> Any:
        """Return the refusal of a request whose callback raised an error."""
        name = self._names.get(service.srv_name)
        if name is None:
            return super().fault_response(service, error)
        return _refusal(name, internal_error(error))

    def refuse_waiting(self, reason: str) -> bool:
        """Refuse the requests that the executor has not taken; return True if there were any."""
        return any([self._refuse_waiting(service, reason) for service in self._planning()])

    def close(self, reason: str) -> None:
        """Destroy the services, each one as soon as no request waits in it."""
        for service in self._planning():
            self._refuse_waiting(service, reason)
            self.destroy_service(service)

    def _planning(self) -> list[Service]:
        """Return the planners' services."""
        return [service for service in self.services if service.srv_name in self._names]

    def _refuse_waiting(self, service: Service, reason: str) -> bool:
        """Refuse the requests that wait in a service; return True if there were any."""
        name, has_refused = self._names[service.srv_name], False
        for _, header in take_requests(service, SERVICE.depth):
            service.send_response(_refusal(name, reason), header)
            has_refused = True
        return has_refused

    async def _on_request(self, name: str, request: Any, response: Any) -> Any:
        """Queue a request; the answer is sent when it is ready."""
        future = Future(executor=self._executor)
        self.pending += 1
        try:
            self._submit(name, request, future)
            return await future
        finally:
            self.pending -= 1

    def _submit(self, name: str, request: Any, future: Future) -> None:
        """Check a request and queue it, or refuse it."""
        def refuse(reason: str) -> None:
            self._finish(future, _refusal(name, reason))

        try:
            check_size(request, self._settings, len(self._settings.tasks))
            budget = Budget(time_of(request, self._settings))
        except RequestError as error:
            refuse(str(error))
        else:
            work, answer = self._work[name], functools.partial(self._finish, future)
            self.jobs.submit(
                Job(lambda planner, left: work(planner, request, left), answer, refuse, budget)
            )

    def _finish(self, future: Future, response: Any) -> None:
        # In this order, because the executor checks awaited futures whenever it wakes.
        future.set_result(response)
        self._executor.wake()

    def _log_error(self, text: str) -> None:
        self.get_logger().error(text)


def _refusal(name: str, reason: str) -> Any:
    """Return the response of a service that refuses a request."""
    kind = _TYPES[name]
    if name in moveit_package.NAMES:
        return moveit.refusal(kind, reason)
    if kind is SolveOptimal:
        return optimal.refusal(reason)
    return kind.Response(success=False, message=reason)


def _prepare(planner: Planner) -> None:
    """Compile or load the kernels of the first requests."""
    names = planner.robot.group.joint_names
    positions = planner.joint_q[None, planner.robot.coords]
    try:
        poses = solve_fk(planner, names, positions)
        # Out of reach, so that every solver runs.
        solve_ik(planner, IkRequest(poses[0, :1] + _FAR))
    except RosIkError:
        pass  # joint states are missing; a request that needs them reports that
    _ = planner.barriers


def _find_reconfiguration(
    jobs: Jobs, question: ReconfigurationRequest, send: Callable[[object], None]
) -> None:
    """Queue a request of the node."""

    def work(planner: Planner, budget: Budget) -> Reconfiguration:
        return reconfigure(
            planner, question.task, question.pose, question.start, question.tolerances, budget
        )

    def answer(found: Reconfiguration) -> None:
        send(ReconfigurationAnswer(question.number, question.task, found))

    jobs.submit(
        Job(
            work,
            answer,
            lambda reason: answer(Reconfiguration(message=reason)),
            Budget(question.seconds),
        )
    )


class _Shutdown:
    """End of this process: whether it has begun, and its deadline."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self._seconds, self._begun_at = END_TIME, 0.0

    def begin(self, *_: object) -> None:
        """Begin the end; the process ends within the time limit in any case."""
        if not self.begun.is_set():
            self._begun_at = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, self._seconds)
            self.begun.set()

    def allow_time(self) -> None:
        """Extend the time limit, because the node continues."""
        self._seconds = END_TIME_IN_ORDER

    def may_wait(self) -> bool:
        """Return True if the remaining time allows an answer."""
        return time.monotonic() < self._begun_at + self._seconds - _GOING


def _sender(sink: BinaryIO) -> Callable[[object], None]:
    """Return a function that writes an object to the node; for any thread."""
    lock = threading.Lock()

    def send(value: object) -> None:
        with lock:
            try:
                write_object(sink, value)
            except OSError:
                pass  # the node ended

    return send


def _read(
    pipe: BinaryIO,
    send: Callable[[object], None],
    jobs: Jobs,
    sync: PipeSync,
    end: _Shutdown,
) -> None:
    """Process the objects of the node until its pipe is closed, and end the process then."""
    receivers: dict[type, Callable[[Any], None]] = {
        Description: jobs.describe,
        Settings: jobs.apply,
        PlannerRobotState: jobs.measure,
        ObstacleState: jobs.place,
        ReconfigurationRequest: lambda request: _find_reconfiguration(jobs, request, send),
        SyncReply: sync.note,
        ShutdownRequest: lambda _: end.allow_time(),
    }
    try:
        while (news := read_object(pipe)) is not None:
            receivers[type(news)](news)
    finally:
        # Without replies of the node, no request would get an answer: after an error, the node
        # starts another process.
        end.begin()


def _lower_priority(settings: Settings) -> None:
    """Lower the priority, and raise the OOM score, so that other processes come first."""
    os.nice(settings.services_nice)
    try:
        with open('/proc/self/oom_score_adj', 'w', encoding='ascii') as file:
            file.write('1000')
    except OSError:
        pass  # not on Linux, or not permitted


def _leave(node: PlannerNode, executor: SingleThreadedExecutor, end: _Shutdown) -> None:
    """Refuse all requests, stay until DDS has delivered the answers, and destroy the services.

    Requests may wait here although none is pending: while the process starts, it serves none.
    """
    has_refused = node.refuse_waiting(_ENDING)
    answered = time.monotonic() if node.pending or has_refused else -math.inf
    node.jobs.end(_ENDING)
    while end.may_wait() and (node.pending or time.monotonic() < answered + _DELIVERY):
        answered = time.monotonic() if node.pending else answered
        executor.spin_once(timeout_sec=_GOING)
    executor.shutdown()
    node.close(_ENDING)


def main() -> int:
    """Answer until the pipe on standard input is closed, or SIGTERM; return the exit code."""
    # Exclude imported objects from garbage collections.
    gc.freeze()
    pipe = sys.stdin.buffer
    # Output of libraries must not mix with the answers.
    sink = os.fdopen(os.dup(sys.stdout.fileno()), 'wb')
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    identity = read_object(pipe)
    if not isinstance(identity, NodeIdentity) or is_closed(pipe):
        return 0
    _lower_priority(identity.settings)
    prepare_warp()
    end = _Shutdown()
    signal.signal(signal.SIGTERM, end.begin)
    rclpy.init(
        args=list(identity.arguments),
        domain_id=identity.domain_id,
        signal_handler_options=SignalHandlerOptions.NO,
    )
    executor = SingleThreadedExecutor()
    send = _sender(sink)
    sync = PipeSync(send)
    node = PlannerNode(identity, executor, sync.catch_up)
    executor.add_node(node)
    threading.Thread(target=_read, args=(pipe, send, node.jobs, sync, end), daemon=True).start()
    spin_until(executor, end.begun, node.on_fault)
    _leave(node, executor, end)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    # Exit without waiting for threads in a kernel or a pipe.
    code = main()
    sys.stdout.flush()
    os._exit(code)
