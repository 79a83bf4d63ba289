# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets that hold at the start and at the end hold along the way; Pinocchio measures."""

import functools
import itertools

import numpy as np
import pytest
from solvers.optimal_control.optimal_control_rig import check_motion
from solvers.optimal_control.optimal_control_rig import DT
from solvers.optimal_control.optimal_control_rig import Rig
from solvers.optimal_control.optimal_control_rig import ROBOTS
from support.long_forms import either
from support.robots.robots import pin

from ros_ik.barriers import PositionBarrier
from ros_ik.model import Model
from ros_ik.solvers import inverse_kinematics
from ros_ik.solvers import OptimalControl
from ros_ik.solvers import OptimalControlCommandBuilder
from ros_ik.solvers import OptimalControlSettings
from ros_ik.solvers import StopReason
from ros_ik.solvers.status import SolveStatus

# Bent knees and elbows, so that hands and hips can move.
STANCES = {
    'talos_reduced': {'leg_{}_3': -0.4, 'leg_{}_4': 0.8, 'leg_{}_5': -0.4, 'arm_{}_4': -1.2},
    'g1_29dof_rev_1_0': {
        '{}_hip_pitch': -0.4, '{}_knee': 0.8, '{}_ankle_pitch': -0.4, '{}_elbow': 0.5,
    },
}  # fmt: skip
HUMANOIDS = pytest.mark.parametrize('name', STANCES)
# Tolerances of held targets: the settings' position_tolerance and rotation_tolerance.
HELD = (1e-3, 1e-2)


class Standing:
    """A humanoid on its left foot, its right foot and its centre of mass where they are."""

    def __init__(self, name, seed, **options):
        self.rig = Rig(name, seed=seed, **options)
        q = self.rig.model.neutral_joint_q()
        for pattern, angle in STANCES[name].items():
            for side in ('left', 'right'):
                joint = self.rig.model.joint_index(pattern.format(side) + '_joint')
                q[self.rig.model.joint_q_start.numpy()[joint]] = angle
        self.q = self.rig.moved(q, self.rig.rng.uniform(-0.03, 0.03, len(self.rig.coords)))
        self.reference, self.foot = self.rig.pairs[2]
        self.hands = [link for _, link in self.rig.pairs[:2]]
        self.sole = self.pose(self.q, self.foot)
        self.com = self.rig.center(self.q)

    def pose(self, joint_q, link):
        frames = self.rig.frames(joint_q)
        return frames[self.reference].actInv(frames[link])

    def command(self, reach, com=True, weights=(1.0, 1.0)):
        made = OptimalControlCommandBuilder()
        for hand in self.hands:
            target = self.pose(self.q, hand)
            target.translation = target.translation + self.rig.rng.uniform(-reach, reach, 3)
            made.add_cartesian_target(self.reference, hand, target.homogeneous, 1.0, 0.0)
        made.add_cartesian_target(self.reference, self.foot, self.sole.homogeneous, *weights)
        if com:
            made.set_center_of_mass_target(self.reference, self.com, 1.0)
        return made.build()

    def errors(self, joint_q):
        """Distance and angle of the foot, distance of the centre of mass."""
        sole = self.pose(joint_q, self.foot)
        return (
            np.linalg.norm(sole.translation - self.sole.translation),
            np.linalg.norm(pin.log3(sole.rotation.T @ self.sole.rotation)),
            np.linalg.norm(self.rig.center(joint_q) - self.com),
        )

    def worst(self, rows):
        return np.max([self.errors(q) for q in rows], axis=0)

    def knots_and_middles(self, result):
        """Return configurations at and half way between the knots."""
        q = result.positions[:, self.rig.coords]
        v = result.velocities[:, self.rig.dofs]
        middles = result.positions[:-1].copy()
        middles[:, self.rig.coords] = 0.5 * (q[:-1] + q[1:]) + DT * (v[:-1] - v[1:]) / 8.0
        return [*result.positions, *map(self.rig.model.apply_mimic, middles)]


