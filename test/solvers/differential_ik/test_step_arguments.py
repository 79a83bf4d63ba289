# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Forms of the arguments of a step, its settings, and bounds of its work."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.barriers import PositionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import Limit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjective
from ros_ik.objectives import IKObjectiveCenterOfMass
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])


class Arm:
    """A Panda that a far target pulls against its velocity limits and a box."""

    def __init__(self, **settings):
        self.model = load(PANDA)
        self.diff = DifferentialIK(
            self.model, 'panda_link0:panda_hand_tcp', DifferentialIKSettings(**settings)
        )
        self.tip = self.model.body_index('panda_hand_tcp')
        self.pose = self.diff.body_poses(HOME)[self.tip]
        far = self.pose + [0.3, 0.2, -0.1, 0, 0, 0, 0]
        self.objective = IKObjectivePose(self.tip, far, exact_jacobian=False)
        self.tasks = [
            Task(self.objective), Task(IKObjectiveJointPosition(self.model, HOME), weight=0.1)
        ]  # fmt: skip
        self.limits = [PositionLimit(), VelocityLimit()]
        x = self.pose[0]
        self.barriers = [
            PositionBarrier(
                self.tip, [-np.inf] * 3, [x + 0.01, np.inf, np.inf], gain=2.0,
                safe_displacement_gain=0.0,
            )
        ]  # fmt: skip

    def step(self, *arguments, **named):
        step = np.full(9, np.nan)
        assert self.diff.solve_ik(HOME, self.tasks, *arguments, step, **named).ok
        return step


def test_limits_and_barriers_may_be_left_out():
    arm = Arm()
    limits, barriers, tasks = arm.limits, arm.barriers, arm.tasks
    everything = arm.step(limits, barriers)
    cases = [
        (arm.step(), arm.step((), ())),
        (arm.step(limits), arm.step(limits, ())),
        (arm.step(barriers), arm.step((), barriers)),
        (arm.step(tuple(limits), tuple(barriers)), everything),
    ]
    for short, full in cases:
        np.testing.assert_array_equal(short, full)
    named = np.zeros(9)
    arm.diff.solve_ik(HOME, tasks, delta_q=named, barriers=barriers, limits=limits)
    np.testing.assert_array_equal(named, everything)
    different = [everything, *(full for _, full in cases[:3])]
    for k, one in enumerate(different):
        for other in different[:k]:
            assert np.abs(one - other).max() > 1e-4


def test_a_regularization_after_the_step():
    arm, steps = Arm(), np.zeros((4, 9))
    diff, limits, barriers = arm.diff, arm.limits, arm.barriers
    diff.solve_ik(HOME, arm.tasks, steps[0], 10.0)
    diff.solve_ik(HOME, arm.tasks, limits, steps[1], 10.0)
    diff.solve_ik(HOME, arm.tasks, barriers, steps[2], 10.0)
    diff.solve_ik(HOME, arm.tasks, limits, barriers, steps[3], 10.0)
    free = arm.step()
    for step in steps:
        assert 0 < np.linalg.norm(step) < 0.3 * np.linalg.norm(free)


def test_lists_that_change_are_seen_to():
    arm, steps = Arm(), np.zeros((3, 9))
    limits = list(arm.limits)
    arm.diff.solve_ik(HOME, arm.tasks, limits, steps[0])
    limits.pop()
    arm.diff.solve_ik(HOME, arm.tasks, limits, steps[1])
    limits.append(arm.limits[1])
    arm.diff.solve_ik(HOME, arm.tasks, limits, steps[2])
    np.testing.assert_array_equal(steps[0], steps[2])
    assert np.abs(steps[0] - steps[1]).max() > 1e-3


_SETTABLE = {
    'gain': (Task, 0.5, 0.4),
    'weight': (Task, [1.0, 2.0, 3.0, 0.0, 0.5, 0.5], [1.0, 2.0, 3.0, 0.0, 0.5, 0.4]),
    'damping': (Task, 0.01, 0.0),
    'max_error': (Task, [0.1, 0.2], [0.1, 0.3]),
    'scale': (Limit, 0.5, 0.4),
    'velocity': (Limit, np.full(9, 0.5), np.append(np.full(8, 0.5), 0.4)),
    'barrier gain': (Barrier, 4.0, 5.0),
}


