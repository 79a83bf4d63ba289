# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps that leave the distance for a stop: barriers hold within the acceleration limits."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.barriers import PositionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import ModelBuilder
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task
from ros_ik.solvers.differential_ik.step_checks import stop_tolerance

DT = 0.01
# Between two configurations of a stop the tip leaves the chord by L dq^2 / 8: with 0.05 rad and
# 1 m between them, 0.3 mm; commanded configurations themselves are checked.
SWEPT = 1e-3
# Tolerance of the check below a barrier without a margin, so that robots can slide along it.
ROOM = 1e-4 + 1e-12


class Drive:
    """Random targets on all sides of a box with walls that the step itself brakes for too late."""

    def __init__(self, name, base, tip, acceleration, seed, n_robots=1):
        (path,) = (path for path in ALL_URDFS if path.stem == name)
        self.model = load(path)
        self.rng, self.link = np.random.default_rng(seed), self.model.body_index(tip)
        settings = DifferentialIKSettings(dt=DT)
        self.diff = DifferentialIK(self.model, f'{base}:{tip}', settings, n_robots=n_robots)
        self.limit = np.full(self.model.joint_dof_count, acceleration)
        self.acceleration = AccelerationLimit(self.limit)
        self.limits = [PositionLimit(), VelocityLimit(), self.acceleration]
        self.target = IKObjectivePosition(self.link, np.zeros(3), np.zeros((n_robots, 3)))
        self.tasks = [Task(self.target, gain=0.3, damping=1.0)]
        low, high, self.speed, _ = self.model.limits64()
        self.low, self.high = low, high
        start = self.model.neutral_joint_q()
        dofs = self.diff.group.variable_dof
        start[dofs] = (0.55 * np.maximum(low, -3) + 0.45 * np.minimum(high, 3))[dofs]
        self.joint_q = np.tile(start, (n_robots, 1))
        self.center = DifferentialIK(self.model).body_poses(start)[self.link, :3]
        self.barrier = PositionBarrier(
            self.link, self.center - 0.1, self.center + 0.1, gain=100.0,
            safe_displacement_gain=0.0,
        )  # fmt: skip
        self.last = np.zeros((n_robots, self.model.joint_dof_count))

    def aim(self):
        shape = self.joint_q.shape[0], 3
        self.target.set_target_positions(self.center + self.rng.uniform(-0.5, 0.5, shape))

    def tick(self, *, checked=True, tolerance=None):
        """Take one step; return status, step and h before it and at five places along it."""
        step = np.zeros_like(self.last)
        self.acceleration.set_last_displacement(self.last)
        solved = self.diff.solve_ik(self.joint_q, self.tasks, self.limits, [self.barrier], step)
        assert np.isin(solved, (SolveStatus.CONVERGED, SolveStatus.RELAXED)).all()
        status = None
        if checked:
            status = self.diff.limit_to_stoppable(
                self.joint_q, [self.barrier], step, self.last, self.limit, tolerance
            )
        along = [
            self.diff.barrier_values(
                self.diff.integrate(self.joint_q, part * step), [self.barrier]
            ).min(axis=1)
            for part in (0.0, 0.25, 0.5, 0.75, 1.0)
        ]
        self.change = np.abs(step - self.last).max()
        self.joint_q = self.diff.integrate(self.joint_q, step)
        self.last = step
        return status, step, np.array(along)


ARMS = {
    'panda': ('panda_link0', 'panda_hand_tcp'),
    'ur5_robot': ('base_link', 'ee_link'),
    'talos_full_v2': ('base_link', 'arm_left_7_link'),
}


# Speed limits are below 6 rad/s: the first stops take up to 15 steps, each of which is checked.
@pytest.mark.parametrize(('name', 'limit'), in_turn(sorted(ARMS), [(40.0, ROOM), (3.0, SWEPT)]))
def test_barriers_and_accelerations_hold_together(name, limit):
    acceleration, allowed = limit
    drive = Drive(name, *ARMS[name], acceleration=acceleration, seed=1, n_robots=4)
    moving = drive.diff.group.variable_dof
    coords = moving  # one coordinate for each degree of freedom
    halted = 0
    for tick in range(600):
        if tick % 40 == 0:
            drive.aim()
        status, step, along = drive.tick()
        halted += int((status == SolveStatus.HALTED_BY_BARRIER).sum())
        assert along[-1].min() >= -allowed
        assert along.min() >= -SWEPT
        assert drive.change <= acceleration * DT**2 * (1 + 1e-9)
        assert np.all(np.abs(step[:, moving]) <= drive.speed[moving] * DT * (1 + 1e-12))
        q = drive.joint_q[:, coords]
        assert np.all(q <= drive.high[moving] + 1e-12)
        assert np.all(q >= drive.low[moving] - 1e-12)
    assert halted > 20


