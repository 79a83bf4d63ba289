# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The centre of mass and frames that share joints: none swings, even with weak joints."""

import functools

import numpy as np
import pytest
from support.long_forms import in_turn
from support.robots.humanoid import ARMS
from support.robots.humanoid import LEGS
from support.robots.humanoid import standing
from support.robots.humanoid import TALOS
from support.robots.humanoid import TORSO
from support.robots.humanoid import two_handed
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from benchmarks.motion.ticked_servo import motion_limits
from benchmarks.motion.ticked_servo import robot_model
from ros_ik.servo.step.commanded_state import CommandedState


def distances(rig, goals, seconds):
    """Return the distances of frames from their goals after each tick [m], [ticks, goals].

    Args:
        rig: The robot, told where to go.
        goals: Functions that return a current position, and their target positions.
        seconds: Duration.
    """
    # They take a quarter of the time of a tick.
    rig.reports = False
    return rig.watch(
        seconds, lambda: [np.linalg.norm(place() - goal) for place, goal in goals]
    )


def assert_reached_without_swing(ways, dt):
    """Check that each distance falls below 2 mm and then stays below 3 mm."""
    for way in ways.T:
        least = int(np.argmax(way < 2e-3))
        assert 0 < least, 'it is not reached'
        assert way[least:].max() < 3e-3, 'it is swung about'
        assert way[-round(0.5 / dt) :].max() < 1e-3


def move_mass(acceleration, wanted, ratio, *, with_foot):
    """Move the centre of mass by 7 cm; the right foot is held, or free."""
    rig = standing(com__max_linear_acceleration=wanted, **motion_limits(LEGS, acceleration, ratio))
    center = rig.servo.targets.center
    start, foot = center.center(rig.servo._poses()), rig.pose()
    goals = [(lambda: center.center(rig.servo._poses()), start + [0.02, 0.06, -0.03])]
    rig.aim_center(goals[0][1])
    if with_foot:
        rig.aim(foot)
    ways = distances(rig, goals, 4.0)
    assert_reached_without_swing(ways, rig.dt)
    if with_foot:
        assert np.linalg.norm(rig.pose()[:3] - foot[:3]) < 1e-3
    rig.assert_within_limits()


@pytest.mark.parametrize(
    ('acceleration', 'wanted', 'ratio'), in_turn([1.0, 2.0], [0.5, 1.0, 5.0], [0, 5, 20])
)
def test_the_mass_moves_between_two_feet(acceleration, wanted, ratio):
    move_mass(acceleration, wanted, ratio, with_foot=True)


@pytest.mark.parametrize(('ratio', 'wanted'), in_turn([0, 10, 20], [0.5, 5.0]))
def test_the_mass_moves_between_two_feet_with_weak_joints(ratio, wanted):
    move_mass(0.5, wanted, ratio, with_foot=True)


@pytest.mark.parametrize(('acceleration', 'ratio'), in_turn([0.5, 1.0, 2.0], [20, 0, 5]))
def test_the_mass_moves_alone(acceleration, ratio):
    move_mass(acceleration, 5.0, ratio, with_foot=False)


@pytest.mark.parametrize(('acceleration', 'ratio'), in_turn([0.5, 2.0], [0, 5, 20]))
def test_two_hands_on_one_torso_arrive(acceleration, ratio):
    rig = two_handed(**motion_limits((*ARMS, *TORSO), acceleration, ratio))
    goals = []
    for task, way in enumerate(((0.05, 0.1, 0.1), (0.05, -0.1, 0.1))):
        target = rig.pose(task=task).copy()
        target[:3] += way
        rig.aim(target, task=task)
        goals.append((lambda task=task: rig.pose(task=task)[:3], target[:3]))
    assert_reached_without_swing(distances(rig, goals, 4.0), rig.dt)
    rig.assert_within_limits()