@HUMANOIDS
def test_foot_and_centre_of_mass_stay_while_the_hands_move(name):
    standing = Standing(name, seed=2)
    slid = 0
    for _ in range(8):
        result = standing.rig.solver.solve(standing.command(0.2), standing.q)
        check_motion(standing.rig, result, standing.q)
        straight = np.linspace(standing.q, result.positions[-1], 11)
        if result.status is SolveStatus.UNREACHABLE or result.status is SolveStatus.AT_LIMITS:
            continue  # the weights distribute the error that remains
        slid += np.any(standing.worst(straight)[[0, 2]] > 2e-3)
        worst = standing.worst(standing.knots_and_middles(result))
        # Joints go straight where that leaves a place by less than a tenth of what still holds.
        assert np.all(worst < 0.11 * np.array([HELD[0], HELD[1], HELD[0]]))
        assert result.status is SolveStatus.CONVERGED and result.violated_targets == ()
    assert slid >= 3  # straight ways would have left their places


@HUMANOIDS
def test_a_target_of_no_weight_is_not_held(name):
    standing = Standing(name, seed=2)
    command = standing.command(0.1, com=False, weights=(1.0, 0.0))
    result = standing.rig.solver.solve(command, standing.q)
    assert result.status is SolveStatus.CONVERGED
    assert standing.worst(result.positions)[0] < HELD[0]
    none = standing.command(0.1, com=False, weights=(0.0, 0.0))
    result = standing.rig.solver.solve(none, standing.q)
    # Nothing asks for a detour: joints go straight.
    assert np.linalg.matrix_rank(result.positions - standing.q, tol=1e-6) == 1
    assert standing.worst(result.positions)[0] > HELD[0] and result.violated_targets == ()


def test_a_moving_start_stops_and_then_holds():
    standing = Standing('talos_reduced', seed=4)
    qd = np.zeros(standing.rig.model.joint_dof_count)
    qd[standing.rig.dofs[standing.rig.names.index('arm_left_1_joint')]] = 0.5
    result = standing.rig.solver.solve(standing.command(0.2, com=False), standing.q, qd)
    check_motion(standing.rig, result, standing.q, qd)
    assert result.status is SolveStatus.CONVERGED
    assert standing.worst(standing.knots_and_middles(result))[0] < HELD[0]


def test_a_motion_that_ends_early_holds_until_then():
    settings = OptimalControlSettings(max_duration=0.15)
    standing = Standing('talos_reduced', seed=2, settings=settings)
    command = standing.command(0.25, com=False)
    whole = Standing('talos_reduced', seed=2).rig.solver.solve(command, standing.q)
    result = standing.rig.solver.solve(command, standing.q)
    check_motion(standing.rig, result, standing.q)
    assert whole.times[-1] > 0.15 and result.reason is StopReason.TIME_HORIZON
    assert 0.12 <= result.times[-1] <= 0.15
    assert standing.worst(standing.knots_and_middles(result))[0] < HELD[0]


def test_barriers_hold_along_a_curve_too():
    standing = Standing('talos_reduced', seed=2)
    rig, hand = standing.rig, standing.hands[0]
    command = standing.command(0.2)
    here = standing.pose(standing.q, hand).translation
    there = command.cartesian_targets[0].T[:3, 3]
    low, high = np.minimum(here, there) - 5e-3, np.maximum(here, there) + 5e-3
    barrier = PositionBarrier(
        rig.model.body_index(hand), low, high,
        reference_link_index=rig.model.body_index(standing.reference),
    )  # fmt: skip
    result = OptimalControl(rig.model, barriers=[barrier]).solve(command, standing.q)
    check_motion(rig, result, standing.q)
    for q in standing.knots_and_middles(result):
        place = standing.pose(q, hand).translation
        assert np.all(place >= low - 1e-7) and np.all(place <= high + 1e-7)
    held = standing.worst(result.positions)
    named = ' '.join(result.violated_targets)
    assert (held[0] > HELD[0] or held[1] > HELD[1]) == (standing.foot in named)
    assert (held[2] > HELD[0]) == ('centre of mass' in named)


