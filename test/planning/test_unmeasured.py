# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers about links whose collision shapes are missing: reported, without claims about them."""

from xml.etree import ElementTree

import numpy as np
import pytest
from support.long_forms import in_turn
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import robot_text
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import PACKAGES
from support.robots.collision_oracle import robot_with_meshes
from support.robots.collision_oracle import SRDFS

from ros_ik.demo.robots import robot_data_path
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.planning import check_trajectory
from ros_ik.planning import IkRequest
from ros_ik.planning import JointCost
from ros_ik.planning import OptimalRequest
from ros_ik.planning import Planner
from ros_ik.planning import Point
from ros_ik.planning import PoseCode
from ros_ik.planning import solve_ik
from ros_ik.planning import solve_optimal
from ros_ik.planning import UnmeasuredError
from ros_ik.planning.poses.multi_frame_ik import solve_frames_together
from ros_ik.settings import read_settings
from ros_ik.solvers import inverse_kinematics

ARM = tuple(f'panda_joint{k}' for k in range(1, 8))
# The hand is 100 mm deep in the first links.
FOLDED = np.array([0.0, 0.9, 0.0, -3.05, 0.0, 0.0, 0.785])
SRDF = (robot_data_path() / SRDFS['panda']).read_text()


def links_with_collision_meshes(text):
    """Return the names of links with a collision mesh in a description."""
    links = ElementTree.fromstring(text).iter('link')
    return {link.get('name') for link in links if link.find('collision/geometry/mesh') is not None}


def least_distance(q):
    """Return the least distance of two links of the Panda by coal, without the SRDF's pairs."""
    model, oracle = robot_with_meshes('panda'), collision_oracle('panda')
    joint_q = model.neutral_joint_q()
    for name, value in zip(ARM, q, strict=True):
        joint_q[model.joint_q_start.numpy()[model.joint_index(name)]] = value
    return oracle.distances(joint_q, model.shape_contact_pairs.numpy().reshape(-1, 2)).min()


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
def test_an_arm_inside_itself_is_not_safe_where_its_meshes_are_missing():
    assert least_distance(FOLDED) < -0.09
    planner = make_planner('panda', srdf=SRDF)
    report = check_trajectory(planner, ARM, [Point(0.0, FOLDED)])
    assert not report.safe and not report.complete
    assert set(report.unmeasured_links) == links_with_collision_meshes(robot_text('panda'))
    # No two shapes that can collide are left, so there is no distance.
    assert report.barriers == ('world',)
    assert np.isnan(report.minimum_values).all() and report.closest_pair == ('', '')
    whole = make_planner('panda', srdf=SRDF, package_paths=PACKAGES)
    report = check_trajectory(whole, ARM, [Point(0.0, FOLDED)])
    assert report.complete and not report.safe and report.unmeasured_links == ()
    assert report.violation.what == 'self_collision' and report.minimum_values[0] < -0.09


def test_a_check_for_collisions_that_would_leave_out_links_is_refused():
    planner, target = make_planner('panda', srdf=SRDF), [[0.4, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]]
    missing = links_with_collision_meshes(robot_text('panda'))
    plain = solve_ik(planner, IkRequest(np.array(target)))
    assert not plain.complete and len(plain.positions)
    with pytest.raises(UnmeasuredError, match='panda_link0') as error:
        solve_ik(planner, IkRequest(np.array(target), check_collisions=True))
    assert set(error.value.links) == missing
    frames = planner.task_frames()
    with pytest.raises(UnmeasuredError, match='panda_link0'):
        solve_frames_together(planner, frames, np.array(target), check_collisions=True)
    whole = make_planner('panda', srdf=SRDF, package_paths=PACKAGES)
    answer = solve_ik(whole, IkRequest(np.array(target), check_collisions=True))
    assert answer.complete and len(answer.positions)
    assert (
        solve_frames_together(whole, frames, np.array(target), check_collisions=True) is not None
    )


def test_an_optimal_motion_names_what_its_barriers_left_out():
    planner = make_planner('panda', srdf=SRDF)
    costs = [JointCost(name, 0.1, 1.0) for name in ARM[:1]]
    answer = solve_optimal(planner, OptimalRequest(joints=costs))
    assert not answer.fault
    assert set(answer.unmeasured_links) == links_with_collision_meshes(robot_text('panda'))


def arm(hand, extra=''):
    """Return an arm of three links, the last one with these shapes, and a frame at its end."""
    ball = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
    joint = (
        '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>'
        '<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>'
    )
    return (
        f'<robot name="r"><link name="base">{ball}</link><link name="elbow">{extra}</link>'
        f'<link name="hand">{hand}</link><link name="tool0"/>'
        + joint.format('first', 'base', 'elbow')
        + joint.format('second', 'elbow', 'hand')
        + '<joint name="tip" type="fixed"><parent link="hand"/><child link="tool0"/></joint>'
        '</robot>'
    )


def shape(geometry, tag='collision'):
    return f'<{tag}><geometry>{geometry}</geometry></{tag}>'


