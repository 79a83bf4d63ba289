# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sweeps against the values that they bound, close to the threshold on both sides."""

from barriers.collision_rig import Bench
from barriers.collision_rig import robot
from barriers.collision_rig import scattered
import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik.barriers import CollisionScene
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.collision_primitive import CollisionShape

ROBOTS = 60
# Rounding of distances by GJK [m].
ROUNDING = 1e-7


def floating():
    """Return a legged robot with a floating base."""
    (path,) = (path for path in ALL_URDFS if path.stem == 'solo')
    return load(path, floating=True)


def self_collision(model):
    geometry = scattered(model, seed=5, count=6)
    return SelfCollisionBarrier(geometry, n_collision_pairs=4, d_max=0.5)


def hulls(model):
    """Return a barrier whose pairs need GJK."""
    geometry = CollisionGeometry.from_model(model)
    return SelfCollisionBarrier(geometry, n_collision_pairs=4, d_min=0.0, d_max=0.5)


def world(model):
    scene = CollisionScene(scattered(model, seed=4, count=5), max_obstacles=4)
    for name, shape, place in (
        ('box', CollisionShape.box([0.1, 0.2, 0.3]), (0.6, 0.3, 0.5)),
        ('ball', CollisionShape.sphere(0.2), (-0.5, 0.4, 0.6)),
        ('floor', CollisionShape.half_space(), (0.0, 0.0, -0.3)),
    ):
        scene.add_obstacle(name, shape, np.array([*place, 0.0, 0.0, 0.0, 1.0]))
    return WorldCollisionBarrier(scene, n_collision_pairs=None, d_max=0.5)


def box(model):
    """Return a box that lies in a link which moves itself."""
    return PositionBarrier(
        model.body_count - 1, [-0.3] * 3, [0.3] * 3, reference_link_index=model.body_count // 3
    )


CASES = {
    'links of an arm': ('panda', self_collision),
    'hulls of an arm': ('ur5_robot', hulls),
    'an arm that slides': ('tiago', self_collision),
    'a free base': (None, self_collision),
    'obstacles': ('panda', world),
    'obstacles of a free base': (None, world),
    'a box in a link': ('panda', box),
    'a box in a link of a free base': (None, box),
}


def near_something(bench, barrier, rng):
    """Return configurations without a violation, with some pair near its margin, [n, coords]."""
    found = []
    for _ in range(100):
        joint_q = bench.model.random_joint_q(bench.n, rng)
        least = bench.evaluate(barrier, joint_q)[0].min(axis=1)
        found.append(joint_q[(least > 0.002) & (least < 0.2)])
        if sum(map(len, found)) >= bench.n:
            break
    assert sum(map(len, found)) >= bench.n
    return np.concatenate(found)[: bench.n]


def dof_way(bench, variables):
    """Return displacements of the degrees of freedom, [n, joint_dof_count]."""
    group, way = bench.state.group, np.zeros((bench.n, bench.model.joint_dof_count))
    moved = group.dof_variable >= 0
    way[:, moved] = variables[:, group.dof_variable[moved]] * group.dof_scale[moved]
    return way


def is_clear(bench, barrier, variables):
    """Return the robots for which the sweep rules out a violation."""
    may_fall = wp.zeros(bench.n, dtype=wp.int32)
    barrier.launch_sweep(wp.array(dof_way(bench, variables), dtype=wp.float64), may_fall)
    return may_fall.numpy() == 0


def longest_clear(bench, barrier, variables):
    """Return the largest factor on the displacement of each robot that passes the sweep."""
    low, high = np.zeros(bench.n), np.full(bench.n, 2.0)
    for _ in range(25):
        middle = 0.5 * (low + high)
        clear = is_clear(bench, barrier, middle[:, None] * variables)
        low, high = np.where(clear, middle, low), np.where(clear, high, middle)
    return low


