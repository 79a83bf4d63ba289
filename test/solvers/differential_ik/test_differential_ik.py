# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control steps of a Panda and small robots: limits, barriers, recoveries, groups and misuse."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import pin

from ros_ik.barriers import PositionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

DT = 0.01
PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
UR5 = next(path for path in ALL_URDFS if path.stem == 'ur5_robot')
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])


@pytest.fixture
def panda():
    """Panda at home with a reaching task: (solver, tip, pose of the tip, objective, tasks)."""
    model = load(PANDA)
    diff = DifferentialIK(model, 'panda_link0:panda_hand_tcp')
    tip = model.body_index('panda_hand_tcp')
    pose = diff.body_poses(HOME)[tip]
    objective = IKObjectivePose(tip, pose, exact_jacobian=False)
    posture = IKObjectiveJointPosition(model, HOME)
    return diff, tip, pose, objective, [Task(objective, gain=0.3), Task(posture, weight=0.01)]


def run(diff, tasks, limits, barriers, joint_q, ticks):
    """Run a control loop and yield (joint_q, delta_q, status) after each tick."""
    delta_q = np.zeros(diff.model.joint_dof_count)
    for _ in range(ticks):
        status = diff.solve_ik(joint_q, tasks, limits, barriers, delta_q)
        diff.enforce_barriers(joint_q, barriers, delta_q)
        joint_q = diff.integrate(joint_q, delta_q)
        yield joint_q, delta_q.copy(), status


def test_reaches_a_pose_inside_limits(panda):
    diff, tip, pose, objective, tasks = panda
    target = pose + [0.1, 0.15, -0.1, 0, 0, 0, 0]
    objective.set_target_pose(0, target)
    low, high, speed, _ = diff.model.limits64()
    for joint_q, delta_q, _ in run(diff, tasks, [PositionLimit(), VelocityLimit()], [], HOME, 400):
        assert np.all(joint_q >= low) and np.all(joint_q <= high)
        assert np.all(np.abs(delta_q) <= speed * DT)
    reached = diff.body_poses(joint_q)[tip]
    # The posture pulls with (0.01)^2 against 1: it may cost some tenths of a millimetre.
    np.testing.assert_allclose(reached[:3], target[:3], atol=1e-3)


def test_locked_joints_do_not_move(panda):
    diff, _, pose, objective, tasks = panda
    objective.set_target_pose(0, pose + [0.2, 0, 0, 0, 0, 0, 0])
    for _, delta_q, _ in run(diff, tasks, [], [], HOME, 3):
        np.testing.assert_array_equal(delta_q[7:], 0.0)
        assert np.abs(delta_q[:7]).max() > 1e-3


def test_pose_in_another_link_ignores_common_motion():
    """A target in the flange's grandparent moves only the joints between, and is reached there."""
    model = load(PANDA)
    diff = DifferentialIK(model)
    tip, reference = model.body_index('panda_hand_tcp'), model.body_index('panda_link4')
    poses = diff.body_poses(HOME)

    def relative(q):
        poses = [pin.XYZQUATToSE3(pose) for pose in diff.body_poses(q)]
        return pin.SE3ToXYZQUAT(poses[reference].actInv(poses[tip]))

    target_q = HOME + np.array([0, 0, 0, 0, 0.2, -0.2, 0.3, 0, 0])
    objective = IKObjectivePose(
        tip, relative(target_q), reference_link_index=reference, exact_jacobian=False
    )
    steps = list(run(diff, [Task(objective)], [], [], HOME, 30))
    for _, delta_q, _ in steps:
        np.testing.assert_allclose(delta_q[:4], 0.0, atol=1e-15)
    np.testing.assert_allclose(steps[-1][0], target_q, atol=1e-6)
    assert poses.shape == (model.body_count, 7)


def test_box_holds_and_is_approached(panda):
    diff, tip, pose, objective, tasks = panda
    wall = pose[0] + 0.05
    barrier = PositionBarrier(
        tip, [-np.inf] * 3, [wall, np.inf, np.inf], gain=5.0, safe_displacement_gain=0.0
    )
    objective.set_target_pose(0, pose + [0.3, 0, 0, 0, 0, 0, 0])
    limits = [PositionLimit(), VelocityLimit()]
    for joint_q, _, _ in run(diff, tasks, limits, [barrier], HOME, 500):
        assert diff.barrier_values(joint_q, [barrier])[0] >= -1e-9
    assert diff.barrier_values(joint_q, [barrier])[0] < 1e-3


