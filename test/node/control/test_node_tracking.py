# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The node and a mock robot over DDS: missing inputs are named, poses reached, stops made."""

import itertools
import math
import signal
import time

from diagnostic_msgs.msg import DiagnosticStatus
import pytest
from rclpy.clock import Clock
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    """Return a client of a node that has become active, with the statuses on the way noted."""
    with ros_rig(tmp_path_factory.mktemp('tracking')) as client:
        # At the rate of most users.
        start_node(client, control_rate=100.0, **NEVER_STALE)
        client.waited_for_model = client.wait_for_code(IkStatus.WAITING_FOR_MODEL)
        client.describe(panda_urdf())
        client.waited_for_joints = client.wait_for_code(
            IkStatus.WAITING_FOR_JOINT_STATES, timeout=LONG
        )
        start_robot(client)
        client.ready = client.wait_for_code(IkStatus.OK, text='waiting for a target')
        yield client


@pytest.fixture(autouse=True)
def quiet_at_rest(client):
    """Begin each test without targets, with a robot at rest."""
    for topic in ('pose', 'ee', 'joints'):
        client.stream(topic, None)
    client.pause(False)
    client.request_stop(False)
    client.forget_targets()
    client.wait_for_silence()
    client.wait_for_rest()
    yield
    assert client.processes.is_alive('node'), client.processes.text('node')


def set_timeout(client, name, seconds):
    """Let targets or joint states become stale after some time."""
    assert client.set(**{name: seconds})[name].successful


def jumps_of(sent):
    """Return distances of successive commands [rad]; the mean across lost ones."""
    return [
        max(
            abs(b - a)
            for a, b in zip(one.points[0].positions, two.points[0].positions, strict=True)
        )
        / (number - before)
        for (_, one, before), (_, two, number) in itertools.pairwise(sent)
    ]


def reach(client, topic, pose):
    """Stream a pose until it is reached."""
    client.stream(topic, pose)
    client.wait_for_arrival()


def test_it_names_what_it_waits_for(client):
    assert list(client.waited_for_model.waiting_for) == ['robot_description']
    assert list(client.waited_for_joints.waiting_for) == list(ARM)
    assert 'panda_joint1' in client.waited_for_joints.text
    assert client.ready.model_generation == 1
    assert client.ready.header.frame_id == 'panda_link0'


@pytest.mark.parametrize('topic', ['pose', 'ee'])
def test_a_pose_is_reached_by_the_robot(client, topic):
    target = client.moved_pose((0.05, 0.1 if topic == 'pose' else -0.1, -0.05))
    reach(client, topic, target)
    status = client.wait_for_code(IkStatus.OK)
    assert status.tasks[0].active
    assert status.tasks[0].linear < 1e-3 and status.tasks[0].angular < 0.01
    client.wait_for(
        lambda: client.status.tasks[0].measured_linear < 5e-4, 'the robot where its command is'
    )
    achieved = client.moved_pose()
    assert achieved.header.frame_id == 'panda_link0'
    for axis in 'xyz':
        assert getattr(achieved.pose.position, axis) == pytest.approx(
            getattr(target.pose.position, axis), abs=1e-3
        )
    client.assert_trajectories_are_accepted()


def test_a_pose_in_a_link_of_the_model_is_transformed(client):
    target = client.moved_pose(frame='panda_hand_tcp')
    position, orientation = target.pose.position, target.pose.orientation
    before = client.moved_pose().pose.position.z
    position.x, position.y, position.z = 0.0, 0.0, -0.05
    orientation.x, orientation.y, orientation.z, orientation.w = 0.0, 0.0, 0.0, 1.0
    client.statuses.clear()
    client.send('pose', target)
    client.wait_for(lambda: any(s.tasks[0].active for s in client.statuses), 'an active task')
    client.wait_for(
        lambda: client.moved_pose().pose.position.z > before + 0.005, 'motion along the link'
    )


def test_joints_are_moved_by_name(client):
    before = client.positions()
    goal = before['panda_joint1'] + 0.2
    client.stream('joints', JointState(name=['panda_joint1'], position=[goal]))
    client.wait_for(
        lambda: abs(client.positions()['panda_joint1'] - goal) < 1e-3, 'arrival of panda_joint1'
    )
    after = client.positions()
    for joint in ARM[1:]:
        assert after[joint] == pytest.approx(before[joint], abs=1e-3)
    client.assert_trajectories_are_accepted()


