# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Requests to change obstacles: accepted ones, and refused ones with their reasons."""

import math

import numpy as np
import pytest
from support.rigs.servo_rig import Rig

from ros_ik.servo import ObstacleKind
from ros_ik.servo import ObstacleOperation
from ros_ik.servo import ObstacleRegistry
from ros_ik.servo import ObstacleRequest
from ros_ik.servo import Rejection

BALL = {'kind': ObstacleKind.SPHERE, 'dimensions': [0.1], 'position': [1.0, 0.0, 0.5]}


@pytest.fixture(scope='module')
def rig():
    return Rig.shared()


def add(name='ball', **fields):
    return ObstacleRequest(ObstacleOperation.ADD, name, **{**BALL, **fields})


def remove(name):
    return ObstacleRequest(ObstacleOperation.REMOVE, name)


@pytest.mark.parametrize(
    ('request_', 'reason'),
    [
        (add(name=''), Rejection.BAD_OBSTACLE),
        (add(kind=5), Rejection.BAD_OBSTACLE),
        (add(kind=-1), Rejection.BAD_OBSTACLE),
        (ObstacleRequest(3, 'ball'), Rejection.BAD_OBSTACLE),
        (add(dimensions=[]), Rejection.WRONG_SIZE),
        (add(dimensions=[0.1, 0.1]), Rejection.WRONG_SIZE),
        (add(kind=ObstacleKind.BOX, dimensions=[0.1, 0.1]), Rejection.WRONG_SIZE),
        (add(kind=ObstacleKind.HALF_SPACE), Rejection.WRONG_SIZE),
        (add(dimensions=[0.0]), Rejection.BAD_OBSTACLE),
        (add(dimensions=[-0.1]), Rejection.BAD_OBSTACLE),
        (add(dimensions=[1e9]), Rejection.BAD_OBSTACLE),
        (add(position=[1e9, 0.0, 0.0]), Rejection.BAD_OBSTACLE),
        (add(dimensions=[math.nan]), Rejection.NON_FINITE),
        (add(dimensions=[math.inf]), Rejection.NON_FINITE),
        (add(position=[0.0, math.nan, 0.0]), Rejection.NON_FINITE),
        (add(quaternion=[0.0, 0.0, math.inf, 1.0]), Rejection.NON_FINITE),
        (add(quaternion=[0.0, 0.0, 0.0, 0.0]), Rejection.ZERO_QUATERNION),
        (add(quaternion=[1.0, 0.0, 0.0, 1.0]), Rejection.NOT_UNIT_QUATERNION),
        (add(position=[1e300, 0.0, 0.0]), Rejection.TOO_LARGE_NUMBER),
        (add(position=[0.0, 0.0]), Rejection.WRONG_SIZE),
        (add(quaternion=[1.0]), Rejection.WRONG_SIZE),
        (add(frame_id='map'), Rejection.UNKNOWN_FRAME),
    ],
)
def test_a_bad_obstacle_is_refused_and_nothing_of_its_message_is_taken(rig, request_, reason):
    book = ObstacleRegistry(rig.robot, 4)
    before = book.apply([add('first')])
    assert book.apply([add('second'), remove('first'), request_]) is reason
    assert book.obstacles is before and [known.name for known in before] == ['first']


def test_requests_apply_in_order_and_replace_by_name(rig):
    book = ObstacleRegistry(rig.robot, 4)
    book.apply([add('a'), add('b'), add('a', dimensions=[0.3])])
    assert {known.name: known.dimensions for known in book.obstacles} == {'a': (0.3,), 'b': (0.1,)}
    unchanged = book.obstacles[1]
    book.apply([remove('a'), remove('nobody')])
    assert book.obstacles == (unchanged,)
    clear = ObstacleRequest(ObstacleOperation.CLEAR)
    assert book.apply([add('c'), clear, add('d')])[0].name == 'd'
    assert book.apply([clear]) == ()


def test_the_65th_obstacle_is_refused_and_one_may_be_replaced(rig):
    book = ObstacleRegistry(rig.robot, 64)
    book.apply([add(f'o{k}') for k in range(64)])
    assert len(book.obstacles) == 64
    assert book.apply([add('one more')]) is Rejection.TOO_MANY_OBSTACLES
    assert len(book.obstacles) == 64
    assert len(book.apply([remove('o3'), add('one more')])) == 64
    assert len(book.apply([add('o7', dimensions=[0.2])])) == 64


def test_quaternions_are_normalised_and_frames_are_links(rig):
    book = ObstacleRegistry(rig.robot, 4)
    placed = book.apply([add(quaternion=[0.0, 0.0, 0.603, 0.804], frame_id='panda_hand')])[0]
    np.testing.assert_allclose(placed.pose, [1.0, 0.0, 0.5, 0.0, 0.0, 0.6, 0.8])
    assert placed.frame_link == rig.model.body_index('panda_hand')
    assert book.apply([add()])[0].frame_link == rig.robot.base_link


@pytest.mark.parametrize(
    ('kind', 'dimensions', 'size', 'radius'),
    [
        (ObstacleKind.SPHERE, [0.1], [0.0, 0.0, 0.0], 0.1),
        (ObstacleKind.BOX, [0.2, 0.4, 0.6], [0.1, 0.2, 0.3], 0.0),
        (ObstacleKind.CYLINDER, [0.1, 0.6], [0.1, 0.1, 0.3], 0.0),
        (ObstacleKind.CAPSULE, [0.1, 0.6], [0.0, 0.0, 0.3], 0.1),
        (ObstacleKind.HALF_SPACE, [], [0.0, 0.0, 0.0], 0.0),
    ],
)
def test_dimensions_mean_what_the_message_says(rig, kind, dimensions, size, radius):
    shape = ObstacleRegistry(rig.robot, 1).apply([add(kind=kind, dimensions=dimensions)])[0].shape
    np.testing.assert_allclose(shape.size, size)
    assert shape.radius == radius
