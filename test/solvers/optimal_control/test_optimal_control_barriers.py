# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal-control motions beside barriers, which Pinocchio measures at and between the knots."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from solvers.optimal_control.optimal_control_rig import check_motion
from solvers.optimal_control.optimal_control_rig import DT
from solvers.optimal_control.optimal_control_rig import Rig
from support.long_forms import either
from support.robots.robots import pin

from ros_ik import CollisionGeometry
from ros_ik import CollisionShape
from ros_ik import Model
from ros_ik.barriers import CollisionScene
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.solvers.optimal_control.commands.command import OptimalControlCommandBuilder
from ros_ik.solvers.optimal_control.least_cost.search import StopReason
from ros_ik.solvers.optimal_control.solver import OptimalControl
from ros_ik.solvers.optimal_control.timing.motion import MotionPlanner
from ros_ik.solvers.status import SolveStatus

LOW, HIGH = np.array([0.2, -0.5, 0.1]), np.array([0.7, 0.5, 0.8])
TIP = 'panda_hand_tcp'
SLIDE = (
    '<robot name="slide"><link name="base"/><link name="car"/><joint name="x" type="prismatic">'
    '<parent link="base"/><child link="car"/><axis xyz="1 0 0"/>'
    '<limit lower="-2" upper="2" velocity="2" effort="1"/></joint></robot>'
)
# A bar on a hinge about z; a box below it stays where it is for the bar.
HINGE = (
    '<robot name="hinge"><link name="base"/><link name="bar"><collision><origin xyz="0.25 0 0"/>'
    '<geometry><box size="0.5 0.12 0.1"/></geometry></collision></link>'
    '<joint name="z" type="revolute"><parent link="base"/><child link="bar"/><axis xyz="0 0 1"/>'
    '<limit lower="-3" upper="3" velocity="2" effort="1"/></joint></robot>'
)
# Numbers of the kinematics of model and oracle agree to this [m].
SAME = 1e-7


@pytest.fixture(scope='module')
def boxed():
    rig = Rig('panda', seed=3)
    barrier = PositionBarrier(rig.model.body_index(TIP), LOW, HIGH)
    rig.solver = OptimalControl(rig.model, 'panda_link0:panda_hand_tcp', barriers=[barrier])
    return rig


def tip(rig, joint_q):
    return rig.oracle.pose(joint_q, TIP)[0]


def room(rig, joint_q):
    """Distance to the nearest face, negative outside."""
    return min(np.min(tip(rig, joint_q) - LOW), np.min(HIGH - tip(rig, joint_q)))


def knots_and_middles(rig, result, dt=DT):
    """Return configurations at and half way between the knots."""
    q, v = result.positions[:, rig.coords], result.velocities[:, rig.dofs]
    middles = result.positions[:-1].copy()
    middles[:, rig.coords] = 0.5 * (q[:-1] + q[1:]) + dt * (v[:-1] - v[1:]) / 8.0
    pairs = zip(result.positions, middles, strict=False)
    return [*(x for pair in pairs for x in pair), result.positions[-1]]


def starts_inside(rig, count):
    while count:
        q = rig.random_joint_q()
        if room(rig, q) > 0.0:
            count -= 1
            yield q


def command_at(rig, position, rotation_weight=0.1):
    """Return a command for the tip at a position, turned at random."""
    frame = rig.frames(rig.random_joint_q())[TIP]
    frame.translation = position
    made = OptimalControlCommandBuilder()
    return made.add_cartesian_target(
        'panda_link0', TIP, frame.homogeneous, 1.0, rotation_weight
    ).build()


def test_every_motion_stays_in_the_box_and_arrives(boxed):
    curved, n = 0, either(10, 30)
    for q in starts_inside(boxed, n):
        target = boxed.rng.uniform(LOW - 0.3, HIGH + 0.3)
        command = command_at(boxed, target)
        result = boxed.solver.solve(command, q)
        check_motion(boxed, result, q)
        end = boxed.frames(result.positions[-1])[TIP]
        turn = pin.log3(command.cartesian_targets[0].T[:3, :3] @ end.rotation.T)
        met = np.linalg.norm(target - end.translation) < 1e-3 and np.linalg.norm(turn) < 1e-2
        assert (result.status is SolveStatus.CONVERGED) == met
        assert met or result.status in (SolveStatus.AT_LIMITS, SolveStatus.UNREACHABLE)
        assert result.reason is not StopReason.FAILED
        assert min(room(boxed, x) for x in knots_and_middles(boxed, result)) >= -SAME
        curved += np.linalg.matrix_rank(result.positions - q, tol=1e-6) > 1
    assert curved > n // 6  # straight ways would have left the box


