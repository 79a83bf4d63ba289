# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions to the least cost, checked by Pinocchio."""

import numpy as np
import pytest
from solvers.optimal_control.optimal_control_rig import check_motion
from solvers.optimal_control.optimal_control_rig import DT
from solvers.optimal_control.optimal_control_rig import Rig
from support.robots.robots import load
from support.robots.robots import urdf_text

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.solvers.optimal_control.commands.command import CommandHeaderBuilder
from ros_ik.solvers.optimal_control.commands.command import OptimalControlCommandBuilder
from ros_ik.solvers.optimal_control.least_cost.search import StopReason
from ros_ik.solvers.optimal_control.solver import OptimalControl
from ros_ik.solvers.optimal_control.solver import OptimalControlSettings
from ros_ik.solvers.status import SolveStatus


@pytest.fixture(scope='module')
def panda():
    return Rig('panda', seed=1)


def test_reachable_targets_are_reached(panda):
    for _ in range(30):
        q = panda.random_joint_q()
        result = panda.solver.solve(panda.draw(q, joint_weight=0.0), q)
        check_motion(panda, result, q)
        assert result.status is SolveStatus.CONVERGED
        if result.reason is StopReason.STOP_COST:  # the others rest at a limit, see below
            assert panda.total(result.positions[-1]) <= 1e-10
            assert result.feedback.finished


def test_scalings_slow_the_motion_down_and_speed_it_up(panda):
    q = panda.random_joint_q()
    panda.draw(q)
    durations = []
    for speed, acceleration in ((1.0, 1.0), (0.3, 1.0), (1.0, 0.2), (1.0, 4.0)):
        command = panda.builder().set_velocity_limit_scaling(speed)
        command.set_acceleration_limit_scaling(acceleration)
        result = panda.solver.solve(command.build(), q)
        check_motion(panda, result, q, None, speed, acceleration)
        durations.append(result.times[-1])
    assert durations[3] < durations[0] < min(durations[1:3])


def test_a_moving_start_is_taken_along(panda):
    arrived = 0
    for _ in range(40):
        q = panda.random_joint_q()
        qd = np.zeros(panda.model.joint_dof_count)
        qd[panda.dofs] = panda.rng.uniform(-0.6, 0.6, len(panda.dofs)) * panda.speed
        result = panda.solver.solve(panda.draw(q), q, qd)
        if result.status is SolveStatus.RELAXED:  # too fast to stop before a limit: below
            assert 'limit' in result.relaxed[0]
            continue
        check_motion(panda, result, q, qd)
        arrived += 1
    assert arrived > 20


def test_a_start_too_fast_to_stop_brakes_harder_and_says_so(panda):
    q = panda.model.neutral_joint_q()
    q[panda.coords[1]] = panda.upper[1] - 0.05
    qd = np.zeros(panda.model.joint_dof_count)
    qd[panda.dofs[1]] = 0.9 * panda.speed[1]  # stops within 0.18 rad at the limit
    result = panda.solver.solve(panda.draw(q), q, qd)
    assert result.status is SolveStatus.RELAXED
    assert result.relaxed == (f'braked harder than the acceleration limits: {panda.names[1]}',)
    assert np.all(result.positions[:, panda.coords] <= panda.upper + 1e-8)
    assert not np.any(result.velocities[-1])