def test_outside_the_box_the_distance_only_grows_and_limits_hold(panda):
    """Oink exceeds its hard velocity limit here by 3.1 and 7.8 times and reports success."""
    diff, tip, pose, objective, _ = panda
    speed = diff.model.limits64()[2]
    for gain in (1.0, 5.0, 20.0, 50.0):
        barrier = PositionBarrier(
            tip,
            [pose[0] + 0.2, -np.inf, -np.inf],
            [np.inf] * 3,
            gain=gain,
            safe_displacement_gain=0.0,
        )
        last = -np.inf
        for joint_q, delta_q, status in run(
            diff, [Task(objective)], [VelocityLimit()], [barrier], HOME, 60
        ):
            assert status.ok
            assert np.all(np.abs(delta_q) <= speed * DT * (1 + 1e-12))
            h = diff.barrier_values(joint_q, [barrier])[0]
            assert h >= last or h > 0
            last = h
        assert h > (-0.15 if gain < 5.0 else -0.02)


def test_the_way_out_of_a_violation_asks_for_no_more_than_the_recovery_speed(panda):
    diff, tip, pose, objective, _ = panda
    objective.set_target_pose(0, pose)
    for speed in (0.01, 0.1):
        barrier = PositionBarrier(
            tip,
            [pose[0] + 0.2, -np.inf, -np.inf],
            [np.inf] * 3,
            gain=50.0,
            safe_displacement_gain=0.0,
        )
        barrier.recovery_speed = speed
        step = np.zeros(9)
        assert diff.solve_ik(HOME, [Task(objective)], [VelocityLimit()], [barrier], step).ok
        slope = np.zeros(9)
        for dof in range(9):
            change = 1e-6 * np.eye(9)[dof]
            ahead, behind = (
                diff.barrier_values(HOME + sign * change, [barrier])[0] for sign in (1, -1)
            )
            slope[dof] = (ahead - behind) / 2e-6
        # The row holds as an equation; central differences are good to 1e-9.
        assert slope @ step == pytest.approx(DT * speed * np.linalg.norm(slope), rel=1e-6)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_joint_that_moves_into_a_violation_brakes_although_another_moves_out_of_it(side):
    builder = ModelBuilder()
    links = [builder.add_link() for _ in range(2)]
    builder.add_articulation([
        builder.add_joint_prismatic(parent, link, axis=(1, 0, 0))
        for parent, link in zip([-1, links[0]], links, strict=True)
    ])
    model = builder.finalize(device='cpu')
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    (high if side > 0.0 else low)[0] = 0.0
    barrier = PositionBarrier(links[1], low, high)
    barrier.recovery_speed = 0.1
    diff = DifferentialIK(model, '', DifferentialIKSettings(dt=DT))
    acceleration, step = AccelerationLimit(np.full(2, 10.0)), np.zeros(2)
    q = side * np.array([0.05, 0.0])
    goal = Task(IKObjectiveJointPosition(model, q + side * np.array([0.1, -0.1])))
    request = q, [goal], [acceleration], [barrier], step
    # The limit accepts the last step after the first solve.
    assert diff.solve_ik(*request).ok
    acceleration.set_last_displacement(side * np.array([0.005, -0.008]))
    assert diff.solve_ik(*request).ok
    # The one brakes by 10 m/s^2, the other speeds up by as much.
    np.testing.assert_allclose(side * step, [0.004, -0.009], atol=1e-6)


