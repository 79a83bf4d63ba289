# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robots that lag, stand still, or are blocked: the lead of the command over them."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig
from support.robots.robots import pin
from support.robots.simulated_drives import Loop

from ros_ik.demo.robots import find_robot
from ros_ik.servo import Mode
from ros_ik.servo import StatusCode
from ros_ik.servo.state.following_state import FollowingState
from ros_ik.settings import SettingsError

OK, FOLLOWING = StatusCode.OK, StatusCode.FOLLOWING_ERROR
# docs/parameters.md: default of following_error.max; the lag is 0.1 s, 0.025 s and a period.
FLOOR, DELAY = 0.1, 0.125
# Largest command of a joint before it has moved again [rad].
TRIAL = 0.01
ARMS = {
    'panda': {f'panda_joint{k}': p for k, p in enumerate((1, -0.5, 1, -1, 1, 2.5, 1.5), 1)},
    'ur5': {
        'shoulder_pan_joint': 2.0, 'shoulder_lift_joint': -2.5, 'elbow_joint': -1.5,
        'wrist_1_joint': 1.0, 'wrist_2_joint': 1.5, 'wrist_3_joint': -2.0,
    },
}  # fmt: skip


def aim(loop, kind):
    """Stream a target that takes at least 0.6 s to reach."""
    rig = loop.rig
    if kind == 'pose':
        rig.aim(rig.moved((-0.1, 0.3, -0.2)))
    elif kind == 'twist':
        rig.aim_twist((0.0, 0.25, -0.1), (0.0, 0.0, 0.5))
    else:
        names = rig.robot.group.joint_names
        rig.aim_joints(**dict(zip(names, ARMS[rig.files_name].values(), strict=True)))


def make(name, **values):
    loop = Loop(name, **values)
    loop.rig.files_name = name
    return loop


def widest(loop):
    """Return the permitted lead of each command, from the limits of the joint alone."""
    velocity, acceleration = loop.limits()
    lag = DELAY + loop.rig.dt
    return FLOOR + lag * velocity + velocity**2 / (2.0 * acceleration)


@pytest.mark.parametrize('delay', [0.0, 1e-6, 0.01])
def test_a_robot_without_lag_is_followed_without_delay(delay):
    rig = Rig.shared('panda', following_error__delay=delay)
    rig.aim_joints(panda_joint1=0.5)
    rig.tick(60)
    assert {output.code for output in rig.outputs} == {OK}
    assert np.abs(rig.outputs[-1].following_errors).max() <= np.abs(rig.speeds()).max() * rig.dt
    rig.offset[:] = 0.03
    rig.tick()
    np.testing.assert_allclose(rig.outputs[-1].following_errors, 0.03, atol=0.025)


CASES = [
    ('panda', 100.0, 'slow', 'pose', 2.0),
    ('panda', 100.0, 'stop', 'twist', 1.5),
    ('panda', 30.0, 'slow', 'joints', 10.0),
    ('ur5', 250.0, 'slow', 'joints', 1.5),
    ('ur5', 100.0, 'stop', 'pose', 3.0),
    *either([], [('ur5', 1000.0, 'slow', 'twist', 1.2)]),
]


@pytest.mark.parametrize(('name', 'rate', 'action', 'kind', 'seconds'), CASES)
def test_a_driver_that_freezes_finds_the_command_where_the_robot_is(
    name, rate, action, kind, seconds
):
    loop = make(name, control_rate=rate, following_error__action=action, joint_state_timeout=0.2,
                outputs__default__command_horizon=0.2)  # fmt: skip
    aim(loop, kind)
    loop.tick(seconds=0.4)
    assert set(loop.codes) == {OK} and np.abs(loop.speeds()[-1]).max() > 0.15
    frozen = len(loop.codes)
    loop.drives.frozen = True
    loop.tick(seconds=seconds)
    assert np.all(loop.gaps(frozen) <= widest(loop))
    # After the detection, which takes less than the halt and the return of the command.
    known = frozen + round(1.1 * rate)
    assert set(loop.codes[known:]) == {FOLLOWING}
    assert loop.gaps(known).max() <= TRIAL + 1e-6
    assert not loop.rig.outputs[-1].tasks[0].reached
    released = len(loop.codes)
    loop.drives.frozen = False
    loop.tick()
    # It used to be 0.65 rad: the command continued as if the robot had followed.
    assert np.all(loop.gaps(released) <= TRIAL + loop.limits()[1] * loop.rig.dt**2)
    loop.tick(seconds=3.0)
    assert loop.codes[-1] != FOLLOWING
    assert loop.gaps(released).max() <= widest(loop).max()
    loop.assert_smooth()
    if kind == 'pose':
        assert loop.rig.outputs[-1].tasks[0].reached


