# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Requests and answers of planners field by field; the solvers are played."""

import math
from types import SimpleNamespace

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point as PointMessage
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.rigs.services_rig import points
from support.rigs.services_rig import pose_message
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.node.services import messages
from ros_ik.node.services import optimal
from ros_ik.node.services.messages import check_size
from ros_ik.node.services.messages import time_of
from ros_ik.planning import Budget
from ros_ik.planning import PoseCode
from ros_ik.planning import RequestError
from ros_ik.settings import read_settings
from ros_ik_interfaces.msg import CartesianCost
from ros_ik_interfaces.msg import JointCost
from ros_ik_interfaces.srv import CheckTrajectory
from ros_ik_interfaces.srv import SolveFk
from ros_ik_interfaces.srv import SolveIk
from ros_ik_interfaces.srv import SolveOptimal

SETTINGS = read_settings({'ee.frame': 'x', 'services.max_poses': 12, 'services.timeout': 5.0})
PLANNER = SimpleNamespace(robot=SimpleNamespace(unmeasured_links=('hand',)))
ROW = np.array([0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5])


@pytest.fixture
def play(monkeypatch):
    """Return a function that replaces a solver by one that records its arguments."""

    def play(module, name, result):
        calls = []

        def solver(planner, *given, **named):
            assert planner is PLANNER
            calls.append((given, named))
            return result

        monkeypatch.setattr(module, name, solver)
        return calls

    return play


def poses(count):
    return [pose_message(ROW)] * count


@pytest.mark.parametrize(
    ('make', 'what'),
    [
        (lambda n: SolveIk.Request(poses=poses(n)), 'poses times max_solutions'),
        (lambda n: SolveIk.Request(poses=poses(1), max_solutions=n), 'poses times max_solutions'),
        (
            lambda n: SolveFk.Request(configurations=points([[0.0]] * n), links=['a']),
            'configurations times links',
        ),
        (
            lambda n: CheckTrajectory.Request(
                trajectory=JointTrajectory(points=points([[0.0]] * n))
            ),
            'points',
        ),
    ],
)
def test_a_request_of_the_permitted_size_passes_and_a_larger_one_does_not(make, what):
    check_size(make(12), SETTINGS, 1)
    with pytest.raises(RequestError, match=f'{what}: at most 12 .*services.max_poses.*got 13'):
        check_size(make(13), SETTINGS, 1)


@pytest.mark.parametrize(('links', 'tasks'), [([], 4), (['a', 'b', 'c', 'd'], 1)])
def test_poses_of_every_link_count_and_without_links_those_of_the_tasks(links, tasks):
    request = SolveFk.Request(configurations=points([[0.0]] * 3), links=links)
    check_size(request, SETTINGS, tasks)
    request.configurations = points([[0.0]] * 4)
    with pytest.raises(RequestError, match='got 16'):
        check_size(request, SETTINGS, tasks)


@pytest.mark.parametrize(
    ('asked', 'given'), [(0.0, 5.0), (2.5, 2.5), (5.0, 5.0), (7.0, 5.0), (math.inf, 5.0)]
)
def test_the_time_is_that_of_the_request_up_to_that_of_the_node(asked, given):
    assert time_of(SolveIk.Request(timeout=asked), SETTINGS) == given
    assert time_of(CheckTrajectory.Request(), SETTINGS) == 5.0


@pytest.mark.parametrize('asked', [-0.1, math.nan, -math.inf])
def test_a_time_that_makes_no_sense_is_refused(asked):
    with pytest.raises(RequestError, match='timeout must not be negative'):
        time_of(SolveIk.Request(timeout=asked), SETTINGS)


@pytest.mark.parametrize(('asked', 'given'), [((1, 500_000_000), 1.5), ((0, 0), 5.0)])
def test_times_of_moveit_have_nanoseconds(asked, given):
    timeout = Duration(sec=asked[0], nanosec=asked[1])
    request = SimpleNamespace(ik_request=SimpleNamespace(timeout=timeout))
    assert time_of(request, SETTINGS) == given


def found(codes):
    """Return an answer of the search for poses."""
    return SimpleNamespace(
        codes=np.array(codes, dtype=np.uint8), complete=True, joint_names=('a', 'b'),
        pose_index=np.array([1, 0]), positions=np.array([[1.0, 2.0], [3.0, 4.0]]),
        position_errors=np.array([0.1, 0.2]), rotation_errors=np.array([0.3, 0.4]),
        unknown_joints=(),
    )  # fmt: skip