def test_a_joint_with_a_velocity_limit_of_zero_stays(panda):
    """Its own target cannot move it, and neither can that of a frame, which the others meet."""
    speed = panda.model.limits64()[2].copy()
    speed[panda.dofs[2]] = 0.0
    solver = OptimalControl(panda.model, panda.solver.group, velocity=speed)
    q = panda.model.neutral_joint_q()
    far = OptimalControlCommandBuilder()
    for k in (0, 2):
        far.add_joint_position_target(panda.names[k], q[panda.coords[k]] + 0.5)
    result = solver.solve(far.build(), q)
    moved = np.ptp(result.positions[:, panda.coords], axis=0)
    assert moved[0] == pytest.approx(0.5, abs=1e-6) and moved[2] == 0.0
    near = q.copy()
    near[panda.coords] += panda.rng.uniform(-0.2, 0.2, len(panda.coords))
    pose = panda.frames(near)['panda_hand_tcp']
    tip = OptimalControlCommandBuilder()
    tip.add_cartesian_target('panda_link0', 'panda_hand_tcp', pose.homogeneous)
    result = solver.solve(tip.build(), q)
    end = panda.frames(result.positions[-1])['panda_hand_tcp']
    assert np.ptp(result.positions[:, panda.coords[2]]) == 0.0
    assert np.linalg.norm(end.translation - pose.translation) < 1e-4


def test_a_start_outside_the_limits_comes_back(panda):
    """An empty box is no reason for no answer (rby1 gives none)."""
    q = panda.model.neutral_joint_q()
    q[panda.coords[2]] = panda.upper[2] + 0.3
    result = panda.solver.solve(panda.draw(q), q)
    assert result.status is SolveStatus.RELAXED
    assert panda.names[2] in result.relaxed[0] and 'position' in result.relaxed[0]
    way = result.positions[:, panda.coords[2]]
    assert np.all(np.diff(way) <= 0.0) and way[-1] <= panda.upper[2] + 1e-9
    assert result.feedback.finished
    stay = OptimalControlCommandBuilder()
    stay.add_joint_position_target(panda.names[2], panda.upper[2] + 0.3)
    end = panda.solver.solve(stay.build(), q).positions[-1, panda.coords[2]]
    assert end == pytest.approx(panda.upper[2], abs=1e-9)


def test_a_start_faster_than_scaled_limits_slows_down(panda):
    q = panda.model.neutral_joint_q()
    qd = np.zeros(panda.model.joint_dof_count)
    qd[panda.dofs[0]] = 0.5 * panda.speed[0]
    panda.draw(q)
    command = panda.builder().set_velocity_limit_scaling(0.2).build()
    result = panda.solver.solve(command, q, qd)
    assert result.relaxed == (f'faster than the velocity limits at first: {panda.names[0]}',)
    fast = np.abs(result.velocities[:, panda.dofs]) > 0.2 * panda.speed + 1e-9
    # 0.3 of the limit are lost at the rate of the limit in 0.2 s, and the rate begins at zero: one
    # tick more.
    assert not np.any(fast[int(np.ceil(0.3 * 0.2 / DT)) + 1 :])


def test_iterations_and_duration_are_bounded():
    bounded = Rig('panda', settings=OptimalControlSettings(max_iterations=3, max_duration=0.5))
    q = bounded.model.neutral_joint_q()
    far = OptimalControlCommandBuilder().add_joint_position_target(bounded.names[0], 2.0)
    result = bounded.solver.solve(far.set_velocity_limit_scaling(0.1).build(), q)
    assert result.reason in (StopReason.TIME_HORIZON, StopReason.ITERATION_LIMIT)
    assert result.times[-1] <= 0.5 and not np.any(result.velocities[-1])
    # Nearly all of what 0.5 s allow: 0.1 v for 0.48 s, accelerating for 0.02 s.
    went = abs(result.positions[-1, bounded.coords[0]] - q[bounded.coords[0]])
    assert went == pytest.approx(0.1 * bounded.speed[0] * 0.48, rel=0.03)
    bounded.draw(bounded.random_joint_q(), far=0.5)
    command = bounded.builder().set_min_delta_cost(0.0).build()
    result = bounded.solver.solve(command, q)
    assert result.iterations <= 3 and not result.feedback.finished