CIRCLES = [('panda', 1.5, 0.0), ('ur5', 1.5, 1e-4), ('panda', 3.0, 1e-4), ('ur5', 3.0, 0.0)]


@pytest.mark.parametrize(('name', 'speed', 'noise'), CIRCLES)
def test_a_target_that_circles_leads_no_joint_of_a_frozen_robot_away(name, speed, noise):
    loop = make(name, noise=noise)
    home, begin = loop.rig.moved((0.0, 0.0, 0.0)), loop.rig.now

    def circle(seconds):
        for _ in range(round(seconds / loop.rig.dt)):
            angle = speed * (loop.rig.now - begin)
            place = 0.1 * np.array([0.0, np.sin(angle), 1.0 - np.cos(angle)])
            loop.rig.aim(np.concatenate([home[:3] + place, home[3:]]))
            loop.tick()

    circle(1.0)
    loop.drives.frozen = True
    circle(1.0)
    known = len(loop.codes)
    circle(5.0)
    # Joints that had not been away when the first of them was found led by 0.03 to 0.15 rad.
    assert loop.gaps(known).max() <= TRIAL + 1e-6
    # Not while the target passes the robot.
    assert np.mean(np.array(loop.codes[known:]) == FOLLOWING) > 0.99
    loop.drives.frozen = False
    circle(1.0)
    assert set(loop.codes[-50:]) == {OK}
    loop.assert_smooth()


@pytest.mark.parametrize(
    ('action', 'case'),
    in_turn(['slow', 'stop'], [(0.05, 0.1), (0.1, 0.3), (0.1, 0.7), (0.2, 0.5)]),
)
def test_the_command_is_never_farther_ahead_than_max(action, case):
    most, moment = case
    loop = make('panda', noise=1e-4, following_error__max=[most], following_error__action=action)
    aim(loop, 'joints')
    loop.tick(seconds=moment)
    loop.drives.frozen = True
    loop.tick(seconds=1.0)
    loop.drives.frozen = False
    loop.tick(seconds=0.5)
    # Five standard deviations of the measurement noise.
    assert loop.gaps().max() <= most + 5e-4
    assert FOLLOWING in loop.codes


@pytest.mark.parametrize('moment', [0.05, 0.5])
def test_one_blocked_joint_holds_all_of_them(moment):
    loop = make('panda', noise=1e-4)
    aim(loop, 'joints')
    loop.tick(seconds=moment)
    blocked = loop.coords[3]
    loop.drives.blocked = [blocked]
    loop.tick(seconds=2.5)
    assert loop.codes[-1] == FOLLOWING and 'panda_joint4' in loop.rig.outputs[-1].text
    gaps = loop.gaps(len(loop.codes) - 50)
    assert gaps.max() <= TRIAL + 1e-3
    assert np.abs(np.ptp(np.array(loop.commanded[-50:]), axis=0)).max() < 0.01, 'others go on'
    if moment < 0.1:
        # The others moved while the command braked and returned. Later most have arrived.
        assert np.flatnonzero(loop.rig.servo.following._on_trial).tolist() == [3]
    loop.drives.blocked = []
    loop.tick(seconds=3.0)
    assert loop.codes[-1] == OK and loop.gaps(len(loop.codes) - 1).max() < 1e-3


DRIVES = [(0.08, 0.0), (0.0, 0.08), (0.032, 0.04), (0.005, 0.008)]