@pytest.mark.parametrize('name', _SETTABLE)
def test_only_another_value_is_a_change(name):
    """Setting the same value costs the next solve nothing; another value has an effect."""
    base, value, other = _SETTABLE[name]
    arm = Arm()
    owner = {Task: arm.tasks[0], Limit: arm.limits[1], Barrier: arm.barriers[0]}[base]
    attribute = name.split()[-1]
    arm.step(arm.limits, arm.barriers)
    setattr(owner, attribute, value)
    before, step = base.changes, arm.step(arm.limits, arm.barriers)
    setattr(owner, attribute, value)
    assert base.changes == before
    np.testing.assert_array_equal(arm.step(arm.limits, arm.barriers), step)
    setattr(owner, attribute, other)
    assert base.changes == before + 1
    fresh = Arm()
    fresh_owner = {Task: fresh.tasks[0], Limit: fresh.limits[1], Barrier: fresh.barriers[0]}[base]
    setattr(fresh_owner, attribute, other)
    expected = fresh.step(fresh.limits, fresh.barriers)
    np.testing.assert_allclose(arm.step(arm.limits, arm.barriers), expected, atol=1e-12)
    setattr(owner, attribute, value)
    np.testing.assert_allclose(arm.step(arm.limits, arm.barriers), step, atol=1e-12)


def test_a_step_over_the_variables_of_the_group():
    arm, short = Arm(), np.zeros(7)
    full = arm.step(arm.limits, arm.barriers)
    arm.diff.solve_ik(HOME, arm.tasks, arm.limits, arm.barriers, short)
    np.testing.assert_array_equal(short, full[:7])


@pytest.mark.parametrize(
    ('arguments', 'name'),
    [
        (([3.0], np.zeros(9)), 'limits'),
        (('limits', np.zeros(9)), 'solve_ik'),
        (([PositionLimit()], [PositionLimit()], np.zeros(9)), 'barriers'),
        (([PositionLimit()], []), 'delta_q must be a NumPy or Warp array'),
        (([PositionLimit()], [], [0.0] * 9), r'delta_q must be a NumPy .* got the list \[0'),
        (((0.0,) * 9,), 'delta_q must be a NumPy or Warp array .* got the tuple'),
        (([PositionLimit()], [0.0] * 9), 'delta_q must be a NumPy or Warp array .* got the list'),
        (([], [], wp.zeros(9, dtype=int, device='cpu')), 'delta_q must be an array of floats'),
        ((PositionLimit(), np.zeros(9)), 'limits must be a sequence, got one PositionLimit'),
        ((PositionBarrier(3, [-1] * 3, [1] * 3), np.zeros(9)), 'barriers must be a sequence'),
        (([], PositionBarrier(3, [-1] * 3, [1] * 3), np.zeros(9)), 'barriers must be a sequence'),
        ((np.zeros(9, dtype=int),), 'delta_q must be an array of floats, got int64'),
        ((np.zeros(7, dtype=int),), 'delta_q must be an array of floats, got int64'),
        ((np.zeros(9), np.nan), 'regularization must be finite'),
    ],
)
def test_arguments_of_another_kind_are_named(arguments, name):
    arm = Arm()
    with pytest.raises(ArgumentError, match=name):
        arm.diff.solve_ik(HOME, arm.tasks, *arguments)
    for bad in ([arm.limits[0]], arm.barriers):
        with pytest.raises(ArgumentError, match='tasks'):
            arm.diff.solve_ik(HOME, bad, np.zeros(9))
    for priority in (0, -1, 1.5, True):
        with pytest.raises(ArgumentError, match='priority'):
            Task(arm.objective, priority=priority)
    with pytest.raises(ArgumentError, match='n_threads'):
        DifferentialIK(arm.model, n_threads=0)


def test_two_arguments_of_one_kind_are_refused():
    """The second must not replace the first: a barrier would be lost."""
    arm = Arm()
    barriers, limits, task, step = arm.barriers, arm.limits, arm.tasks[1:], np.zeros(9)
    for arguments, name in (
        ((barriers, barriers, wp.zeros(9, dtype=wp.float64)), 'barriers'),
        ((limits[:1], limits[1:], wp.zeros(9, dtype=wp.float64)), 'limits'),
        ((barriers, step, barriers), 'barriers'),
        ((limits[:1], step, limits[1:]), 'limits'),
        ((task, step, limits), 'tasks'),
        ((task, limits, wp.zeros(9, dtype=wp.float64)), 'tasks'),
        ((step, wp.zeros(9, dtype=wp.float64)), 'delta_q'),
        ((1e-3, step, 1e-2), 'regularization'),
        ((step, 1e-3, None, 1e-2), 'regularization'),
    ):
        with pytest.raises(ArgumentError, match=f'^{name} must be given once'):
            arm.diff.solve_ik(HOME, arm.tasks, *arguments)