def test_coarse_knots_do_not_hide_a_violation_between_them(boxed):
    """With 0.4 s between knots the tip moves by decimetres from one to the next."""
    barrier = PositionBarrier(boxed.model.body_index(TIP), LOW, HIGH)
    solver = OptimalControl(
        boxed.model, 'panda_link0:panda_hand_tcp', dt=0.4, barriers=[barrier],
        acceleration=np.full(boxed.model.joint_dof_count, 20.0),
    )  # fmt: skip
    for q in starts_inside(boxed, either(15, 40)):
        result = solver.solve(command_at(boxed, boxed.rng.uniform(LOW, HIGH)), q)
        assert min(room(boxed, x) for x in knots_and_middles(boxed, result, 0.4)) >= -SAME


def test_boxes_that_just_hold_both_ends_hold_all_that_is_between_coarse_knots(boxed):
    """The arm turns at random by radians, in a few ticks; its tip has millimetres of room."""
    rng, dt, u = np.random.default_rng(0), 0.4, np.linspace(0.0, 1.0, 17)[:, None, None]
    for _ in range(either(16, 40)):
        start, goal = boxed.random_joint_q(), boxed.random_joint_q()
        ends = np.array([tip(boxed, start), tip(boxed, goal)])
        low = ends.min(axis=0) - rng.choice([0.002, 0.02, 0.1], 3)
        high = ends.max(axis=0) + rng.choice([0.002, 0.02, 0.1], 3)
        barrier = PositionBarrier(boxed.model.body_index(TIP), low, high)
        solver = OptimalControl(
            boxed.model, 'panda_link0:panda_hand_tcp', dt=dt, barriers=[barrier]
        )
        made = OptimalControlCommandBuilder()
        for name, value in zip(boxed.names, goal[boxed.coords], strict=True):
            made.add_joint_position_target(name, value, 1.0)
        result = solver.solve(made.build(), start)
        x, v = result.positions[:, boxed.coords], result.velocities[:, boxed.dofs]
        a = result.accelerations[:, boxed.dofs]
        bend = 0.5 * a[:-1] + u * np.diff(a, axis=0) / 6.0
        way = (x[:-1] + dt * u * (v[:-1] + dt * u * bend)).reshape(-1, len(boxed.coords))
        for variables in way:
            q = start.copy()
            q[boxed.coords] = variables
            place = tip(boxed, q)
            assert np.all(place >= low - SAME) and np.all(place <= high + SAME)
        assert result.status is SolveStatus.CONVERGED


def highest_between_knots(x, v, dt):
    """Return the largest value of the cubics through positions and velocities at the knots."""
    s = np.linspace(0.0, 1.0, 101)[:, None]
    ends = (1.0 + 2.0 * s) * (1.0 - s) ** 2 * x[:-1] + (3.0 - 2.0 * s) * s**2 * x[1:]
    return np.max(ends + dt * s * (1.0 - s) * ((1.0 - s) * v[:-1] - s * v[1:]))


@pytest.mark.parametrize('high', [0.14, 0.2])
def test_a_motion_that_turns_between_two_knots_is_checked_where_it_turns(high):
    """Its knots are below 0.11 m, and it turns at 0.18 m."""
    model = Model.from_urdf(SLIDE, device='cpu')
    barrier = PositionBarrier(1, [-2.0, -1.0, -1.0], [high, 1.0, 1.0])
    solver = OptimalControl(model, dt=0.4, velocity=9.0, acceleration=20.0, barriers=[barrier])
    command = OptimalControlCommandBuilder().add_joint_position_target('x', -1.0).build()
    result = solver.solve(command, np.zeros(1), np.ones(1))
    x, v = result.positions[:, 0], result.velocities[:, 0]
    crosses = highest_between_knots(x, v, 0.4) > high
    assert result.status is (SolveStatus.RELAXED if crosses else SolveStatus.CONVERGED)
    assert crosses == (high < 0.17)
    assert crosses or (x.max() < 0.11 and x[-1] == pytest.approx(-1.0))


