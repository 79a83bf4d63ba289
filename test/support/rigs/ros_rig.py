# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A client of the node that knows public messages only, and rigs of node, robot and client."""

import collections
import contextlib
import math
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.srv import ChangeState
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_msgs.msg import String
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger
from support.processes.ros_processes import Processes
from trajectory_msgs.msg import JointTrajectory

from ros_ik.demo.controller.trajectory_rules import check_trajectory
from ros_ik.demo.mock_robot import trajectory_from_message
from ros_ik.demo.robots import find_robot
from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.missed_events import MissedEvents
from ros_ik.node.transport.polled_events import PolledEventsMixin
from ros_ik_interfaces.msg import IkStatus

ARM = tuple(f'panda_joint{k}' for k in range(1, 8))
# Rate of nodes and robots [Hz]. All that they and a client do is work of each tick: at their
# defaults, 100 and 200 Hz, a rig takes two and three times as much.
RATE = 50.0
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
# Longest wait for short operations, which take much longer on a busy machine.
PATIENCE = 100.0
# Longest wait for nodes that start or search: kernels may have to be compiled, on a machine that
# others use too.
LONG = 200.0
# Time between two checks of a condition [s]: checks cost more than messages.
_TURN = 0.01
# A running process that is silent for so many turns has nothing to publish.
_STANDSTILL = 500
# A target in transit arrives before so many statuses, and within this time [s].
_STAYS, _TRANSIT = 8, 0.15
# A node that sends nothing makes so many ticks.
_SILENT_TICKS = 5
# rmw_fastrtps drops the answer to a new client that it has not found within 0.1 s: requests that
# may be repeated are sent again after this time [s].
_ASK_AGAIN = 20.0
# Longest time for the kernels of a node on a machine that compiles for others too.
_COMPILING = 180.0
# For a node whose inputs do not become stale, even if the machine stalls.
NEVER_STALE = {'joint_state_timeout': 60.0, 'command_timeout': 60.0}
# For a node whose robot is played by the client: a suspended client would look like a robot that
# does not follow.
UNWATCHED = {'following_error__max': [0.0]}


def panda_urdf():
    """Return the robot description of the Panda."""
    return find_robot('panda').urdf_path.read_text()


def _taken_by_hand(message):
    raise AssertionError('no executor serves this subscription')


class _ClientNode(PolledEventsMixin, Node):
    """A node that hides callbacks which the executor of events cannot serve.

    It raises a SystemError for callbacks that take the message's information (rclpy 9.1).
    """

    def create_timer(self, period, callback, **options):
        """Create a timer that makes no calls after it is destroyed.

        The executor may have taken its next call already.
        """
        timer = super().create_timer(
            period, lambda: timer in self.timers and callback(), **options
        )
        return timer

    @property
    def subscriptions(self):
        """Return the subscriptions that an executor is to serve."""
        return (each for each in super().subscriptions if each.callback is not _taken_by_hand)


