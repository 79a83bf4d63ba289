# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors for wrong arguments of barriers."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.barriers import Barrier
from ros_ik.barriers import BodyPairBarrier
from ros_ik.barriers import CollisionScene
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task
from ros_ik.solvers.optimal_control.solver import OptimalControl

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
GROUP = 'panda_link0:panda_hand_tcp'
BOX = [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]


def geometry():
    return CollisionGeometry.from_spheres(load(PANDA), [0, 8], [[0, 0, 0], [0, 0, 0]], 0.05)


class Looking(Barrier):
    """A user-defined barrier that reads the pose of a link."""

    def __init__(self, link):
        super().__init__(name='looking')
        self.link = link

    @property
    def row_count(self):
        return 1

    def links(self):
        return [self.link]


BAD_LINKS = {
    'PositionBarrier: there is no link 99': lambda: PositionBarrier(99, *BOX),
    "PositionBarrier 'wall': there is no link 99; the 13 links": lambda: PositionBarrier(
        99, *BOX, name='wall'
    ),
    "PositionBarrier 'in hand': there is no link 99": lambda: PositionBarrier(
        3, *BOX, reference_link_index=99, name='in hand'
    ),
    "Looking 'looking': there is no link 13": lambda: Looking(13),
    "Looking 'looking': there is no link -2": lambda: Looking(-2),
}


@pytest.mark.parametrize('message', BAD_LINKS)
def test_a_link_outside_the_model_is_refused_wherever_the_barrier_goes_each_time(message):
    model = load(PANDA)
    barrier = BAD_LINKS[message]()
    diff, joint_q = DifferentialIK(model, GROUP), model.neutral_joint_q()
    tasks = [Task(IKObjectiveJointPosition(model, joint_q))]
    step, acceleration = np.zeros(9), np.ones(9)
    for _ in range(2):
        for call in (
            lambda: diff.solve_ik(joint_q, tasks, [], [barrier], step),
            lambda: diff.barrier_values(joint_q, [barrier]),
            lambda: diff.enforce_barriers(joint_q, [barrier], step),
            lambda: diff.limit_to_stoppable(joint_q, [barrier], step, step, acceleration),
            lambda: OptimalControl(model, GROUP, barriers=[barrier]),
        ):
            with pytest.raises(ArgumentError, match=message):
                call()
    assert diff.solve_ik(joint_q, tasks, [], [PositionBarrier(3, *BOX)], step).ok


def test_a_barrier_that_does_not_fit_says_which_one():
    other = CollisionScene(
        CollisionGeometry.from_spheres(
            load(next(path for path in ALL_URDFS if path.stem == 'ur5_robot')), [1, 5],
            [[0, 0, 0], [0, 0, 0]], 0.05,
        )
    )  # fmt: skip
    model = load(PANDA)
    diff = DifferentialIK(model, GROUP)
    barrier = SelfCollisionBarrier(other, name='self')
    with pytest.raises(ArgumentError, match="SelfCollisionBarrier 'self': its scene belongs"):
        diff.barrier_values(model.neutral_joint_q(), [barrier])
    wall = PositionBarrier(3, *BOX, name='wall')
    diff.barrier_values(model.neutral_joint_q(), [wall])
    with pytest.raises(ArgumentError, match="PositionBarrier 'wall' already belongs"):
        OptimalControl(model, GROUP, barriers=[wall])
    with pytest.raises(ArgumentError, match='barriers must hold Barrier objects'):
        OptimalControl(model, GROUP, barriers=['wall'])


@pytest.mark.parametrize(
    ('arguments', 'named', 'message'),
    [
        ((-1, *BOX), {}, 'link_index must be at least 0, got -1'),
        (('panda_hand', *BOX), {}, r"model.body_index\('panda_hand'\)"),
        ((3, *BOX), {'reference_link_index': -2}, 'reference_link_index must be at least -1'),
        ((3, [np.nan, 0, 0], [1, 1, 1]), {}, 'p_min must be 3 numbers'),
        ((3, [0, 0, 0], [1, 1, np.nan]), {}, 'p_max must be 3 numbers'),
        ((3, [0, 0], [1, 1, 1]), {}, 'p_min must be 3 numbers'),
        ((3, 'low', [1, 1, 1]), {}, 'p_min must be numbers'),
        ((3, *BOX), {'axes': (True, True)}, 'axes'),
        ((3, *BOX), {'gain': np.nan}, 'gain must be positive and finite'),
        ((3, *BOX), {'gain': 'high'}, 'gain must be positive and finite'),
        ((3, *BOX), {'margin': np.nan}, 'margin must be not negative and finite'),
        ((3, *BOX), {'margin': None}, 'margin must be not negative and finite'),
        ((3, *BOX), {'safe_displacement_gain': np.inf}, 'safe_displacement_gain .* finite'),
        ((3, *BOX), {'name': 7}, 'name must be a string'),
    ],
)
def test_what_a_box_refuses(arguments, named, message):
    with pytest.raises(ArgumentError, match=message):
        PositionBarrier(*arguments, **named)


@pytest.mark.parametrize(
    ('named', 'message'),
    [
        ({'d_min': np.nan}, 'd_min must be not negative and finite'),
        ({'d_min': 'near'}, 'd_min'),
        ({'d_max': np.nan}, 'd_max must be not negative and finite'),
        ({'d_max': 0.01}, 'd_max must be above d_min'),
        ({'n_collision_pairs': 0}, 'n_collision_pairs must be an integer of at least 1'),
        ({'n_collision_pairs': 1.5}, 'n_collision_pairs must be an integer'),
        ({'n_collision_pairs': 'all'}, 'n_collision_pairs must be an integer'),
        ({'gain': np.nan}, 'gain must be positive and finite'),
    ],
)
def test_what_a_collision_barrier_refuses(named, message):
    with pytest.raises(ArgumentError, match=message):
        SelfCollisionBarrier(geometry(), **named)
    with pytest.raises(ArgumentError, match=message):
        BodyPairBarrier(geometry(), 0, 8, **named)


def test_unknown_links_of_a_pair_and_of_a_scene_are_named():
    with pytest.raises(ArgumentError, match="no link 'panda_hnd'.*closest: panda_hand"):
        BodyPairBarrier(geometry(), 'panda_link0', 'panda_hnd')
    with pytest.raises(ArgumentError, match='link_b: expected an index in .*got 99'):
        BodyPairBarrier(geometry(), 0, 99)