@pytest.mark.parametrize('value', [np.nan, -1.0, 'much', [[1.0]]])
@pytest.mark.parametrize('name', ['gain', 'weight', 'damping', 'max_error'])
def test_a_number_of_a_task_is_checked_and_the_one_before_stays(name, value):
    task = Task(IKObjectivePose(1, [0, 0, 0, 0, 0, 0, 1]), max_error=(0.1, 0.2))
    before = np.copy(getattr(task, name))
    reason = 'finite|must not be NaN' if value is np.nan else ''
    for call in (
        lambda: setattr(task, name, value),
        lambda: Task(task.objective, **{name: value}),
    ):
        with pytest.raises(ArgumentError, match=f'{name} .*({reason})'):
            call()
    np.testing.assert_array_equal(getattr(task, name), before)


def test_a_gain_that_would_overshoot_is_refused():
    arm = Arm()
    for gain in (1.0 + 1e-9, 2.0):
        with pytest.raises(ArgumentError, match=r'gain must lie in \[0, 1\].*overshoots'):
            Task(arm.objective, gain=gain)
        with pytest.raises(ArgumentError, match='overshoots'):
            arm.tasks[0].gain = gain
    assert arm.tasks[0].gain == 1.0
    arm.tasks[0].gain = 0.0
    assert np.abs(arm.step()).max() < 1e-9  # nothing to reach but the posture that it has


BAD_TASKS = {
    'tasks.K. .IKObjectivePose.: link_index 99 is outside .* 13 links': lambda: IKObjectivePose(
        99, [0, 0, 0, 0, 0, 0, 1]
    ),
    'tasks.K. .IKObjectivePose.: link_index must name a link': lambda: IKObjectivePose(
        -1, [0, 0, 0, 0, 0, 0, 1]
    ),
    'tasks.K. .IKObjectivePose.: reference_link_index 13': lambda: IKObjectivePose(
        3, [0, 0, 0, 0, 0, 0, 1], reference_link_index=13
    ),
    'tasks.K. .IKObjectivePosition.: link_index 99': lambda: IKObjectivePosition(
        99, np.zeros(3), np.zeros(3)
    ),
    'tasks.K. .IKObjectiveCenterOfMass.: reference_link_index 99': lambda: IKObjectiveCenterOfMass(
        np.zeros(3), reference_link_index=99
    ),
    'tasks.K. .IKObjectiveCenterOfMass.: .*99': lambda: IKObjectiveCenterOfMass(
        np.zeros(3), bodies=[1, 99]
    ),
    'tasks.K. .FarAway.: link_index 99': lambda: FarAway(link_index=99),
    'tasks.K. .Unready.: not today': lambda: Unready(),
}


@pytest.mark.parametrize('message', BAD_TASKS)
def test_a_task_that_does_not_fit_the_model_is_refused_each_time(message):
    """Also the second time, after a part of it has been set up: no memory outside is read."""
    arm, step = Arm(), np.zeros(9)
    good = arm.step()
    tasks = [arm.tasks[0], Task(BAD_TASKS[message]())]
    for _ in range(2):
        with pytest.raises(ArgumentError, match=message.replace('K', '1', 1)):
            arm.diff.solve_ik(HOME, tasks, step)
        with pytest.raises(ArgumentError, match=message.replace('K', '0', 1)):
            arm.diff.task_errors(HOME, tasks[1:])
    with pytest.raises(ArgumentError, match='tasks must hold Task objects'):
        arm.diff.task_errors(HOME, [arm.objective])
    np.testing.assert_array_equal(arm.step(), good)