def test_without_the_check_the_walls_are_crossed():
    """Shows that the drive is demanding: limits are hard, so the barrier is violated."""
    drive = Drive('panda', *ARMS['panda'], acceleration=3.0, seed=1, n_robots=4)
    worst = 0.0
    for tick in range(200):
        if tick % 40 == 0:
            drive.aim()
        worst = min(worst, drive.tick(checked=False)[2].min())
    assert worst < -0.01


@pytest.mark.parametrize('name', either(['panda'], sorted(ARMS)))
def test_sweeps_save_time_and_change_nothing(name):
    """Without a sweep every configuration of every stop is checked."""
    drives = [Drive(name, *ARMS[name], acceleration=5.0, seed=8) for _ in range(2)]
    drives[1].barrier.sweeps = False
    halted = 0
    for tick in range(400):
        if tick % 40 == 0:
            for drive in drives:
                drive.aim()
        outcomes = [drive.tick() for drive in drives]
        for swept, looked in zip(*outcomes, strict=True):
            np.testing.assert_array_equal(swept, looked)
        halted += int(outcomes[0][0][0] == SolveStatus.HALTED_BY_BARRIER)
    assert 0 < halted < 400


@pytest.mark.parametrize('sweeps', [True, False])
@pytest.mark.parametrize(
    ('wall', 'expected'), [(0.078, 'HALTED_BY_BARRIER'), (0.081, 'CONVERGED')]
)
def test_the_last_tick_of_a_stop_counts(wall, expected, sweeps):
    """A slide moves by 35, 25, 15 and 5 mm, to 0.08 m."""
    builder = ModelBuilder()
    link = builder.add_link()
    builder.add_articulation([builder.add_joint_prismatic(-1, link, axis=(1, 0, 0))])
    diff = DifferentialIK(builder.finalize(device='cpu'), '', DifferentialIKSettings(dt=DT))
    barrier = PositionBarrier(link, [-np.inf] * 3, [wall, np.inf, np.inf])
    barrier.sweeps = sweeps
    step, limit = np.array([0.035]), np.array([0.01 / DT**2])
    status = diff.limit_to_stoppable(np.zeros(1), [barrier], step, step.copy(), limit, 0.0)
    assert status == SolveStatus[expected]


def test_a_safe_step_passes_as_it_is():
    drive = Drive('panda', *ARMS['panda'], acceleration=3.0, seed=2)
    step = drive.rng.uniform(-1e-4, 1e-4, drive.last.shape)
    locked = drive.diff.group.dof_variable < 0
    step[:, locked] = 0.0
    given = step.copy()
    status = drive.diff.limit_to_stoppable(
        drive.joint_q[0], [drive.barrier], step[0], drive.last[0], drive.limit
    )
    assert status == SolveStatus.CONVERGED
    np.testing.assert_array_equal(step, given)


def test_robots_of_a_batch_are_judged_each_for_itself():
    drive = Drive('panda', *ARMS['panda'], acceleration=3.0, seed=3, n_robots=2)
    last = np.zeros_like(drive.last)
    last[:, drive.diff.group.variable_dof] = 0.02
    steps = last.copy()
    steps[0] *= 0.01
    given = steps.copy()
    last[0] *= 0.01
    status = drive.diff.limit_to_stoppable(
        drive.joint_q, [drive.barrier], steps, last, drive.limit
    )
    assert status.tolist() == [SolveStatus.CONVERGED, SolveStatus.HALTED_BY_BARRIER]
    np.testing.assert_array_equal(steps[0], given[0])
    slower = np.sign(last[1]) * np.maximum(np.abs(last[1]) - 3.0 * DT**2, 0.0)
    np.testing.assert_allclose(steps[1], slower, atol=1e-15)