FOUND = '<mesh filename="package://arm/found.stl"/>'
TRIANGLE = (
    'solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0.1 0 0\nvertex 0 0.1 0\n'
    'endloop\nendfacet\nendsolid\n'
)


@pytest.fixture
def packages(tmp_path):
    (tmp_path / 'share' / 'arm').mkdir(parents=True)
    (tmp_path / 'share' / 'arm' / 'found.stl').write_text(TRIANGLE)
    (tmp_path / 'share' / 'arm' / 'broken.stl').write_bytes(b'\0' * 200)
    (tmp_path / 'outside.stl').write_text(TRIANGLE)
    (tmp_path / 'share' / 'arm' / 'link.stl').symlink_to(tmp_path / 'outside.stl')
    return [tmp_path / 'share']


def planner_of(text, packages, **values):
    planner = Planner(text, '', read_settings({'ee.frame': 'tool0', **values}), packages)
    planner.measure(planner.joint_q, np.ones(len(planner.joint_q), dtype=bool))
    return planner


def report_of(planner):
    return check_trajectory(planner, ['first', 'second'], [Point(0.0, [0.0, 0.0])])


@pytest.mark.parametrize(
    ('geometry', 'beside'),
    in_turn(
        [
            '<mesh filename="package://arm/gone.stl"/>',
            '<mesh filename="package://other/found.stl"/>',
            '<mesh filename="package://arm/broken.stl"/>',
            '<mesh filename="package://arm/link.stl"/>',
            '<mesh filename="http://arm/found.stl"/>',
            '<superquadric a="0.1"/>',
        ],
        ['', shape('<sphere radius="0.02"/>')],
    ),
)
def test_every_way_of_missing_is_told_by_link(packages, geometry, beside):
    planner = planner_of(arm(beside + shape(geometry)), packages)
    report = report_of(planner)
    assert report.unmeasured_links == ('hand',) and not report.safe
    assert report.violation is None
    shapes = planner.robot.shapes
    assert any('watched for collisions' in sentence for sentence in shapes.warnings)
    # Present shapes are measured: 0.6 m between the centres of the balls, beyond the range.
    assert len(shapes.geometry) == (2 if beside else 1)
    with pytest.raises(UnmeasuredError, match='hand'):
        solve_ik(planner, IkRequest(np.array([[0.6, 0, 0, 0, 0, 0, 1.0]]), check_collisions=True))
    with pytest.raises((ArgumentError, ValueError), match='hand|broken'):
        model = Model.from_urdf(
            arm(beside + shape(geometry)), package_paths=packages, device='cpu'
        )
        inverse_kinematics(
            model, 'tool0', np.array([[0.6, 0, 0, 0, 0, 0, 1.0]]), check_collisions=True
        )


def test_shapes_after_a_broken_one_are_measured(packages):
    broken = shape('<mesh filename="package://arm/broken.stl"/>')
    planner = planner_of(arm(shape('<sphere radius="0.02"/>'), broken), packages)
    assert planner.robot.unmeasured_links == ('elbow',)
    links = [planner.model.body_index(link) for link in ('base', 'hand')]
    assert sorted(planner.robot.shapes.geometry.body) == sorted(links)


def test_links_that_the_description_gives_no_collision_shape_miss_none(packages):
    # A frame, a link that is drawn only, and one whose picture is missing.
    for geometry in ('', FOUND, '<mesh filename="package://arm/gone.stl"/>', '<quadric/>'):
        drawn = shape(geometry, 'visual') if geometry else ''
        report = report_of(planner_of(arm(shape(FOUND), drawn), packages))
        assert report.complete and report.safe and report.unmeasured_links == ()


def test_a_check_that_watches_no_links_says_nothing_of_them(packages):
    text = arm(shape('<mesh filename="package://arm/gone.stl"/>'))
    off = {'barriers.self_collision.enabled': False, 'barriers.world.enabled': False}
    report = report_of(planner_of(text, packages, **off))
    assert report.barriers == () and report.complete and report.safe
    one = report_of(planner_of(text, packages, **{'barriers.self_collision.enabled': False}))
    assert one.barriers == ('world',) and one.unmeasured_links == ('hand',)


def test_a_description_of_too_many_shapes_measures_no_link(packages):
    many = shape('<sphere radius="0.01"/>') * 1001
    report = report_of(planner_of(arm(many), packages))
    assert report.unmeasured_links == ('base', 'hand') and not report.safe


@pytest.mark.filterwarnings('error::RuntimeWarning')
def test_a_joint_without_limits_that_was_never_measured_starts_at_zero():
    joint = 'name="wrist_3_joint" type="{}"'.format
    text = robot_text('ur5').replace(joint('revolute'), joint('continuous'))
    assert joint('continuous') in text
    planner = make_planner('ur5', measured=False, text=text)
    pose = np.array([[0.4, 0.1, 0.4, 1.0, 0.0, 0.0, 0.0]])
    assert solve_ik(planner, IkRequest(pose, check_collisions=False)).codes == PoseCode.CONVERGED
