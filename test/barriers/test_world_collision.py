# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles and carried objects that are added and removed while a solver runs."""

from barriers.collision_rig import Bench
from barriers.collision_rig import coal
from barriers.collision_rig import CoalDistances
from barriers.collision_rig import robot
import numpy as np
import pytest
from support.long_forms import LONG
from support.robots.robots import pin
import warp as wp

from ros_ik.barriers import CollisionScene
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task

ROUNDING = 1e-7
CORNERS = np.random.default_rng(0).uniform(-0.1, 0.1, (30, 3))


def pose(x, y, z, quaternion=(0.0, 0.0, 0.0, 1.0)):
    q = np.array(quaternion) / np.linalg.norm(quaternion)
    return np.array([x, y, z, *q])


SHAPES = {
    'sphere': (CollisionShape.sphere(0.1), coal.Sphere(0.1)),
    'capsule': (CollisionShape.capsule(0.05, 0.2), coal.Capsule(0.05, 0.4)),
    'box': (CollisionShape.box([0.1, 0.2, 0.05]), coal.Box(0.2, 0.4, 0.1)),
    'cylinder': (CollisionShape.cylinder(0.1, 0.2), coal.Cylinder(0.1, 0.4)),
    'half space': (CollisionShape.half_space(), coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)),
}
POSE = pose(0.5, 0.3, 0.4, (0.3, -0.2, 0.5, 1.0))
FLOOR = pose(0.0, 0.0, -0.3, (0.05, -0.02, 0.0, 1.0))


@pytest.fixture(scope='module')
def panda():
    model = robot('panda')
    links = [f'panda_link{k}' for k in range(8)] + ['panda_hand']
    rng = np.random.default_rng(1)
    return CollisionGeometry.from_spheres(model, links, rng.uniform(-0.05, 0.05, (9, 3)), 0.07)


def hull():
    cloud = coal.StdVec_Vec3s()
    for corner in CORNERS:
        cloud.append(corner)
    return coal.Convex.convexHull(cloud, False, '')


@pytest.mark.oracle
@pytest.mark.parametrize('kind', [*SHAPES, 'convex'])
def test_distances_from_obstacles(kind):
    """Distances of Baxter's shapes, with meshes as hulls; Jacobians by finite differences."""
    model, n = robot('baxter'), 3
    geometry = CollisionGeometry.from_model(model)
    shape, other = SHAPES.get(kind) or (CollisionShape.convex(CORNERS), hull())
    where = FLOOR if kind == 'half space' else pose(0.7, 0.2, 0.6, (0.3, -0.2, 0.5, 1.0))
    scene = CollisionScene(geometry, max_obstacles=3, max_attached=0)
    barrier = WorldCollisionBarrier(scene, n_collision_pairs=None, d_min=0.0, d_max=None)
    scene.add_obstacle(kind, shape, where)
    bench = Bench(model, n)
    joint_q = model.random_joint_q(n, np.random.default_rng(2))
    values, jacobian = bench.evaluate(barrier, joint_q)
    measured = barrier._measurement.pairs
    oracle = CoalDistances('baxter', geometry)
    world = pin.XYZQUATToSE3(where)
    placed = coal.Transform3s(world.rotation, world.translation)
    exact = np.zeros((n, len(measured)))
    for k, q in enumerate(joint_q):
        places = oracle.placements(q)
        for j, (a, _) in enumerate(measured):
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            request.enable_signed_distance = True
            found = coal.distance(oracle.shapes[a], places[a], other, placed, request, result)
            exact[k, j] = found - oracle.inflation[a]
    apart = exact > 1e-3
    rows = slice(0, len(measured))
    assert len(measured) > 30 and apart.mean() > 0.5
    np.testing.assert_allclose(values[:, rows][apart], exact[apart], atol=5e-6)
    slopes = bench.finite_differences(barrier, joint_q)[:, rows]
    np.testing.assert_allclose(jacobian[:, rows][apart], slopes[apart], atol=1e-5)