def test_steps_after_forgotten_ones_are_those_of_a_new_solver(panda):
    """The steps before leave a violation, which slows later ones down."""
    diff, tip, pose, objective, tasks = panda
    objective.set_target_pose(0, pose + [0.1, 0.1, 0, 0, 0, 0, 0])
    barrier = PositionBarrier(tip, [pose[0] - 0.01, -np.inf, -np.inf], [np.inf] * 3, gain=5.0)
    barrier.recovery_speed = 0.1
    acceleration, step = AccelerationLimit(np.full(9, 10.0)), np.zeros(9)
    limits = [VelocityLimit(), acceleration]
    # The limit accepts the last step after the first solve.
    assert diff.solve_ik(HOME, tasks, limits, [barrier], step).ok

    def steps_from(joint_q):
        step[:], steps = 0.0, []
        for _ in range(5):
            acceleration.set_last_displacement(step)
            assert diff.solve_ik(joint_q, tasks, limits, [barrier], step).ok
            joint_q = diff.integrate(joint_q, step)
            steps.append(step.copy())
        return np.array(steps)

    violated = HOME - 0.3 * np.eye(9)[3]
    assert diff.barrier_values(violated, [barrier])[0] < -0.01
    new = steps_from(HOME)
    steps_from(violated)
    assert np.abs(steps_from(HOME) - new).max() > 0.1 * np.abs(new).max()
    steps_from(violated)
    diff.forget_steps()
    np.testing.assert_array_equal(steps_from(HOME), new)


@pytest.mark.parametrize('first', ['no recovery', 'no acceleration', 'the same'])
@pytest.mark.parametrize('second', ['no recovery', 'no acceleration', 'the same'])
def test_a_solver_continues_from_one_with_other_limits_and_barriers(panda, first, second):
    _, tip, pose, _, _ = panda
    model = load(PANDA)

    def solver(kind):
        barrier = PositionBarrier(tip, [pose[0] - 0.01, -np.inf, -np.inf], [np.inf] * 3, gain=5.0)
        if kind != 'no recovery':
            barrier.recovery_speed = 0.1
        limits = [] if kind == 'no acceleration' else [AccelerationLimit(np.full(9, 10.0))]
        tasks = [Task(IKObjectiveJointPosition(model, HOME))]
        diff, step = DifferentialIK(model, settings=DifferentialIKSettings(dt=DT)), np.zeros(9)
        return diff, lambda: diff.solve_ik(HOME - 0.3, tasks, limits, [barrier], step)

    (one, solve_one), (other, solve_other) = solver(first), solver(second)
    assert solve_one().ok
    for _ in range(2):
        other.continue_from(one)
        assert solve_other().ok
    one.continue_from(other)
    assert solve_one().ok


def test_a_solver_of_other_robots_is_not_continued_from(panda):
    model = load(PANDA)
    with pytest.raises(ArgumentError, match='other must have n_robots=1 as this solver, got 3'):
        DifferentialIK(model).continue_from(DifferentialIK(model, n_robots=3))


def test_nan_is_refused_and_the_next_step_is_good(panda):
    diff, _, pose, objective, tasks = panda
    objective.set_target_pose(0, pose + [0.1, 0, 0, 0, 0, 0, 0])
    good, delta_q = np.zeros(9), np.ones(9)
    limits = [PositionLimit()]
    diff.solve_ik(HOME, tasks, limits, (), good)
    broken = HOME.copy()
    broken[2] = np.nan
    assert diff.solve_ik(broken, tasks, limits, (), delta_q) == SolveStatus.NON_FINITE_INPUT
    np.testing.assert_array_equal(delta_q, 0.0)
    objective.set_target_pose(0, np.full(7, np.nan))
    assert diff.solve_ik(HOME, tasks, limits, (), delta_q) == SolveStatus.NON_FINITE_INPUT
    objective.set_target_pose(0, pose + [0.1, 0, 0, 0, 0, 0, 0])
    assert diff.solve_ik(HOME, tasks, limits, (), delta_q) == SolveStatus.CONVERGED
    np.testing.assert_array_equal(delta_q, good)


def test_batch_equals_single_robots(panda):
    single, tip, pose, _, _ = panda
    model, n = single.model, 5
    rng = np.random.default_rng(3)
    joint_q = model.random_joint_q(n, rng)
    targets = pose + np.pad(rng.uniform(-0.2, 0.2, (n, 3)), ((0, 0), (0, 4)))
    batch = DifferentialIK(model, single.group, n_robots=n)
    steps = np.zeros((n, model.joint_dof_count))
    limits = [PositionLimit(), VelocityLimit()]
    status = batch.solve_ik(
        joint_q,
        [Task(IKObjectivePose(tip, targets, exact_jacobian=False), damping=0.1)],
        limits,
        (),
        steps,
    )
    assert np.all(status == SolveStatus.CONVERGED)
    for q, target, step in zip(joint_q, targets, steps, strict=True):
        alone = np.zeros(model.joint_dof_count)
        tasks = [Task(IKObjectivePose(tip, target, exact_jacobian=False), damping=0.1)]
        DifferentialIK(model, single.group).solve_ik(
            q, tasks, [PositionLimit(), VelocityLimit()], (), alone
        )
        np.testing.assert_array_equal(step, alone)


