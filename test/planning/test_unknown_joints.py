# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers about distances that depend on joints without a state: never complete, and named."""

import math

import numpy as np
import pytest
from support.rigs.ball_arms import A
from support.rigs.ball_arms import ALL
from support.rigs.ball_arms import APART
from support.rigs.ball_arms import B
from support.rigs.ball_arms import FINGER
from support.rigs.ball_arms import gap
from support.rigs.ball_arms import LIFT
from support.rigs.ball_arms import REACH
from support.rigs.ball_arms import URDF

from ros_ik.planning import check_trajectory
from ros_ik.planning import IkRequest
from ros_ik.planning import JointCost
from ros_ik.planning import OptimalRequest
from ros_ik.planning import Planner
from ros_ik.planning import Point
from ros_ik.planning import RequestError
from ros_ik.planning import solve_ik
from ros_ik.planning import solve_optimal
from ros_ik.servo import Obstacle
from ros_ik.settings import read_settings

# Positions at which the ball of arm b is in the middle of that of arm a at 0.
MEETING = {'b1': math.pi, 'b2': 0.0}
# A trajectory of arm a through that place.
PASSING = [Point(0.0, [-0.5, 0.0]), Point(1.0, [0.5, 0.0])]


def planner_of(positions, ended=(), frame='a_ball', **values):
    """Return a planner that knows these positions, of which some have ended."""
    given = {'ee.frame': frame, 'base_frame': 'torso'}
    given.update({key.replace('__', '.'): value for key, value in values.items()})
    planner = Planner(URDF, '', read_settings(given))
    coord_of = planner.robot.coord_of
    joint_q, known = planner.joint_q.copy(), np.zeros(len(planner.joint_q), dtype=bool)
    for name, position in positions.items():
        joint_q[coord_of[name]], known[coord_of[name]] = position, True
    current = known.copy()
    current[[coord_of[name] for name in ended]] = False
    planner.measure(joint_q, known, current)
    return planner


def known(*names, **positions):
    """Return positions of joints, 0 for those without one."""
    return {**dict.fromkeys(names, 0.0), **positions}


def test_a_trajectory_past_an_arm_of_unknown_position_is_not_safe():
    planner = planner_of(known(*A, FINGER))
    report = check_trajectory(planner, A, PASSING)
    assert report.violation is None and not report.complete and not report.safe
    assert report.unknown_joints == B and report.unmeasured_links == ()
    planner = planner_of(known(*A, FINGER, **MEETING))
    report = check_trajectory(planner, A, PASSING)
    assert report.complete and report.unknown_joints == ()
    assert report.violation.what == 'self_collision' and gap((0.0, 0.0), MEETING.values()) < -0.09
    planner = planner_of(known(*A, *B, FINGER))
    assert check_trajectory(planner, A, PASSING).safe
    # One that collides where its other arm is taken to be says both.
    planner = planner_of(known(*A, FINGER, b1=math.pi))
    report = check_trajectory(planner, A, PASSING)
    assert report.violation is not None and report.unknown_joints == ('b2',)


def test_joints_that_the_trajectory_gives_or_that_change_no_distance_may_be_unknown():
    planner = planner_of(known(*A, FINGER))
    points = [Point(0.0, [0.0, 0.0, 1.0, 0.0])]
    assert check_trajectory(planner, (*A, *B), points).safe
    # The lift carries both arms. No distance depends on the finger without its pairs.
    planner = planner_of(known(*A, *B))
    assert check_trajectory(planner, A, PASSING).unknown_joints == (FINGER,)
    ignored = [f'{a}:{b}' for a in ('a_finger', 'a_thumb') for b in ('a_ball', 'b_ball')]
    planner = planner_of(
        known(*A, *B), collision__ignore_pairs=[*ignored, 'a_finger:a_thumb'],
        barriers__world__enabled=False,
    )  # fmt: skip
    assert check_trajectory(planner, A, PASSING).safe
    off = {'barriers__self_collision__enabled': False}
    assert check_trajectory(planner_of(known(*A), **off), A, PASSING).safe