def test_the_status_says_what_does_not_hold():
    """Two solutions of one pose that no path at the pose connects."""
    with pytest.MonkeyPatch.context() as patch:
        pair = ('base_link', 'tool0')
        patch.setitem(ROBOTS, 'ur5_robot', ('base_link:tool0', [pair], None))
        rig = Rig('ur5_robot', seed=3)
    q = rig.random_joint_q()
    frame = rig.frames(q)['tool0']
    pose = np.concatenate([frame.translation, pin.Quaternion(frame.rotation).coeffs()])
    found = inverse_kinematics(rig.model, 'tool0', pose[None], q[None], n_solutions=4,
                               position_tolerance=1e-6, rotation_tolerance=1e-6)  # fmt: skip
    other = found.joint_q[0, 1]
    made = OptimalControlCommandBuilder()
    base = rig.frames(q)['base_link']
    made.add_cartesian_target('base_link', 'tool0', base.actInv(frame).homogeneous, 1.0, 0.3)
    for joint, position in zip(rig.names, other[rig.coords], strict=True):
        made.add_joint_position_target(joint, position, 100.0)
    result = rig.solver.solve(made.build(), q)
    check_motion(rig, result, q)
    assert np.allclose(result.positions[-1], other, atol=1e-3)
    frames = [rig.frames(x)['tool0'] for x in result.positions]
    distance = max(np.linalg.norm(f.translation - frame.translation) for f in frames)
    angle = max(np.linalg.norm(pin.log3(f.rotation.T @ frame.rotation)) for f in frames)
    assert result.status is SolveStatus.RELAXED and result.relaxed == ()
    assert len(result.violated_targets) == 1
    assert result.violated_targets[0].startswith('violated on the way: tool0 in base_link by ')
    told = [
        float(part.split()[0])
        for part in result.violated_targets[0].split(' by ')[1].split(' and ')
    ]
    # Reported with three digits.
    assert told == pytest.approx([1e3 * distance, angle], rel=0.005)