def test_saturation_shortens_the_error_and_keeps_its_direction(panda):
    diff, _, pose, objective, _ = panda
    target = pose + [0.4, 0.3, 0, 0, 0, 0, 0]
    objective.set_target_pose(0, target)
    task = Task(objective, max_error=(0.1, np.inf), damping=0.0)
    saturated, direct = np.zeros(9), np.zeros(9)
    diff.solve_ik(HOME, [task], (), (), saturated, regularization=1e-6)
    shortened = 0.1 * np.tanh(0.5 / 0.1)
    objective.set_target_pose(0, pose + np.array([0.4, 0.3, 0, 0, 0, 0, 0]) * shortened / 0.5)
    diff.solve_ik(HOME, [Task(objective)], (), (), direct, regularization=1e-6)
    np.testing.assert_allclose(saturated, direct, rtol=1e-6, atol=1e-9)


def test_acceleration_limit_brakes_before_the_position_limit():
    model = load(UR5)
    diff = DifferentialIK(model, ['shoulder_pan_joint'])
    acceleration = np.full(model.joint_dof_count, 4.0)
    limit = AccelerationLimit(acceleration)
    high, speed = model.limits64()[1][0], model.limits64()[2][0]
    target = model.neutral_joint_q()
    target[0] = high + 5.0
    tasks = [Task(IKObjectiveJointPosition(model, target))]
    limits = [PositionLimit(), VelocityLimit(), limit]
    joint_q, last, delta_q = model.neutral_joint_q(), 0.0, np.zeros(model.joint_dof_count)
    joint_q[0] = high - 2.0
    fastest = 0.0
    for _ in range(400):
        assert diff.solve_ik(joint_q, tasks, limits, (), delta_q) == SolveStatus.CONVERGED
        assert abs(delta_q[0] - last) <= 4.0 * DT**2 * (1 + 1e-9)
        joint_q = diff.integrate(joint_q, delta_q)
        last = delta_q[0]
        fastest = max(fastest, last)
        limit.set_last_displacement(delta_q)
        assert joint_q[0] <= high + 1e-12
    assert fastest > 0.5 * speed * DT
    assert joint_q[0] == pytest.approx(high, abs=1e-4)


def test_enforce_stops_only_the_joints_that_make_it_worse():
    """A step that would push the left elbow out of a box leaves the right arm alone."""
    model = load(next(path for path in ALL_URDFS if path.stem == 'baxter'))
    diff = DifferentialIK(model)
    q = model.neutral_joint_q()
    left = model.body_index('left_gripper')
    pose = diff.body_poses(q)[left]
    barrier = PositionBarrier(left, [-np.inf] * 3, [pose[0] + 1e-4, np.inf, np.inf], name='wall')
    step = np.zeros(model.joint_dof_count)
    names = {
        model.joint_label[k]: int(model.joint_qd_start.numpy()[k])
        for k in range(model.joint_count)
    }
    for side in ('left', 'right'):
        step[names[f'{side}_s0']] = 0.05 if side == 'left' else -0.05
    if diff.barrier_values(diff.integrate(q, step), [barrier])[0] > 0:
        step *= -1.0
    before = step.copy()
    assert diff.enforce_barriers(q, [barrier], step) == SolveStatus.HALTED_BY_BARRIER
    assert step[names['left_s0']] == 0.0
    assert step[names['right_s0']] == before[names['right_s0']]
    back = -before
    expected = back.copy()
    assert diff.enforce_barriers(q, [barrier], back) == SolveStatus.CONVERGED
    np.testing.assert_array_equal(back, expected)
    broken = np.full(model.joint_dof_count, np.nan)
    assert diff.enforce_barriers(q, [barrier], broken) == SolveStatus.NON_FINITE_INPUT
    np.testing.assert_array_equal(broken, 0.0)


def test_step_over_the_group_variables(panda):
    diff, _, pose, objective, tasks = panda
    objective.set_target_pose(0, pose + [0.1, 0, 0, 0, 0, 0, 0])
    full, reduced = np.zeros(9), np.zeros(7)
    diff.solve_ik(HOME, tasks, (), (), full)
    diff.solve_ik(HOME, tasks, (), (), reduced)
    np.testing.assert_array_equal(full[:7], reduced)