def test_an_obstacle_that_no_joint_can_leave_does_not_stop_the_search():
    model = Model.from_urdf(HINGE, device='cpu')
    scene = CollisionScene(model)
    # So large that the shortest way out of it remains the vertical one.
    scene.add_obstacle('box', CollisionShape.box([1.0, 1.0, 0.08]))
    solver = OptimalControl(model, barriers=[WorldCollisionBarrier(scene, d_min=0.01)])
    command = OptimalControlCommandBuilder().add_joint_position_target('z', 0.5).build()
    rng = np.random.default_rng(0)
    for _ in range(20):
        place = [*rng.uniform(-0.3, 0.3, 2), -rng.uniform(0.03, 0.11)]
        scene.move_obstacle('box', [*place, 0, 0, 0, 1])
        result = solver.solve(command, rng.uniform(-0.5, 0.5, 1))
        assert result.status is SolveStatus.RELAXED
        assert result.positions[-1, 0] == pytest.approx(0.5, abs=1e-3)


def test_targets_in_a_slab_are_reached_along_ways_that_stay_in_it(boxed):
    """In 6 cm of height the straight way between two configurations leaves the slab."""
    low, high = np.array([-np.inf, -np.inf, 0.4]), np.array([np.inf, np.inf, 0.46])
    barrier = PositionBarrier(boxed.model.body_index(TIP), low, high)
    solver = OptimalControl(boxed.model, 'panda_link0:panda_hand_tcp', barriers=[barrier])

    def height(joint_q):
        return tip(boxed, joint_q)[2]

    configurations = []
    while len(configurations) < 30:
        q = boxed.random_joint_q()
        if 0.405 < height(q) < 0.455:
            configurations.append(q)
    reached = curved = 0
    for q, goal in zip(configurations[::2], configurations[1::2], strict=True):
        frame = boxed.frames(goal)[TIP]
        made = OptimalControlCommandBuilder()
        made.add_cartesian_target('panda_link0', TIP, frame.homogeneous, 1.0, 0.0)
        result = solver.solve(made.build(), q)
        heights = [height(x) for x in knots_and_middles(boxed, result)]
        assert min(heights) >= 0.4 - SAME and max(heights) <= 0.46 + SAME
        done = result.feedback.total_cost < 1e-8
        reached += done
        curved += done and np.linalg.matrix_rank(result.positions - q, tol=1e-6) > 1
    # The others rest at joint limits.
    assert reached >= 12 and curved >= 6, (reached, curved)


def test_a_target_outside_is_approached_to_the_face(boxed):
    """The least distance to a target behind one face is that of the face."""
    for q in starts_inside(boxed, 6):
        target = np.array([0.45, 0.1, 0.95])
        result = boxed.solver.solve(command_at(boxed, target, rotation_weight=0.0), q)
        if result.reason is StopReason.ITERATION_LIMIT:
            continue
        assert result.feedback.total_cost == pytest.approx(0.15**2, rel=0.01)
        assert 0.0 <= room(boxed, result.positions[-1]) < 1e-4


def test_a_start_outside_returns_and_never_goes_further_out(boxed):
    count = 0
    while count < 6:
        q = boxed.random_joint_q()
        if not -0.2 < room(boxed, q) < -0.01:
            continue
        count += 1
        result = boxed.solver.solve(command_at(boxed, 0.5 * (LOW + HIGH)), q)
        assert result.status in (SolveStatus.RELAXED, SolveStatus.HALTED_BY_BARRIER)
        rows = np.array([
            np.concatenate([tip(boxed, x) - LOW, HIGH - tip(boxed, x)])
            for x in knots_and_middles(boxed, result)
        ])  # fmt: skip
        outside = np.minimum(rows, 0.0)
        assert np.all(np.diff(outside, axis=0) >= -SAME)
        if result.status is SolveStatus.RELAXED:
            assert room(boxed, result.positions[-1]) >= -SAME
            assert 'beyond a barrier' in result.relaxed[-1]


def test_a_start_that_cannot_stop_before_a_barrier_says_so(boxed):
    q = next(q for q in starts_inside(boxed, 100) if 0.0 < room(boxed, q) < 0.01)
    rows = np.concatenate([tip(boxed, q) - LOW, HIGH - tip(boxed, q)])
    face = int(np.argmin(rows))
    outward = boxed.oracle.jacobian(q, TIP)[face % 3] * (-1.0 if face < 3 else 1.0)
    qd = np.where(np.arange(len(outward)) < 7, 0.9 * np.sign(outward), 0.0)
    qd[boxed.dofs] *= np.minimum(boxed.speed, 1.0)
    result = boxed.solver.solve(command_at(boxed, 0.5 * (LOW + HIGH)), q, qd)
    assert result.status is SolveStatus.RELAXED
    assert 'too fast to stop' in result.relaxed[-1]
    assert room(boxed, result.positions[-1]) >= -SAME
    assert not np.any(result.velocities[-1])


