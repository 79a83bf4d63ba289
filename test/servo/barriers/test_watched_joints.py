# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints on which distances depend, against link poses of Pinocchio with each joint displaced."""

import itertools

import numpy as np
import pytest
from support.rigs.ball_arms import A
from support.rigs.ball_arms import ALL
from support.rigs.ball_arms import B
from support.rigs.ball_arms import FINGER
from support.rigs.ball_arms import LIFT
from support.rigs.ball_arms import URDF
from support.robots.robots import PinocchioRobot

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path
from ros_ik.model import Model
from ros_ik.servo import Obstacle
from ros_ik.servo.barriers.watched_joints import unknown_sentence
from ros_ik.servo.barriers.watched_joints import WatchedJoints
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import read_settings

_PLANAR = """<robot name="planar"><link name="base"><collision><geometry><sphere radius="0.1"/>
</geometry></collision></link><link name="cart"><collision><geometry><sphere radius="0.1"/>
</geometry></collision></link><link name="arm"><collision><geometry><sphere radius="0.1"/>
</geometry></collision></link>
<joint name="drive" type="planar"><parent link="base"/><child link="cart"/>
<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
<origin xyz="0 1 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/>
</joint></robot>"""


def robot_of(text=URDF, frame='a_ball', base='torso', srdf=None, **values):
    given = {'ee.frame': frame, 'base_frame': base}
    given.update({key.replace('__', '.'): value for key, value in values.items()})
    packages = [robot_data_path().parents[1]]
    model = Model.from_urdf(text, srdf=srdf, package_paths=packages, device='cpu')
    return resolve_robot(model, read_settings(given))


def nothing(robot):
    """Return a mask without known coordinates."""
    return np.zeros(robot.model.joint_coord_count, dtype=bool)


def post(robot, link):
    pose = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    return Obstacle('post', 'sphere', (0.1,), pose, robot.model.body_index(link))


def joints_between(robot, oracle, pairs):
    """Return the joints that change the relative pose of any pair, by displacing each of them."""
    model = robot.model
    names = [name for name, coord in robot.coord_of.items()
             if model.joint_index(name) not in model.mimic_driver]  # fmt: skip
    rest = model.neutral_joint_q()
    links = {link for pair in pairs for link in pair}

    def relative(joint_q):
        poses = oracle.poses(model.apply_mimic(joint_q))
        poses = {link: poses[link] for link in links}
        rows = []
        for first, second in pairs:
            (p, r), (p0, r0) = poses[first], poses[second]
            rows.append(np.concatenate([r0.T @ (p - p0), (r0.T @ r).ravel()]))
        return np.array(rows)

    before, found = relative(rest), []
    for name in names:
        joint_q = rest.copy()
        joint_q[robot.coord_of[name]] += 0.05
        found.append(np.abs(relative(joint_q) - before).max(axis=1) > 1e-6)
    return names, np.array(found)


@pytest.mark.oracle
@pytest.mark.parametrize(('name', 'frame'), [('baxter', 'left_gripper'), ('panda', 'panda_hand')])
def test_watched_joints_are_those_that_displace_links_of_watched_pairs(name, frame):
    files = find_robot(name)
    text = files.urdf_path.read_text()
    srdf = files.srdf_path.read_text() if files.srdf_path else None
    robot = robot_of(text, frame, files.base_link, srdf)
    body, labels = robot.shapes.geometry.body, robot.model.body_label
    pairs = sorted({tuple(sorted(pair)) for pair in body[robot.shapes.pairs].tolist()})
    named = [tuple(labels[link] for link in pair) for pair in pairs]
    names, moves = joints_between(robot, PinocchioRobot(text, robot.model), named)
    own = np.isin(names, robot.group.joint_names)
    watched = moves[:, moves[own].any(axis=0)].any(axis=1)
    expected = {name for name, is_watched in zip(names, watched, strict=True) if is_watched}
    found = WatchedJoints.of_barriers(robot, robot.group.joint_names)
    assert set(found.unknown(nothing(robot))) == expected
    assert found.unknown(~nothing(robot)) == ()
    for name in expected:
        known = ~nothing(robot)
        known[robot.coord_of[name]] = False
        assert found.unknown(known) == (name,)


def test_each_kind_of_barrier_has_its_joints():
    robot = robot_of()
    watched = WatchedJoints.of_barriers(robot, A)
    # The lift carries both arms alike.
    assert set(watched.unknown(nothing(robot))) == set(ALL) - {LIFT}
    off = {'barriers__self_collision__enabled': False}
    assert WatchedJoints.of_barriers(robot_of(**off), A).unknown(nothing(robot)) == ()
    box = {'barriers__position__box__frame': 'a_finger', 'barriers__position__box__max': [3.0] * 3}
    boxed = WatchedJoints.of_barriers(robot_of(**off, **box), A)
    assert set(boxed.unknown(nothing(robot))) == {*A, FINGER}
    alone = WatchedJoints.of_barriers(robot_of(**off), A)
    for link, joints in (
        ('torso', {*A, FINGER}), ('base', {LIFT, *A, FINGER}), ('b_upper', {*A, FINGER, 'b1'}),
    ):  # fmt: skip
        assert set(alone.unknown(nothing(robot), (post(robot, link),))) == joints
    # The other obstacle is gone.
    assert alone.unknown(nothing(robot)) == ()
    world = {'barriers__world__enabled': False}
    none = WatchedJoints.of_barriers(robot_of(**off, **world), A)
    assert none.unknown(nothing(robot), (post(robot, 'base'),)) == ()


def test_pairs_that_may_touch_need_no_joint():
    ignored = {'collision__ignore_pairs': ['b_ball:a_ball', 'b_ball:a_finger', 'a_thumb:b_ball']}
    robot = robot_of(**ignored)
    watched = WatchedJoints.of_barriers(robot, A)
    assert not set(watched.unknown(nothing(robot))) & set(B)
    # Solutions of poses ignore the pairs of the description and the SRDF only.
    contacts = WatchedJoints.of_contacts(robot, A)
    assert set(contacts.unknown(nothing(robot))) == set(ALL) - {LIFT}


def test_a_mimic_joint_depends_on_its_driver():
    robot = robot_of()
    known = ~nothing(robot)
    known[robot.coord_of['thumb']] = False
    watched = WatchedJoints.of_barriers(robot, A)
    assert watched.unknown(known) == ()
    known[robot.coord_of[FINGER]] = False
    assert watched.unknown(known) == (FINGER,)


def test_a_joint_with_several_coordinates_needs_all_of_them():
    robot = robot_of(_PLANAR, 'arm', 'base')
    watched = WatchedJoints.of_barriers(robot, ['turn'])
    joint = robot.model.joint_index('drive')
    first, last = robot.model.joint_q_start.numpy()[joint : joint + 2]
    assert last - first == 3
    for coords in itertools.chain.from_iterable(
        itertools.combinations(range(first, last), n) for n in range(4)
    ):
        known = ~nothing(robot)
        known[first:last] = False
        known[list(coords)] = True
        assert watched.unknown(known) == (() if len(coords) == 3 else ('drive',))


def test_a_sentence_names_a_few_joints():
    assert unknown_sentence(()) == ''
    assert 'joint states of one, two, on' in unknown_sentence(('one', 'two'))
    many = [f'j{k}' for k in range(100)]
    assert ' and 95 more,' in unknown_sentence(many, 5)
    assert ', '.join(many) in unknown_sentence(many)