@pytest.mark.parametrize('kind', ['box', 'cylinder', 'convex'])
def test_the_closest_of_many_overlapping_pairs_have_the_rows(kind):
    """Once every row has an overlapping pair, the search for a deeper one goes on."""
    model, n, rng = robot('baxter'), 4, np.random.default_rng(3)
    geometry = CollisionGeometry.from_model(model)
    scene = CollisionScene(geometry, max_obstacles=12, max_attached=0)
    shape, _ = SHAPES.get(kind) or (CollisionShape.convex(CORNERS), None)
    joint_q = model.random_joint_q(n, rng)
    for k in range(12):
        where = DifferentialIK(model).body_poses(joint_q[0])[rng.integers(model.body_count)]
        where[:3] += rng.uniform(-0.1, 0.1, 3)
        where[3:] = pose(0.0, 0.0, 0.0, rng.normal(size=4))[3:]
        scene.add_obstacle(f'{kind} {k}', shape, where)
    bench = Bench(model, n)
    every = WorldCollisionBarrier(scene, n_collision_pairs=None, d_min=0.0, d_max=0.3)
    depths = np.sort(bench.evaluate(every, joint_q)[0], axis=1)
    assert (depths[:, 8] < -0.01).sum() >= 2
    for count in (1, 4, 8):
        closest = WorldCollisionBarrier(scene, n_collision_pairs=count, d_min=0.0, d_max=0.3)
        values, _ = bench.evaluate(closest, joint_q)
        np.testing.assert_allclose(values, depths[:, :count], atol=1e-9)


def test_obstacles_come_move_and_go(panda):
    model = panda.model
    diff, joint_q = DifferentialIK(model), model.neutral_joint_q()
    scene = CollisionScene(panda, max_obstacles=2)
    barrier = WorldCollisionBarrier(scene, n_collision_pairs=2, d_min=0.0, d_max=0.5)
    tip = panda.body[-1]
    center = diff.body_poses(joint_q)[tip, :3]

    def least():
        return diff.barrier_values(joint_q, [barrier])[0]

    def expected(at, radius):
        """Return the least distance of a sphere from the robot's moving spheres."""
        links = diff.body_poses(joint_q)[panda.body]
        spheres = np.array([
            pin.XYZQUATToSE3(link).act(local)
            for link, local in zip(links, panda.pose[:, :3], strict=True)
        ])  # fmt: skip
        return (np.linalg.norm(spheres - at, axis=1) - radius - 0.07)[1:].min()

    assert least() == 0.5
    scene.add_obstacle('ball', CollisionShape.sphere(0.1), pose(*(center + [0.3, 0.0, 0.0])))
    assert least() == pytest.approx(expected(center + [0.3, 0.0, 0.0], 0.1), abs=1e-12)
    scene.move_obstacle('ball', pose(*(center + [0.0, 0.25, 0.0])))
    assert least() == pytest.approx(expected(center + [0.0, 0.25, 0.0], 0.1), abs=1e-12)
    scene.enable_obstacle('ball', False)
    assert least() == 0.5
    scene.enable_obstacle('ball')
    scene.add_obstacle('box', CollisionShape.box([0.05, 0.05, 0.05]), pose(*center))
    assert least() < 0.0
    assert barrier.closest_pairs()[0][0] == ('panda_hand', 'box')
    with pytest.raises(ArgumentError, match='no room'):
        scene.add_obstacle('third', CollisionShape.sphere(0.1))
    scene.remove_obstacle('box')
    assert least() == pytest.approx(expected(center + [0.0, 0.25, 0.0], 0.1), abs=1e-12)
    scene.remove_obstacle('ball')
    assert least() == 0.5 and scene.obstacle_names == ()
    # The row of a box becomes that of a capsule, in the same graph.
    scene.add_obstacle('pole', CollisionShape.capsule(0.1, 0.3), pose(*(center + [0.0, 0.3, 0.0])))
    assert least() < expected(center + [0.0, 0.3, 0.0], 0.1) + 1e-12


