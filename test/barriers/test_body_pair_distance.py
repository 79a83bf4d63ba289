# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The barrier between two links, by their shapes or by points."""

from barriers.collision_rig import Bench
from barriers.collision_rig import robot
import numpy as np
import pytest
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik.barriers import BodyPairBarrier
from ros_ik.barriers.pair_sampling import sample_pair_distances
from ros_ik.errors import ArgumentError
from ros_ik.limits import VelocityLimit
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task


def test_points_of_two_arms():
    model, n = robot('baxter'), 5
    offset = np.array([0.0, 0.02, 0.1])
    barrier = BodyPairBarrier(
        model, 'left_hand_link', 'right_hand_link', point_a=offset, point_b=np.zeros(3), d_min=0.15
    )
    bench = Bench(model, n)
    joint_q = model.random_joint_q(n, np.random.default_rng(1))
    values, jacobian = bench.evaluate(barrier, joint_q)
    oracle = PinocchioRobot(urdf_text('baxter'), model)
    for k in range(n):
        poses = oracle.poses(joint_q[k])
        (p, rotation), (other, _) = poses['left_hand_link'], poses['right_hand_link']
        expected = np.linalg.norm(p + rotation @ offset - other) - 0.15
        assert values[k, 0] == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(jacobian, bench.finite_differences(barrier, joint_q), atol=1e-6)


def test_a_point_fixed_in_the_world():
    model = robot('ur5_robot')
    barrier = BodyPairBarrier(
        model, 'wrist_3_link', -1, point_a=[0, 0, 0], point_b=[0.1, 0.2, 0.3], d_min=0.0
    )
    bench, joint_q = Bench(model, 2), model.random_joint_q(2, np.random.default_rng(2))
    _, jacobian = bench.evaluate(barrier, joint_q)
    np.testing.assert_allclose(jacobian, bench.finite_differences(barrier, joint_q), atol=1e-6)


def test_shapes_of_two_links():
    model = robot('baxter')
    geometry = CollisionGeometry.from_model(model)
    links = [model.body_index(name) for name in ('left_lower_forearm', 'torso')]
    sides = [np.flatnonzero(geometry.body == link) for link in links]
    assert len(sides[1]) >= 1 and len(sides[0]) >= 1
    pairs = np.array([(a, b) for a in sides[0] for b in sides[1]])
    joint_q = model.random_joint_q(4, np.random.default_rng(3))
    exact = sample_pair_distances(geometry, pairs, joint_q).min(axis=1)
    barrier = BodyPairBarrier(geometry, 'left_lower_forearm', 'torso', d_min=0.1)
    values, _ = Bench(model, 4).evaluate(barrier, joint_q)
    np.testing.assert_allclose(values[:, 0], exact - 0.1, atol=1e-9)


def test_hands_that_are_sent_to_one_place_stay_apart():
    model = robot('baxter')
    barrier = BodyPairBarrier(
        model, 'left_hand_link', 'right_hand_link', point_a=np.zeros(3), point_b=np.zeros(3),
        d_min=0.2, gain=5.0,
    )  # fmt: skip
    diff = DifferentialIK(model)
    joint_q, step = model.neutral_joint_q(), np.zeros(model.joint_dof_count)
    meeting = np.array([0.7, 0.0, 0.3])
    tasks = [
        Task(IKObjectivePosition(barrier.link_indices[k], np.zeros(3), meeting), gain=0.1)
        for k in range(2)
    ]
    limits, found = [VelocityLimit()], []
    for _ in range(150):
        assert diff.solve_ik(joint_q, tasks, limits, [barrier], step).ok
        diff.enforce_barriers(joint_q, [barrier], step)
        joint_q = diff.integrate(joint_q, step)
        found.append(diff.barrier_values(joint_q, [barrier])[0])
    assert -1e-9 < min(found) < 0.02


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        (('nix', 'torso'), 'nix'),
        (('torso', 'torso'), 'differ'),
        (('torso', 'left_hand_range_link'), 'left_hand_range_link'),
        (('torso', 99999), 'link'),
    ],
)
def test_bad_arguments(arguments, text):
    with pytest.raises(ArgumentError, match=text):
        BodyPairBarrier(robot('baxter'), *arguments)
    with pytest.raises(ArgumentError, match='d_min'):
        BodyPairBarrier(robot('baxter'), 'left_hand_link', 'right_hand_link', d_min=-1.0)