@pytest.mark.parametrize(
    ('robot', 'drive', 'action'),
    in_turn([('panda', 100.0), ('ur5', 100.0), ('ur5', 30.0)], DRIVES, ['slow', 'stop']),
)
def test_the_lag_of_usual_controllers_is_in_order_at_any_speed(robot, drive, action):
    (name, rate), (lag, dead_time) = robot, drive
    loop = make(name, lag=lag, dead_time=dead_time, noise=1e-4, sag=0.02, control_rate=rate,
                following_error__action=action, joint_state_timeout=0.2,
                outputs__default__command_horizon=0.2)  # fmt: skip
    robot, rng = loop.rig.robot, np.random.default_rng(3)
    dofs = robot.group.variable_dof
    low, high = np.maximum(robot.lower[dofs], -3.0) + 0.1, np.minimum(robot.upper[dofs], 3.0) - 0.1
    for _ in range(4):
        goal = np.where(rng.random(len(low)) < 0.5, low, high)
        loop.rig.aim_joints(**dict(zip(robot.group.joint_names, goal.tolist(), strict=True)))
        loop.tick(seconds=0.7)
    assert set(loop.codes) == {OK}
    fastest = np.abs(loop.speeds()).max(axis=0) / loop.limits()[0]
    assert fastest.max() == pytest.approx(1.0, abs=1e-6), 'not at full speed'
    loop.tick(seconds=2.0)
    assert set(loop.codes) <= {OK, StatusCode.JOINT_BOUND}


@pytest.mark.parametrize('speed', [0.3, 0.1])
def test_a_slow_robot_takes_the_command_down_to_its_pace(speed):
    loop = make('ur5', speed=speed, noise=1e-4)
    aim(loop, 'joints')
    loop.tick(seconds=3.0)
    steady = np.abs(loop.speeds(150)).max(axis=1)
    # Joints with shorter paths are slower; the fastest one moves at the robot's speed.
    assert np.median(steady) == pytest.approx(speed, rel=0.1)
    assert steady.max() < speed + 0.1 and steady.min() > 0.25 * speed, 'it goes by fits and starts'
    assert np.all(loop.gaps() <= widest(loop))
    assert loop.codes[-1] == FOLLOWING


def test_a_robot_that_sags_does_not_count_as_standing():
    loop = make('panda', noise=1e-4, sag=0.05)
    aim(loop, 'pose')
    loop.tick(seconds=4.0)
    assert set(loop.codes) == {OK}
    np.testing.assert_allclose(loop.rig.outputs[-1].following_errors, -0.05, atol=1e-3)
    report = loop.rig.outputs[-1].tasks[0]
    assert report.linear_error < 1e-3 < report.measured_linear_error and not report.reached


def test_errors_of_the_robot_are_told_apart_from_those_of_the_command():
    loop = make('panda', following_error__max=[0.0])
    goal = loop.rig.moved((-0.1, 0.3, -0.2))
    loop.rig.aim(goal)
    loop.tick(seconds=0.5)
    loop.drives.frozen = True
    output = loop.tick(seconds=3.0)
    report = output.tasks[0]
    assert report.linear_error < 1e-3 and not report.reached
    model = pin.buildModelFromUrdf(str(find_robot('panda').urdf_path))
    data, q = model.createData(), pin.neutral(model)
    for name, position in zip(output.joint_names, loop.measured[-1], strict=True):
        q[model.joints[model.getJointId(name)].idx_q] = position
    pin.framesForwardKinematics(model, data, q)
    tip = data.oMf[model.getFrameId(find_robot('panda').tip_link)]
    base = data.oMf[model.getFrameId(find_robot('panda').base_link)]
    frame = base.actInv(tip)
    distance = np.linalg.norm(goal[:3] - frame.translation)
    x, y, z, w = goal[3:]
    turn = pin.log3(pin.Quaternion(w, x, y, z).matrix() @ frame.rotation.T)
    assert report.measured_linear_error == pytest.approx(distance, abs=1e-6) and distance > 0.05
    assert report.measured_angular_error == pytest.approx(np.linalg.norm(turn), abs=1e-6)
    last = np.array(loop.commanded[-12:])
    wanted = loop.measured[-1] - np.clip(loop.measured[-1], last.min(axis=0), last.max(axis=0))
    # The command still creeps, by less than this in a tick.
    np.testing.assert_allclose(output.following_errors, wanted, atol=2e-4)