def test_parameters_set_between_solves_take_effect(panda):
    diff, _, pose, objective, tasks = panda
    objective.set_target_pose(0, pose + [0.01, 0, 0, 0, 0, 0, 0])
    speed = VelocityLimit()
    first, second = np.zeros(9), np.zeros(9)
    diff.solve_ik(HOME, tasks, [speed], (), first)
    tasks[0].gain = 0.15
    diff.solve_ik(HOME, tasks, [speed], (), second)
    assert np.linalg.norm(second) == pytest.approx(0.5 * np.linalg.norm(first), rel=0.05)
    objective.set_target_pose(0, pose + [0.5, 0, 0, 0, 0, 0, 0])
    speed.scale = 0.1
    diff.solve_ik(HOME, tasks, [speed], (), second)
    assert np.all(np.abs(second) <= 0.1 * DT * diff.model.limits64()[2] + 1e-15)


@pytest.mark.parametrize(
    ('call', 'name'),
    [
        (lambda diff, tasks: diff.solve_ik(HOME[:3], tasks, (), (), np.zeros(9)), 'joint_q'),
        (lambda diff, tasks: diff.solve_ik(HOME, tasks, (), (), np.zeros(4)), 'delta_q'),
        (lambda diff, tasks: diff.solve_ik(HOME, tasks), 'delta_q'),
        (lambda diff, tasks: diff.solve_ik(HOME, [], (), (), np.zeros(9)), 'tasks'),
        (
            lambda diff, tasks: diff.solve_ik(HOME, tasks, (), (), np.zeros(9), -1.0),
            'regularization',
        ),
        (lambda diff, tasks: diff.enforce_barriers(HOME, (), np.zeros(4)), 'delta_q'),
        (lambda diff, tasks: diff.enforce_barriers(HOME, (), np.zeros(9), -1.0), 'tolerance'),
        (lambda diff, tasks: DifferentialIKSettings(dt=0.0), 'dt'),
        (lambda diff, tasks: DifferentialIK(diff.model, 'no_such_group'), 'no_such_group'),
        (lambda diff, tasks: DifferentialIK(diff.model, ['panda_joint99']), 'panda_joint9'),
        (lambda diff, tasks: DifferentialIK(diff.model, n_robots=0), 'n_robots'),
        (lambda diff, tasks: Task(tasks[0].objective, gain=-1.0), 'gain'),
        (lambda diff, tasks: Task(tasks[0].objective, weight=[1.0, 2.0]), 'weight'),
        (lambda diff, tasks: Task(tasks[0].objective, max_error=0.0), 'max_error'),
        (lambda diff, tasks: IKObjectivePose(1, np.zeros(7)), 'target_poses'),
        (lambda diff, tasks: PositionLimit(gain=1.5), 'gain'),
        (lambda diff, tasks: VelocityLimit(scale=0.0), 'scale'),
        (lambda diff, tasks: AccelerationLimit(np.array([-1.0])), 'acceleration'),
        (lambda diff, tasks: PositionBarrier(1, [0, 0, 0], [0, 1, 1]), 'p_min'),
        (lambda diff, tasks: PositionBarrier(1, [-np.inf] * 3, [np.inf] * 3), 'finite bound'),
        (lambda diff, tasks: PositionBarrier(1, [0, 0, 0], [1, 1, 1], gain=0.0), 'gain'),
    ],
)
def test_misuse_is_named(panda, call, name):
    diff, _, _, _, tasks = panda
    with pytest.raises(ArgumentError, match=name):
        call(diff, tasks)


def test_an_object_serves_one_solver(panda):
    diff, _, _, _, tasks = panda
    limit = VelocityLimit()
    diff.solve_ik(HOME, tasks, [limit], (), np.zeros(9))
    other = DifferentialIK(diff.model)
    objective = IKObjectivePose(3, [0, 0, 0, 0, 0, 0, 1], exact_jacobian=False)
    with pytest.raises(ArgumentError, match='VelocityLimit'):
        other.solve_ik(HOME, [Task(objective)], [limit], (), np.zeros(9))