def test_ways_around_barriers_name_the_joints_that_brake_harder_at_first(boxed):
    """The joint that is too fast for its limit stops, and then the arm goes on in a slab."""
    low, high = np.array([-np.inf, -np.inf, 0.35]), np.array([np.inf, np.inf, 0.5])
    barrier = PositionBarrier(boxed.model.body_index(TIP), low, high)
    solver = OptimalControl(boxed.model, 'panda_link0:panda_hand_tcp', barriers=[barrier])
    count = 0
    while count < 8:
        q, k = boxed.random_joint_q(), boxed.rng.integers(7)
        q[boxed.coords[k]] = boxed.upper[k] - 0.05
        goal = boxed.random_joint_q()
        if not all(0.36 < tip(boxed, x)[2] < 0.49 for x in (q, goal)):
            continue
        count += 1
        qd = np.zeros(boxed.model.joint_dof_count)
        qd[boxed.dofs[k]] = 0.9 * boxed.speed[k]
        result = solver.solve(command_at(boxed, tip(boxed, goal), rotation_weight=0.0), q, qd)
        hardest = np.abs(result.accelerations[:, boxed.dofs]).max(axis=0)
        harder = [boxed.names[j] for j in np.flatnonzero(hardest > 1.001 * boxed.acceleration)]
        assert harder == [boxed.names[k]]
        text = f'braked harder than the acceleration limits: {boxed.names[k]}'
        assert result.status is SolveStatus.RELAXED and result.relaxed[0] == text


def test_a_failed_detour_leaves_the_joint_targets_of_the_command(boxed, monkeypatch):
    """Both are commands for joints alone. The search after the detour is for those of the user."""
    q = next(starts_inside(boxed, 1))
    made = OptimalControlCommandBuilder()
    for name, value in zip(boxed.names, q[boxed.coords] + 1e-3, strict=True):
        made.add_joint_position_target(name, value, 4.0)
    away = np.full(len(boxed.names), -2e-3)
    monkeypatch.setattr(boxed.solver, '_direct_motion', lambda *arguments: None)
    monkeypatch.setattr(
        boxed.solver._ends, 'better_ends',
        lambda command, problem, limits, found: [dataclasses.replace(found, path=[away])],
    )  # fmt: skip
    along, refused = MotionPlanner.along, []

    def refused_at_first(planner, path, halt):
        """Refuse the detour, and the way of the first search."""
        if len(refused) < 2:
            refused.append(path[-1])
            return None
        return along(planner, path, halt)

    monkeypatch.setattr(MotionPlanner, 'along', refused_at_first)
    result = boxed.solver.solve(made.build(), q)
    np.testing.assert_array_equal(refused[0], away)
    went = result.positions[-1, boxed.coords] - q[boxed.coords]
    np.testing.assert_allclose(went, 1e-3, rtol=0.1)


def test_a_barrier_belongs_to_one_solver(boxed):
    with pytest.raises(ArgumentError, match='already belongs'):
        OptimalControl(boxed.model, barriers=boxed.solver._arrays.barriers)


BALL = (
    '<robot name="ball"><link name="base"/><link name="car"/><link name="ball"><collision>'
    '<geometry><sphere radius="0.1"/></geometry></collision></link>'
    '<joint name="x" type="prismatic"><parent link="base"/><child link="car"/><axis xyz="1 0 0"/>'
    '<limit lower="-2" upper="2" velocity="1" effort="1"/></joint>'
    '<joint name="y" type="prismatic"><parent link="car"/><child link="ball"/><axis xyz="0 1 0"/>'
    '<limit lower="-2" upper="2" velocity="1" effort="1"/></joint></robot>'
)


