# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Links stay apart from each other and from obstacles, judged by coal on the hulls of meshes."""

import numpy as np
import pytest
from support.long_forms import either
from support.rigs.barrier_rig import BarrierRig
from support.robots.collision_oracle import PACKAGES
from support.robots.collision_oracle import urdf_path

from ros_ik.model import Model
from ros_ik.servo import StatusCode

# Rounding of coal's distances [m].
ROUNDING = 1e-6
HELD_BACK = {StatusCode.SLOWED_BY_BARRIER, StatusCode.HALTED_BY_BARRIER}


def codes_of(rig, count):
    return {output.code for output in rig.outputs[-count:]}


@pytest.mark.parametrize('name', ['panda', 'baxter', 'talos'])
def test_no_way_into_itself_is_gone_to_its_end(name):
    rig = BarrierRig.shared(name)
    for seed in either((1,), (1, 2)):
        rig.aim_joints(**rig.colliding(seed))
        links, _ = rig.drive(150)
        assert links.min() >= 0.01 - ROUNDING
        assert codes_of(rig, 150) & HELD_BACK
        output = rig.outputs[-1]
        assert output.limiting_barrier == 'self_collision' and all(output.limiting_pair)
        assert output.barrier_distance >= 0.01 - ROUNDING
    rig.assert_within_limits()


def test_links_come_nearer_about_as_fast_as_the_gain_lets_them():
    gain, margin = 5.0, 0.01
    rig = BarrierRig.shared(
        barriers__self_collision__gain=gain, barriers__self_collision__max_pairs=64
    )
    before, most = rig.oracle.distances(rig.q, rig.pairs), 0.0
    for seed in (1, 2, 3):
        rig.aim_joints(**rig.colliding(seed))
        for _ in range(60):
            rig.tick()
            distances = rig.oracle.distances(rig.q, rig.pairs)
            closing, room = (before - distances) / rig.settings.period, before - margin
            # Below 0.02 m/s and 2 mm, curvature and rounding dominate.
            parts = np.where((room > 0.002) & (closing > 0.02), closing / (gain * room), 0.0)
            before, most = distances, max(most, parts.max())
    # Above 1 where the nearest point jumps to a faster side of the link: the robot then brakes
    # within its acceleration limits. Steps that were relaxed too much reached 3.
    assert 0.9 < most < 2.0


def test_status_names_the_pair_and_its_distance_and_the_way_back_is_free():
    rig = BarrierRig.shared()
    target = rig.pose()
    target[:3] = [0.0, 0.0, 0.12]
    rig.aim(target)
    rig.tick(750)
    assert codes_of(rig, 750) >= HELD_BACK
    output = rig.outputs[-1]
    assert output.limiting_barrier == 'self_collision'
    assert {'panda_hand', 'panda_link1'} == set(output.limiting_pair)
    assert 0.01 - ROUNDING <= output.barrier_distance < 0.015
    assert 'panda_hand' in output.text and '0.01' in output.text
    rig.aim(rig.moved((0.3, 0.0, 0.3)))
    rig.tick(seconds=3.0)
    assert rig.outputs[-1].tasks[0].reached


def test_a_motion_starts_alike_whatever_was_before():
    """A new solver was tried where the robot violates a barrier, and a used one has left one."""
    rides = []
    for make in (BarrierRig, BarrierRig.shared, BarrierRig.shared):
        rig = make()
        tip = rig.pose()[:3]
        rig.add('ball', 'sphere', [0.05], [tip[0], tip[1] + 0.15, tip[2]])
        rig.aim(rig.moved((0.05, -0.05, 0.0)))
        rig.tick(30)
        rides.append(np.array([output.joint_q for output in rig.published]))
    for ride in rides[1:]:
        np.testing.assert_array_equal(ride, rides[0])


def test_without_the_barrier_the_same_way_does_collide():
    rig = BarrierRig.shared(barriers__self_collision__enabled=False)
    rig.aim_joints(**rig.colliding(1))
    links, _ = rig.drive(150)
    assert links.min() < 0.0, 'the tests before this one show nothing'


@pytest.mark.parametrize('name', ['baxter', 'talos'])
def test_two_arms_swing_through_each_other_and_do_not_touch(name):
    rig = BarrierRig.shared(name)
    for task, side in ((0, -1.0), (1, 1.0)):
        target = rig.pose(task=task)
        target[1] += side * 0.7
        rig.aim(target, task=task)
    links, _ = rig.drive(250)
    assert links.min() >= 0.01 - ROUNDING
    assert codes_of(rig, 250) & HELD_BACK
    assert rig.outputs[-1].limiting_barrier == 'self_collision'
    assert all(rig.outputs[-1].limiting_pair)
    rig.assert_within_limits()