def test_pairs_of_the_last_step_are_not_named_after_others(panda):
    diff, joint_q = DifferentialIK(panda.model), panda.model.neutral_joint_q()
    scene = CollisionScene(panda, max_obstacles=3)
    barrier = WorldCollisionBarrier(scene, n_collision_pairs=2, d_max=None)
    for k, name in enumerate('abc'):
        scene.add_obstacle(name, CollisionShape.sphere(0.1), pose(0.6 + k, 0.0, 0.5))
    diff.barrier_values(joint_q, [barrier])
    assert {name for _, name in barrier.closest_pairs()[0]} == {'a'}
    scene.remove_obstacle('a')
    assert barrier.closest_pairs() == [[]] and barrier.closest_pair(0) is None
    diff.barrier_values(joint_q, [barrier])
    assert {name for _, name in barrier.closest_pairs()[0]} == {'b'}


def test_ignored_links(panda):
    model, joint_q = panda.model, panda.model.neutral_joint_q()
    scene = CollisionScene(panda, max_obstacles=1)
    barrier = WorldCollisionBarrier(scene, d_min=0.0, d_max=None)
    diff = DifferentialIK(model)
    at = diff.body_poses(joint_q)[panda.body[-1], :3]
    scene.add_obstacle(
        'tool', CollisionShape.sphere(0.05), pose(*at), ignored_links=['panda_hand']
    )
    diff.barrier_values(joint_q, [barrier])
    names = {name for pair in barrier.closest_pairs()[0] for name in pair}
    assert 'panda_hand' not in names and 'panda_link0' not in names


def test_carried_objects_count_for_world_and_self(panda):
    model, joint_q = panda.model, panda.model.neutral_joint_q()
    scene = CollisionScene(panda, max_obstacles=1, max_attached=1)
    world = WorldCollisionBarrier(scene, n_collision_pairs=1, d_min=0.0, d_max=None)
    own = SelfCollisionBarrier(scene, pairs=[(0, 8)], n_collision_pairs=20, d_min=0.0, d_max=None)
    diff = DifferentialIK(model)

    def values():
        found = diff.barrier_values(joint_q, [world, own])
        return found[0], found[1:]

    hand = diff.body_poses(joint_q)[model.body_index('panda_hand')]
    ahead = pin.XYZQUATToSE3(hand).act(np.array([0.5, 0.0, 0.1]))
    scene.add_obstacle('ball', CollisionShape.sphere(0.1), pose(*ahead))
    before, pairs_before = values()
    stick = CollisionShape.capsule(0.02, 0.2)
    across = pose(0.0, 0.0, 0.1, (0.0, 0.7, 0.0, 0.7))
    scene.attach('stick', 'panda_hand', stick, across, touch_links=['panda_link6'])
    nearer, pairs = values()
    assert nearer < before - 0.1
    assert ('stick', 'ball') in world.closest_pairs()[0]
    touching = {name for pair in own.closest_pairs()[0] if 'stick' in pair for name in pair}
    # Its own link, links fixed to it and links that it may touch are excluded.
    assert touching == {'stick'} | {f'panda_link{k}' for k in range(6)}
    assert np.isclose(pairs_before[0], pairs).any()
    # It moves with the hand, as the Jacobian shows.
    bench = Bench(model, 2)
    fresh = CollisionScene(panda, max_obstacles=1, max_attached=1)
    barrier = SelfCollisionBarrier(fresh, pairs=[(0, 8)], n_collision_pairs=None, d_max=None)
    fresh.attach('stick', 'panda_hand', stick, across)
    q = model.random_joint_q(2, np.random.default_rng(3))
    _, jacobian = bench.evaluate(barrier, q)
    np.testing.assert_allclose(jacobian, bench.finite_differences(barrier, q), atol=1e-6)
    scene.detach('stick')
    after, pairs = values()
    assert after == before and np.array_equal(pairs, pairs_before)


def test_carried_objects_count_for_each_other(panda):
    scene = CollisionScene(panda, max_obstacles=0, max_attached=2)
    own = SelfCollisionBarrier(scene, pairs=[(0, 8)], n_collision_pairs=20, d_max=None)
    for name, link in (('cup', 'panda_hand'), ('bag', 'panda_link3')):
        scene.attach(name, link, CollisionShape.sphere(0.02))
    DifferentialIK(panda.model).barrier_values(panda.model.neutral_joint_q(), [own])
    assert {'cup', 'bag'} in [set(pair) for pair in own.closest_pairs()[0]]