@pytest.mark.parametrize(('acceleration', 'ratio'), [(0.5, 0), (1.0, 20), (2.0, 5)])
def test_a_hand_in_the_other_one_arrives(acceleration, ratio):
    rig = two_handed(
        left__reference_frame='torso_2_link', right__reference_frame='gripper_left_base_link',
        **motion_limits(ARMS, acceleration, ratio),
    )  # fmt: skip
    goals = []
    for task, way in enumerate(((0.1, 0.1, 0.1), (-0.05, 0.1, 0.1))):
        target = rig.pose(task=task).copy()
        target[:3] += way
        rig.aim(target, task=task)
        goals.append((lambda task=task: rig.pose(task=task)[:3], target[:3]))
    assert_reached_without_swing(distances(rig, goals, 5.0), rig.dt)
    rig.assert_within_limits()


@functools.cache
def oracle():
    """Return the same robot in Pinocchio."""
    return PinocchioRobot(urdf_text('talos_full_v2'), robot_model(TALOS))


def seen_from_foot(q):
    """Return the centre of mass and the pose of the right sole in the left one, by Pinocchio."""
    other = oracle()
    position, rotation = other.pose(q, 'left_sole_link')
    parts = zip(other.pin.inertias, other.data.oMi, strict=True)
    moments = [(part.mass, part.mass * place.act(part.lever)) for part, place in parts]
    center = sum(moment for _, moment in moments) / sum(mass for mass, _ in moments)
    foot, turned = other.pose(q, 'right_sole_link')
    return (
        rotation.T @ (center - position), rotation.T @ (foot - position), rotation.T @ turned
    )  # fmt: skip


def stacked_jacobian(rig, q, step=1e-6):
    """Return the Jacobian of the foot, then of the centre of mass, by differences [9, joints]."""
    columns = []
    for coord in rig.robot.coords:
        ends = []
        for way in (-step, step):
            there = q.copy()
            there[coord] += way
            ends.append(seen_from_foot(there))
        (center, foot, turned), (next_center, next_foot, next_turned) = ends
        spin = next_turned @ turned.T
        turn = 0.5 * np.array(
            [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
        )
        columns.append(
            np.concatenate([next_foot - foot, turn, next_center - center]) / (2.0 * step)
        )
    return np.array(columns).T


@pytest.mark.oracle
def test_each_place_gets_what_the_joints_have_for_it_beside_the_other():
    rig = standing(**motion_limits(LEGS[:3], 3.0))
    state, rng = CommandedState(rig.robot, rig.settings), np.random.default_rng(3)
    limits = rig.robot.acceleration[rig.robot.group.variable_dof]
    weights = np.array([1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0])
    state.choose([True], True)
    demand = state.singularity.demand
    parts = []
    for _ in range(5):
        q = rig.q.copy()
        q[rig.robot.coords] += rng.uniform(-0.2, 0.2, len(limits))
        state.at(q)
        # The least squares of accelerations, each to its limit, damped by 0.05 m/rad.
        scaled = weights[:, None] * stacked_jacobian(rig, q) * (limits / limits.max())
        damped = np.vstack([scaled, 0.05 * np.eye(len(limits))])
        wished, expected = rng.normal(0.0, 4.0, (3, 3)), rng.uniform(0.0, 2.0, 2)

        def needed(row, vector, damped=damped):
            right = np.zeros(len(damped))
            right[row : row + 3] = weights[row] * vector
            return np.abs(np.linalg.lstsq(damped, right)[0]) / limits.max()

        demand.frames[0].expected = list(expected)
        of_mass = needed(6, wished[2])
        axes = [[needed(row, axis) for axis in np.eye(3)] for row in (0, 3)]
        of_foot = sum(
            size * np.linalg.norm(part, axis=0) for size, part in zip(expected, axes, strict=True)
        )
        used = np.minimum(of_mass / (0.1 * of_mass.max()), 1.0)
        part = demand.center.part(wished[2], (0.0, 0.0, 0.0))
        assert part == pytest.approx(min(1.0, 0.7 / (of_mass + used * of_foot).max()), rel=1e-4)
        demand.center.expected = [0.0, 0.0]
        alone = needed(0, wished[0]) + needed(3, wished[1])
        part_of_foot = demand.frames[0].part(*wished[:2])
        assert part_of_foot == pytest.approx(min(1.0, 0.7 / alone.max()), rel=1e-4)
        parts += [part, part_of_foot]
    assert min(parts) < 0.5
