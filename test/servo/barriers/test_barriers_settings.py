# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Effects of the parameters of barriers and limits, most of them while the robot runs."""

import numpy as np
import pytest
from support.long_forms import in_turn
from support.rigs.barrier_rig import BarrierRig
from support.rigs.servo_rig import Rig
from support.robots.collision_oracle import robot_with_meshes

from ros_ik.servo import Servo
from ros_ik.servo import StatusCode
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import read_settings
from ros_ik.settings import SettingsError

ROUNDING = 1e-6


def walled(**values):
    """Return a rig whose hand moves towards a wall."""
    rig = BarrierRig.shared(**values)
    rig.add('wall', 'box', [1.0, 0.05, 1.0], rig.pose()[:3] + [0.0, 0.4, 0.0])
    rig.aim(rig.moved((0.0, 0.5, 0.0)))
    return rig


def distance(rig):
    """Return the status text about the wall."""
    assert 'wall' in rig.outputs[-1].limiting_pair
    return rig.outputs[-1].barrier_distance


def test_the_margin_of_the_world_changes_while_the_robot_runs():
    rig = walled()
    rig.tick(seconds=2.5)
    assert distance(rig) == pytest.approx(0.02, abs=2e-3)
    rig.set(barriers__world__margin=0.1)
    rig.tick(seconds=2.5)
    assert distance(rig) == pytest.approx(0.1, abs=2e-3), 'it backs out until the margin is kept'
    assert rig.obstacles_apart() >= 0.1 - 2e-3
    rig.set(barriers__world__margin=0.05)
    rig.tick(seconds=2.5)
    assert distance(rig) == pytest.approx(0.05, abs=2e-3)
    rig.assert_within_limits()


def test_the_gain_of_the_world_changes_while_the_robot_runs():
    speeds = []
    for gain in (1.0, 10.0):
        rig = walled(barriers__world__gain=5.0)
        rig.set(barriers__world__gain=gain)
        positions = []
        for _ in range(60):
            rig.tick()
            positions.append(rig.pose()[1])
        speeds.append(max(np.diff(positions[35:])) / rig.dt)
    assert speeds[0] < 0.6 * speeds[1]


def test_the_margin_between_links_changes_while_the_robot_runs():
    rig = BarrierRig.shared()
    target = rig.pose()
    target[:3] = [0.0, 0.0, 0.15]
    rig.aim(target)
    for margin in (0.05, 0.02):
        rig.set(barriers__self_collision__margin=margin)
        rig.tick(seconds=3.0)
        output = rig.outputs[-1]
        assert output.limiting_barrier == 'self_collision'
        assert output.barrier_distance == pytest.approx(margin, abs=2e-3)
    rig.assert_within_limits()


def test_a_lower_acceleration_scale_still_stops_before_the_wall():
    rig = walled(
        ee__max_linear_speed=1.0, ee__max_linear_acceleration=20.0, barriers__world__gain=100.0
    )
    rig.tick(25)
    assert np.abs(rig.speeds()[-1]).max() > 0.9
    rig.set(limits__acceleration_scale=0.1)
    _, distances = rig.drive(150)
    assert distances.min() >= 0.02 - ROUNDING
    rig.assert_within_limits()
    rig.aim(rig.moved((0.0, -0.3, 0.0)))
    count = len(rig.published)
    rig.tick(80)
    dofs = rig.robot.group.variable_dof
    # A late stop before the wall relies on no more, either.
    rig.aim(rig.moved((0.0, 0.8, 0.0)))
    rig.tick(200)
    assert 'wall' in rig.outputs[-1].limiting_pair
    change = np.abs(np.diff(rig.speeds()[count:], axis=0)) / rig.dt
    assert np.all(change <= 0.1 * rig.robot.acceleration[dofs] * (1.0 + 1e-6))


def test_a_higher_acceleration_scale_that_is_taken_back_brakes_nothing():
    rig = BarrierRig.shared(home={'panda_joint1': 1.2}, limits__acceleration_scale=0.1)
    coord, dofs = rig.robot.coords[0], rig.robot.group.variable_dof
    rig.aim_joints(panda_joint1=rig.robot.upper[dofs[0]])
    rig.tick(80)
    for scale in (1.0, 0.01):
        rig.set(limits__acceleration_scale=scale)
    rig.tick()
    ahead = rig.q.copy()
    ahead[coord] += 0.5
    rig.add('ball', 'sphere', [0.05], rig.pose(ahead)[:3])
    rig.tick(40)
    assert rig.speeds()[79, 0] > 0.8 and 'ball' in rig.outputs[-1].limiting_pair
    change = np.abs(np.diff(rig.speeds(), axis=0)) / rig.dt
    assert np.all(change <= 0.1 * rig.robot.acceleration[dofs] * (1.0 + 1e-6))