def test_two_hands_approach_each_other():
    """A target of one hand in the other moves both arms, and is reached."""
    model = load(next(path for path in ALL_URDFS if path.stem == 'baxter'))
    diff = DifferentialIK(model)
    left, right = model.body_index('left_gripper'), model.body_index('right_gripper')
    rng = np.random.default_rng(1)
    q = model.neutral_joint_q()
    goal = q + rng.uniform(-0.1, 0.1, model.joint_coord_count)

    def relative(joint_q):
        poses = [pin.XYZQUATToSE3(pose) for pose in diff.body_poses(joint_q)]
        return poses[right].actInv(poses[left])

    objective = IKObjectivePose(
        left,
        pin.SE3ToXYZQUAT(relative(goal)),
        reference_link_index=right,
        exact_jacobian=False,
    )
    reached, moved, _ = list(run(diff, [Task(objective)], [], [], q, 20))[-1]
    assert np.abs(reached - q)[[int(k) for k in diff.group.variable_dof]].max() > 1e-3
    np.testing.assert_allclose(
        relative(reached).homogeneous, relative(goal).homogeneous, atol=1e-6
    )
    assert np.abs(moved).max() < 1e-5


MIMIC_URDF = """<robot name="gripper"><link name="base"/><link name="a"/><link name="b"/>
<joint name="drive" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="follow" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
<limit lower="-0.2" upper="1" velocity="0.4" effort="1"/>
<mimic joint="drive" multiplier="-0.5" offset="0.1"/></joint></robot>"""


def test_mimic_joints_follow_and_their_limits_hold():
    """Link b is at x = q + 0.1 - q / 2; the follower allows |dq| <= 0.8 dt and q <= 0.6."""
    model = Model.from_urdf(MIMIC_URDF, device='cpu')
    diff = DifferentialIK(model, ['drive'])
    objective = IKObjectivePose(
        model.body_index('b'), [0.3, 0, 0, 0, 0, 0, 1], exact_jacobian=False
    )
    limits = [PositionLimit(), VelocityLimit()]
    for q, delta_q, _ in run(diff, [Task(objective)], limits, [], model.neutral_joint_q(), 100):
        np.testing.assert_allclose(delta_q[1], -0.5 * delta_q[0], atol=1e-15)
        np.testing.assert_allclose(q, model.apply_mimic(q), atol=1e-12)
        assert abs(delta_q[0]) <= 0.8 * DT + 1e-15
    assert q[0] == pytest.approx(0.4, abs=1e-6)
    objective.set_target_pose(0, [5.0, 0, 0, 0, 0, 0, 1])
    q = list(run(diff, [Task(objective)], [PositionLimit()], [], q, 100))[-1][0]
    assert q[0] == pytest.approx(0.6, abs=1e-9)


def test_tasks_shared_by_several_combinations_keep_their_targets(panda):
    diff, _, pose, objective, tasks = panda
    alone, beside, again = np.zeros(9), np.zeros(9), np.zeros(9)
    diff.solve_ik(HOME, tasks, (), (), alone)
    diff.task_errors(HOME, tasks)
    limits = [VelocityLimit()]
    objective.set_target_pose(0, pose + [0.001, 0, 0, 0, 0, 0, 0])
    diff.solve_ik(HOME, tasks, limits, (), beside)
    diff.solve_ik(HOME, tasks, (), (), again)
    assert np.abs(again - alone).max() > 1e-5
    np.testing.assert_allclose(again, beside, atol=1e-12)
    assert np.linalg.norm(diff.task_errors(HOME, tasks)[0][:3]) == pytest.approx(1e-3, rel=1e-6)
    other = DifferentialIK(diff.model, diff.group)
    other.solve_ik(HOME, tasks, (), (), alone)
    np.testing.assert_array_equal(alone, again)


def test_last_displacement_may_be_given_before_the_first_solve():
    model = load(UR5)
    diff = DifferentialIK(model)
    limit = AccelerationLimit(np.full(6, 1.0))
    limit.set_last_displacement(np.full(6, 0.005))
    task = Task(IKObjectiveJointPosition(model, model.neutral_joint_q()))
    step = np.zeros(6)
    diff.solve_ik(model.neutral_joint_q(), [task], [limit], (), step)
    np.testing.assert_allclose(step, 0.005 - 1.0 * DT**2, rtol=1e-9)
