# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of trajectories: limits exactly, barriers against Pinocchio, both between the points."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.interpolate import BPoly
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import shared_planner
from support.rigs.planning_rig import Twin
from support.robots.collision_oracle import PACKAGES
from support.robots.collision_oracle import SRDFS

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path
from ros_ik.planning import Budget
from ros_ik.planning import check_trajectory
from ros_ik.planning import Planner
from ros_ik.planning import Point
from ros_ik.planning import RequestError
from ros_ik.planning.trajectories.spline import make_spline
from ros_ik.planning.trajectories.spline_limits import first_limit_violation
from ros_ik.planning.trajectories.spline_limits import JointBounds
from ros_ik.settings import read_settings

ARM = tuple(f'panda_joint{k}' for k in range(1, 8))
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
# A turn of the Panda towards the wall of :func:`box`, and the margin of the wall [m].
TURN, WALL_MARGIN = np.array([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 0.01
# A slide that starts 0.5 m from a ball, on the line through its centre, and follows a joint.
SLIDE_THROUGH_BALL = """<robot name="slide">
  <link name="base"/>
  <link name="ball"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>
  <link name="slide"><collision><geometry><sphere radius="0.01"/></geometry></collision></link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="ball"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="5" effort="1"/>
  </joint>
  <joint name="follower" type="prismatic">
    <parent link="base"/><child link="slide"/><origin xyz="0 0.5 0"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="500" effort="1"/>
    <mimic joint="turn" multiplier="{factor}"/>
  </joint>
</robot>"""
SLIDE_SETTINGS = read_settings({'ee.frame': 'ball', 'base_frame': 'base'})


def moved(joint, by):
    """Return the home of the Panda with one joint moved."""
    q = HOME.copy()
    q[joint - 1] += by
    return q


def through(*rows):
    """Return a planner's points, (time, positions[, velocities[, accelerations]]) each."""
    return [Point(row[0], *row[1:]) for row in rows]


def monomials(conditions, times, duration):
    """Return the polynomial through values of derivatives at the ends, by a linear system."""
    n = len(conditions)
    matrix = np.zeros((n, n))
    for row, (order, at) in enumerate(times):
        for k in range(order, n):
            factor = math.factorial(k) / math.factorial(k - order)
            matrix[row, k] = factor * (at * duration) ** (k - order)
    return np.linalg.solve(matrix, conditions)


@pytest.mark.parametrize('order', [0, 1, 2])
def test_segments_are_the_polynomials_through_their_ends(order):
    rng, h = np.random.default_rng(1), 0.7
    ends = rng.normal(size=(2, order + 1, 3))
    points = [Point(0.5 + h * k, *ends[k]) for k in range(2)]
    spline = make_spline(points, 3)
    s = np.linspace(0.0, 1.0, 11)
    found = spline.positions(np.zeros(11, int), s)
    conditions = np.concatenate([ends[0], ends[1]])
    derivatives = [(d, at) for at in (0.0, 1.0) for d in range(order + 1)]
    coefficients = monomials(conditions, derivatives, h)
    for k, row in zip(s * h, found, strict=True):
        expected = sum(c * k**power for power, c in enumerate(coefficients))
        np.testing.assert_allclose(row, expected, atol=1e-10)


@pytest.mark.parametrize(
    ('begin', 'end', 'alike'),
    [
        (([0.0], [5.0]), ([1.0],), 'linear'),
        (([0.0],), ([1.0], [5.0]), 'linear'),
        (([0.0], [], [3.0]), ([1.0], [5.0], [3.0]), 'linear'),
        (([0.0], [5.0], [3.0]), ([1.0], [-5.0]), 'cubic'),
        (([0.0], [5.0]), ([1.0], [-5.0], [3.0]), 'cubic'),
    ],
)
def test_a_segment_has_the_derivatives_that_both_ends_give(begin, end, alike):
    keep = {'linear': 1, 'cubic': 2}[alike]
    mixed, pure = (
        make_spline([Point(0.0, *one), Point(1.0, *two)], 1)
        for one, two in ((begin, end), (begin[:keep], end[:keep]))
    )
    np.testing.assert_array_equal(mixed.control, pure.control)
    assert mixed.curved[0] == (alike == 'cubic')


def sampled_violation(spline, bounds, n=20001):
    """Return the first violation by brute force, or None."""
    s = np.linspace(0.0, 1.0, n)
    for segment in range(len(spline.start)):
        q = spline.positions(np.full(n, segment), s)
        h = spline.duration[segment]
        speed = np.gradient(q, s * h, axis=0)
        acceleration = np.gradient(speed, s * h, axis=0)
        bad = (
            (q < bounds.lower - 1e-7)
            | (q > bounds.upper + 1e-7)
            | (np.abs(speed) > bounds.velocity + 1e-4)
        )
        if spline.curved[segment]:
            # Differences of differences are poor at the ends.
            bad[2:-2] |= np.abs(acceleration[2:-2]) > bounds.acceleration + 1e-2
        if bad.any():
            return spline.start[segment] + s[np.argmax(bad.any(axis=1))] * h
    return None


@pytest.mark.parametrize('seed', range(12))
def test_first_violation_is_that_of_dense_sampling(seed):
    """Random splines with limits near their extremes, so that some hold and some break them."""
    rng = np.random.default_rng(seed)
    n_values = 1 + seed % 3
    points = [Point(0.4 * k, *rng.normal(size=(n_values, 2))) for k in range(4)]
    spline = make_spline(points, 2)
    scale = rng.uniform(0.6, 1.6)
    bounds = JointBounds(
        ('a', 'b'),
        np.full(2, -2.0 * scale),
        np.full(2, 2.0 * scale),
        np.full(2, 8.0 * scale),
        np.full(2, 60.0 * scale),
    )
    found, expected = first_limit_violation(spline, bounds, Budget()), None
    expected = sampled_violation(spline, bounds)
    assert (found is None) == (expected is None)
    if found is not None:
        # The samples are 2e-5 s apart, and blur steep velocities by about as much.
        assert found.time == pytest.approx(expected, abs=2e-3)


def test_a_safe_trajectory_is_safe():
    srdf = (robot_data_path() / SRDFS['panda']).read_text()
    planner = make_planner('panda', srdf=srdf, package_paths=PACKAGES)
    report = check_trajectory(planner, ARM, through((0.0, HOME), (1.0, moved(1, 0.3))))
    assert report.safe and report.violation is None
    assert report.barriers == ('self_collision', 'world')
    # There are no obstacles.
    assert report.minimum_values[0] > 0.0 and np.isnan(report.minimum_values[1])


@pytest.mark.parametrize(
    ('points', 'time', 'what'),
    [
        # 2 rad/s is beyond panda_joint1's 2.175 only at 1.05 times; 3 rad in 1 s is beyond.
        (through((0.0, HOME), (1.0, moved(1, 2.0)), (2.0, moved(1, -0.5))), 1.0,
         'velocity limit of panda_joint1'),
        # panda_joint4 ends at -0.0698: from -2.356 at 1.2 rad/s that is after 1.905 s.
        (through((0.0, HOME), (2.0, moved(4, 2.4))), 2.0 * (2.356 - 0.0698) / 2.4,
         'position limit of panda_joint4'),
        # Both ends at home, with velocities that lead out of the limits between them.
        (through((0.0, moved(4, 2.2), np.eye(7)[3]), (1.0, moved(4, 2.2), -np.eye(7)[3])),
         None, 'position limit of panda_joint4'),
        (through((0.5, moved(6, 3.0))), 0.5, 'position limit of panda_joint6'),
    ],
)  # fmt: skip
def test_limits_are_found_between_the_points(points, time, what):
    report = check_trajectory(shared_planner('panda'), ARM, points)
    assert report.violation.what == what
    if time is None:
        # q = q0 + s (1 - s): it reaches the limit 0.0862 above q0 at s (1 - s) = 0.0862.
        room = -0.0698 - (HOME[3] + 2.2)
        time = 0.5 - math.sqrt(0.25 - room)
    assert report.violation.time == pytest.approx(time, abs=1e-6)


def test_limits_of_the_settings_count():
    fast = through((0.0, HOME), (1.0, moved(1, 1.0)))
    assert check_trajectory(shared_planner('panda'), ARM, fast).violation is None
    for values in (
        {'limits__velocity_scale': 0.4},
        {
            'joint_limits__panda_joint1__has_velocity_limits': True,
            'joint_limits__panda_joint1__max_velocity': 0.9,
        },
    ):
        planner = make_planner('panda', **values)
        assert check_trajectory(planner, ARM, fast).violation.what.startswith('velocity')


def test_accelerations_are_checked_where_a_limit_is_given():
    still = np.zeros(7)
    # From rest to rest by a cubic over 1 rad in 2 s: 6 / 4 = 1.5 rad/s^2 at both ends.
    points = through((0.0, HOME, still), (2.0, moved(1, 1.0), still))
    assert check_trajectory(shared_planner('panda'), ARM, points).violation is None
    for limit, safe in ((1.6, True), (1.4, False)):
        planner = make_planner(
            'panda',
            joint_limits__panda_joint1__has_acceleration_limits=True,
            joint_limits__panda_joint1__max_acceleration=limit,
        )
        violation = check_trajectory(planner, ARM, points).violation
        assert (violation is None) == safe
    assert (violation.time, violation.what) == (0.0, 'acceleration limit of panda_joint1')


def box(**values):
    """Return a planner of the Panda whose hand stays above a plane and beside another."""
    return make_planner(
        'panda',
        barriers__position__floor__frame='panda_hand',
        barriers__position__floor__min=[-math.inf, -math.inf, 0.45],
        barriers__position__wall__frame='panda_link4',
        barriers__position__wall__max=[math.inf, 0.1, math.inf],
        barriers__position__wall__margin=WALL_MARGIN,
        barriers__self_collision__enabled=False,
        barriers__world__enabled=False,
        **values,
    )


def test_barriers_along_the_way_are_those_of_pinocchio():
    planner = box()
    begin, end, seconds = HOME, HOME + [0.6, 0.8, 0.0, 0.2, 0.0, 0.0, 0.0], 2.0
    points = through((0.0, begin), (seconds, end))
    report = check_trajectory(planner, ARM, points, max_step=0.001)
    assert report.barriers == ('floor', 'wall')
    twin, base = Twin(planner, 'panda'), find_robot('panda').base_link
    s = np.linspace(0.0, 1.0, 2001)
    rows = planner.configurations(planner.coordinates(ARM), begin + s[:, None] * (end - begin))
    floor = np.array([twin.pose(q, 'panda_hand', base)[0][2] - 0.45 for q in rows])
    wall = np.array([0.1 - twin.pose(q, 'panda_link4', base)[0][1] for q in rows])
    # A step of 0.001 rad moves the frames by about a millimetre at most.
    np.testing.assert_allclose(report.minimum_values, [floor.min(), wall.min()], atol=1e-5)
    first = np.argmax((floor < 0.0) | (wall < WALL_MARGIN))
    assert report.violation.what == ('floor' if floor[first] < 0.0 else 'wall')
    assert report.violation.time == pytest.approx(s[first] * seconds, abs=2e-3)


@pytest.mark.parametrize(('part', 'safe'), [(1.1, True), (0.9, False), (0.0, False)])
def test_a_trajectory_keeps_the_margin_of_a_box(part, safe):
    planner = box()
    twin, base = Twin(planner, 'panda'), find_robot('panda').base_link

    def room(angle):
        (q,) = planner.configurations(planner.coordinates(ARM), (HOME + angle * TURN)[None])
        return 0.1 - twin.pose(q, 'panda_link4', base)[0][1]

    wanted, low, high = part * WALL_MARGIN, 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if room(middle) > wanted else (low, middle)
    report = check_trajectory(planner, ARM, through((0.0, HOME), (2.0, HOME + low * TURN)))
    assert (report.violation is None) == safe
    assert report.minimum_values[1] == pytest.approx(wanted, abs=1e-9)
    assert safe or report.violation.what == 'wall'


def test_a_barrier_is_found_between_points_that_hold_it():
    planner = box()
    # The hand goes down and up again between two points at home.
    down = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    points = through((0.0, HOME, down), (2.0, HOME, -down))
    report = check_trajectory(planner, ARM, points)
    assert report.violation.what == 'floor'
    assert 0.05 < report.violation.time < 1.0
    for point in points:
        alone = check_trajectory(planner, ARM, [Point(0.0, point.positions)])
        assert alone.violation is None and (alone.minimum_values > 0.0).all()


@pytest.mark.parametrize('factor', [1.0, -10.0, 100.0])
def test_barriers_are_checked_at_small_steps_of_mimic_joints(factor):
    """A slide that follows a joint passes through a small ball between two points."""
    planner = Planner(SLIDE_THROUGH_BALL.format(factor=factor), '', SLIDE_SETTINGS, (), 'cpu')
    joint_q = planner.model.neutral_joint_q()
    planner.measure(joint_q, np.ones(len(joint_q), dtype=bool))
    points = through((0.0, [0.0]), (2.0, [-1.0 / factor]))
    report = check_trajectory(planner, ['turn'], points)
    # The surfaces of the ball and the slide's are 0.02 and 0.01 m from their centres, the margin
    # is 0.01 m.
    assert report.violation.what == 'self_collision'
    assert report.violation.time == pytest.approx(2.0 * (0.5 - 0.04), abs=1e-3)
    assert report.minimum_values[0] < -0.02


@pytest.mark.parametrize(('offset', 'end'), [(0.0, 2.0), (9.0, 3.0), (-9.0, 3.0)])
def test_limits_that_exclude_every_position_of_a_driver_have_no_effect(offset, end):
    """A mimic joint at 2 to 8 or so narrows the range of its driver, unless it leaves none."""
    text = SLIDE_THROUGH_BALL.replace(' multiplier="{factor}"', f' offset="{offset}"')
    text = text.replace('lower="-3" upper="3" velocity="500"', 'lower="-2" upper="2" velocity="9"')
    settings = dataclasses.replace(SLIDE_SETTINGS, barriers_self_collision_enabled=False)
    planner = Planner(text, '', settings)
    joint_q = planner.model.neutral_joint_q()
    planner.measure(joint_q, np.ones(len(joint_q), dtype=bool))
    for position in (end - 0.01, 0.01 - end):
        report = check_trajectory(planner, ['turn'], through((0.0, [position])))
        assert report.violation is None
    for position in (end + 0.01, -0.01 - end):
        report = check_trajectory(planner, ['turn'], through((0.0, [position])))
        assert 'turn' in report.violation.what


def test_other_joints_are_as_measured():
    planner = box()
    names, low = ['panda_joint2'], through((0.0, [0.8]))
    violated = check_trajectory(planner, names, low)
    assert violated.violation.what == 'floor'
    joint_q = planner.joint_q.copy()
    joint_q[planner.robot.coord_of['panda_joint4']] = -0.5
    planner.measure(joint_q, planner.known)
    assert check_trajectory(planner, names, low).minimum_values[0] > violated.minimum_values[0]


@pytest.mark.parametrize(
    ('names', 'points', 'max_step', 'reason'),
    [
        (ARM, [], 0.0, 'no points'),
        ((), through((0.0, [])), 0.0, 'no joints'),
        (('elbow',), through((0.0, [0.0])), 0.0, "'elbow'"),
        (ARM, through((0.0, HOME[:6])), 0.0, 'expected 7 positions'),
        (ARM, through((0.0, HOME, [0.0])), 0.0, 'expected 7 velocities'),
        (ARM, through((0.0, HOME, HOME, [0.0])), 0.0, 'expected 7 accelerations'),
        (ARM, through((0.0, HOME * math.nan)), 0.0, r'points\[0\].positions\[0\]'),
        (ARM, through((0.0, HOME), (0.0, HOME)), 0.0, 'point 1: time_from_start'),
        (ARM, through((-1.0, HOME)), 0.0, 'point 0: time_from_start'),
        (ARM, through((0.0, HOME), (math.nan, HOME)), 0.0, 'point 1: time_from_start'),
        (ARM, through((0.0, HOME), (math.inf, HOME)), 0.0, 'point 1: time_from_start'),
        (['panda_joint1'], through((0.0, ['1'])), 0.0, r'points\[0\].positions must be numbers'),
        (['panda_joint1'], through((0.0, [[0.1]])), 0.0, 'one number per joint'),
        (
            ['panda_joint1'],
            through((0.0, [0.1]), (1.0, [0.1], [[0.0]])),
            0.0,
            r'points\[1\].velocities must be one number',
        ),
        (ARM, through((0.0, HOME)), -1.0, 'max_step'),
        (ARM, through((0.0, HOME)), math.nan, 'max_step'),
        (ARM, through((0.0, HOME), (1.0, HOME + 1e8)), 0.0, 'services.max_poses'),
        (('panda_finger_joint2',), through((0.0, [0.0])), 0.0, 'panda_finger_joint1'),
    ],
)
def test_what_is_wrong_with_a_request_is_named(names, points, max_step, reason):
    with pytest.raises(RequestError, match=reason):
        check_trajectory(shared_planner('panda'), names, points, max_step)


def test_joints_that_were_not_heard_of_are_named():
    planner = make_planner('panda', measured=False)
    with pytest.raises(RequestError, match='panda_joint2'):
        check_trajectory(planner, ['panda_joint1'], through((0.0, [0.0])))
    assert check_trajectory(planner, ARM, through((0.0, HOME))).violation is None


def test_the_time_bounds_it():
    with pytest.raises(RequestError, match='time limit has passed'):
        check_trajectory(box(), ARM, through((0.0, HOME)), budget=Budget(0.0))


@pytest.mark.parametrize('order', [1, 2, 3])
def test_single_times_are_those_of_scipy(order):
    """Positions alone, with velocities, and with accelerations too; one point each way beyond."""
    rng, times = np.random.default_rng(order), np.array([0.5, 1.1, 1.5, 3.0])
    knots = rng.normal(size=(order, len(times), 2))
    rows = [(t, *(part.tolist() for part in knots[:, k])) for k, t in enumerate(times)]
    spline = make_spline(through(*rows), 2)
    expected = BPoly.from_derivatives(times, knots.transpose(1, 0, 2))
    for t in rng.uniform(times[0], times[-1], 50):
        segment, positions, velocities = spline.at(t)
        assert times[segment] <= t < times[segment + 1]
        np.testing.assert_allclose(positions, expected(t), rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(velocities, expected(t, 1), rtol=0.0, atol=1e-11)
    for t, row in ((0.4, 0), (3.0, -1), (9.0, -1)):
        _, positions, velocities = spline.at(t)
        np.testing.assert_allclose(positions, knots[0, row], rtol=0.0, atol=1e-12)
        assert not velocities.any()