def test_errors_are_not_known_before_there_is_a_command():
    loop = make('panda')
    loop.tick(3)
    assert np.isnan(loop.rig.outputs[-1].following_errors).all()
    aim(loop, 'pose')
    loop.tick(2)
    assert np.abs(loop.rig.outputs[-1].following_errors).max() < 1e-9


def test_a_target_that_ends_meanwhile_leaves_the_command_at_the_robot():
    loop = make('panda')
    aim(loop, 'pose')
    loop.tick(seconds=0.4)
    loop.drives.frozen = True
    loop.rig.quiet()
    output = loop.tick(seconds=2.0)
    assert output.code == StatusCode.COMMAND_STALE and not output.publish
    assert loop.gaps(len(loop.codes) - 1).max() < 1e-6
    loop.assert_smooth()


def test_a_robot_that_is_moved_by_hand_without_a_target_is_left_alone():
    loop = make('panda')
    aim(loop, 'pose')
    loop.tick(seconds=0.4)
    loop.rig.quiet()
    loop.tick(seconds=1.0)
    count = len(loop.rig.published)
    loop.drives.frozen = True
    for _ in range(100):
        loop.drives.q[loop.coords] += 0.01
        loop.tick()
    loop.tick(seconds=1.0)
    assert len(loop.rig.published) == count


@pytest.mark.parametrize('ends', ['pause', 'stop'])
def test_a_halt_of_the_node_halts_the_return_too(ends):
    loop = make('panda')
    aim(loop, 'pose')
    loop.tick(seconds=0.4)
    loop.drives.frozen = True
    while not (loop.codes[-1] == FOLLOWING and loop.gaps(-10)[-1].max() < loop.gaps(-10)[0].max()):
        loop.tick()
    loop.rig.command = (
        loop.rig.command.with_pause(True) if ends == 'pause' else loop.rig.command.with_stop()
    )
    loop.tick(seconds=0.5)
    still = loop.commanded[-1]
    loop.tick(seconds=1.0)
    np.testing.assert_array_equal(loop.commanded[-1], still)
    assert loop.codes[-1] == (StatusCode.PAUSED if ends == 'pause' else StatusCode.STOPPED)
    loop.assert_smooth()


def test_zero_watches_nothing_and_takes_effect_at_once():
    loop = make('panda', following_error__max=[0.0])
    aim(loop, 'pose')
    loop.tick(seconds=0.4)
    loop.drives.frozen = True
    loop.tick(seconds=1.5)
    assert set(loop.codes) == {OK} and loop.gaps().max() > 0.4
    loop.rig.set(following_error__max=[])
    loop.tick(seconds=1.5)
    assert loop.codes[-1] == FOLLOWING and loop.gaps(-1).max() <= TRIAL
    loop.assert_smooth()


def test_bounds_are_those_of_the_joints_in_their_order():
    loop = make('panda')
    loop.rig.aim_joints(panda_joint1=1.0)
    loop.tick(seconds=0.3)
    loop.drives.frozen = True
    loop.rig.set(following_error__max=[0.0] + [0.1] * 6)
    loop.tick(seconds=0.5)
    assert set(loop.codes) == {OK}
    loop.rig.set(following_error__max=[0.1] * 6 + [0.0])
    loop.tick(seconds=0.5)
    assert loop.codes[-1] == FOLLOWING


def freeze(rig, **change):
    """Turn a joint that stands still after a while; return codes and positions of the joint."""
    rig.set(**change)
    coord, found = rig.robot.coords[0], []
    rig.aim_joints(panda_joint1=1.5)
    for tick in range(120):
        if tick == 40:
            stands = rig.q[coord]
        if tick >= 40:
            rig.offset[coord] = stands - rig.q[coord]
        output = rig.tick()
        found.append((output.code == FOLLOWING, output.joint_q[coord]))
    return np.array(found)