def test_every_field_of_a_search_for_poses_is_used(play):
    calls = play(messages, 'solve_ik', found([0, 0]))
    request = SolveIk.Request(
        poses=poses(4), link='tool', reference_frame='table', max_solutions=3,
        seeds=[JointState(name=['a'], position=[0.5])], check_collisions=True,
        position_tolerance=0.01, rotation_tolerance=0.02, joint_group='arm', n_goals=2,
        position_tolerances=[0.1, 0.2, 0.3], rotation_tolerances=[0.4, 0.5, 0.6],
        tolerance_frame='tool', base_poses=poses(1), preference='middle',
    )  # fmt: skip
    budget = Budget()
    answer = messages.answer_solve_ik(PLANNER, request, budget, threads=7)
    (((wanted, given_budget), _),) = calls
    assert given_budget is budget and wanted.threads == 7
    for name in (
        'link', 'reference_frame', 'max_solutions', 'check_collisions', 'position_tolerance',
        'rotation_tolerance', 'joint_group', 'n_goals', 'tolerance_frame', 'preference',
    ):  # fmt: skip
        assert getattr(wanted, name) == getattr(request, name), name
    assert list(wanted.position_tolerances) == [0.1, 0.2, 0.3]
    assert list(wanted.rotation_tolerances) == [0.4, 0.5, 0.6]
    np.testing.assert_array_equal(wanted.poses, [ROW] * 4)
    np.testing.assert_array_equal(wanted.base_poses, [ROW])
    ((names, positions),) = wanted.seeds
    assert (list(names), list(positions)) == (['a'], [0.5])
    assert answer.success and answer.complete and answer.message == ''
    assert list(answer.unmeasured_links) == ['hand'] and list(answer.joint_names) == ['a', 'b']
    assert [list(point.positions) for point in answer.solutions] == [[1.0, 2.0], [3.0, 4.0]]
    assert list(answer.pose_index) == [1, 0] and list(answer.codes) == [0, 0]
    assert list(answer.position_errors) == [0.1, 0.2]
    assert list(answer.rotation_errors) == [0.3, 0.4]


@pytest.mark.parametrize(('n_goals', 'what'), [(1, 'poses'), (2, 'goal sets')])
def test_the_message_counts_what_was_late_and_what_is_no_pose(play, n_goals, what):
    late, reached = int(PoseCode.TIMED_OUT), int(PoseCode.CONVERGED)
    play(messages, 'solve_ik', found([late, reached, late]))
    request = SolveIk.Request(poses=poses(6), n_goals=n_goals)
    text = f'2 of 3 {what} were not reached in 0.5 s'
    assert messages.answer_solve_ik(PLANNER, request, Budget(0.5), 1).message == text
    incomplete = found([0, 0, 0])
    incomplete.unknown_joints = ('c', 'd')
    play(messages, 'solve_ik', incomplete)
    unknown = 'no current joint states of c, d, on which distances depend'
    assert messages.answer_solve_ik(PLANNER, request, Budget(0.5), 1).message == unknown
    play(messages, 'solve_ik', found([late, reached, late]))
    for index in (1, 4, 5):
        request.poses[index] = pose_message([0.1, math.nan, 0.3, 0.0, 0.0, 0.0, 1.0])
    message = messages.answer_solve_ik(PLANNER, request, Budget(0.5), 1).message
    assert message.startswith(f'{text}; poses[1]: ') and message.endswith(' (and 2 more)')


def test_every_field_of_a_request_for_poses_of_links_is_used(play):
    calls = play(messages, 'solve_fk', np.array([[ROW, ROW], [ROW, ROW]]))
    request = SolveFk.Request(
        joint_names=['b', 'a'], configurations=points([[1.0, 2.0], [3.0, 4.0]]),
        links=['tool', 'hand'], reference_frame='table',
    )  # fmt: skip
    budget = Budget()
    answer = messages.answer_solve_fk(PLANNER, request, budget)
    (((names, positions, links, frame, given_budget), _),) = calls
    assert (list(names), list(links), frame) == (['b', 'a'], ['tool', 'hand'], 'table')
    np.testing.assert_array_equal(positions, [[1.0, 2.0], [3.0, 4.0]])
    assert given_budget is budget
    assert answer.success and list(answer.poses) == poses(4)


def test_every_field_of_a_check_of_a_trajectory_is_used(play):
    violation = SimpleNamespace(time=1.75, what='world')
    report = SimpleNamespace(
        safe=False, complete=True, unmeasured_links=('hand',), violation=violation,
        closest_pair=('ball', 'post'), barriers=('world', 'box'),
        minimum_values=np.array([-0.1, 0.2]), unknown_joints=(),
    )  # fmt: skip
    calls = play(messages, 'check_trajectory', report)
    point = JointTrajectoryPoint(
        positions=[1.0], velocities=[2.0], accelerations=[3.0],
        time_from_start=Duration(sec=2, nanosec=250_000_000),
    )  # fmt: skip
    trajectory = JointTrajectory(joint_names=['a'], points=[point])
    request, budget = CheckTrajectory.Request(trajectory=trajectory, max_step=0.03), Budget()
    answer = messages.answer_check_trajectory(PLANNER, request, budget, most_checks=99)
    (((names, (given,), step), named),) = calls
    assert list(names) == ['a'] and step == 0.03
    assert named == {'most_checks': 99, 'budget': budget}
    fields = (given.time, given.positions, given.velocities, given.accelerations)
    assert [np.ravel(field).tolist() for field in fields] == [[2.25], [1.0], [2.0], [3.0]]
    assert (answer.safe, answer.complete, answer.violated) == (False, True, 'world')
    time = answer.first_violation
    assert (time.sec, time.nanosec) == (1, 750_000_000)
    assert (answer.worst_pair_a, answer.worst_pair_b) == ('ball', 'post')
    assert dict(zip(answer.barriers, answer.minimum_values, strict=True)) == {
        'world': -0.1, 'box': 0.2,
    }  # fmt: skip
    report.violation, report.safe = None, True
    answer = messages.answer_check_trajectory(PLANNER, request, budget, most_checks=99)
    assert answer.safe and answer.violated == '' and answer.first_violation == Duration()
    assert answer.message == ''
    report.unknown_joints = ('c', 'd')
    answer = messages.answer_check_trajectory(PLANNER, request, budget, most_checks=99)
    assert answer.message == 'no current joint states of c, d, on which distances depend'