@pytest.mark.parametrize('mode', ['stoppable', 'stop', 'scale', 'whole'])
def test_a_robot_among_violations_gets_the_step_that_it_gets_alone(mode):
    n, rng = 200, np.random.default_rng(3)
    (path,) = (path for path in ALL_URDFS if path.stem == 'panda')
    model = load(path)
    group, center = 'panda_link0:panda_hand_tcp', np.array([0.0, 0.0, 0.3])
    barriers = [
        PositionBarrier(model.body_index(link), center - room, center + room, name=link)
        for link, room in (('panda_hand_tcp', 0.4), ('panda_link4', 0.3))
    ]
    joint_q, dofs = model.random_joint_q(n, rng), model.joint_dof_count
    moves = np.arange(dofs) < 7
    steps = 0.02 * rng.normal(size=(n, dofs)) * moves
    last = steps + 0.002 * rng.normal(size=(n, dofs)) * moves

    def limited(diff, rows):
        step = steps[rows].copy()
        if mode == 'stoppable':
            limit = np.full(dofs, 20.0)
            status = diff.limit_to_stoppable(
                joint_q[rows], barriers, step, last[rows].copy(), limit
            )
        else:
            status = diff.enforce_barriers(joint_q[rows], barriers, step)
        return step, status

    settings = DifferentialIKSettings(enforce_mode='stop' if mode == 'stoppable' else mode)
    together, status = limited(DifferentialIK(model, group, settings, n_robots=n), slice(n))
    one = DifferentialIK(model, group, settings)
    for k in range(n):
        alone, its = limited(one, k)
        np.testing.assert_array_equal(together[k], alone)
        assert status[k] == its
    cut = (together != steps).any(axis=1)
    assert 20 < cut.sum() < n - 20
    # Parts of steps remain, except in the mode that takes none.
    assert mode == 'whole' or together[cut].any()


def test_started_outside_the_distance_never_shrinks():
    drive = Drive('ur5_robot', *ARMS['ur5_robot'], acceleration=5.0, seed=4)
    drive.barrier = PositionBarrier(
        drive.link, drive.center + [0.05, -1, -1], drive.center + 1.0, gain=20.0
    )
    before = -np.inf
    for tick in range(300):
        if tick % 50 == 0:
            drive.aim()
        h = drive.tick()[2][-1, 0]
        assert h >= min(before - 1e-12, -ROOM)
        before = h
    assert before >= -ROOM  # it found its way inside


@pytest.mark.parametrize('tolerance', [None, 0.0])
def test_robots_slide_along_a_wall_that_they_touch(tolerance):
    """Steps along a wall end behind it by their curvature: without any room none is left."""
    drive = Drive('panda', *ARMS['panda'], acceleration=10.0, seed=1, n_robots=16)
    rows, axis = np.arange(16), drive.rng.integers(0, 3, 16)
    beyond = drive.rng.choice([-0.3, 0.3], 16)
    for _ in range(2):  # two places behind the same wall
        offset = drive.rng.uniform(-0.08, 0.08, (16, 3))
        offset[rows, axis] = beyond
        drive.target.set_target_positions(drive.center + offset)
        for _ in range(300):
            drive.tick(tolerance=tolerance)
    nearest = drive.center + np.clip(offset, -0.1, 0.1)
    tips = drive.diff.body_poses(drive.joint_q)[:, drive.link, :3]
    error = np.linalg.norm(tips - nearest, axis=1)
    if tolerance is None:
        assert error.max() < 1e-3
    else:
        assert (error > 0.01).sum() > 4


def test_a_margin_is_all_the_room_that_is_needed():
    drive = Drive('panda', *ARMS['panda'], acceleration=40.0, seed=7, n_robots=4)
    box = drive.barrier.p_min, drive.barrier.p_max
    drive.barrier = PositionBarrier(
        drive.link, *box, gain=20.0, margin=1e-3, safe_displacement_gain=0.0
    )
    for tick in range(200):
        if tick % 40 == 0:
            drive.aim()
        assert drive.tick()[2][-1].min() >= -1e-12


