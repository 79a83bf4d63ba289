# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Indices and counts: a boolean is no index 1, and 1.5 is no count; the error names the argument.

``True`` is an integer of Python, so that ``link=True`` had meant link 1.
"""

import numpy as np
import pytest
from support.robots.robots import urdf_text

import ros_ik as rk
from ros_ik.errors import ArgumentError
from ros_ik.numbers import as_integer
from ros_ik.numbers import integer_array
from ros_ik.solvers.qp.dense_qp import DenseQP

POSE = np.array([[0.3, 0.2, 0.4, 0.0, 0.0, 0.0, 1.0]])
Z = np.zeros(3)
NO_INDEX = (True, False, np.True_, 1.5, np.float64(1.0), 1.0, 1j)
# A number is a position of the redundant joint there.
MAY_BE_A_NUMBER = {'redundant_values'}


def robot(joined=True):
    """Return a builder of two links with a shape each."""
    builder = rk.ModelBuilder()
    for _ in range(2):
        builder.add_link('l' + str(builder.body_count))
    if joined:
        joints = [builder.add_joint_fixed(-1, 0), builder.add_joint_revolute(0, 1)]
        builder.add_articulation(joints)
        for body in range(2):
            builder.add_shape_sphere(body, radius=0.1)
    return builder


class Rig:
    """Models of the tests."""

    def __init__(self):
        builder = rk.ModelBuilder()
        builder.replicate(robot(), 2)
        self.worlds = builder.finalize('cpu')
        self.geometry = rk.CollisionGeometry.from_model(self.worlds)
        self.ur5 = rk.Model.from_urdf(urdf_text('ur5_robot'), device='cpu')
        self.panda = rk.Model.from_urdf(urdf_text('panda'), device='cpu')
        self.q = np.zeros((1, self.worlds.joint_coord_count))

    def scene(self, **size):
        return rk.CollisionScene(self.geometry, **{'max_obstacles': 1, 'max_attached': 1, **size})

    def urdf(self, **options):
        robot().add_urdf(text=urdf_text('ur5_robot'), **options)


SPHERE = rk.CollisionShape.sphere(0.1)
POSE_ROWS = np.tile(POSE, (2, 1))
CALLS = [
    ('link', lambda r, v: rk.ChainIK(r.ur5, v)),
    ('link', lambda r, v: rk.ClosedFormIK(r.ur5, v)),
    ('link', lambda r, v: rk.closed_form(r.ur5, v)),
    ('link', lambda r, v: rk.all_solutions(r.ur5, v, POSE)),
    ('link', lambda r, v: rk.inverse_kinematics(r.ur5, v, POSE)),
    ('link', lambda r, v: rk.solve_path(r.ur5, v, POSE)),
    ('link', lambda r, v: rk.redundant_intervals(r.panda, v, POSE)),
    ('link', lambda r, v: rk.RedundantClosedFormIK(r.panda, v)),
    ('link_a', lambda r, v: rk.BodyPairBarrier(r.geometry, v, 2)),
    ('link_b', lambda r, v: rk.BodyPairBarrier(r.geometry, 2, v)),
    ('links', lambda r, v: rk.CollisionGeometry.from_model(r.worlds, links=[v])),
    ('links', lambda r, v: rk.CollisionGeometry.from_spheres(r.worlds, [v], [Z], [1.0])),
    ('link', lambda r, v: r.scene().attach('a', v, SPHERE)),
    ('touch_links', lambda r, v: r.scene().attach('a', 0, SPHERE, touch_links=[v])),
    ('ignored_links', lambda r, v: r.scene().add_obstacle('a', SPHERE, ignored_links=[v])),
    ('links', lambda r, v: rk.fit_capsules(r.worlds, links=[v])),
    ('links', lambda r, v: rk.fit_spheres(r.worlds, links=[v])),
    ('link_index', lambda r, v: rk.eval_jacobian(r.worlds, r.q, v, np.zeros((1, 6, 2)))),
    ('link_index', lambda r, v: rk.link_dofs(r.worlds, v)),
    ('link_index', lambda r, v: rk.IKObjectivePose(v, POSE)),
    ('link_index', lambda r, v: rk.IKObjectivePosition(v, Z, Z)),
    ('link_index', lambda r, v: rk.IKObjectiveRotation(v, POSE[0, 3:], POSE[0, 3:])),
    ('link_index', lambda r, v: rk.IKObjectiveLookAt(v, np.ones(3), Z)),
    ('link_index', lambda r, v: rk.PositionBarrier(v, -np.ones(3), np.ones(3))),
    ('reference_link_index', lambda r, v: rk.IKObjectivePose(0, POSE, reference_link_index=v)),
    ('reference_link_index', lambda r, v: rk.IKObjectiveCenterOfMass(Z, reference_link_index=v)),
    ('link_indices',
     lambda r, v: rk.IKObjectiveSelfDistance(r.worlds, [v, 2], np.zeros((2, 3)), np.ones(2))),
    ('bodies', lambda r, v: rk.eval_com(r.worlds, r.q, np.zeros((1, 3)), bodies=[0, v])),
    ('bodies', lambda r, v: rk.eval_com(r.worlds, r.q, np.zeros((1, 3)), bodies=np.array([v]))),
    ('bodies', lambda r, v: rk.IKObjectiveCenterOfMass(Z, bodies=[0, v])),
    ('pairs', lambda r, v: rk.SelfCollisionBarrier(r.geometry, pairs=[[2, v]])),
    ('pairs', lambda r, v: rk.CollisionChecker(r.worlds, 1, pairs=[[2, v]])),
    ('shapes', lambda r, v: rk.CollisionGeometry.from_shapes(r.worlds, shapes=[v])),
    ('k', lambda r, v: rk.CollisionChecker(r.worlds, 1).pair_names(v)),
    ('row', lambda r, v: rk.IKObjectivePose(0, POSE_ROWS).set_target_pose(v, POSE[0])),
    ('index', lambda r, v: rk.IkChain(r.ur5, 'tool0').get_link(v)),
    ('end_link', lambda r, v: rk.IkChain(r.ur5, v)),
    ('world', lambda r, v: r.worlds.joint_index('joint_0', world=v)),
    ('world', lambda r, v: r.worlds.body_index('l0', world=v)),
    ('world', lambda r, v: r.worlds.set_gravity((0, 0, -1), world=v)),
    ('name', lambda r, v: r.worlds.body_index(v)),
    ('parent', lambda r, v: robot(False).add_joint_fixed(v, 0)),
    ('child', lambda r, v: robot(False).add_joint_fixed(-1, v)),
    ('child', lambda r, v: robot(False).add_joint_free(v)),
    ('type', lambda r, v: robot(False).add_joint(v, -1, 0)),
    ('type', lambda r, v: robot(False).add_shape(0, v)),
    ('axis', lambda r, v: robot(False).add_joint_revolute(0, 1, axis=v)),
    ('body', lambda r, v: robot(False).add_shape_sphere(v, radius=0.1)),
    ('joint', lambda r, v: robot(False).add_articulation([v])),
    ('joint0', lambda r, v: robot().add_constraint_mimic(v, 0)),
    ('joint1', lambda r, v: robot().add_constraint_mimic(0, v)),
    ('joint', lambda r, v: robot().set_joint_mimic(v, 0)),
    ('shape_a', lambda r, v: robot().add_shape_collision_filter_pair(v, 0)),
    ('shape_b', lambda r, v: robot().add_shape_collision_filter_pair(0, v)),
    ('parent_body', lambda r, v: r.urdf(parent_body=v)),
    ('up_axis', lambda r, v: r.urdf(up_axis=v)),
    ('up_axis', lambda r, v: rk.ModelBuilder(v)),
    ('copy_count', lambda r, v: rk.ModelBuilder().replicate(robot(), v)),
    ('world_count', lambda r, v: rk.ModelBuilder().replicate(robot(), world_count=v)),
    ('n', lambda r, v: r.worlds.random_joint_q(v)),
    ('rng', lambda r, v: r.worlds.random_joint_q(1, v)),
    ('n', lambda r, v: rk.CollisionChecker(r.worlds, v)),
    ('n_problems', lambda r, v: rk.ChainIK(r.ur5, 'tool0', n_problems=v)),
    ('n_solutions', lambda r, v: rk.ChainIK(r.ur5, 'tool0', n_solutions=v)),
    ('n_lanes', lambda r, v: rk.ChainIK(r.ur5, 'tool0', n_lanes=v)),
    ('n_threads', lambda r, v: rk.ChainIK(r.ur5, 'tool0', n_threads=v)),
    ('max_attempts', lambda r, v: rk.ChainIKSettings(max_attempts=v)),
    ('seed', lambda r, v: rk.ChainIKSettings(seed=v)),
    ('n_problems', lambda r, v: rk.ClosedFormIK(r.ur5, 'tool0', n_problems=v)),
    ('max_solutions', lambda r, v: rk.all_solutions(r.ur5, 'tool0', POSE, max_solutions=v)),
    ('max_steps', lambda r, v: rk.ClosedFormSettings(max_steps=v)),
    ('redundant_values',
     lambda r, v: rk.all_solutions(r.panda, 'panda_link8', POSE, redundant_values=v)),
    ('redundant_values',
     lambda r, v: rk.redundant_intervals(r.panda, 'panda_link8', POSE, redundant_values=v)),
    ('n_solutions', lambda r, v: rk.inverse_kinematics(r.ur5, 'tool0', POSE, n_solutions=v)),
    ('n_branches', lambda r, v: rk.solve_path(r.ur5, 'tool0', POSE, n_branches=v)),
    ('n_robots', lambda r, v: rk.DifferentialIK(r.ur5, n_robots=v)),
    ('n_threads', lambda r, v: rk.DifferentialIK(r.ur5, n_threads=v)),
    ('max_iterations', lambda r, v: rk.DifferentialIKSettings(max_iterations=v)),
    ('priority', lambda r, v: rk.Task(rk.IKObjectivePose(1, POSE), priority=v)),
    ('max_iter', lambda r, v: rk.DlsSolver(max_iter=v)),
    ('n_batch', lambda r, v: rk.IKOptimizerLM(r.ur5, v, [rk.IKObjectivePose(1, POSE)])),
    ('history_len',
     lambda r, v: rk.IKOptimizerLBFGS(r.ur5, 1, [rk.IKObjectivePose(1, POSE)], history_len=v)),
    ('n_problems', lambda r, v: rk.IKSolver(r.ur5, v, [rk.IKObjectivePose(1, POSE)])),
    ('n_seeds',
     lambda r, v: rk.IKSolver(r.ur5, 1, [rk.IKObjectivePose(1, POSE)], n_seeds=v)),
    ('max_obstacles', lambda r, v: r.scene(max_obstacles=v)),
    ('max_attached', lambda r, v: r.scene(max_attached=v)),
    ('max_obstacles', lambda r, v: rk.WorldCollisionBarrier(r.geometry, max_obstacles=v)),
    ('n_collision_pairs', lambda r, v: rk.SelfCollisionBarrier(r.geometry, n_collision_pairs=v)),
    ('max_capsules', lambda r, v: rk.fit_capsules(r.worlds, max_capsules=v)),
    ('max_spheres', lambda r, v: rk.fit_spheres(r.worlds, max_spheres=v)),
    ('patience', lambda r, v: rk.OptimalControlSettings(patience=v)),
    ('patience', lambda r, v: rk.OptimalControlCommandBuilder().set_patience(v)),
    ('batch', lambda r, v: DenseQP(v, 1, 1)),
]  # fmt: skip


@pytest.fixture(scope='module')
def rig():
    return Rig()


@pytest.mark.parametrize(
    ('name', 'call'), CALLS, ids=[f'{k}-{name}' for k, (name, _) in enumerate(CALLS)]
)
def test_booleans_and_fractions_are_refused(rig, name, call):
    for value in NO_INDEX:
        if name in MAY_BE_A_NUMBER and isinstance(value, float):
            continue
        with pytest.raises(ArgumentError, match=rf'\b{name}\b'):
            call(rig, value)


@pytest.mark.parametrize('value', [1, np.int32(1), np.uint8(1), np.array(1)])
def test_integers_of_python_and_numpy_are_indices(rig, value):
    assert as_integer(value) == 1 and type(as_integer(value)) is int
    assert rk.ChainIK(rig.panda, value).link == rig.panda.body_label[1]
    assert rig.worlds.body_index('l0', world=value) == 2
    robot().add_shape_sphere(value, radius=0.1)


def outcome(call, *given):
    """Return the text of the error that a call raises, or ''."""
    try:
        call(*given)
    except ArgumentError as error:
        return str(error)
    return ''


@pytest.mark.parametrize(
    'name', ['max_solutions', 'n_problems', 'n_seeds', 'n_solutions', 'n_lanes', 'history_len']
)
def test_integers_of_numpy_are_counts(rig, name):
    calls = [call for other, call in CALLS if other == name]
    assert calls
    for call in calls:
        assert outcome(call, rig, np.int64(1)) == outcome(call, rig, 1)


def test_an_integer_beyond_64_bits_is_named():
    with pytest.raises(ArgumentError, match=r'p must be integers of 64 bits: p\[1\] is 1000'):
        integer_array('p', [1, 10**30])


def test_tables_of_integers():
    for given in ([[0, 1], (2, np.int8(3))], np.array([[0, 1], [2, 3]], dtype=np.uint16)):
        assert integer_array('pairs', given).tolist() == [[0, 1], [2, 3]]
    assert integer_array('pairs', []).shape == (0,)
    for given, message in (
        ([[0, 1], [2, True]], r'pairs must be integers: pairs\[1\]\[1\] is True'),
        ([0, 1.0], r'pairs\[1\] is 1.0'),
        (np.array([True]), r'pairs\[0\] is True'),
        ([[0], [1, 2]], 'pairs must be integers'),
        ('12', 'pairs must be integers'),
        (None, 'pairs must be integers'),
    ):
        with pytest.raises(ArgumentError, match=message):
            integer_array('pairs', given)