def test_reaching_through_obstacles_keeps_the_distance(panda):
    """The tip is sent through a wall and a ball that follows it."""
    model, rng = panda.model, np.random.default_rng(4)
    diff = DifferentialIK(model, 'panda_link0:panda_hand')
    scene = CollisionScene(panda, max_obstacles=4)
    barrier = WorldCollisionBarrier(scene, n_collision_pairs=6, gain=5.0)
    joint_q = model.neutral_joint_q()
    tip = model.body_index('panda_hand')
    home = diff.body_poses(joint_q)[tip]
    scene.add_obstacle('wall', CollisionShape.box([0.02, 1.0, 1.0]), pose(home[0] + 0.3, 0, 0.5))
    scene.add_obstacle('floor', CollisionShape.half_space(), pose(0, 0, -0.2))
    objective = IKObjectivePose(tip, home)
    tasks, step = [Task(objective, gain=0.3)], np.zeros(model.joint_dof_count)
    limits, found = [PositionLimit(), VelocityLimit()], []
    for k in range(250):
        if k % 50 == 0:
            objective.set_target_pose(0, np.r_[rng.uniform(-0.8, 0.8, 3), home[3:]])
        if k == 100:
            away = diff.body_poses(joint_q)[tip, :3] + [0.0, 0.0, 0.5]
            scene.add_obstacle('ball', CollisionShape.sphere(0.1), pose(*away))
        assert diff.solve_ik(joint_q, tasks, limits, [barrier], step).ok
        diff.enforce_barriers(joint_q, [barrier], step)
        joint_q = diff.integrate(joint_q, step)
        found.append(diff.barrier_values(joint_q, [barrier]).min())
    assert min(found) > -ROUNDING and min(found) < 0.05


