# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of trajectories of joints that the node does not control."""

import numpy as np
import pytest
from support.rigs.ball_arms import A
from support.rigs.ball_arms import B
from support.rigs.ball_arms import FINGER
from support.rigs.ball_arms import FINGER_OFFSET
from support.rigs.ball_arms import gap
from support.rigs.ball_arms import place_of_ball
from support.rigs.ball_arms import RADIUS
from support.rigs.ball_arms import URDF
from support.robots.collision_oracle import PACKAGES
from support.robots.collision_oracle import pin

from ros_ik.demo.robots import find_robot
from ros_ik.planning import check_trajectory
from ros_ik.planning import Planner
from ros_ik.planning import Point
from ros_ik.servo import Obstacle
from ros_ik.settings import read_settings

_MARGIN = 0.01
_TURNED = (np.pi, 0.0)
SIDES = ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')


def planner_of(frame, srdf='', **values):
    """Return a planner of the two arms for a node with this frame, with every joint at 0."""
    given = {'ee.frame': frame, 'base_frame': 'torso'}
    given.update({key.replace('__', '.'): value for key, value in values.items()})
    planner = Planner(URDF, srdf, read_settings(given))
    planner.measure(planner.joint_q, np.ones(len(planner.joint_q), dtype=bool))
    return planner


def obstacle(planner, xy, link='torso'):
    """Return a ball of 0.1 m on the plane of the arms."""
    pose = np.array([*xy, 0.0, 0.0, 0.0, 0.0, 1.0])
    return Obstacle('post', 'sphere', (0.1,), pose, planner.model.body_index(link))


def through(*rows):
    """Return points one second apart."""
    return [Point(float(k), list(map(float, row))) for k, row in enumerate(rows)]


@pytest.mark.parametrize('end', [(np.pi, 0.0), (np.pi - 0.15, 0.0), (np.pi - 0.6, 0.0)])
def test_another_arm_keeps_away_from_the_arm_of_the_node(end):
    planner = planner_of('a_ball')
    begin = np.array([np.pi - 1.5, 0.0])
    s = np.linspace(0.0, 1.0, 1001)[:, None]
    gaps = np.array([gap((0.0, 0.0), row) for row in begin + s * (np.array(end) - begin)])
    report = check_trajectory(planner, B, through(begin, end), max_step=1e-3)
    assert report.safe == (gaps.min() >= _MARGIN)
    if gaps.min() < 0.2:
        assert report.minimum_values[0] == pytest.approx(gaps.min(), abs=1e-3)
        assert set(report.closest_pair) == {'a_ball', 'b_ball'}
    if not report.safe:
        assert report.violation.what == 'self_collision'
        first = s[np.argmax(gaps < _MARGIN), 0]
        assert report.violation.time == pytest.approx(first, abs=2e-3)


def test_another_arm_meets_obstacles_old_and_new():
    planner = planner_of('a_ball')
    far, near = (through((1.0, 0.0), (end, 0.0)) for end in (0.5, -1.0))
    assert check_trajectory(planner, B, near).safe
    # Barriers that were made before the obstacle came have it, too.
    planner.place((obstacle(planner, place_of_ball('b', 0.0, 0.0)),), planner.joint_q)
    reports = [check_trajectory(planner, B, points) for points in (far, near)]
    assert [report.safe for report in reports] == [True, False]
    assert reports[1].violation.what == 'world'
    assert reports[1].minimum_values[1] == pytest.approx(-RADIUS - 0.1, abs=1e-2)
    assert set(reports[1].closest_pair) == {'b_ball', 'post'}
    planner.place((), planner.joint_q)
    assert check_trajectory(planner, B, near).safe