def test_a_step_that_is_no_number_becomes_a_stop():
    drive = Drive('panda', *ARMS['panda'], acceleration=3.0, seed=5)
    last = np.zeros_like(drive.last[0])
    dofs = drive.diff.group.variable_dof
    last[dofs] = 1e-3
    for bad in (np.nan, np.inf):
        step = last.copy()
        step[dofs[0]] = bad
        status = drive.diff.limit_to_stoppable(
            drive.joint_q[0], [drive.barrier], step, last, drive.limit
        )
        assert status == SolveStatus.NON_FINITE_INPUT
        np.testing.assert_allclose(step[dofs], 1e-3 - 3.0 * DT**2, atol=1e-15)


def test_mimic_joints_stop_together():
    (path,) = (path for path in ALL_URDFS if path.stem == 'panda')
    model = load(path)
    diff = DifferentialIK(model, '', DifferentialIKSettings(dt=DT))
    follower = next(iter(model.mimic_driver))
    driver, _, factor = model.mimic_driver[follower]
    starts = model.joint_qd_start.numpy()
    limit = np.full(model.joint_dof_count, 50.0)
    limit[starts[follower]] = 1.0  # the slower of the two decides
    last = np.zeros(model.joint_dof_count)
    last[starts[driver]], last[starts[follower]] = 1e-3, factor * 1e-3
    step = np.full(model.joint_dof_count, np.nan)
    hand = model.body_index('panda_hand')
    barrier = PositionBarrier(hand, [-9, -9, -9], [9, 9, 9])
    q = model.neutral_joint_q()
    assert diff.limit_to_stoppable(q, [barrier], step, last, limit) == SolveStatus.NON_FINITE_INPUT
    assert step[starts[driver]] == pytest.approx(1e-3 - 1.0 * DT**2 / abs(factor))
    assert step[starts[follower]] == pytest.approx(factor * step[starts[driver]])


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'acceleration': np.ones(3)}, 'acceleration'),
        ({'acceleration': 0.0}, 'acceleration'),
        ({'last': np.zeros(3)}, 'last_delta_q'),
        ({'step': np.zeros(3)}, 'delta_q'),
        ({'tolerance': -1.0}, 'tolerance'),
    ],
)
def test_bad_arguments_are_named(change, message):
    drive = Drive('panda', *ARMS['panda'], acceleration=3.0, seed=6)
    dofs = drive.model.joint_dof_count
    given = {
        'acceleration': drive.limit,
        'last': np.zeros(dofs),
        'step': np.zeros(dofs),
        'tolerance': 0.0,
    }
    given.update(change)
    if np.ndim(given['acceleration']) == 0:
        given['acceleration'] = np.full(dofs, given['acceleration'])
    with pytest.raises(ArgumentError, match=message):
        drive.diff.limit_to_stoppable(
            drive.joint_q[0],
            [drive.barrier],
            given['step'],
            given['last'],
            given['acceleration'],
            given['tolerance'],
        )


def test_a_check_without_one_of_its_arguments_blends_steps_alike():
    drive = Drive('panda', *ARMS['panda'], acceleration=4.0, seed=3)
    checks, barriers, jerk = drive.diff.checks, (drive.barrier,), np.full_like(drive.limit, 300.0)
    last = before_last = np.zeros_like(drive.limit)
    halted = 0
    for tick in range(either(150, 1000)):
        if tick % 25 == 0:
            drive.aim()
        drive.acceleration.set_last_displacement(last)
        step, q = np.zeros_like(last), drive.joint_q[0]
        assert drive.diff.solve_ik(q, drive.tasks, drive.limits, barriers, step).ok
        step *= 1.0 + 2.0 * (tick % 3)
        blended = step.copy()
        status = drive.diff.limit_to_stoppable(
            q, barriers, step, last, drive.limit, jerk=jerk, delta_q_before_last=before_last
        )
        reaches = checks.may_reach
        steps = blended, last, before_last
        assert status == checks.blend_with_stop(
            q, barriers, steps, drive.limit, jerk, stop_tolerance(barriers)
        )
        np.testing.assert_array_equal(blended, step)
        assert checks.may_reach == reaches
        halted += status == SolveStatus.HALTED_BY_BARRIER
        before_last, last = last, step
        drive.joint_q = drive.diff.integrate(q, step)[None]
    assert halted > 5