def test_the_status_describes_the_end_that_a_short_motion_does_not_reach():
    """The same status with and without the time for the whole motion, which misses its target."""
    short = Rig('panda', seed=3, settings=OptimalControlSettings(max_duration=0.3))
    whole, link = Rig('panda', seed=3), 'panda_hand_tcp'
    goal, q = short.random_joint_q(), short.model.neutral_joint_q()
    made, frame = OptimalControlCommandBuilder(), short.frames(goal)[link]
    command = made.add_cartesian_target('panda_link0', link, frame.homogeneous, 1.0, 1.0).build()
    results = [rig.solver.solve(command, q) for rig in (short, whole)]
    for result, rig in zip(results, (short, whole), strict=True):
        assert result.status is SolveStatus.CONVERGED and result.unreachable_targets == ()
        missed = frame.translation - rig.frames(result.positions[-1])[link].translation
        assert (np.linalg.norm(missed) > 0.1) == (rig is short)
    assert [r.reason for r in results] == [StopReason.TIME_HORIZON, StopReason.STOP_COST]
    assert results[0].times[-1] <= 0.3 and not np.any(results[0].velocities[-1])


def test_the_end_is_held(panda):
    q = panda.random_joint_q()
    panda.draw(q)
    moved = panda.solver.solve(panda.builder().build(), q)
    header = CommandHeaderBuilder().set_control_hold_time(0.7)
    held = panda.solver.solve(panda.builder().set_command_header(header).build(), q)
    assert held.control_hold_time == 0.7
    assert held.times[-1] == pytest.approx(moved.times[-1] + 0.7)
    assert np.array_equal(held.positions[:-1], moved.positions)
    assert np.array_equal(held.positions[-1], held.positions[-2])
    assert not np.any(held.velocities[-2:])


def test_nothing_to_do_is_one_knot(panda):
    q = panda.random_joint_q()
    panda.draw(q, reach=0.0)
    result = panda.solver.solve(panda.builder().build(), q)
    assert result.reason is StopReason.STOP_COST
    assert result.times.tolist() == [0.0] and np.array_equal(result.positions[0], q)


@pytest.mark.parametrize('what', ['joint_q', 'joint_qd'])
def test_a_state_that_is_not_finite_is_refused_and_forgotten(panda, what):
    q, qd = panda.model.neutral_joint_q(), np.zeros(panda.model.joint_dof_count)
    command = panda.draw(q)
    before = panda.solver.solve(command, q, qd)
    bad = {'joint_q': q.copy(), 'joint_qd': qd.copy()}
    bad[what][0] = np.nan
    result = panda.solver.solve(command, **bad)
    assert result.status is SolveStatus.NON_FINITE_INPUT and not result.feedback.finished
    assert result.reason is StopReason.FAILED and len(result.times) == 0
    assert result.feedback.center_of_mass_cost == 0.0  # the command has none
    after = panda.solver.solve(command, q, qd)
    assert np.array_equal(after.positions, before.positions)


def test_velocities_of_joints_outside_the_group_are_ignored(panda):
    q, qd = panda.model.neutral_joint_q(), np.zeros(panda.model.joint_dof_count)
    solver = OptimalControl(panda.model, 'panda_link0:panda_hand_tcp')
    assert solver.group.dof_variable[-1] < 0  # a finger
    command = panda.draw(q)
    before = solver.solve(command, q, qd)
    qd[-1] = np.nan
    after = solver.solve(command, q, qd)
    assert after.status is before.status is not SolveStatus.NON_FINITE_INPUT
    assert np.array_equal(after.positions, before.positions)


def test_a_refused_command_with_a_center_of_mass_has_an_infinite_cost_of_it(panda):
    q = panda.model.neutral_joint_q()
    builder = OptimalControlCommandBuilder()
    builder.set_center_of_mass_target('panda_link0', np.zeros(3), 1.0)
    result = panda.solver.solve(builder.build(), q * np.nan)
    assert result.feedback.center_of_mass_cost == np.inf