class Client:
    """A user of the node: publishes targets, listens to everything, calls services."""

    def __init__(self, processes, namespace='', beside=None):
        self.processes, self.namespace = processes, namespace
        if beside is None:
            self.context = rclpy.Context()
            rclpy.init(context=self.context, domain_id=processes.domain)
            self._executor = make_executor(self.context)
            self._missed = MissedEvents(self._executor)
            self._together = []
        else:
            # If one of them waits, all of them stream and listen.
            self.context, self._executor = beside.context, beside._executor
            self._missed = beside._missed
            self._together = beside._together
        self._together.append(self)
        self.node = _ClientNode('client', context=self.context, namespace=namespace)
        self._executor.add_node(self.node)
        self._streams, self._services = {}, {}
        self.statuses = collections.deque(maxlen=20000)
        self.trajectories = []
        self.sent = []
        self._count_before, self._number, self._publisher = 0, 0, None
        self.states = collections.deque(maxlen=20000)
        self.poses = collections.deque(maxlen=100)
        self.diagnostics = collections.deque(maxlen=100)
        node = self.node
        self._keep(IkStatus, 'ros_ik/status', self.statuses, 1000)
        self._by_hand = []
        self.listen(JointTrajectory, 'ros_ik/joint_trajectory', self._on_trajectory, 1000)
        self._keep(JointState, 'joint_states', self.states, 1)
        self._keep(PoseStamped, 'ros_ik/ee/current_pose', self.poses, 1)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._description = node.create_publisher(String, 'robot_description', LATCHED)
        self._clock = None
        self._stop_request = node.create_publisher(Bool, 'ros_ik/stop_request', LATCHED)
        self._targets = {
            'pose': node.create_publisher(PoseStamped, 'ros_ik/target_pose', 1),
            'ee': node.create_publisher(PoseStamped, 'ros_ik/ee/target_pose', 1),
            'joints': node.create_publisher(JointState, 'ros_ik/target_joints', 1),
        }

    def _keep(self, kind, topic, kept, depth):
        # rclpy wants a callback with a Python signature, which a deque's append lacks.
        self.node.create_subscription(kind, topic, lambda message: kept.append(message), depth)

    def listen(self, kind, topic, receive, depth):
        """Pass messages and their DDS information to a function (message, info)."""
        subscription = self.node.create_subscription(kind, topic, _taken_by_hand, depth)
        self._by_hand.append((kind, subscription.handle, receive))

    def end(self):
        """Leave the domain, with the other clients."""
        self._executor.shutdown()
        for client in self._together:
            client.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def describe(self, text):
        """Publish a robot description."""
        self._description.publish(String(data=text))

    def simulate(self, seconds):
        """Publish simulated time on /clock; None ends the publication."""
        if self._clock is None:
            self._clock = self.node.create_publisher(Clock, '/clock', 10)
        message = Clock()
        message.clock.sec = int(seconds)
        message.clock.nanosec = int(1e9 * (seconds - int(seconds)))
        self._clock.publish(message)

    def stream(self, topic, message):
        """Repeat a message at 50 Hz while the client spins; None ends the repetition."""
        if message is None:
            self._streams.pop(topic, None)
        else:
            self._streams[topic] = message

    def send(self, topic, message):
        """Publish once, after the node listens."""
        self.wait_for(lambda: self._targets[topic].get_subscription_count() > 0, 'a subscriber')
        self._targets[topic].publish(message)

    def spin(self, seconds):
        """Stream and listen."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            self._turn()

    def wait_for(self, condition, what, timeout=PATIENCE):
        """Stream and listen until a condition holds; fail with the last status otherwise."""
        began = time.monotonic()
        give_up = began + timeout
        while (now := time.monotonic()) < give_up:
            if condition():
                return
            # Time for the compilation of kernels, once on each machine, does not count.
            if self._compiles() and now < began + _COMPILING:
                give_up = now + timeout
            self._turn()
        status = self._last_status
        last = f'{status.code} {status.text!r} at tick {status.ticks}' if status else 'none'
        readers = self._description.get_subscription_count()
        raise AssertionError(
            f'no {what} within {timeout} s; last status: {last}; readers of robot_description: '
            f'{readers}\n{self.processes.explain()}'
        )

    def wait_for_ticks(self, count):
        """Wait until the node has made a number of ticks."""
        self.statuses.clear()
        first = self.status.ticks
        self.wait_for(lambda: self.status.ticks >= first + count, f'{count} ticks')

    def wait_for_silence(self):
        """Wait until the node makes ticks without a command, or publishes no status any more."""
        turns = idle = 0
        last = self._last_status
        count, first, heard = len(self.sent), last, last

        def is_silent():
            nonlocal turns, idle, count, first, heard
            latest = self._last_status
            idle = idle + 1 if latest is heard else 1
            began_anew = first is None or (latest is not None and latest.ticks < first.ticks)
            if len(self.sent) != count or (began_anew and latest is not first):
                turns, idle, count, first = 0, 0, len(self.sent), latest
            turns, heard = turns + 1, latest
            # A running process may be suspended for a while.
            is_running = self.processes.is_running(f'{self.namespace}node')
            if idle > (_STANDSTILL if is_running else 100):
                return True
            # Statuses may arrive before earlier commands, and commands that a busy machine has
            # lost are repeated after some seconds.
            enough = _STANDSTILL if self._hears_motion() else 10
            return turns > enough and latest and latest.ticks >= first.ticks + _SILENT_TICKS

        self.wait_for(is_silent, 'silence')

    def _compiles(self):
        """Return True if the node reports that it builds a model."""
        status = self._last_status
        if status is None or status.code != IkStatus.WARMING_UP:
            return False
        return 'waiting to be configured' not in status.text

    def _hears_motion(self):
        """Return True if the last received command is one of a robot in motion."""
        if len(self.sent) < 2:
            return False
        before, last = (message.points[0].positions for _, message, _ in self.sent[-2:])
        return max(abs(b - a) for a, b in zip(before, last, strict=True)) > 1e-9

    def wait_for_code(self, *codes, text='', timeout=PATIENCE):
        """Wait for a status received from now on; return it.

        On a machine too busy for the control rate DEADLINE_MISSED replaces OK.
        """
        if IkStatus.OK in codes:
            codes += (IkStatus.DEADLINE_MISSED,)
        self.statuses.clear()
        found = []

        def seen():
            found.extend(s for s in self.statuses if s.code in codes and text in s.text)
            return bool(found)

        self.wait_for(seen, f'status {codes} with {text!r}', timeout)
        return found[0]

    def wait_for_text(self, text, timeout=PATIENCE):
        """Wait for a status with this text, with any code."""
        return self.wait_for_code(*range(-1, 100), text=text, timeout=timeout)

    def wait_for_arrival(self, at=None, timeout=PATIENCE):
        """Wait until the node reports that its target is reached, with the robot at this pose.

        Without ``at``, in the base frame, it is the pose that is streamed. A status alone may be
        about the target before.
        """
        if at is None:
            (at,) = (self._streams[topic] for topic in ('pose', 'ee') if topic in self._streams)

        def arrived():
            if not (self.status.tasks and self.status.tasks[0].reached):
                return False
            return bool(self.poses) and is_near(self.poses[-1].pose, at.pose)

        self.wait_for(arrived, 'arrival', timeout)

    @property
    def status(self):
        """The last of the statuses; the first that arrives where none was kept."""
        if not self.statuses:
            self.wait_for(lambda: self.statuses, 'status')
        return self.statuses[-1]

    @property
    def _last_status(self):
        """The last of the statuses, None without one."""
        return self.statuses[-1] if self.statuses else None

    def dropped(self):
        """Return the counters of dropped messages."""
        return {entry.name: entry.count for entry in self.status.dropped_messages}

    def moved_pose(self, xyz=(0.0, 0.0, 0.0), frame=None):
        """Return the newest measured pose, displaced."""
        self.poses.clear()
        self.wait_for(lambda: self.poses, 'current pose')
        pose = self.poses[-1]
        for axis, shift in zip('xyz', xyz, strict=True):
            setattr(pose.pose.position, axis, getattr(pose.pose.position, axis) + shift)
        if frame is not None:
            pose.header.frame_id = frame
        return pose

    def positions(self):
        """Return the newest measured positions by joint."""
        self.states.clear()
        self.wait_for(lambda: self.states, 'joint states')
        return dict(zip(self.states[-1].name, self.states[-1].position, strict=True))

    def wait_for_rest(self):
        """Wait until the robot, which lags behind its commands, has come to rest too."""
        self.states.clear()
        self.wait_for(
            lambda: self.states and all(abs(v) < 1e-4 for v in self.states[-1].velocity), 'rest'
        )

    def call(self, kind, name, request):
        """Call a service and return its response."""
        # One client for each service: a new one takes time to be found.
        if name not in self._services:
            self._services[name] = self.node.create_client(kind, name)
            # An answer that arrives while the executor registers the client may be missed.
            self._turn()
        client = self._services[name]
        self.wait_for(client.service_is_ready, f'service {name}')
        futures, asked = [client.call_async(request)], time.monotonic()
        may_repeat = kind is not ChangeState or request.transition.label
        answer = None

        def answered():
            nonlocal answer, asked
            if may_repeat and time.monotonic() > asked + _ASK_AGAIN:
                print(f'{name} is asked again')
                futures.append(client.call_async(request))
                asked = time.monotonic()
            done = [future.result() for future in futures if future.done()]
            # On a very busy machine, a repeated request may be refused while the first one is
            # being answered.
            counts = [each for each in done if not _is_busy(each)]
            if counts or len(done) == len(futures):
                answer = (counts or done)[0]
            return answer is not None

        self.wait_for(answered, f'answer of {name}')
        return answer

    def pause(self, held):
        """Call ~/pause."""
        return self.call(SetBool, 'ros_ik/pause', SetBool.Request(data=held))

    def trigger(self, name):
        """Call ~/stop or ~/reset."""
        return self.call(Trigger, f'ros_ik/{name}', Trigger.Request())

    def forget_targets(self):
        """Reset the node until it stays without a target.

        A target sent before a reset may arrive after it, because they use two channels.
        """

        def stays_without():
            self.trigger('reset')
            self.statuses.clear()
            due = time.monotonic() + _TRANSIT
            self.wait_for(
                lambda: len(self.statuses) >= _STAYS and time.monotonic() >= due, 'statuses'
            )
            return all('waiting for a target' in status.text for status in self.statuses)

        self.wait_for(stays_without, 'node without a target')

    def request_stop(self, stop):
        """Publish ~/stop_request."""
        self._stop_request.publish(Bool(data=stop))

    def transition(self, number):
        """Ask for a lifecycle transition; return True if it succeeded."""
        service, request = 'ros_ik/change_state', ChangeState.Request()
        # A transition must not be asked for twice. After an answer to one with an unknown label,
        # which changes nothing, the node knows this client, and loses no answer to it.
        request.transition.label = 'none'
        self.call(ChangeState, service, request)
        request.transition.id, request.transition.label = number, ''
        return self.call(ChangeState, service, request).success

    def state(self):
        """Return the label of the lifecycle state."""
        return self.call(GetState, 'ros_ik/get_state', GetState.Request()).current_state.label

    def set(self, **values):
        """Set parameters; return the results by name."""
        names = [key.replace('__', '.') for key in values]
        parameters = [
            value if isinstance(value, Parameter) else Parameter(name, value=value)
            for name, value in zip(names, values.values(), strict=True)
        ]
        request = SetParameters.Request(parameters=[p.to_parameter_msg() for p in parameters])
        response = self.call(SetParameters, 'ros_ik/set_parameters', request)
        return dict(zip(names, response.results, strict=True))

    def assert_trajectories_are_accepted(self, joints=ARM):
        """Check everything received against the rules of joint_trajectory_controller."""
        assert self.trajectories
        for message in self.trajectories:
            now = self.node.get_clock().now().nanoseconds
            fault = check_trajectory(trajectory_from_message(message), joints, now)
            assert fault is None, fault

    def _take(self):
        for kind, handle, receive in self._by_hand:
            with handle:
                while (taken := handle.take_message(kind, False)) is not None:
                    receive(*taken)

    def _on_trajectory(self, message, info):
        # With the time of sending [ns], and the number of messages sent by then: each publisher
        # counts its own, and a new one restarts. rclpy before Kilted does not tell them apart.
        publisher = info.get('publisher_gid')
        if publisher != self._publisher:
            self._publisher, self._count_before = publisher, self._number
        self._number = self._count_before + info['publication_sequence_number']
        self.sent.append((info['source_timestamp'], message, self._number))
        self.trajectories.append(message)

    @property
    def tells_publishers_apart(self):
        """True if rclpy says which publisher sent a trajectory that was received."""
        return self._publisher is not None

    def _on_diagnostics(self, message):
        for status in message.status:
            if status.name.startswith('ros_ik:'):
                self.diagnostics.append(status)

    _next_stream = 0.0

    def _turn(self):
        give_up = time.monotonic() + _TURN
        while time.monotonic() < give_up:
            # Always the same timeout: with another one rclpy starts again with the entities that
            # are ready, and a busy client would never serve its last subscriptions.
            self._executor.spin_once(timeout_sec=0.005)
            self._missed.serve()
            for client in self._together:
                client._take()
        if time.monotonic() >= self._next_stream:
            self._next_stream = time.monotonic() + 0.02
            for client in self._together:
                for topic, message in list(client._streams.items()):
                    client._targets[topic].publish(message)


def _is_busy(answer):
    """Return True for the refusal of a process that is answering others."""
    return getattr(answer, 'message', '').startswith('busy: ')


def is_near(pose, goal):
    """Return True if a pose is within 5 mm and 0.05 rad of another: a task reaches 1 mm."""
    p, q, goal_p, goal_q = pose.position, pose.orientation, goal.position, goal.orientation
    away = math.dist((p.x, p.y, p.z), (goal_p.x, goal_p.y, goal_p.z))
    cosine = abs(q.x * goal_q.x + q.y * goal_q.y + q.z * goal_q.z + q.w * goal_q.w)
    return away < 5e-3 and 2.0 * math.acos(min(cosine, 1.0)) < 0.05


@contextlib.contextmanager
def ros_rig(folder, forks=True, children=True, planners=False):
    """Yield a client on a domain of its own, and end every process afterwards.

    Args:
        folder: Folder of logs and parameters.
        forks: True if programs may be forks.
        children: True if the processes that nodes start may be forks.
        planners: True if nodes that are forks answer planners.
    """
    processes = Processes(folder, forks, children, planners)
    client = Client(processes)
    try:
        yield client
    finally:
        client.end()
        processes.end()


def start_node(client, *files, prefix=(), **parameters):
    """Start ros_ik_node for the Panda, at ``RATE`` unless the parameters have another."""
    client.processes.start(
        f'{client.namespace}node', 'ros_ik.node.ros_ik_node', *files,
        namespace=client.namespace and f'/{client.namespace}', prefix=prefix,
        **{'ee__frame': 'panda_hand_tcp', 'control_rate': RATE, **parameters},
    )  # fmt: skip


def start_robot(client, rate=RATE):
    """Start the mock robot at a comfortable posture, with joint states at a rate [Hz]."""
    home = find_robot('panda').home
    client.processes.start(
        f'{client.namespace}robot',
        'ros_ik.demo.mock_robot',
        namespace=client.namespace and f'/{client.namespace}',
        command_topic='ros_ik/joint_trajectory',
        controller_joints=list(ARM),
        publish_rate=rate,
        initial_positions__names=list(home),
        initial_positions__values=[float(value) for value in home.values()],
    )