BARE = """<robot name="bare"><link name="base"/><link name="tip"/>
<joint name="slide" type="prismatic"><parent link="base"/><child link="tip"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


@pytest.mark.parametrize('kind', [WorldCollisionBarrier, SelfCollisionBarrier])
@pytest.mark.parametrize('filled', ['before', 'later'])
def test_a_robot_without_shapes_carries_an_object_to_another_one(kind, filled):
    model = Model.from_urdf(BARE, device='cpu')
    scene, step, joint_q = CollisionScene(model), np.zeros(1), np.zeros(1)

    def fill():
        scene.attach('load', 'tip', CollisionShape.sphere(0.1))
        wall = CollisionShape.box([0.1, 1.0, 1.0])
        if kind is WorldCollisionBarrier:
            scene.add_obstacle('wall', wall, pose(0.8, 0.0, 0.0))
        else:
            scene.attach('wall', 'base', wall, pose(0.8, 0.0, 0.0))

    if filled == 'before':
        fill()
    barrier = kind(scene, d_min=0.01, margin=0.001, gain=5.0, safe_displacement_gain=0.0)
    solver, limits = DifferentialIK(model), [VelocityLimit()]
    tasks = [Task(IKObjectiveJointPosition(model, np.ones(1)), gain=0.1)]
    solver.solve_ik(joint_q, tasks, limits, [barrier], step)
    assert step[0] > 0.0
    if filled == 'later':
        fill()
    for _ in range(400):
        solver.solve_ik(joint_q, tasks, limits, [barrier], step)
        joint_q = solver.integrate(joint_q, step)
    # The ball touches the wall at 0.6.
    np.testing.assert_allclose(joint_q, 0.6 - 0.011, atol=1e-4)


def test_a_robot_without_shapes_or_room_for_objects_has_no_barrier():
    model = Model.from_urdf(BARE, device='cpu')
    scene = CollisionScene(model, max_attached=0)
    with pytest.raises(ArgumentError, match='the geometry has no primitives'):
        WorldCollisionBarrier(scene)
    with pytest.raises(ArgumentError, match='no pair of links that can collide'):
        SelfCollisionBarrier(scene)


def test_no_robot_of_a_batch_knows_the_others(panda):
    model, n = panda.model, 5
    joint_q = model.random_joint_q(n, np.random.default_rng(6))

    def evaluate(rows, scalar=wp.float64):
        scene = CollisionScene(panda, max_obstacles=1)
        barrier = WorldCollisionBarrier(scene, n_collision_pairs=3, d_max=None)
        scene.add_obstacle('box', CollisionShape.box([0.1, 0.2, 0.1]), POSE)
        return Bench(model, len(rows), scalar=scalar).evaluate(barrier, rows)

    together, slopes = evaluate(joint_q)
    for k in range(n):
        alone, slope = evaluate(joint_q[k : k + 1])
        np.testing.assert_array_equal(together[k], alone[0])
        np.testing.assert_array_equal(slopes[k], slope[0])
    if LONG:  # kernels that nothing else compiles, in 12 s: steps are float64
        single, _ = evaluate(joint_q, wp.float32)
        np.testing.assert_allclose(single, together, atol=1e-4)


@pytest.mark.parametrize(
    ('call', 'text'),
    [
        (lambda s: s.add_obstacle('a', CollisionShape.sphere(0.1)), "already an obstacle 'a'"),
        (lambda s: s.add_obstacle('b', CollisionShape.sphere(0.1), [0, 0]), 'pose'),
        (lambda s: s.add_obstacle('b', CollisionShape.sphere(0.1), [np.nan] * 7), 'finite'),
        (lambda s: s.add_obstacle('b', CollisionShape.sphere(0.1), [0] * 7), 'quaternion'),
        (
            lambda s: s.add_obstacle('b', CollisionShape.sphere(0.1), ignored_links=['nix']),
            'nix',
        ),
        (
            lambda s: s.add_obstacle('b', CollisionShape.sphere(0.1), ignored_links='panda_hand'),
            "ignored_links must be a list of links, got 'panda_hand'",
        ),
        (lambda s: s.add_obstacle('b', 'sphere'), "obstacle 'b' shape must be a CollisionShape"),
        (lambda s: s.attach('b', 'panda_hand', None), "object 'b' shape must be a CollisionShape"),
        (
            lambda s: s.attach(
                'b', 'panda_hand', CollisionShape.sphere(0.1), touch_links='panda_link7'
            ),
            'touch_links must be a list of links',
        ),
        (lambda s: s.move_obstacle('b', [0, 0, 0, 0, 0, 0, 1]), "no obstacle 'b'"),
        (lambda s: s.remove_obstacle('b'), "no obstacle 'b'"),
        (lambda s: s.enable_obstacle('b'), "no obstacle 'b'"),
        (lambda s: s.detach('b'), "no attached object 'b'"),
        (lambda s: s.attach('b', 'nix', CollisionShape.sphere(0.1)), 'nix'),
        (lambda s: s.attach('b', 'panda_hand', CollisionShape.half_space()), 'bounded'),
        (lambda s: s.attach('b', -1, CollisionShape.sphere(0.1)), 'link of the robot'),
        (lambda s: s.attach('tool', 'panda_hand', CollisionShape.sphere(0.1)), 'already'),
        (lambda _: CollisionShape.sphere(0.0), 'radius'),
        (lambda _: CollisionShape.capsule(0.1, -1.0), 'half_length'),
        (lambda _: CollisionShape.box([1.0, np.inf, 1.0]), 'half_extents'),
        (lambda _: CollisionShape.box([1.0, 0.0, 1.0]), 'half_extents'),
        (lambda _: CollisionShape.cylinder(np.nan, 1.0), 'radius'),
        (lambda _: CollisionShape.convex(np.zeros((3, 2))), 'vertices'),
        (lambda _: CollisionShape.convex([[0.0, 0.0, np.nan]]), 'vertices'),
        (lambda s: CollisionScene(s.geometry, max_obstacles=-1), 'max_obstacles'),
        (lambda s: WorldCollisionBarrier(s.geometry, max_obstacles=0), 'max_obstacles'),
        (lambda s: WorldCollisionBarrier(s, n_collision_pairs=0), 'n_collision_pairs'),
    ],
)
def test_bad_arguments(panda, call, text):
    scene = CollisionScene(panda, max_obstacles=2, max_attached=2)
    scene.add_obstacle('a', CollisionShape.sphere(0.1))
    scene.attach('tool', 'panda_hand', CollisionShape.sphere(0.1))
    with pytest.raises(ArgumentError, match=text):
        call(scene)
    # Refused obstacles have no effect.
    assert scene.obstacle_names == ('a',) and scene.attached_names == ('tool',)