def test_nothing_is_integrated_that_is_not_finite():
    arm, step = Arm(), np.zeros(9)
    for value in (np.nan, np.inf):
        bad = HOME.copy()
        bad[3] = value
        with pytest.raises(ArgumentError, match='joint_q must be finite'):
            arm.diff.integrate(bad, step)
        with pytest.raises(ArgumentError, match='delta_q must be finite'):
            arm.diff.integrate(HOME, bad)
    with pytest.raises(ArgumentError, match=r'delta_q must have shape \[9\], got \[7\]'):
        arm.diff.integrate(HOME, np.zeros(7))
    np.testing.assert_array_equal(arm.diff.integrate(HOME, step), HOME)


@pytest.mark.parametrize('bad', [HOME.astype(complex), HOME.astype(str), HOME.astype(bool)])
def test_coordinates_and_steps_are_real_numbers(bad):
    arm, step = Arm(), np.zeros(9)
    before = arm.step()
    for name, call in (
        ('joint_q', lambda: arm.diff.solve_ik(bad, arm.tasks, step)),
        ('joint_q', lambda: arm.diff.integrate(bad, step)),
        ('delta_q', lambda: arm.diff.integrate(HOME, bad)),
        ('joint_q', lambda: arm.diff.body_poses(bad)),
        ('joint_q', lambda: arm.diff.barrier_values(bad, arm.barriers)),
        ('joint_q', lambda: arm.diff.task_errors(bad, arm.tasks)),
        ('joint_q', lambda: arm.diff.enforce_barriers(bad, arm.barriers, step)),
        ('last_delta_q', lambda: arm.diff.limit_to_stoppable(
            HOME, arm.barriers, step, bad, np.ones(9))),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=f'{name} must be numbers'):
            call()
    np.testing.assert_array_equal(arm.step(), before)


def test_what_is_no_array_and_no_barrier_is_named():
    arm, step = Arm(), np.zeros(9)
    for joint_q in (None, HOME.tolist()):
        with pytest.raises(ArgumentError, match='joint_q must be a NumPy or Warp array'):
            arm.diff.solve_ik(joint_q, arm.tasks, step)
    for barriers in (['wall'], arm.barriers[0], None):
        for call in (
            lambda barriers=barriers: arm.diff.barrier_values(HOME, barriers),
            lambda barriers=barriers: arm.diff.enforce_barriers(HOME, barriers, step),
            lambda barriers=barriers: arm.diff.limit_to_stoppable(
                HOME, barriers, step, step, np.ones(9), 0.0
            ),
            lambda barriers=barriers: arm.diff.limit_to_stoppable(
                HOME, barriers, step, step, np.ones(9)
            ),
        ):
            with pytest.raises(ArgumentError, match='barriers must'):
                call()


def test_settings_and_tolerances_of_another_kind_are_named():
    arm, step = Arm(), np.zeros(9)
    for settings in ('fast', 0.01, np.ones(2)):
        with pytest.raises(ArgumentError, match='settings must be DifferentialIKSettings'):
            DifferentialIK(arm.diff.model, settings=settings)
    for tolerance in ('small', [1e-3], -1.0):
        with pytest.raises(ArgumentError, match='tolerance must be not negative'):
            arm.diff.enforce_barriers(HOME, [], step, tolerance)


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('dt', np.nan), ('dt', 'short'), ('max_iterations', 1.5),
        ('feasibility_tolerance', np.nan), ('barrier_lead', -1.0), ('barrier_lead', np.inf),
    ],
)  # fmt: skip
def test_settings_that_are_no_numbers_are_named(name, value):
    with pytest.raises(ArgumentError, match=name):
        DifferentialIKSettings(**{name: value})


def test_a_lead_of_barriers_needs_an_acceleration_limit():
    arm = Arm(barrier_lead=0.1)
    barrier = PositionBarrier(arm.tip, [-9.0] * 3, [9.0] * 3)
    with pytest.raises(ArgumentError, match='barrier_lead needs an AccelerationLimit'):
        arm.diff.solve_ik(HOME, arm.tasks, [VelocityLimit()], [barrier], np.zeros(9))
    acceleration = AccelerationLimit(np.full(9, 10.0))
    assert arm.diff.solve_ik(HOME, arm.tasks, [acceleration], [barrier], np.zeros(9)).ok


@wp.kernel
def far_residual(start: int, residuals: wp.array2d(dtype=float)):
    residuals[wp.tid(), start] = -0.5


@wp.kernel
def far_jacobian(start: int, jacobian: wp.array3d(dtype=float)):
    jacobian[wp.tid(), start, 0] = 1.0