def test_commands_of_one_structure_share_their_graphs(panda):
    q = panda.random_joint_q()
    first = panda.solver.solve(panda.draw(q), q)
    count = len(panda.solver._problems)
    panda.solver.solve(panda.draw(q, far=0.2), q)
    assert len(panda.solver._problems) == count
    kept = first.positions.copy()
    panda.solver.solve(panda.draw(q), q)
    assert np.array_equal(first.positions, kept)  # a result is the caller's


def test_mimic_joints_follow_and_keep_their_limits():
    """TALOS's gripper: a target of a follower that turns the other way moves the driver."""
    model = Model.from_urdf(urdf_text('talos_full_v2'), device='cpu')
    names, starts = model.joint_label, model.joint_q_start.numpy()
    driver = model.joint_index('gripper_left_joint')
    followers = {k: f for k, (d, _, f) in model.mimic_driver.items() if d == driver}
    backward = next(k for k, factor in followers.items() if factor == -1.0)
    solver = OptimalControl(model, [names[driver]])
    q = model.apply_mimic(model.neutral_joint_q())
    made = OptimalControlCommandBuilder()
    made.add_joint_position_target(names[backward], q[starts[backward]] + 0.4)
    result = solver.solve(made.build(), q)
    change = result.positions - q
    assert change[-1, starts[backward]] == pytest.approx(0.4, abs=1e-4)
    for follower, factor in followers.items():
        expected = factor * change[:, starts[driver]]
        assert np.allclose(change[:, starts[follower]], expected, rtol=0, atol=1e-12)
        follower_dof, driver_dof = model.joint_qd_start.numpy()[[follower, driver]]
        for rates in (result.velocities, result.accelerations):
            np.testing.assert_allclose(rates[:, follower_dof], factor * rates[:, driver_dof])
            assert np.ptp(rates[:, follower_dof]) > 0.0
    lower, upper, speed, _ = model.limits64()
    dofs = model.joint_qd_start.numpy()[[driver, *followers]]
    coords = starts[[driver, *followers]]
    assert np.all(np.abs(result.velocities) <= speed + 1e-9)
    far = OptimalControlCommandBuilder().add_joint_position_target(names[backward], 9.0)
    end = solver.solve(far.build(), q).positions[-1, coords]
    assert np.all(end >= lower[dofs] - 1e-9) and np.all(end <= upper[dofs] + 1e-9)
    gap = np.min(np.minimum(end - lower[dofs], upper[dofs] - end))
    assert abs(gap) < 1e-9  # one of them rests at its limit