def test_motion_starts_where_the_robot_is(client):
    measured, last = client.positions(), client.sent[-1][2] if client.sent else 0
    client.sent.clear()
    client.stream('pose', client.moved_pose((0.0, 0.0, 0.1)))
    client.wait_for(lambda: client.sent, 'a trajectory')
    _, first, number = client.sent[0]
    # The first may be lost while the client was suspended: each step gains 1 mrad.
    steps = number - last
    most = 1e-3 * (1 + steps * (steps + 1) // 2)
    for joint, position in zip(first.joint_names, first.points[0].positions, strict=True):
        assert position == pytest.approx(measured[joint], abs=most)


def test_a_stale_target_ends_at_rest_and_then_in_silence(client):
    set_timeout(client, 'command_timeout', 0.2)
    client.stream('pose', client.moved_pose((0.0, 0.3, 0.0)))
    client.wait_for_code(IkStatus.OK, text='tracking')
    client.wait_for_ticks(40)
    client.stream('pose', None)
    client.wait_for_code(IkStatus.COMMAND_STALE)
    client.wait_for_silence()
    count = len(client.trajectories)
    client.wait_for_ticks(30)
    assert len(client.trajectories) == count, 'it goes on publishing'
    steps = jumps_of(client.sent[-8:])
    # Motion within the tolerances of the step counts as rest.
    moving = [step for step in steps if step > 1e-7]
    assert moving == sorted(moving, reverse=True), 'it does not slow down steadily'
    assert steps[: len(moving)] == moving, 'it goes on after a rest'
    assert steps[-1] < 1e-9
    set_timeout(client, 'command_timeout', 60.0)
    client.assert_trajectories_are_accepted()


def test_stale_joint_states_stop_it_and_it_goes_on_without_a_jump(client):
    target = client.moved_pose((0.0, -0.3, 0.0))
    client.stream('pose', target)
    client.wait_for_code(IkStatus.OK, text='tracking')
    client.wait_for_ticks(30)
    set_timeout(client, 'joint_state_timeout', 0.1)
    client.processes.signal('robot', signal.SIGSTOP)
    try:
        stale = client.wait_for_code(IkStatus.JOINT_STATE_STALE)
        assert 'panda_joint1' in stale.waiting_for
        client.wait_for_silence()
        count = len(client.trajectories)
        client.wait_for_ticks(20)
        assert len(client.trajectories) == count
        client.sent.clear()
    finally:
        client.processes.signal('robot', signal.SIGCONT)
    client.wait_for_code(IkStatus.OK, text='tracking')
    set_timeout(client, 'joint_state_timeout', 60.0)
    reach(client, 'pose', target)
    assert max(jumps_of(client.sent)) < 0.03, 'more than the velocity limits allow in a period'


def bad_poses(good):
    """Return (reason, pose) for each fault of a pose."""
    nan = pose_like(good)
    nan.pose.position.x = math.nan
    infinite = pose_like(good)
    infinite.pose.orientation.w = math.inf
    zero = pose_like(good)
    for axis in 'xyzw':
        setattr(zero.pose.orientation, axis, 0.0)
    unknown = pose_like(good)
    unknown.header.frame_id = 'map'
    return [
        ('non_finite', nan),
        ('non_finite', infinite),
        ('zero_quaternion', zero),
        # Without tf2_ros the text says so; with it, that tf has no such frame.
        ('tf_unavailable', unknown),
    ]


def pose_like(pose):
    """Return a copy of a pose message."""
    copy = type(pose)()
    copy.header.frame_id = pose.header.frame_id
    for part, axes in (('position', 'xyz'), ('orientation', 'xyzw')):
        for axis in axes:
            setattr(getattr(copy.pose, part), axis, getattr(getattr(pose.pose, part), axis))
    return copy


def assert_dropped(client, topic, message, reason):
    """Send a message until its counter rises: best effort may lose one on a busy machine."""
    before, sent = client.dropped().get(reason, 0), 0
    while client.dropped().get(reason, 0) == before:
        assert sent < 10, f'no counter {reason}'
        client.send(topic, message)
        sent += 1
        give_up = time.monotonic() + 2.0
        while client.dropped().get(reason, 0) == before and time.monotonic() < give_up:
            client.spin(0.02)
    assert before < client.dropped()[reason] <= before + sent


def test_bad_poses_are_dropped_counted_and_change_nothing(client):
    good = client.moved_pose((0.0, 0.1, 0.0))
    client.stream('ee', good)
    client.wait_for_code(IkStatus.OK, text='tracking')
    for reason, bad in bad_poses(good):
        assert_dropped(client, 'pose', bad, reason)
        client.wait_for_code(IkStatus.OK, text='tracking')
    reach(client, 'ee', good)
    assert all(math.isfinite(p) for m in client.trajectories for p in m.points[0].positions)


@pytest.mark.parametrize(
    ('names', 'positions', 'reason'),
    [
        (['elbow'], [0.0], 'unknown_joint'),
        (['panda_joint1'], [math.nan], 'non_finite'),
        (['panda_joint1', 'panda_joint2'], [0.0], 'wrong_size'),
    ],
)
def test_bad_joint_targets_are_dropped_and_counted(client, names, positions, reason):
    assert_dropped(client, 'joints', JointState(name=names, position=positions), reason)
    client.wait_for_ticks(10)
    assert 'waiting for a target' in client.status.text


def test_pause_holds_and_drops_the_target(client):
    client.stream('pose', client.moved_pose((0.0, 0.2, 0.0)))
    client.wait_for_code(IkStatus.OK, text='tracking')
    assert client.pause(True).success
    client.wait_for_code(IkStatus.PAUSED)
    client.stream('pose', None)
    client.wait_for_silence()
    count = len(client.trajectories)
    client.pause(False)
    client.wait_for_code(IkStatus.OK, text='waiting for a target')
    client.wait_for_ticks(20)
    assert len(client.trajectories) == count


def test_stop_latches_until_reset(client):
    target = client.moved_pose((0.0, -0.2, 0.0))
    client.stream('pose', target)
    client.wait_for_code(IkStatus.OK, text='tracking')
    assert client.trigger('stop').success
    client.wait_for_code(IkStatus.STOPPED)
    client.wait_for_ticks(50)
    assert client.status.code == IkStatus.STOPPED
    assert client.trigger('reset').success
    reach(client, 'pose', target)


def test_a_stop_request_lasts_until_it_is_withdrawn(client):
    client.stream('pose', client.moved_pose((0.0, 0.1, 0.0)))
    client.wait_for_code(IkStatus.OK, text='tracking')
    client.request_stop(True)
    client.wait_for_code(IkStatus.STOPPED)
    assert not client.trigger('reset').success
    client.wait_for_ticks(20)
    assert client.status.code == IkStatus.STOPPED
    client.request_stop(False)
    client.wait_for(lambda: client.trigger('reset').success, 'a reset')
    client.wait_for_code(IkStatus.OK, text='tracking')


@pytest.mark.parametrize('durability', ('VOLATILE', 'TRANSIENT_LOCAL'))
def test_no_stop_request_is_missed(client, durability):
    """Publishers of any durability, and others that withdraw it at once."""
    node = client.node
    kept = QoSProfile(depth=20, durability=DurabilityPolicy[durability])
    monitor, other = (node.create_publisher(Bool, 'ros_ik/stop_request', kept) for _ in range(2))
    for publisher in (monitor, other):
        client.wait_for(lambda p=publisher: p.get_subscription_count() > 0, 'the node')
    for _ in range(5):
        client.stream('pose', client.moved_pose((0.0, 0.1, 0.0)))
        client.wait_for_code(IkStatus.OK, text='tracking')
        monitor.publish(Bool(data=True))
        for publisher in (other, monitor, other):
            publisher.publish(Bool(data=False))
        client.wait_for_code(IkStatus.STOPPED)
        client.wait_for(lambda: client.trigger('reset').success, 'a reset')
    client.stream('pose', client.moved_pose((0.0, 0.1, 0.0)))
    client.wait_for_code(IkStatus.OK, text='tracking')
    for publisher in (monitor, other):
        node.destroy_publisher(publisher)


def test_diagnostics_has_an_entry_for_each_concern(client):
    client.diagnostics.clear()
    names = {f'ros_ik: {name}' for name in ('loop', 'joint states', 'command', 'safety', 'model')}
    client.wait_for(lambda: {entry.name for entry in client.diagnostics} == names, 'diagnostics')
    # The level of the loop depends on the load of the machine; that of the model reports missing
    # meshes.
    others = {'ros_ik: loop', 'ros_ik: model'}
    levels = {}

    def all_is_well():
        levels.update((e.name, e.level) for e in client.diagnostics if e.name not in others)
        return set(levels.values()) == {DiagnosticStatus.OK}

    # The first may be from before the reset.
    client.wait_for(all_is_well, 'an end of warnings')


def test_status_has_timings(client):
    status = client.status
    now = Clock().now().nanoseconds * 1e-9
    assert abs(status.header.stamp.sec + 1e-9 * status.header.stamp.nanosec - now) < 5.0
    assert status.control_rate == 100.0 and status.ticks > 0
    assert 0.0 < status.tick_ms_p50 <= status.tick_ms_p99


def test_the_robot_refused_nothing(client):
    client.assert_trajectories_are_accepted()
    assert 'rejected' not in client.processes.text('robot')