@pytest.mark.parametrize('rows', [1, 2, None])
@pytest.mark.parametrize('dt', [0.01, 0.1])
def test_the_way_out_of_some_obstacles_leads_into_no_other(rows, dt):
    """A ball overlaps balls, more than have rows, and others are near; each is judged alone."""
    rng, model, d_min = np.random.default_rng(5), Model.from_urdf(BALL, device='cpu'), 0.02
    scene = CollisionScene(CollisionGeometry.from_model(model), max_obstacles=6)
    barrier = WorldCollisionBarrier(scene, d_min=d_min, n_collision_pairs=rows)
    solver = OptimalControl(model, barriers=[barrier], dt=dt)
    moved = several = 0
    for _ in range(either(12, 60)):
        centers, radii = rng.uniform(-0.5, 0.5, (6, 2)), rng.uniform(0.05, 0.3, 6)
        for k, (center, radius) in enumerate(zip(centers, radii, strict=True)):
            shape = CollisionShape.sphere(radius)
            scene.add_obstacle(f'o{k}', shape, [*center, 0.0, 0.0, 0.0, 0.0, 1.0])
        made = OptimalControlCommandBuilder()
        for name, value in zip('xy', rng.uniform(-1.0, 1.0, 2), strict=True):
            made.add_joint_position_target(name, value, 1.0)
        result = solver.solve(made.build(), np.zeros(2))
        u = np.linspace(0.0, 1.0, 11)[:, None, None]
        x, v, a = result.positions, result.velocities, result.accelerations
        bend = 0.5 * a[:-1] + u * np.diff(a, axis=0) / 6.0
        way = np.swapaxes(x[:-1] + dt * u * (v[:-1] + dt * u * bend), 0, 1).reshape(-1, 2)
        way = np.concatenate([way, x[-1:]])
        away = np.linalg.norm(way[:, None] - centers, axis=2) - radii - 0.1 - d_min
        best = np.minimum(np.maximum.accumulate(away, axis=0), 0.0)
        # The document permits 0.05 mm to pairs that are too close at the start.
        assert np.all(away >= best - np.where(best < 0.0, 5e-5, 1e-6))
        several += np.sum(away[0] < 0.0) > (rows or 0)
        moved += np.sum(away[-1] < 0.0) < np.sum(away[0] < 0.0)
        for k in range(6):
            scene.remove_obstacle(f'o{k}')
    assert several >= 4 and moved >= 4


MOVING_BASE = """<robot name="r"><link name="world"/><link name="base"><collision><geometry>
<sphere radius="0.2"/></geometry></collision></link><link name="arm"/><link name="tip"/>
<joint name="drive" type="planar"><parent link="world"/><child link="base"/><axis xyz="0 0 1"/>
<limit velocity="1" effort="1"/></joint><joint name="turn" type="revolute"><parent link="base"/>
<child link="arm"/><axis xyz="0 0 1"/><limit lower="-6.2" upper="6.2" velocity="1" effort="1"/>
</joint><joint name="lift" type="revolute"><parent link="arm"/><child link="tip"/>
<axis xyz="0 1 0"/><origin xyz="0.3 0 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/>
</joint></robot>"""


@pytest.mark.parametrize(('aside', 'arrives'), [(0.1, True), (0.0, False)])
def test_a_base_that_moves_in_a_plane_keeps_away_from_an_obstacle(aside, arrives):
    # Exactly behind the ball no side is nearer, and the search for a way around finds none.
    model = Model.from_urdf(MOVING_BASE, device='cpu')
    scene = CollisionScene(CollisionGeometry.from_model(model), max_obstacles=1)
    ball = np.array([1.0, aside, 0.0])
    scene.add_obstacle('ball', CollisionShape.sphere(0.3), [*ball, 0.0, 0.0, 0.0, 1.0])
    solver = OptimalControl(model, barriers=[WorldCollisionBarrier(scene, d_min=0.02)])
    target = np.eye(4)
    target[0, 3] = 2.3
    command = OptimalControlCommandBuilder().add_cartesian_target('', 'tip', target, 1.0)
    result = solver.solve(command.build(model), model.neutral_joint_q())
    # The first two coordinates are the place of the base.
    away = np.linalg.norm(result.positions[:, :2] - ball[:2], axis=1)
    assert away.min() > 0.2 + 0.3 + 0.02 - SAME
    assert result.status is (SolveStatus.CONVERGED if arrives else SolveStatus.AT_LIMITS)
    assert (result.feedback.total_cost < 1e-6) == arrives


@pytest.mark.parametrize('angle', [5.0, -5.0, 3.5])
def test_a_joint_after_a_planar_one_turns_to_its_own_target(angle):
    # The hand reaches its pose with the joint in either turn, and the joint target chooses.
    model = Model.from_urdf(MOVING_BASE, device='cpu')
    target = np.eye(4)
    target[:3, :3] = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()
    target[:3, 3] = 0.3 * target[:3, 0]
    command = (
        OptimalControlCommandBuilder()
        .add_joint_position_target('turn', angle, 1e-3)
        .add_cartesian_target('', 'tip', target, 1.0, 1.0)
        .add_cartesian_target('', 'base', np.eye(4), 1.0, 1.0)
        .build(model)
    )
    result = OptimalControl(model).solve(command, model.neutral_joint_q())
    np.testing.assert_allclose(result.positions[-1], [0.0, 0.0, 0.0, angle, 0.0], atol=1e-3)