@pytest.mark.parametrize('kind', ['sphere', 'box', 'cylinder', 'capsule', 'half_space'])
def test_no_obstacle_on_the_way_is_touched(kind):
    rig = BarrierRig.shared()
    target = rig.moved((-0.05, 0.45, 0.0))
    middle = 0.5 * (rig.pose()[:3] + target[:3])
    dimensions = {
        'sphere': [0.08], 'box': [0.1, 0.1, 0.3], 'cylinder': [0.06, 0.3], 'capsule': [0.06, 0.2],
        'half_space': [],
    }[kind]  # fmt: skip
    turned = (0.0, 0.0, 0.0, 1.0)
    if kind == 'half_space':
        middle[1], turned = target[1] - 0.1, (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    rig.add('thing', kind, dimensions, middle, quaternion=turned)
    rig.aim(target)
    links, obstacles = rig.drive(250)
    assert obstacles.min() >= 0.02 - ROUNDING
    assert links.min() >= 0.01 - ROUNDING
    assert codes_of(rig, 250) & HELD_BACK
    limiting = [o for o in rig.outputs[-250:] if o.limiting_barrier == 'world']
    assert any('thing' in output.limiting_pair for output in limiting)
    rig.assert_within_limits()


def test_an_obstacle_that_goes_away_lets_the_motion_go_on():
    rig = BarrierRig.shared()
    target = rig.moved((0.0, 0.3, 0.0))
    rig.add('wall', 'box', [0.6, 0.05, 1.0], rig.pose()[:3] + [0.0, 0.2, 0.0])
    rig.aim(target)
    rig.drive(200)
    assert StatusCode.HALTED_BY_BARRIER in codes_of(rig, 100)
    assert 'barrier world stops the motion' in rig.outputs[-1].text
    assert 'wall' in rig.outputs[-1].limiting_pair
    rig.remove('wall')
    rig.tick(seconds=2.0)
    assert rig.outputs[-1].code == StatusCode.OK and rig.outputs[-1].tasks[0].reached
    rig.assert_within_limits()


def test_an_obstacle_in_a_link_stays_where_the_link_was():
    rig = BarrierRig.shared()
    hand, start = 'panda_hand', rig.pose()
    rig.add('ahead', 'sphere', [0.05], [0.0, 0.0, 0.3], frame=hand)
    scene, row = rig.servo._solver.scene, rig.servo._solver.scene.obstacle_rows[0]
    rig.aim(start + np.array([0.0, 0.2, 0.1, 0, 0, 0, 0]))
    rig.tick(1)
    placed = scene.rows.pose[row, :3].copy()
    body_q = rig.servo._solver.diff.body_poses(rig.published[0].joint_q)
    np.testing.assert_allclose(placed[2], body_q[rig.model.body_index(hand), 2] - 0.3, atol=0.01)
    rig.tick(50)
    rig.add('other', 'sphere', [0.05], [1.0, 1.0, 1.0])
    rig.tick(10)
    np.testing.assert_array_equal(scene.rows.pose[row, :3], placed)


def test_an_obstacle_right_on_the_robot_is_left_and_never_entered_deeper():
    rig = BarrierRig.shared()
    hand = rig.pose()[:3]
    rig.add('ball', 'sphere', [0.1], hand + [0.05, 0.0, 0.0])
    rig.aim(rig.moved((0.1, 0.0, 0.0)))
    _, distances = rig.drive(100)
    values = [o.barrier_distance for o in rig.outputs[-100:]]
    assert distances[0] < 0.0
    assert np.diff(values).min() >= -ROUNDING
    rig.assert_within_limits()
    rig.aim(rig.moved((-0.25, 0.0, 0.0)))
    rig.tick(seconds=3.0)
    assert rig.obstacles_apart() >= 0.02 and rig.outputs[-1].tasks[0].reached


def test_the_way_out_of_a_margin_is_gone_slowly():
    # Without an SRDF two links of the Panda start below the margin, and hardly any motion
    # separates them: the row used to drive joints to their velocity limits.
    text = urdf_path('panda').read_text()
    model = Model.from_urdf(text, package_paths=PACKAGES, device='cpu')
    rig = BarrierRig.shared(model=model)
    rig.aim(rig.pose())
    rig.tick(100)
    values = [o.barrier_distance for o in rig.outputs if o.limiting_pair[0]]
    assert values[0] < 0.01 and values[-1] > values[0] + 3e-4
    assert np.diff(values).min() >= -ROUNDING
    assert np.abs(rig.speeds()).max() < 0.5


def test_an_obstacle_before_a_moving_robot_makes_it_brake_within_its_limits():
    rig = BarrierRig.shared(ee__max_linear_speed=1.0)
    rig.aim(rig.moved((0.0, 0.6, 0.0)))
    rig.tick(30)
    assert np.abs(rig.speeds()[-1]).max() > 0.3
    rig.add('wall', 'box', [1.0, 0.02, 1.0], rig.pose()[:3] + [0.0, 0.32, 0.0])
    _, distances = rig.drive(150)
    assert distances.min() >= 0.02 - ROUNDING, 'there was room to stop'
    rig.assert_within_limits()
    assert rig.outputs[-1].still or np.abs(rig.speeds()[-1]).max() < 0.05


def test_braking_for_silence_does_not_run_into_an_obstacle():
    rig = BarrierRig.shared(ee__max_linear_speed=1.0)
    start = rig.pose()
    rig.add('wall', 'box', [1.0, 0.02, 1.0], start[:3] + [0.0, 0.3, 0.0])
    rig.aim(rig.moved((0.0, 0.6, 0.0)))
    rig.tick(35)
    assert np.abs(rig.speeds()[-1]).max() > 0.2
    rig.quiet()
    rig.change(paused=True)
    _, distances = rig.drive(60)
    assert distances.min() >= 0.02 - ROUNDING and rig.outputs[-1].still
    rig.assert_within_limits()


def test_what_no_step_can_change_holds_nothing_back():
    # The first link turns about the vertical: its height above the table stays as it is.
    rig = BarrierRig.shared()
    rig.add('table', 'half_space', [], [0.0, 0.0, 0.2])
    rig.aim(rig.pose() + np.array([-0.1, 0.3, 0.0, 0, 0, 0, 0]))
    rig.tick(seconds=2.5)
    assert rig.outputs[-1].tasks[0].reached
    target = rig.pose()
    target[2] = 0.1
    rig.aim(target)
    rig.tick(seconds=3.0)
    assert StatusCode.HALTED_BY_BARRIER in codes_of(rig, 300)
    assert 'barrier world stops the motion' in rig.outputs[-1].text
    assert 'table' in rig.outputs[-1].limiting_pair
    assert 'panda_link1' not in rig.outputs[-1].limiting_pair
    rig.assert_within_limits()
