# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The mock robot and the description publisher as processes of their own, over real DDS."""

import os
import signal
import subprocess
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool
from support.processes.ros_processes import reserved_domain
from support.processes.ros_processes import start_program
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.demo.robots import find_robot
from ros_ik.node.transport.qos_profiles import LATCHED

pytestmark = pytest.mark.dds

ARM = [f'panda_joint{k}' for k in range(1, 8)]
PANDA = find_robot('panda').urdf_path
PATIENCE = 40.0
# The QoS for drivers, with a queue for messages that arrive while this process is suspended.
STATES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)


class Listener:
    """Hears joint states, diagnostics and descriptions; sends trajectories."""

    def __init__(self, domain, log):
        self.context, self._log = rclpy.Context(), log
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node('listener', context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.states, self.counts, self.reasons, self.heard = [], {}, [], {}
        self._subscribe(JointState, 'joint_states', self.states.append, STATES)
        self._subscribe(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self.command = self.node.create_publisher(JointTrajectory, 'controller/commands', 1)

    def _subscribe(self, kind, topic, callback, qos):
        self.node.create_subscription(kind, topic, lambda message: callback(message), qos)

    def hear_description(self, topic):
        self._subscribe(String, topic, lambda m: self.heard.update({topic: m.data}), LATCHED)

    def _on_diagnostics(self, message):
        for status in message.status:
            self.counts = {entry.key: int(entry.value) for entry in status.values}
            self.reasons.append(status.message)

    def spin_until(self, condition, what):
        give_up = time.monotonic() + PATIENCE
        while not condition():
            late = time.monotonic() > give_up
            assert not late, f'no {what} within {PATIENCE} s\n{self._log.read_text()}'
            self._executor.spin_once(timeout_sec=0.01)

    def send(self, position, seconds=0.5, names=ARM):
        point = JointTrajectoryPoint(positions=[float(position)] * len(names))
        point.time_from_start.nanosec = round(seconds * 1e9)
        self.spin_until(lambda: self.command.get_subscription_count() > 0, 'controller')
        self.command.publish(JointTrajectory(joint_names=names, points=[point]))

    def position(self, name):
        return self.states[-1].position[self.states[-1].name.index(name)]

    def close(self):
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def start(domain, module, log, *arguments):
    """Start an executable of the demo with ROS arguments."""
    with log.open('a') as file:
        return start_program(f'ros_ik.demo.{module}', ['--ros-args', *arguments], domain, file)


def parameters(**values):
    """Return ROS arguments that set parameters, dots as double underscores."""
    pairs = [f'{name.replace("__", ".")}:={value}' for name, value in values.items()]
    return [argument for pair in pairs for argument in ('-p', pair)]


def wait_for_text(log, text):
    give_up = time.monotonic() + PATIENCE
    while text not in log.read_text():
        assert time.monotonic() < give_up, log.read_text()
        time.sleep(0.05)


def end(process, number=signal.SIGINT):
    """Return the exit code after a signal."""
    process.send_signal(number)
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


@pytest.fixture(scope='module')
def rig_domain():
    with reserved_domain() as number:
        yield number


@pytest.fixture(scope='module')
def rig(rig_domain, tmp_path_factory):
    """Yield a listener and the log of a mock robot that has its description."""
    log = tmp_path_factory.mktemp('mock') / 'log'
    processes = [
        start(rig_domain, 'robot_description_publisher', log, *parameters(urdf_path=PANDA)),
        start(
            rig_domain,
            'mock_robot',
            log,
            *parameters(
                command_topic='controller/commands',
                controller_joints=f'[{", ".join(ARM)}]',
                initial_positions__names='[panda_joint4, panda_finger_joint1]',
                initial_positions__values='[-1.5, 0.03]',
            ),
        ),
    ]
    listener = Listener(rig_domain, log)
    try:
        listener.spin_until(lambda: listener.states, 'joint states')
        yield listener, log
    finally:
        listener.close()
        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(PATIENCE) for process in processes] == [0, 0]


def test_starts_where_it_is_told(rig):
    listener, _ = rig
    assert listener.position('panda_joint4') == -1.5
    assert listener.position('panda_finger_joint2') == 0.03
    assert len(listener.states[-1].velocity) == len(listener.states[-1].name) == 9


def test_one_of_several_drivers_publishes_its_own_joints_only(domain, tmp_path):
    log = tmp_path / 'log'
    processes = [
        start(domain, 'robot_description_publisher', log, *parameters(urdf_path=PANDA)),
        start(
            domain,
            'mock_robot',
            log,
            *parameters(
                controller_joints='[panda_joint6, panda_joint2]', publish_all_joints='false'
            ),
        ),
    ]
    listener = Listener(domain, log)
    try:
        listener.spin_until(lambda: listener.states, 'joint states')
        state = listener.states[-1]
    finally:
        listener.close()
        codes = [end(process) for process in processes]
    assert sorted(state.name) == ['panda_joint2', 'panda_joint6']
    assert len(state.position) == len(state.velocity) == 2
    assert codes == [0, 0]


def test_joint_states_come_at_least_at_100_hz(rig):
    listener, _ = rig
    listener.states.clear()

    def are_in_time():
        # As many as a busy machine can send without interruption.
        times = stamps(listener.states[-41:])
        return len(times) > 40 and 40 / (times[-1] - times[0]) >= 100.0

    listener.spin_until(are_in_time, '40 joint states at 100 Hz')
    times = stamps(listener.states)
    assert all(after > before for before, after in zip(times, times[1:], strict=False))


def stamps(states):
    """Return the time at which each state was published [s]."""
    return [s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in states]


def test_follows_a_trajectory_to_its_end(rig):
    listener, _ = rig
    accepted = listener.counts.get('accepted', 0)
    # Longer than a busy machine suspends a process.
    listener.states.clear()
    listener.send(-0.5, seconds=4.0)
    listener.spin_until(
        lambda: listener.states and abs(listener.position('panda_joint4') + 0.5) < 1e-6, 'arrival'
    )
    moved = [s.position[s.name.index('panda_joint4')] for s in listener.states]
    assert len(moved) > 20 and moved == sorted(moved)
    assert listener.position('panda_finger_joint1') == 0.03
    listener.spin_until(lambda: listener.counts.get('accepted') == accepted + 1, 'count')


@pytest.mark.parametrize(
    ('position', 'names', 'reason'),
    (
        (float('nan'), ARM, "nan in positions for joint 'panda_joint1'"),
        (0.1, ARM[:6], "joint 'panda_joint7' is missing"),
        (0.1, [*ARM[:6], 'elbow'], "joint 'elbow' is not one of the controller's joints"),
    ),
    ids=('nan', 'partial', 'unknown joint'),
)
def test_refuses_loudly_and_stays(rig, position, names, reason):
    listener, log = rig
    listener.spin_until(lambda: listener.counts, 'diagnostics')
    rejected, before = listener.counts['rejected'], listener.position('panda_joint1')
    listener.reasons.clear()
    listener.send(position, names=names)
    listener.spin_until(lambda: any(reason in r for r in listener.reasons), 'reason')
    listener.spin_until(lambda: 'trajectory rejected: ' in log.read_text(), 'log')
    assert reason in log.read_text()
    assert listener.counts['rejected'] == rejected + 1
    assert listener.position('panda_joint1') == pytest.approx(before, abs=1e-6)


def test_one_reason_is_logged_once_however_often_it_comes(rig):
    listener, log = rig
    listener.spin_until(lambda: listener.counts, 'diagnostics')
    before, began = listener.counts['rejected'], time.monotonic()
    for count in range(1, 51):
        listener.send(0.1, names=[*ARM[:6], 'shoulder'])
        listener.spin_until(lambda: listener.counts['rejected'] >= before + count, 'refusal')  # noqa: B023
    # Again after five seconds: a busy machine may need so long for the fifty.
    count = log.read_text().count("'shoulder'")
    assert 1 <= count <= 1 + (time.monotonic() - began) / 5.0


@pytest.mark.parametrize('number', (signal.SIGINT, signal.SIGTERM))
@pytest.mark.parametrize(
    ('module', 'arguments', 'ready'),
    (
        ('mock_robot', ['--remap', 'robot_description:=none'], 'waiting for robot_description'),
        ('robot_description_publisher', parameters(urdf_path=PANDA), 'characters of'),
    ),
    ids=('mock robot', 'description publisher'),
)
def test_signal_ends_it_with_exit_code_zero(domain, tmp_path, module, arguments, ready, number):
    log = tmp_path / 'log'
    process = start(domain, module, log, *arguments)
    try:
        wait_for_text(log, ready)
        assert end(process, number) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ('module', 'arguments', 'reason'),
    (
        ('mock_robot', parameters(publish_rate=0.0), 'publish_rate must be in (0, 1000] Hz'),
        ('mock_robot', parameters(publish_rate='.inf'), 'publish_rate must be in (0, 1000] Hz'),
        ('mock_robot', parameters(tracking_lag=-1.0), 'tracking_lag must be a time >= 0 s'),
        ('mock_robot', parameters(command_topic='a//b'), "command_topic: 'a//b' is not a name"),
        (
            'mock_robot',
            parameters(more_command_topics='[a b]'),
            "more_command_topics: 'a b' is not a name",
        ),
        (
            'mock_robot',
            parameters(initial_positions__names='[a]', initial_positions__values='[.nan]'),
            'initial_positions.values must be finite',
        ),
        ('mock_robot', ['--', 'fast'], 'unknown arguments: fast; parameters follow --ros-args'),
        ('mock_robot', ['--ros-args', '--params-file', '/no/such.yaml'], '/no/such.yaml'),
        ('mock_robot', parameters(publish_rate='fast'), "'publish_rate' to 'fast'"),
        (
            'mock_robot',
            parameters(initial_positions__names='[a, b]'),
            'initial_positions must have one value per name, got 2 names and 1 values',
        ),
        ('robot_description_publisher', [], 'urdf_path must name a URDF or xacro file'),
        ('robot_description_publisher', parameters(urdf_path='/no/such.urdf'), '/no/such.urdf'),
    ),
)
def test_wrong_parameter_is_named(domain, tmp_path, module, arguments, reason):
    log = tmp_path / 'log'
    process = start(domain, module, log, *arguments)
    try:
        assert process.wait(PATIENCE) == 2
    finally:
        process.kill()
        process.wait()
    assert reason in log.read_text()
    assert 'Traceback' not in log.read_text()