@pytest.mark.parametrize('case', CASES)
def test_nothing_is_met_within_a_sweep_that_passes(case):
    name, make = CASES[case]
    model = robot(name) if name else floating()
    rng, bench = np.random.default_rng(7), Bench(model, ROBOTS)
    barrier, n_variables = make(model), bench.state.group.n_variables
    joint_q = near_something(bench, barrier, rng)
    before, jacobian = bench.evaluate(barrier, joint_q)
    # Few joints at a time: the bound is the sum over all of them, which rarely act together.
    variables = rng.uniform(0.0, 0.5, (ROBOTS, n_variables))
    variables *= rng.uniform(size=variables.shape) < rng.choice([0.1, 0.3, 1.0], (ROBOTS, 1))
    variables *= longest_clear(bench, barrier, variables)[:, None]
    least = before.min(axis=1)
    signs = [-np.sign(jacobian[:, row]) for row in range(before.shape[1])]
    signs += [rng.uniform(-1.0, 1.0, variables.shape) for _ in range(20)]
    used = np.zeros(ROBOTS)
    for sign in signs:
        after, _ = bench.evaluate(barrier, bench.step(joint_q, sign * variables))
        after = after.min(axis=1)
        assert after.min() >= -ROUNDING
        used = np.maximum(used, 1.0 - after / least)
    # Motion of one joint straight towards an obstacle uses much of the bound.
    assert used.max() > 0.4


def planar(links):
    """Return an arm in the plane whose links are 0.5 m long."""
    parts = ['<link name="link0"/>']
    for k in range(links):
        x = 0.5 if k else 0.0
        parts.append(
            f'<joint name="joint{k}" type="continuous"><parent link="link{k}"/>'
            f'<child link="link{k + 1}"/><origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>'
            f'<link name="link{k + 1}"/>'
        )
    return Model.from_urdf(f'<robot name="planar">{"".join(parts)}</robot>', device='cpu')


def test_a_rod_that_turns_about_its_middle_reaches_with_its_ends():
    model = planar(1)
    ends = np.array([[[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]])
    rod = CollisionGeometry.from_capsules(model, np.array([1]), ends, np.array([0.05]))
    scene = CollisionScene(rod, max_obstacles=1)
    place = np.array([0.3, 0.3, 0.0, 0.0, 0.0, 0.0, 1.0])
    scene.add_obstacle('ball', CollisionShape.sphere(0.05), place)
    barrier = WorldCollisionBarrier(scene, d_min=0.0, d_max=None)
    bench = Bench(model, 1)
    bench.evaluate(barrier, np.zeros((1, 1)))
    angle = longest_clear(bench, barrier, np.ones((1, 1)))[0]
    touching = np.pi / 4 - np.arcsin(0.1 / np.hypot(0.3, 0.3))
    assert 0.4 * touching < angle < touching


def test_at_rest_nothing_can_be_met_whatever_touches():
    model = robot('panda')
    bench, barrier = Bench(model, ROBOTS), self_collision(model)
    values, _ = bench.evaluate(barrier, model.random_joint_q(ROBOTS, 1))
    assert (values.min(axis=1) < -0.01).sum() > 5
    still = np.zeros((ROBOTS, bench.state.group.n_variables))
    assert is_clear(bench, barrier, still).all()


def test_what_is_violated_does_not_pass_when_it_moves():
    model = robot('panda')
    bench = Bench(model, ROBOTS)
    for barrier in (self_collision(model), world(model), box(model)):
        values, _ = bench.evaluate(barrier, model.random_joint_q(ROBOTS, 1))
        violated = values.min(axis=1) < -0.01
        assert violated.sum() > 5
        way = np.full((ROBOTS, bench.state.group.n_variables), 1e-6)
        assert not is_clear(bench, barrier, way)[violated].any()


def test_a_place_that_is_no_number_does_not_pass():
    model = robot('panda')
    bench = Bench(model, 1)
    joint_q = model.random_joint_q(1, 1)
    joint_q[:] = np.nan
    for barrier in (self_collision(model), world(model), box(model)):
        bench.evaluate(barrier, joint_q)
        assert not is_clear(
            bench, barrier, np.full((1, bench.state.group.n_variables), 1e-6)
        ).any()