def test_without_the_check_a_fast_motion_comes_nearer_than_the_margin():
    least = {}
    for recheck in (True, False):
        rig = walled(
            barriers__recheck=True, barriers__world__gain=100.0, ee__max_linear_speed=2.0,
            ee__max_linear_acceleration=50.0, limits__acceleration_scale=0.2,
        )  # fmt: skip
        rig.set(barriers__recheck=recheck)
        _, distances = rig.drive(120)
        least[recheck] = distances.min()
    assert least[True] >= 0.02 - ROUNDING > least[False]


def test_padding_keeps_the_robot_farther_away():
    rig = walled(collision__padding=0.05)
    _, distances = rig.drive(250)
    assert distances.min() >= 0.07 - ROUNDING


def test_ignored_pairs_may_touch():
    given = {'ee.frame': 'panda_hand'}
    model = robot_with_meshes('panda')
    every = resolve_robot(model, read_settings(given)).shapes
    fewer = resolve_robot(
        model, read_settings({**given, 'collision.ignore_pairs': ['panda_link1:panda_hand']})
    ).shapes

    def links(shapes):
        body = shapes.geometry.body[shapes.pairs]
        return {frozenset(model.body_label[k] for k in pair) for pair in body.tolist()}

    assert links(every) - links(fewer) == {frozenset(('panda_link1', 'panda_hand'))}


def test_a_robot_without_its_meshes_runs_and_says_what_is_not_watched():
    rig = Rig.shared()
    (warning,) = rig.robot.shapes.warnings
    assert '9 of 17' in warning and 'panda_link0' in warning
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    rig.tick(seconds=2.0)
    assert rig.outputs[-1].code == StatusCode.OK and rig.outputs[-1].tasks[0].reached