@pytest.mark.parametrize(('link', 'joints'), [('torso', ()), ('base', (LIFT,)), ('b_upper', 'b1')])
def test_an_obstacle_is_where_the_joints_of_its_link_put_it(link, joints):
    off = {'barriers__self_collision__enabled': False}
    planner = planner_of(known(*A, FINGER), **off)
    pose = np.array([9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    post = Obstacle('post', 'sphere', (0.1,), pose, planner.model.body_index(link))
    planner.place((post,), planner.joint_q)
    report = check_trajectory(planner, A, PASSING)
    assert report.violation is None and set(report.unknown_joints) == set(
        [joints] if isinstance(joints, str) else joints
    )
    assert report.safe == (link == 'torso')


def test_a_joint_that_carries_those_of_the_trajectory_must_be_known():
    # The other arm by itself: its first joint carries the second one.
    planner = planner_of(known(*A, FINGER))
    with pytest.raises(RequestError, match='no joint states yet of b1, which the request omits'):
        check_trajectory(planner, ['b2'], [Point(0.0, [0.0])])
    report = check_trajectory(planner, ['b1'], [Point(0.0, [0.0])])
    assert report.unknown_joints == ('b2',) and not report.safe
    planner = planner_of(known(*A, FINGER, 'b1'))
    assert check_trajectory(planner, ['b2'], [Point(0.0, [0.0])]).safe
    # States that have ended are used.
    planner = planner_of(known(*A, FINGER, b1=math.pi), ended=['b1'])
    report = check_trajectory(planner, ['b2'], [Point(0.0, [0.0])])
    assert report.unknown_joints == ('b1',)
    # The radii are stored in float32.
    assert report.minimum_values[0] == pytest.approx(gap((0.0, 0.0), (math.pi, 0.0)), abs=1e-8)


def test_states_that_have_ended_count_as_unknown_at_their_last_positions():
    planner = planner_of(known(*A, FINGER, **MEETING), ended=B)
    report = check_trajectory(planner, A, PASSING)
    assert report.violation.what == 'self_collision' and report.unknown_joints == B
    planner = planner_of(known(*ALL), ended=[LIFT])
    assert check_trajectory(planner, A, PASSING).safe
    with planner.at(B, [0.0, 0.0]):
        assert planner.current[[planner.robot.coord_of[name] for name in B]].all()


def test_solutions_beside_an_arm_of_unknown_position_are_not_complete():
    # The link is at the elbow, turned with the second joint.
    elbow = [REACH * math.cos(0.3), REACH * math.sin(0.3), 0.0]
    pose = np.array([[*elbow, 0.0, 0.0, math.sin(0.1), math.cos(0.1)]])
    request = IkRequest(pose, link='a_ball', reference_frame='torso', check_collisions=True)
    answer = solve_ik(planner_of(known(*A, FINGER)), request)
    assert len(answer.positions) and not answer.complete
    assert answer.unknown_joints == B
    answer = solve_ik(planner_of(known(*ALL)), request)
    assert len(answer.positions) and answer.complete and answer.unknown_joints == ()
    answer = solve_ik(planner_of(known(*ALL), ended=['b2']), request)
    assert not answer.complete and answer.unknown_joints == ('b2',)
    plain = IkRequest(pose, link='a_ball', reference_frame='torso')
    assert solve_ik(planner_of(known(*A)), plain).unknown_joints == ()


def test_an_optimal_motion_names_the_joints_that_it_does_not_know():
    costs = OptimalRequest(joints=[JointCost('a1', 0.2, 1.0)])
    answer = solve_optimal(planner_of(known(*A, FINGER)), costs)
    assert not answer.fault and not answer.complete and answer.unknown_joints == B
    answer = solve_optimal(planner_of(known(*ALL)), costs)
    assert not answer.fault and answer.complete


def test_an_optimal_motion_is_checked_with_every_joint_where_it_starts():
    """Arm b is measured in the way of arm a, and the request starts with it elsewhere."""
    planner = planner_of(known(*ALL) | MEETING)
    start = {'a1': -0.5, 'a2': 0.0, 'b1': 0.0, 'b2': 0.0}
    assert gap((0.2, 0.0), MEETING.values()) < gap((0.2, 0.0), (0.0, 0.0)) - APART / 4
    answer = solve_optimal(
        planner,
        OptimalRequest(
            joints=[JointCost('a1', 0.5, 1.0)],
            start_names=list(start), start_positions=list(start.values()),
        ),
    )  # fmt: skip
    assert answer.fault == '' and answer.positions[-1][0] == pytest.approx(0.5, abs=0.01)
    assert planner.joint_q[planner.robot.coord_of['b1']] == math.pi