class FarAway(IKObjective):
    """An objective of a user's own in float32: the first joint wants to be elsewhere."""

    def __init__(self, link_index=0):
        super().__init__()
        self.link_index = link_index

    def residual_dim(self):
        return 1

    def supports_analytic(self):
        return True

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(far_residual, len(body_q), [start_idx], [residuals], device='cpu')

    def compute_jacobian_analytic(self, body_q, joint_q, model, jacobian, joint_S_s, start_idx):
        wp.launch(far_jacobian, len(body_q), [start_idx], [jacobian], device='cpu')


class Unready(FarAway):
    """An objective that refuses to be set up."""

    def init_buffers(self, model, jacobian_mode=None):
        raise ArgumentError('not today')


def test_an_objective_of_ones_own():
    arm = Arm()
    step = np.zeros(9)
    assert arm.diff.solve_ik(HOME, [Task(FarAway(), gain=0.1)], step, 1e-6).ok
    np.testing.assert_allclose(step[0], 0.05, rtol=1e-5)
    with pytest.raises(ArgumentError, match='objective'):
        Task('a goal')


def test_warm_start_changes_the_work_and_not_the_answer():
    warm, cold = Arm(), Arm(warm_start=False)
    q, steps, rounds = HOME.copy(), np.zeros((2, 9)), []
    for _ in range(50):
        for arm, step in zip((warm, cold), steps, strict=True):
            arm.diff.solve_ik(q, arm.tasks, arm.limits, arm.barriers, step)
        rounds.append([arm.diff._problems.last.rounds[0] for arm in (warm, cold)])
        np.testing.assert_allclose(steps[0], steps[1], atol=1e-9)
        q = warm.diff.integrate(q, steps[0])
    assert np.mean(rounds, axis=0)[0] < np.mean(rounds, axis=0)[1]


def test_the_work_of_a_step_is_bounded_whatever_the_target():
    """Targets that jump against velocity, acceleration and box; every status is told apart."""
    arm = Arm(max_iterations=12)
    acceleration = AccelerationLimit(np.full(9, 8.0))
    limits = [*arm.limits, acceleration]
    rng = np.random.default_rng(0)
    q, step, found, speed = HOME.copy(), np.zeros(9), set(), arm.model.limits64()[2]
    for _ in range(1500):
        if rng.uniform() < 0.05:
            quaternion = rng.normal(size=4)
            quaternion /= np.linalg.norm(quaternion)
            arm.objective.set_target_pose(0, [*rng.uniform(-0.8, 0.8, 3), *quaternion])
        acceleration.set_last_displacement(step)
        status = arm.diff.solve_ik(q, arm.tasks, limits, arm.barriers, step)
        problem = arm.diff._problems.last
        assert problem.rounds[0] <= 12
        if problem.rounds[0] < 0:
            assert problem._scratch[0].dual.iterations.numpy()[0] <= 12
        found.add(status)
        assert np.all(np.isfinite(step)) and np.all(np.abs(step) <= speed * 0.01)
        if status == SolveStatus.ITERATION_LIMIT:
            np.testing.assert_array_equal(step, 0.0)
        q = arm.diff.integrate(q, step)
    assert {SolveStatus.CONVERGED, SolveStatus.ITERATION_LIMIT} <= found


def test_a_nan_anywhere_is_refused_and_the_next_step_is_as_if_it_had_not_been():
    arm, step = Arm(), np.ones(9)
    good = arm.step(arm.limits, arm.barriers)
    for k in range(7):
        q = HOME.copy()
        q[k] = np.nan if k % 2 else np.inf
        status = arm.diff.solve_ik(q, arm.tasks, arm.limits, arm.barriers, step)
        assert status == SolveStatus.NON_FINITE_INPUT
        np.testing.assert_array_equal(step, 0.0)
        np.testing.assert_array_equal(arm.step(arm.limits, arm.barriers), good)
    for k in range(7):
        pose = arm.pose.copy()
        pose[k] = np.nan
        before = arm.objective.target_poses()[0]
        arm.objective.set_target_pose(0, pose)
        status = arm.diff.solve_ik(HOME, arm.tasks, arm.limits, arm.barriers, step)
        assert status == SolveStatus.NON_FINITE_INPUT
        arm.objective.set_target_pose(0, before)
        np.testing.assert_array_equal(arm.step(arm.limits, arm.barriers), good)