def test_a_broken_mesh_is_left_out_with_a_warning(tmp_path):
    (tmp_path / 'bad.stl').write_bytes(b'solid nonsense')
    shape = '<geometry><{}/></geometry>'
    urdf = '<robot name="r"><link name="base"><collision>{}</collision></link>'.format(
        shape.format('mesh filename="bad.stl"')
    )
    urdf += '<link name="tip"><collision>{}</collision></link>'.format(
        shape.format('sphere radius="0.1"')
    )
    urdf += (
        '<joint name="j" type="revolute"><parent link="base"/><child link="tip"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
    model = type(robot_with_meshes('panda')).from_urdf(urdf, package_paths=[tmp_path])
    servo = Servo(model, read_settings({'ee.frame': 'tip'}))
    assert 'bad.stl' in servo.robot.shapes.warnings[0]
    assert len(servo.robot.shapes.geometry) == 1


def test_switched_off_barriers_watch_nothing():
    rig = BarrierRig.shared(
        barriers__self_collision__enabled=False, barriers__world__enabled=False
    )
    rig.add('ball', 'sphere', [0.3], rig.pose()[:3])
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    rig.tick(seconds=2.0)
    assert rig.outputs[-1].tasks[0].reached and rig.outputs[-1].limiting_barrier == ''


def test_64_obstacles_come_go_and_move_in_the_slots_there_are():
    rig = BarrierRig.shared()
    rng, target = np.random.default_rng(0), rig.pose()
    for k in range(64):
        away = rng.uniform(-1.0, 1.0, 3) * [1.0, 1.0, 0.5] + [0.0, 0.0, 1.3]
        rig.add(f'o{k}', 'sphere', [0.05], away)
    rig.aim(target + np.array([0.0, 0.2, -0.1, 0, 0, 0, 0]))
    rig.tick(50)
    for k in range(0, 64, 2):
        rig.remove(f'o{k}')
    rig.tick(1)
    rig.add('near', 'box', [0.2, 0.2, 0.2], rig.pose()[:3] + [0.0, 0.3, 0.0])
    rig.tick(50)
    assert len(rig.servo._solver.scene.world_pairs()) % 33 == 0
    rig.aim(rig.moved((0.0, 0.4, 0.0)))
    _, distances = rig.drive(150)
    assert distances.min() >= 0.02 - ROUNDING
    assert 'near' in rig.outputs[-1].limiting_pair
    rig.assert_within_limits()


def test_priorities_decide_between_tasks_that_contradict_each_other():
    errors = []
    for first, second in ((1, 2), (2, 1)):
        rig = Rig.shared(
            frame_tasks=['a', 'b'], a__frame='panda_hand_tcp', b__frame='panda_hand_tcp',
            a__orientation_weight=0.0, b__orientation_weight=0.0,
            a__priority=first, b__priority=second,
        )  # fmt: skip
        rig.aim(rig.moved((0.0, 0.1, 0.0)), task=0)
        rig.aim(rig.moved((0.0, -0.1, 0.0)), task=1)
        rig.tick(seconds=3.0)
        errors.append([report.linear_error for report in rig.outputs[-1].tasks])
    assert errors[0][0] < 1e-3 < 0.19 < errors[0][1]
    assert errors[1][1] < 1e-3 < 0.19 < errors[1][0]


def test_priorities_of_such_tasks_change_while_the_robot_moves():
    rig = Rig.shared(
        frame_tasks=['a', 'b'], a__frame='panda_hand_tcp', b__frame='panda_hand_tcp',
        a__orientation_weight=0.0, b__orientation_weight=0.0,
    )  # fmt: skip
    goals = rig.moved((0.0, 0.1, 0.0)), rig.moved((0.0, -0.1, 0.0))
    for task, goal in enumerate(goals):
        rig.aim(goal, task=task)
    for a, b, expected in ((2, 1, -0.1), (1, 2, 0.1), (4, 3, -0.1), (1, 100, 0.1)):
        for level in (b, a, 101 - a, a):
            rig.set(a__priority=level, b__priority=b)
            rig.tick(seconds=0.1)
        assert np.abs(rig.speeds()[-30:]).max() > 0.01
        rig.tick(seconds=3.0)
        away = rig.pose()[1] - 0.5 * (goals[0][1] + goals[1][1])
        assert away == pytest.approx(expected, abs=1e-3)
    rig.assert_within_limits()


def test_jerk_limits_bound_the_change_of_acceleration():
    jerk = 300.0
    names = [f'panda_joint{k}' for k in range(1, 8)]
    limits = {f'joint_limits__{name}__has_jerk_limits': True for name in names}
    limits.update({f'joint_limits__{name}__max_jerk': jerk for name in names})
    worst = []
    for values in (limits, {}):
        rig = Rig.shared(**values)
        rig.aim(rig.moved((0.0, 0.3, -0.1)))
        rig.tick(200)
        assert rig.outputs[-1].tasks[0].reached
        speeds = np.concatenate([np.zeros((2, 7)), rig.speeds()])
        # A joint that stops may stop at once instead of turning back.
        goes_on = speeds[2:] * speeds[1:-1] > 0.0
        found = np.abs(np.diff(speeds, n=2, axis=0)) / rig.dt**2
        worst.append(found[goes_on].max())
        rig.assert_within_limits()
    assert worst[0] <= jerk * (1.0 + 1e-6) < worst[1]


def test_position_limits_are_tightened_and_never_loosened():
    values = {
        'joint_limits__panda_joint4__has_position_limits': True,
        'joint_limits__panda_joint4__max_position': -1.5,
    }
    rig = Rig.shared(**values)
    rig.aim_joints(panda_joint4=-0.5)
    rig.tick(seconds=3.0)
    assert rig.q[rig.robot.coord_of['panda_joint4']] == pytest.approx(-1.52, abs=1e-5)
    assert rig.outputs[-1].code == StatusCode.JOINT_BOUND
    rig.assert_within_limits()
    assert rig.model.limits64()[1].max() > 2.0, 'the model of the caller stays as it is'
    values['joint_limits__panda_joint4__max_position'] = 1.0
    with pytest.raises(SettingsError, match='max_position.*looser'):
        Rig(**values)


@pytest.mark.parametrize(('rate', 'acceleration'), in_turn([100.0, 1000.0], [0.5, 5.0]))
def test_what_holds_a_motion_back_is_named_at_every_rate(rate, acceleration):
    rig = Rig.shared(
        control_rate=rate, ee__max_linear_acceleration=acceleration,
        ee__max_angular_acceleration=2.0 * acceleration, ee__max_linear_speed=0.2,
        barriers__position__wall__frame='panda_hand_tcp',
        barriers__position__wall__max=[0.0, 0.1, 0.0],
        barriers__position__wall__axes=[False, True, False],
    )  # fmt: skip
    rig.aim(rig.moved((0.0, 0.3, 0.0)))
    rig.tick(seconds=3.0)
    assert StatusCode.HALTED_BY_BARRIER in {output.code for output in rig.outputs}
    assert rig.outputs[-1].code == StatusCode.STATIONARY
    assert 'barrier wall stops the motion' in rig.outputs[-1].text
    assert rig.outputs[-1].limiting_barrier == 'wall'
    rig.aim(rig.moved((0.0, -0.1, 0.0)))
    rig.tick(seconds=3.0)
    assert rig.outputs[-1].tasks[0].reached
    assert {o.code for o in rig.outputs[-round(0.5 / rig.dt) :]} == {StatusCode.OK}