def test_what_holds_at_the_start_comes_before_what_is_to_be_reached():
    """The forearm is to turn to where another solution of the tool's pose has it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ROBOTS, 'ur5_robot', ('base_link:tool0', [('base_link', 'tool0')], None))
        rig = Rig('ur5_robot', seed=5)
    stayed, n = 0, either(10, 30)
    for _ in range(n):
        q = rig.random_joint_q()
        frames = rig.frames(q)
        base, tool = frames['base_link'], frames['tool0']
        pose = np.concatenate([tool.translation, pin.Quaternion(tool.rotation).coeffs()])
        found = inverse_kinematics(rig.model, 'tool0', pose[None], q[None], n_solutions=8)
        goal = rig.frames(found.joint_q[0, found.n_found[0] - 1])['forearm_link']
        made = OptimalControlCommandBuilder()
        made.add_cartesian_target('base_link', 'tool0', base.actInv(tool).homogeneous, 1e3, 1e3)
        made.add_cartesian_target(
            'base_link', 'forearm_link', base.actInv(goal).homogeneous, 0, 0.3
        )
        result = rig.solver.solve(made.build(), q)
        check_motion(rig, result, q)
        tools = [rig.frames(x)['tool0'] for x in result.positions]
        leaves = any(
            np.linalg.norm(f.translation - tool.translation) > HELD[0]
            or np.linalg.norm(pin.log3(f.rotation.T @ tool.rotation)) > HELD[1]
            for f in tools
        )
        assert leaves == any('tool0' in sentence for sentence in result.violated_targets)
        turned = base.actInv(rig.frames(result.positions[-1])['forearm_link']).rotation
        reached = np.linalg.norm(pin.log3(turned.T @ base.actInv(goal).rotation)) < HELD[1]
        assert reached == (not result.unreachable_targets)
        assert (result.status is SolveStatus.CONVERGED) == (reached and not leaves)
        stayed += not leaves and not reached
    assert stayed >= n // 7


LENGTH, JOINTS = 0.5, 4


def planar_arm(upper):
    """Return an arm in the plane with upper limits of its joints [rad]."""
    parts = ''.join(
        f'<link name="l{k + 1}"/><joint name="j{k}" type="revolute"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/><origin xyz="{LENGTH if k else 0} 0 0"/><axis xyz="0 0 1"/>'
        f'<limit lower="-9" upper="{high}" velocity="2" effort="1"/></joint>'
        for k, high in enumerate(upper)
    )
    parts += (
        f'<link name="tip"/><joint name="end" type="fixed"><parent link="l{len(upper)}"/>'
        f'<child link="tip"/><origin xyz="{LENGTH} 0 0"/></joint>'
    )
    return Model.from_urdf(f'<robot name="r"><link name="l0"/>{parts}</robot>', device='cpu')


def planar_tip(q):
    """Return the position of the tip [2] and its Jacobian [2, n]."""
    way = LENGTH * np.exp(1j * np.cumsum(q))
    columns = 1j * np.cumsum(way[::-1])[::-1]
    return np.array([way.sum().real, way.sum().imag]), np.array([columns.real, columns.imag])


def ways_from(place, rows):
    """Return the distances [k] of the tip from a place [2], at configurations [k, n]."""
    tips = LENGTH * np.exp(1j * np.cumsum(rows, axis=1)).sum(axis=1)
    return np.abs(tips - complex(*place))


def held_at(q, place, upper):
    """Return a configuration near q with the tip at a place, by Newton steps; None if none."""
    free = np.ones(len(q), dtype=bool)
    for _ in range(30):
        at, jacobian = planar_tip(q)
        if np.linalg.norm(at - place) < 1e-9:
            return q
        step = np.zeros(len(q))
        step[free] = np.linalg.lstsq(jacobian[:, free], place - at, rcond=None)[0]
        free &= q + step <= upper
        q = np.minimum(q + step, upper)
    return None


def held_along(lines, place, upper):
    """Return such configurations near several [k, n]; None if one is missing."""
    way = []
    for q in lines:
        way.append(held_at(q, place, upper))
        if way[-1] is None:
            return None
    return way


def pairs_with_a_limit_between(rng):
    """Yield two configurations of one place of the tip, and limits that the way between meets."""
    while True:
        start = rng.uniform(-1.5, 1.5, JOINTS)
        place, _ = planar_tip(start)
        wide = np.full(JOINTS, 9.0)
        end = held_at(start + rng.uniform(-1.0, 1.0, JOINTS), place, wide)
        if end is None or np.abs(end - start).max() > 1.5:
            continue
        lines = [start + s * (end - start) for s in np.linspace(0.0, 1.0, 41)]
        way = held_along(lines, place, wide)
        if way is None:
            continue
        most, least = np.max(way, axis=0), np.maximum(start, end)
        joint = int(np.argmax(most - least))
        upper = wide.copy()
        upper[joint] = 0.5 * (most + least)[joint]
        if most[joint] <= least[joint] + 0.05:
            continue
        way = held_along(lines, place, upper)
        if way is not None and np.abs(np.diff(way, axis=0)).max() < 0.2:
            yield start, end, upper


@functools.cache
def some_pairs():
    """Return eight of them, read-only, and the limits."""
    found = list(itertools.islice(pairs_with_a_limit_between(np.random.default_rng(4)), 8))
    for array in itertools.chain(*found):
        array.setflags(write=False)
    return found


def command_at_the_tip(place, end):
    """Return a command to keep the tip of the planar arm at a place and to move joints."""
    T = np.eye(4)
    T[:2, 3] = place
    made = OptimalControlCommandBuilder().add_cartesian_target('', 'tip', T, 1.0, 0.0)
    for k, position in enumerate(end):
        made.add_joint_position_target(f'j{k}', position, 1.0)
    return made.build()


def cubics(result, parts=21):
    """Return the positions of cubics through positions and velocities at the knots, [k, n]."""
    s = np.linspace(0.0, 1.0, parts)[:, None, None]
    x, v, dt = result.positions, result.velocities, np.diff(result.times)[:, None]
    ends = (1.0 + 2.0 * s) * (1.0 - s) ** 2 * x[:-1] + (3.0 - 2.0 * s) * s**2 * x[1:]
    ways = ends + dt * s * (1.0 - s) * ((1.0 - s) * v[:-1] - s * v[1:])
    return np.swapaxes(ways, 0, 1).reshape(-1, x.shape[1])


@pytest.mark.parametrize('dt', [0.002, 0.01, 0.1])
def test_a_joint_at_its_limit_leaves_it_to_the_others_to_hold_the_tip(dt):
    """The result says how far the tip leaves its place. The limit slows the motion only there."""
    held = 0
    for start, end, upper in some_pairs():
        place = planar_tip(start)[0]
        result = OptimalControl(planar_arm(upper), dt=dt).solve(
            command_at_the_tip(place, end), start
        )
        between = cubics(result)
        assert np.all(between <= upper + 1e-9)
        np.testing.assert_allclose(result.positions[-1], end, atol=1e-3)
        away = ways_from(place, between).max()
        told = [float(text.split(' by ')[1].split()[0]) for text in result.violated_targets]
        assert told == ([pytest.approx(1e3 * away, rel=0.02)] if away > HELD[0] else [])
        assert result.status is (SolveStatus.RELAXED if told else SolveStatus.CONVERGED)
        held += not told
        # No joint exceeds 2 rad/s, and 0.2 s suffice to reach that.
        least = np.abs(np.diff(result.positions, axis=0)).max(axis=1).sum() / 2.0
        assert result.times[-1] < 3.0 * least + 1.0 + 4.0 * dt
    assert held >= 6


def kept_and_moved(rig, joint_q, shift):
    """Return a command that keeps the tool of a Panda turned as it is, and moves it."""
    frames = rig.frames(joint_q)
    keep = frames['panda_link0'].actInv(frames['panda_hand_tcp']).homogeneous
    go = keep.copy()
    go[:3, 3] += shift
    made = OptimalControlCommandBuilder()
    for T, weights in ((keep, (0.0, 1.0)), (go, (1.0, 0.0))):
        made.add_cartesian_target('panda_link0', 'panda_hand_tcp', T, *weights)
    return made.build()


def test_two_targets_of_one_link_are_kept_apart():
    """Its orientation is met at both ends and holds; its position is met at the end alone."""
    rig = Rig('panda', seed=6)
    home = rig.model.neutral_joint_q()
    home[rig.coords] = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.7]
    for _ in range(either(4, 20)):
        q = rig.moved(home, rig.rng.uniform(-0.3, 0.3, 7))
        result = rig.solver.solve(kept_and_moved(rig, q, rig.rng.uniform(-0.1, 0.1, 3)), q)
        check_motion(rig, result, q)
        start = rig.frames(q)['panda_hand_tcp']
        turns = [
            np.linalg.norm(pin.log3(rig.frames(x)['panda_hand_tcp'].rotation.T @ start.rotation))
            for x in result.positions
        ]
        assert max(turns) < HELD[1]
        assert result.violated_targets == () and result.status is SolveStatus.CONVERGED


def test_of_two_targets_of_one_link_only_the_one_out_of_reach_is_named():
    """The joint target alone keeps the link from its orientation; the slide is too short."""
    model = Model.from_urdf(
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="x" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
        '<limit lower="-1" upper="1" velocity="2" effort="1"/></joint>'
        '<joint name="turn" type="revolute"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>'
        '<limit lower="-2" upper="2" velocity="2" effort="1"/></joint></robot>',
        device='cpu',
    )
    there, turned = np.eye(4), np.eye(4)
    there[0, 3] = 3.0
    turned[1:3, 1:3] = [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]]
    made = OptimalControlCommandBuilder().add_joint_position_target('turn', 0.0, 1.0)
    made.add_cartesian_target('a', 'c', there, 1.0, 0.0)
    made.add_cartesian_target('a', 'c', turned, 0.0, 1.0)
    result = OptimalControl(model).solve(made.build(), np.zeros(2))
    np.testing.assert_allclose(result.positions[-1], [1.0, 0.25], atol=1e-4)
    assert result.unreachable_targets == ('out of reach: c in a by 2e+03 mm',)