def test_the_margins_and_exclusions_of_the_node_hold_for_another_arm():
    srdf = (
        '<robot name="ball_arms"><disable_collisions link1="a_ball" link2="b_ball" '
        'reason="Never"/></robot>'
    )
    passing = through((np.pi - 1.0, 0.0), (np.pi + 1.0, 0.0))
    assert not check_trajectory(planner_of('a_ball'), B, passing).safe
    planner = planner_of('a_ball', srdf)
    assert check_trajectory(planner, B, passing).safe
    # The finger is still watched, which here reaches into the other ball.
    touching = through((np.pi, 0.0, 0.0), (np.pi, 0.0, -FINGER_OFFSET))
    report = check_trajectory(planner, (*B, FINGER), touching)
    assert not report.safe and 'b_ball' in report.closest_pair
    ignored = {'collision__ignore_pairs': ['a_ball:b_ball']}
    assert check_trajectory(planner_of('a_ball', **ignored), B, passing).safe
    beside = through((np.pi - 0.2, 0.0))
    least = gap((0.0, 0.0), (np.pi - 0.2, 0.0))
    for margin, is_safe in ((least - 1e-3, True), (least + 1e-3, False)):
        values = {'barriers__self_collision__margin': margin}
        assert check_trajectory(planner_of('b_ball', **values), A, beside).safe
        assert check_trajectory(planner_of('a_ball', **values), B, beside).safe == is_safe
    off = {'barriers__self_collision__enabled': False}
    assert check_trajectory(planner_of('a_ball', **off), B, passing).safe


def test_a_change_of_settings_reaches_another_arm():
    planner, points = planner_of('a_ball'), through((np.pi - 0.2, 0.0))
    assert check_trajectory(planner, B, points).safe
    wide = {'ee.frame': 'a_ball', 'base_frame': 'torso', 'barriers.self_collision.margin': 0.15}
    planner.apply(read_settings(wide))
    assert not check_trajectory(planner, B, points).safe


def test_few_sets_of_joints_keep_their_barriers():
    planner = planner_of('a_ball')
    first = planner.barriers_of(B)
    assert planner.barriers_of(reversed(B)) is first and planner.barriers_of((*A, *B)) is first
    assert planner.barriers_of(A) is planner.barriers
    sets = [('b1',), ('b2',), ('lift',), ('finger',), ('b1', 'lift'), ('b2', 'lift'),
            ('b1', 'finger'), ('b2', 'finger')]  # fmt: skip
    made = [planner.barriers_of(names) for names in sets]
    assert planner.barriers_of(sets[-1]) is made[-1]
    assert planner.barriers_of(B) is not first


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
def test_an_arm_of_a_baxter_meets_the_same_links_whichever_arm_the_node_moves():
    files = find_robot('baxter')
    text, srdf = files.urdf_path.read_text(), files.srdf_path.read_text()
    names = [f'right_{side}' for side in SIDES]
    planners = []
    for frame in ('left_gripper', 'right_gripper'):
        settings = read_settings({'ee.frame': frame, 'base_frame': 'torso'})
        planner = Planner(text, srdf, settings, PACKAGES)
        home = planner.model.neutral_joint_q(files.home)
        planner.measure(home, np.ones(len(home), dtype=bool))
        planners.append(planner)
    robot = pin.buildModelFromUrdf(str(files.urdf_path))
    shapes = pin.buildGeomFromUrdf(
        robot, str(files.urdf_path), pin.GeometryType.COLLISION, list(map(str, PACKAGES))
    )
    shapes.addAllCollisionPairs()
    pin.removeCollisionPairs(robot, shapes, str(files.srdf_path))
    data, shape_data = robot.createData(), shapes.createData()
    rng, n_colliding = np.random.default_rng(0), 0
    dofs = [robot.joints[robot.getJointId(name)].idx_q for name in names]
    base = pin.neutral(robot)
    for name, position in files.home.items():
        base[robot.joints[robot.getJointId(name)].idx_q] = position
    begin = np.array([0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    for _ in range(12):
        end = rng.uniform(robot.lowerPositionLimit[dofs], robot.upperPositionLimit[dofs])
        collides = False
        for s in np.linspace(0.0, 1.0, 50):
            q = base.copy()
            q[dofs] = begin + s * (end - begin)
            pin.updateGeometryPlacements(robot, data, shapes, shape_data, q)
            collides = collides or pin.computeCollisions(shapes, shape_data, True)
        points = [Point(0.0, begin), Point(60.0, end)]
        reports = [check_trajectory(planner, names, points) for planner in planners]
        n_colliding += collides
        assert not (collides and any(report.safe for report in reports))
        # The other arm stays, and is nearer to nothing than the moving one.
        assert reports[0].safe == reports[1].safe
    assert n_colliding >= 3