def test_a_joint_that_the_robot_does_not_have_ends_the_mock_robot(domain, tmp_path):
    logs = {name: tmp_path / name for name in ('robot_description_publisher', 'mock_robot')}
    given = {'urdf_path': PANDA}, {'controller_joints': '[elbow]'}
    processes = [
        start(domain, name, log, *parameters(**values))
        for (name, log), values in zip(logs.items(), given, strict=True)
    ]
    try:
        assert processes[1].wait(PATIENCE) == 2
    finally:
        for process in processes:
            process.kill()
            process.wait()
    text = logs['mock_robot'].read_text()
    assert "joint 'elbow' is not" in text and 'File "' not in text


def test_late_joiner_gets_both_descriptions(domain, tmp_path):
    log = tmp_path / 'log'
    srdf = find_robot('panda').srdf_path
    given = parameters(urdf_path=PANDA, srdf_path=srdf)
    process = start(domain, 'robot_description_publisher', log, *given)
    topics = {'robot_description': PANDA, 'robot_description_semantic': srdf}
    listener = None
    try:
        wait_for_text(log, 'robot_description_semantic')
        listener = Listener(domain, log)
        for topic in topics:
            listener.hear_description(topic)
        listener.spin_until(lambda: set(listener.heard) == set(topics), 'descriptions')
        assert listener.heard == {topic: path.read_text() for topic, path in topics.items()}
    finally:
        if listener:
            listener.close()
        end(process)


# The mock robot with a service whose callback raises an error.
_FAILING = """
import sys
from ros_ik.demo import mock_robot

def fail(*_):
    raise ZeroDivisionError('nothing can be divided by it')

mock_robot.MockRobot._on_freeze = fail
sys.exit(mock_robot.main([]))
"""


def test_a_request_that_raises_an_error_is_answered(domain, tmp_path):
    log, environment = tmp_path / 'log', os.environ | {'ROS_DOMAIN_ID': str(domain)}
    with log.open('w') as file:
        words = [sys.executable, '-c', _FAILING]
        process = subprocess.Popen(words, env=environment, stderr=file)
    listener = Listener(domain, log)
    try:
        latched = listener.node.create_publisher(String, 'robot_description', LATCHED)
        latched.publish(String(data=find_robot('six_axis').urdf_path.read_text()))
        client = listener.node.create_client(SetBool, 'mock_robot/freeze')
        listener.spin_until(client.service_is_ready, 'service')
        answer = client.call_async(SetBool.Request(data=True))
        listener.spin_until(answer.done, 'answer')
        assert not answer.result().success
        assert 'ZeroDivisionError' in answer.result().message
    finally:
        listener.close()
        assert end(process) == 0
