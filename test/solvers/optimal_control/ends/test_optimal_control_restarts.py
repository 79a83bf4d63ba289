# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Far pose targets are met, and the status names missed ones; Pinocchio measures."""

import numpy as np
import pytest
from solvers.optimal_control.optimal_control_rig import check_motion
from solvers.optimal_control.optimal_control_rig import Rig
from solvers.optimal_control.optimal_control_rig import ROBOTS
from support.long_forms import either
from support.robots.robots import pin

from ros_ik.barriers import PositionBarrier
from ros_ik.solvers.optimal_control.least_cost.search import StopReason
from ros_ik.solvers.optimal_control.solver import OptimalControl
from ros_ik.solvers.optimal_control.solver import OptimalControlSettings
from ros_ik.solvers.status import SolveStatus

ARMS = {
    'panda': ('panda_link0', 'panda_hand_tcp'),
    'ur5_robot': ('base_link', 'tool0'),
    'tiago': ('torso_fixed_link', 'arm_tool_link'),
}


@pytest.fixture(scope='module', params=ARMS)
def arm(request):
    with pytest.MonkeyPatch.context() as patch:
        base, tip = ARMS[request.param]
        patch.setitem(ROBOTS, request.param, (f'{base}:{tip}', [(base, tip)], None))
        return Rig(request.param, seed=8)


@pytest.fixture(scope='module')
def panda():
    return Rig('panda', seed=9)


def errors(rig, joint_q):
    """Distance [m] and angle [rad] of a configuration to the first pose target."""
    (reference, link), target = rig.pairs[0], rig.targets[0]
    frames = rig.frames(joint_q)
    pose = frames[reference].actInv(frames[link])
    turn = pin.log3(target.rotation @ pose.rotation.T)
    return np.linalg.norm(target.translation - pose.translation), np.linalg.norm(turn)


def aim(rig, goal, start):
    """Return a command for the pose of a configuration, the other joints as at the start."""
    q = start.copy()
    q[rig.coords] = goal[rig.coords]
    frames = rig.frames(rig.model.apply_mimic(q))
    rig.targets = [frames[a].actInv(frames[b]) for a, b in rig.pairs]
    rig.joints = []
    return rig.builder().build()


def test_far_poses_are_met(arm):
    """From the start alone the search meets little more than half of them."""
    for _ in range(either(12, 60)):
        q, goal = arm.random_joint_q(), arm.random_joint_q()
        result = arm.solver.solve(aim(arm, goal, q), q)
        check_motion(arm, result, q)
        distance, angle = errors(arm, result.positions[-1])
        assert distance < 1e-3 and angle < 1e-2
        assert result.status is SolveStatus.CONVERGED and result.unreachable_targets == ()


def test_a_search_that_was_stuck_is_not_said_to_have_arrived():
    """From here the first search ends 0.2 m short, and a second one from its end arrives."""
    base, tip = ARMS['ur5_robot']
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ROBOTS, 'ur5_robot', (f'{base}:{tip}', [(base, tip)], None))
        rig = Rig('ur5_robot')
    rig.weights = (1.0, 0.5, 0.0)
    q, goal = rig.model.random_joint_q(2 * 731, np.random.default_rng(0))[-2:]
    result = rig.solver.solve(aim(rig, goal, q), q)
    check_motion(rig, result, q)
    distance, angle = errors(rig, result.positions[-1])
    assert distance < 1e-3 and angle < 1e-2
    assert result.status is SolveStatus.CONVERGED


def test_no_joint_of_another_end_is_a_whole_turn_too_far():
    base, tip = ARMS['ur5_robot']
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ROBOTS, 'ur5_robot', (f'{base}:{tip}', [(base, tip)], None))
        rig = Rig('ur5_robot', seed=3)
    for _ in range(either(12, 40)):
        q, goal = rig.random_joint_q(), rig.random_joint_q()
        result = rig.solver.solve(aim(rig, goal, q), q)
        start, end = q[rig.coords], result.positions[-1, rig.coords]
        for turn in (-2.0 * np.pi, 2.0 * np.pi):
            inside = (end + turn >= rig.lower) & (end + turn <= rig.upper)
            nearer = np.abs(end + turn - start) < np.abs(end - start)
            assert not np.any(inside & nearer)