@pytest.mark.parametrize(
    ('first', 'change'),
    [
        ({}, {'following_error__max': [0.05]}),
        ({'following_error__max': [0.0]}, {'following_error__max': []}),
        ({}, {'following_error__delay': 0.3}),
    ],
)
def test_bounds_set_later_are_those_of_a_servo_that_had_them_from_the_start(first, change):
    begun = freeze(Rig('panda', reports=False, **{**first, **change}))
    # A shared servo may have had other bounds at its start.
    changed = freeze(Rig('panda', reports=False, **first), **change)
    unchanged = freeze(Rig.shared('panda', reports=False, **first))
    np.testing.assert_allclose(changed, begun, atol=1e-6)
    assert changed[:, 0].any()
    assert np.abs(changed - unchanged).max() > 1e-3


@pytest.mark.parametrize('action', ['slow', 'stop'])
def test_the_action_for_a_slow_robot_takes_effect_in_motion(action):
    loop = make('panda', speed=0.2)
    loop.rig.aim_joints(panda_joint1=1.0)
    loop.tick(seconds=0.1)
    loop.rig.set(following_error__action=action, following_error__max=[0.1])
    loop.tick(seconds=2.0)
    assert FOLLOWING in loop.codes and loop.gaps().max() <= 0.1 + 1e-6
    speeds = np.abs(loop.speeds(10)).max(axis=1)
    assert (speeds.min() == 0.0) == (action == 'stop')


@pytest.mark.parametrize('delay', [0.1, 0.6])
def test_the_accepted_lag_takes_effect_in_motion(delay):
    loop = make('panda', dead_time=0.4)
    loop.rig.aim_joints(panda_joint1=2.0)
    loop.tick(3)
    loop.rig.set(following_error__delay=delay)
    loop.tick(seconds=0.9)
    assert (FOLLOWING in loop.codes) == (delay < 0.4)
    if delay > 0.4:
        assert np.abs(loop.rig.outputs[-1].following_errors).max() < 0.05


def test_commands_are_kept_for_the_delay_of_now():
    loop = make('panda', lag=0.0, dead_time=0.15, limits__velocity_scale=0.25)
    loop.rig.aim_joints(panda_joint1=2.0)
    loop.rig.set(following_error__delay=2.0)
    loop.tick(seconds=2.2)
    # A dozen of them and the last one, so that work and memory are bounded.
    assert len(loop.rig.servo.following._history._commands) <= 13
    loop.rig.set(following_error__delay=0.05)
    loop.tick(20)
    speed = loop.speeds()[-1, 0]
    assert speed > 0.5, 'the test shows nothing'
    # The robot is 0.15 s late. Commands may be kept for two ticks longer, and a third by rounding.
    late = -loop.rig.outputs[-1].following_errors[0] / speed
    assert 0.1 - 3.5 * loop.rig.dt < late < 0.1 + 1.5 * loop.rig.dt


@pytest.mark.parametrize('delay', [0.05, 0.6])
def test_a_joint_that_stands_still_halts_the_command_after_the_delay_of_now(delay):
    loop = make('panda')
    loop.rig.aim_joints(panda_joint1=2.0)
    loop.tick(seconds=0.4)
    loop.rig.set(following_error__delay=delay)
    loop.drives.frozen = True
    frozen = loop.rig.now
    while loop.rig.servo.following.state is not FollowingState.HALTS:
        loop.tick()
        assert loop.rig.now < frozen + 2.0
    # 0.1 s later, and the time in which the command leaves the joint by 0.03 rad.
    assert delay + 0.1 <= loop.rig.now - frozen < delay + 0.2


def test_a_command_that_returned_does_not_follow_a_robot_that_sags():
    loop = make('panda')
    aim(loop, 'joints')
    loop.tick(seconds=0.4)
    loop.drives.frozen = True
    following = loop.rig.servo.following
    for state in (FollowingState.RETURNS, FollowingState.TRACKS):
        while following.state is not state:
            loop.tick()
            assert len(loop.codes) < 300
    place = loop.commanded[-1]
    loop.drives.frozen = False
    loop.drives.sag[loop.coords] = 0.6
    loop.tick(seconds=1.0)
    assert loop.gaps(-1).max() > 0.5, 'the test shows nothing'
    assert np.abs(loop.commanded[-1] - place).max() <= TRIAL