def motion(fault=''):
    """Return an answer of optimal control."""
    feedback = SimpleNamespace(
        total_cost=1.0, cartesian_costs=[2.0, 3.0], center_of_mass_cost=4.0,
        joint_position_costs=[5.0],
    )  # fmt: skip
    result = SimpleNamespace(
        feedback=feedback, reason=SolveOptimal.Response.MINIMUM, relaxed=('a limit',),
        violated_targets=('a pose',), unreachable_targets=('a joint',),
    )  # fmt: skip
    return SimpleNamespace(
        result=result, fault=fault, unmeasured_links=('hand',), joint_names=('a',),
        times=np.array([0.0, 1.25]), positions=np.array([[1.0], [2.0]]),
        velocities=np.array([[3.0], [4.0]]), complete=False, unknown_joints=('b',),
    )  # fmt: skip


def test_every_field_of_an_optimal_control_command_is_used(play):
    calls = play(optimal, 'solve_optimal', motion())
    scalars = {
        'velocity_limit_scaling': 0.1, 'acceleration_limit_scaling': 0.2, 'error_scaling': 0.3,
        'stop_cost': 0.4, 'min_delta_cost': 0.5, 'patience': 6, 'control_hold_time': 0.7,
    }  # fmt: skip
    request = SolveOptimal.Request(
        cartesian_costs=[
            CartesianCost(
                reference_link='base', link='tool', target=pose_message(ROW),
                translation_weight=8.0, rotation_weight=9.0,
            )
        ],
        joint_costs=[JointCost(joint='a', target=0.25, weight=10.0)],
        center_of_mass_reference='foot', center_of_mass=PointMessage(x=0.1, y=0.2, z=0.3),
        center_of_mass_weight=11.0, use_center_of_mass=True,
        start=JointState(name=['a'], position=[0.5], velocity=[0.6]), **scalars,
    )  # fmt: skip
    budget = Budget()
    answer = optimal.answer_solve_optimal(PLANNER, request, budget)
    (((wanted, given_budget), _),) = calls
    assert given_budget is budget
    assert {name: getattr(wanted, name) for name in scalars} == scalars
    (pose,), (joint,), center = wanted.poses, wanted.joints, wanted.center_of_mass
    assert tuple(vars(pose).values()) == ('base', 'tool', tuple(ROW), 8.0, 9.0)
    assert tuple(vars(joint).values()) == ('a', 0.25, 10.0)
    assert tuple(vars(center).values()) == ('foot', (0.1, 0.2, 0.3), 11.0)
    starts = (wanted.start_names, wanted.start_positions, wanted.start_velocities)
    assert [list(part) for part in starts] == [['a'], [0.5], [0.6]]
    assert answer.success and not answer.complete and list(answer.unmeasured_links) == ['hand']
    unknown = 'no current joint states of b, on which distances depend'
    assert answer.message == f'{unknown}; a limit; a pose; a joint'
    assert answer.reason == SolveOptimal.Response.MINIMUM
    assert (answer.total_cost, answer.center_of_mass_cost) == (1.0, 4.0)
    assert (list(answer.cartesian_costs), list(answer.joint_costs)) == ([2.0, 3.0], [5.0])
    first, last = answer.trajectory.points
    assert list(answer.trajectory.joint_names) == ['a']
    assert (list(first.positions), list(first.velocities)) == ([1.0], [3.0])
    assert (list(last.positions), list(last.velocities)) == ([2.0], [4.0])
    assert last.time_from_start == Duration(sec=1, nanosec=250_000_000)
    request.use_center_of_mass = False
    optimal.answer_solve_optimal(PLANNER, request, budget)
    assert calls[-1][0][0].center_of_mass is None


def test_a_motion_with_a_fault_is_refused_without_its_trajectory(play):
    play(optimal, 'solve_optimal', motion('the start is in collision'))
    for answer in (
        optimal.answer_solve_optimal(PLANNER, SolveOptimal.Request(), Budget()),
        optimal.refusal('the start is in collision'),
    ):
        assert not answer.success and answer.message == 'the start is in collision'
        assert answer.reason == SolveOptimal.Response.FAILED
        assert not answer.trajectory.points