@pytest.mark.parametrize('weight', [1e-3, 0.1, 1.0])
def test_a_joint_target_in_another_turn_is_met_with_the_pose(weight):
    """The nearest posture for the pose has the joint a whole turn from its target."""
    base, tip = ARMS['ur5_robot']
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ROBOTS, 'ur5_robot', (f'{base}:{tip}', [(base, tip)], None))
        rig = Rig('ur5_robot')
    q = rig.model.neutral_joint_q()
    q[rig.coords] = [-3.0, -1.2, 1.5, -1.0, -1.4, 0.3]
    goal = q.copy()
    goal[rig.coords] = [2.9, -1.3, 1.6, -1.0, -1.4, 0.3]
    aim(rig, goal, q)
    rig.joints, rig.joint_weight = [('shoulder_pan_joint', 2.9)], weight
    result = rig.solver.solve(rig.builder().build(), q)
    check_motion(rig, result, q)
    assert result.status is SolveStatus.CONVERGED
    assert np.abs(result.positions[-1] - goal)[rig.coords[0]] < 1e-3
    distance, angle = errors(rig, result.positions[-1])
    assert distance < 1e-3 and angle < 1e-2


def test_a_target_out_of_reach_is_named_with_its_error(panda):
    q = panda.random_joint_q()
    for x in (0.95, 3.0):
        target = panda.frames(q)['panda_link0'].copy()
        target.translation = np.array([x, 0.1, 0.3])
        panda.targets, panda.joints = [target], []
        result = panda.solver.solve(panda.builder().build(), q)
        check_motion(panda, result, q)
        assert result.status in (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
        distance, angle = errors(panda, result.positions[-1])
        assert distance > 1e-3
        assert result.unreachable_targets == (
            'out of reach: panda_hand_tcp in panda_link0 by '
            f'{1e3 * distance:.3g} mm and {angle:.3g} rad',
        )


def test_what_weights_hold_back_is_not_missed(panda):
    """Joint targets that are as heavy as the pose keep it away from a target near by."""
    for _ in range(10):
        q = panda.moved(panda.model.neutral_joint_q(), panda.rng.uniform(-0.3, 0.3, 7))
        command = panda.draw(q, reach=0.3, joint_weight=1.0)
        result = panda.solver.solve(command, q)
        assert errors(panda, result.positions[-1])[0] > 1e-3
        assert result.status is SolveStatus.CONVERGED and result.unreachable_targets == ()
        assert np.max(np.abs(result.positions[-1] - q)) < 0.3  # it stays at the nearest minimum


def test_rules_of_the_command_end_it_where_the_poses_are_near(panda):
    q = panda.moved(panda.model.neutral_joint_q(), panda.rng.uniform(-0.3, 0.3, 7))
    panda.draw(q, reach=0.3, joint_weight=0.0)
    hasty = panda.builder().set_stop_cost(0.0).set_min_delta_cost(1e6).set_patience(1).build()
    result = panda.solver.solve(hasty, q)
    assert result.reason is StopReason.PATIENCE and result.status is SolveStatus.CONVERGED
    assert errors(panda, result.positions[-1])[0] > 1e-3
    few = OptimalControl(
        panda.model,
        'panda_link0:panda_hand_tcp',
        settings=OptimalControlSettings(max_iterations=2),
    )
    assert few.solve(panda.builder().build(), q).iterations <= 2


def test_poses_in_a_box_are_met_along_ways_that_stay_in_it(panda):
    low, high = np.array([0.2, -0.5, 0.1]), np.array([0.7, 0.5, 0.8])
    tip = panda.pairs[0][1]
    barrier = PositionBarrier(panda.model.body_index(tip), low, high)
    solver = OptimalControl(panda.model, 'panda_link0:panda_hand_tcp', barriers=[barrier])

    def room(joint_q):
        place = panda.frames(joint_q)[tip].translation
        return min(np.min(place - low), np.min(high - place))

    inside, n = [], either(40, 60)
    while len(inside) < n:
        q = panda.random_joint_q()
        if room(q) > 0.02:
            inside.append(q)
    curved = 0
    for q, goal in zip(inside[::2], inside[1::2], strict=True):
        result = solver.solve(aim(panda, goal, q), q)
        check_motion(panda, result, q)
        assert errors(panda, result.positions[-1])[0] < 1e-3
        assert min(map(room, result.positions)) >= -1e-7
        curved += np.linalg.matrix_rank(result.positions - q, tol=1e-6) > 1
    assert curved > n // 16