def test_a_robot_that_is_moved_by_hand_after_a_return_is_found_there():
    loop = make('panda')
    aim(loop, 'joints')
    loop.tick(seconds=0.4)
    loop.drives.frozen = True
    loop.tick(seconds=1.2)
    assert loop.codes[-1] == FOLLOWING
    loop.drives.frozen = False
    loop.tick(seconds=3.0)
    assert loop.codes[-1] == OK and loop.gaps(-1).max() < 1e-3
    loop.drives.frozen = True
    loop.drives.q[loop.coords] -= 0.5
    loop.tick(seconds=1.5)
    assert loop.codes[-1] == FOLLOWING and loop.gaps(-1).max() <= TRIAL + 1e-6


def test_joint_states_that_come_within_a_longer_timeout_are_compared():
    loop = make('panda')
    aim(loop, 'joints')
    loop.tick(seconds=0.1)
    loop.rig.set(joint_state_timeout=1.0)
    loop.silent = True
    loop.tick(seconds=0.2)
    loop.silent, loop.drives.frozen = False, True
    loop.tick(seconds=0.6)
    assert loop.codes[-1] == FOLLOWING


@pytest.mark.parametrize('state', [FollowingState.HALTS, FollowingState.RETURNS, 'on trial'])
def test_targets_wait_no_longer_for_a_joint_that_is_not_watched_any_more(state):
    loop = make('panda')
    aim(loop, 'pose')
    loop.tick(seconds=0.4)
    loop.drives.frozen = True
    following = loop.rig.servo.following
    for _ in range(200):
        loop.tick()
        if state is following.state or (state == 'on trial' and following.slowed_by):
            break
    assert loop.codes[-1] == FOLLOWING
    loop.rig.set(following_error__max=[0.0])
    loop.tick(seconds=1.0)
    assert loop.codes[-1] == OK
    loop.tick(seconds=1.0)
    assert loop.codes[-1] == OK and loop.rig.outputs[-1].tasks[0].linear_error < 1e-3
    loop.assert_smooth()


def test_a_wrong_number_of_bounds_is_refused():
    with pytest.raises(SettingsError, match=r'following_error.max.*0 or 1 or 7 entries'):
        Rig('panda', following_error__max=[0.1, 0.2])


def test_a_reset_lets_the_command_go_on():
    loop = make('panda')
    aim(loop, 'pose')
    loop.tick(seconds=0.4)
    loop.drives.frozen = True
    loop.tick(seconds=1.5)
    assert loop.codes[-1] == FOLLOWING
    loop.rig.command = loop.rig.command.with_reset()
    loop.rig.change(mode=Mode.AUTO)
    loop.tick(20)
    assert OK in loop.codes[-10:], 'it still doubts the robot'


@pytest.mark.parametrize('action', ['slow', 'stop'])
def test_a_robot_that_was_not_heard_for_a_while_did_not_stand(action):
    loop = make('panda', following_error__action=action, joint_state_timeout=0.4)
    aim(loop, 'joints')
    loop.tick(seconds=0.4)
    loop.silent = True
    loop.tick(seconds=0.35)
    loop.silent = False
    loop.tick(seconds=1.0)
    assert set(loop.codes) == {OK}
    assert np.abs(loop.commanded[-1] - list(ARMS['panda'].values())).max() < 1e-6


@pytest.mark.parametrize(
    ('action', 'seconds'), in_turn(['slow', 'stop'], [0.3, 0.35, 0.5, 1.2])
)
def test_after_a_silence_motion_starts_where_the_robot_is(action, seconds):
    loop = make('panda', following_error__action=action, joint_state_timeout=0.1)
    aim(loop, 'joints')
    loop.tick(seconds=0.5)
    loop.silent = True
    loop.tick(seconds=seconds)
    since = len(loop.codes)
    assert loop.codes[-1] == StatusCode.JOINT_STATE_STALE
    assert FOLLOWING not in loop.codes
    loop.drives.q[loop.coords] += 0.3
    place = loop.drives.q[loop.coords].copy()
    loop.drives.frozen, loop.silent = True, False
    loop.tick()
    loop.drives.frozen = False
    loop.tick(seconds=0.5)
    assert set(loop.codes[since:]) == {OK}
    first = loop.commanded[since]
    _, acceleration = loop.limits()
    assert np.all(np.abs(first - place) <= acceleration * loop.rig.dt**2 * (1 + 1e-6))
    loop.assert_smooth(since)