# A joint whose mimic joint has limits that exclude every position of it: -0.5 to 0.5.
EXCLUDED = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/>
<joint name="driver" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="follower" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-0.5" upper="0.5" velocity="9" effort="1"/>
<mimic joint="driver" offset="{offset}" multiplier="{factor}"/></joint></robot>"""


@pytest.mark.parametrize(('offset', 'factor'), [(5.0, 1.0), (-5.0, 1.0), (3.0, 0.5), (5.0, -2.0)])
def test_limits_that_exclude_every_position_of_a_driver_have_no_effect(offset, factor):
    """The driver had gone to the middle between both ranges, outside its own limits."""
    model = Model.from_urdf(EXCLUDED.format(offset=offset, factor=factor), device='cpu')
    for margin in (0.0, 0.1):
        solver = OptimalControl(model, position_margin=margin)
        for start in (0.0, 0.8):
            q = np.array([start, offset + factor * start])
            for target in (0.3, -3.0, 3.0):
                made = OptimalControlCommandBuilder().add_joint_position_target('driver', target)
                result = solver.solve(made.build(model), q)
                assert result.status is SolveStatus.CONVERGED and not result.relaxed
                driver, follower = result.positions.T
                assert np.all(np.abs(driver) <= 1.0 - margin + 1e-9)
                expected = np.clip(target, margin - 1.0, 1.0 - margin)
                assert driver[-1] == pytest.approx(expected, abs=1e-4)
                assert np.allclose(follower, offset + factor * driver, rtol=0, atol=1e-12)


def test_a_margin_removes_no_limits_of_a_mimic_joint():
    """The follower may be at 0.48 to 0.5 alone, where a margin of 0.02 leaves one position."""
    text = EXCLUDED.format(offset=1.48, factor=1.0)
    for margin, allowed in ((0.01, 0.01), (0.02, 0.02)):
        model = Model.from_urdf(text, device='cpu')
        solver = OptimalControl(model, position_margin=margin)
        made = OptimalControlCommandBuilder().add_joint_position_target('driver', 0.5)
        result = solver.solve(made.build(model), np.array([-0.99, 0.49]))
        assert np.all(result.positions[:, 1] <= 0.5) and np.all(result.positions[:, 0] >= -1.0)
        assert abs(result.positions[-1, 1] - 0.49) <= allowed


def test_the_cost_that_two_targets_of_a_joint_leave_counts_for_the_stop_cost(panda):
    """2^2 (0.5^2 + 0.5^2) = 2 remain between targets that are 1 rad apart, scaled by 2."""
    q = panda.model.neutral_joint_q()
    for stop_cost, stops in ((1.9, False), (2.1, True)):
        made = OptimalControlCommandBuilder().set_error_scaling(2.0).set_stop_cost(stop_cost)
        for position in (-0.5, 0.5):
            made.add_joint_position_target(panda.names[0], q[panda.coords[0]] + 0.3 + position)
        result = panda.solver.solve(made.build(), q)
        assert (result.reason is StopReason.STOP_COST) == stops
        assert result.feedback.total_cost == pytest.approx(2.0, abs=0.1)


def test_misuse_is_named(panda):
    model, q = panda.model, panda.model.neutral_joint_q()
    for options, message in (
        ({'dt': 0.0}, 'dt must'),
        ({'velocity': np.full(3, 1.0)}, 'velocity must'),
        ({'acceleration': np.zeros(model.joint_dof_count)}, 'acceleration must'),
        ({'acceleration': np.full(model.joint_dof_count, np.nan)}, 'acceleration must'),
        ({'position_margin': -0.1}, 'position_margin must'),
        ({'settings': None, 'group': 'panda_link0:panda_link0'}, 'no movable joint'),
        ({'group': 'arm'}, 'unknown joint group'),
    ):
        with pytest.raises(ArgumentError, match=message):
            OptimalControl(model, options.pop('group', ''), **options)
    with pytest.raises(ArgumentError, match='patience must'):
        OptimalControlSettings(patience=0)
    with pytest.raises(ArgumentError, match='joint_q must have shape'):
        panda.solver.solve(panda.draw(q), q[:3])
    with pytest.raises(ArgumentError, match='joint_qd must have shape'):
        panda.solver.solve(panda.draw(q), q, q[:3])
    unknown = OptimalControlCommandBuilder().add_cartesian_target('', 'panda_paw', np.eye(4))
    with pytest.raises(ArgumentError, match='panda_paw'):
        panda.solver.solve(unknown.build(), q)


def test_a_free_base_stays_out_of_the_group():
    from support.robots.robots import ALL_URDFS

    path = next(path for path in ALL_URDFS if path.stem == 'panda')
    model = load(path, floating=True)
    with pytest.raises(ArgumentError, match='free or ball joint'):
        OptimalControl(model)
    q = model.neutral_joint_q()
    result = OptimalControl(model, 'panda_link0:panda_hand_tcp').solve(
        OptimalControlCommandBuilder().add_joint_position_target('panda_joint1', 0.3).build(), q
    )
    assert result.positions[-1, model.joint_q_start.numpy()[model.joint_index('panda_joint1')]] \
        == pytest.approx(0.3, abs=1e-4)  # fmt: skip
    assert np.array_equal(result.positions[-1, :7], q[:7])
