# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs that get a row of a step: exactly those whose row a step in its box can violate.

The oracle leaves no pair out: it has the distances of all pairs by NumPy, of links that Pinocchio
placed, their slopes by differences, and the least J x over the box of the step.
"""

from barriers.collision_rig import all_pairs
from barriers.collision_rig import Bench
from barriers.collision_rig import robot
import numpy as np
import pytest
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers.barrier import StepBox
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import CollisionGeometry

ROBOTS = 100
GAIN, MARGIN, D_MIN, RADIUS = 20.0, 0.05, 0.02, 0.02
# Central differences with a step of 1e-6 round by 1e-9, and add curvature of at most 1e-9.
ROUNDING = 1e-7


def between_segments(a, b, c, d):
    """Return the shortest vectors from segments c d to segments a b, [.., 3] each."""
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = (np.sum(x * y, axis=-1) for x, y in ((u, u), (v, v), (u, v)))
    uw, vw = np.sum(u * w, axis=-1), np.sum(v * w, axis=-1)
    s = np.clip((uv * vw - uw * vv) / (uu * vv - uv * uv), 0.0, 1.0)
    t = np.clip((uv * s + vw) / vv, 0.0, 1.0)
    s = np.clip((uv * t - uw) / uu, 0.0, 1.0)
    return w + s[..., None] * u - t[..., None] * v


class Rods:
    """Rods on the links that joints of a Panda move, with middles near the joints and away."""

    def __init__(self, rng):
        self.model = robot('panda')
        self.pinocchio = PinocchioRobot(urdf_text('panda'), self.model)
        starts, child = self.model.joint_qd_start.numpy(), self.model.joint_child.numpy()
        body = child[np.diff(starts) > 0]
        self.labels = [self.model.body_label[k] for k in body]
        middle, half = rng.normal(size=(2, len(body), 3))
        middle *= rng.choice([0.01, 0.2], (len(body), 1))
        half /= np.linalg.norm(half, axis=1, keepdims=True)
        half *= rng.choice([0.01, 0.1, 0.3], (len(body), 1))
        self.ends = np.stack([middle - half, middle + half], axis=1)
        self.geometry = CollisionGeometry.from_capsules(
            self.model, body, self.ends, np.full(len(body), RADIUS)
        )

    def distances(self, joint_q, pairs):
        """Return the distances of pairs at configurations, [n, pairs]."""
        return np.array([self._distances(q, pairs) for q in joint_q])

    def _distances(self, q, pairs):
        poses = self.pinocchio.poses(q)
        ends = np.array([
            poses[label][0] + ends @ poses[label][1].T
            for label, ends in zip(self.labels, self.ends, strict=True)
        ])  # fmt: skip
        first, second = ends[pairs[:, 0]], ends[pairs[:, 1]]
        way = between_segments(first[:, 0], first[:, 1], second[:, 0], second[:, 1])
        return np.linalg.norm(way, axis=1) - 2.0 * RADIUS


def slopes_of(rods, bench, joint_q, pairs):
    """Return the slopes of distances by central differences, [n, pairs, n_variables]."""
    columns = []
    for step in 1e-6 * np.eye(bench.state.group.n_variables):
        ahead, behind = (
            rods.distances(bench.step(joint_q, np.tile(way, (ROBOTS, 1))), pairs)
            for way in (step, -step)
        )
        columns.append((ahead - behind) / 2e-6)
    return np.stack(columns, axis=-1)


def pairs_with_a_row(bench, barrier, lower, upper):
    """Return which pairs have a row of a step between bounds [n, n_variables]; bool [n, pairs]."""
    n, rows = bench.n, barrier.step_row_count
    lower, upper, gain = (wp.array(x, dtype=wp.float64) for x in (lower, upper, [GAIN]))
    values = wp.zeros((n, rows), dtype=wp.float64)
    jacobian = wp.zeros((n, rows, lower.shape[1]), dtype=wp.float64)
    barrier.launch_rows(StepBox(lower, upper, gain, 0), values, jacobian, 0)
    chosen = barrier._chosen(bench.state.body_q).pair.numpy()
    return np.array([np.isin(np.arange(len(barrier._measurement.pairs)), row) for row in chosen])


def ranked_barrier(geometry, pairs):
    """Return a barrier with rows for the pairs that need one, as many as there are."""
    barrier = SelfCollisionBarrier(
        geometry, pairs=pairs, n_collision_pairs=len(pairs), margin=MARGIN, d_min=D_MIN, d_max=None
    )
    barrier.ranks_rows = True
    return barrier


@pytest.mark.oracle
@pytest.mark.parametrize('is_moving', [False, True])
def test_the_pairs_with_a_row_are_those_that_a_step_could_bring_too_close(is_moving):
    """The far end of a rod comes near where its middle does not move at all."""
    rng = np.random.default_rng(3)
    rods = Rods(rng)
    barrier = ranked_barrier(rods.geometry, all_pairs(rods.geometry))
    bench = Bench(rods.model, ROBOTS)
    barrier.bind(bench.state)
    pairs, dt = barrier._measurement.pairs, bench.state.dt
    joint_q = rods.model.random_joint_q(ROBOTS, rng)
    bench.place(joint_q)
    n_variables = bench.state.group.n_variables
    # Few joints move much, so that the bound of a pair is near to what a step can do.
    moves = rng.uniform(size=(ROBOTS, n_variables)) < 0.3
    half = moves * rng.uniform(0.0, 0.001 if is_moving else 0.1, moves.shape)
    middle = moves * rng.uniform(-0.1, 0.1, moves.shape) if is_moving else 0.0 * half
    has_row = pairs_with_a_row(bench, barrier, middle - half, middle + half)
    distances, slopes = rods.distances(joint_q, pairs), slopes_of(rods, bench, joint_q, pairs)
    bounds = slopes * (middle - half)[:, None], slopes * (middle + half)[:, None]
    least = np.minimum(*bounds).sum(axis=-1)
    inside = distances - D_MIN - MARGIN
    above = least + dt * GAIN * inside / (1.0 + np.abs(inside))
    free = distances > D_MIN + ROUNDING
    needed, superfluous = free & (above < -ROUNDING), free & (above > ROUNDING)
    assert needed.sum() > 50 and superfluous.sum() > 50
    assert has_row[needed].all()
    assert not has_row[superfluous].any()


def two_balls(gap, mimic):
    """Return two balls with this distance along y: one slides, the other slides and turns."""
    slide, turn = ('prismatic', '0 1 0'), ('revolute', '0 0 1')
    joints = ''.join(
        f'<link name="{child}"/><joint name="{child}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="{axis}"/>'
        f'<limit lower="-1" upper="1" effort="1" velocity="1"/>{follows}</joint>'
        for parent, child, (kind, axis), follows in (
            ('base', 'other', slide, ''), ('base', 'slider', slide, mimic),
            ('slider', 'arm', turn, ''),
        )
    )  # fmt: skip
    model = Model.from_urdf(f'<robot name="r"><link name="base"/>{joints}</robot>', device='cpu')
    centers = [(0.5, 0.0, 0.0), (0.5, gap + 2.0 * RADIUS, 0.0)]
    return CollisionGeometry.from_spheres(model, ['arm', 'other'], centers, RADIUS)


FOLLOWER = '<mimic joint="other" multiplier="-3"/>'


@pytest.mark.parametrize(
    ('mimic', 'lower', 'upper'),
    [
        ('', (-0.03, 0.03, 0.0), (-0.03, 0.03, 0.0)),
        ('', (0.0, 0.03, 0.06), (0.0, 0.03, 0.06)),
        ('', (0.0, -0.03, 0.18), (0.0, -0.03, 0.18)),
        ('', (-0.03, -0.02, 0.0), (0.0, 0.03, 0.0)),
        (FOLLOWER, (-0.015, 0.0), (-0.015, 0.0)),
        (FOLLOWER, (-0.015, 0.0), (0.015, 0.0)),
    ],
)
def test_motions_of_two_links_and_of_two_joints_of_a_link_add_up(mimic, lower, upper):
    """All are straight along y, and the distance falls by 0.06 m at most."""
    # The rows let it fall by 0.2 r / (1 + r) at r from the margin, which is 0.06 at r = 0.429.
    for room, needs_row in ((0.42, True), (0.44, False)):
        geometry = two_balls(D_MIN + MARGIN + room, mimic)
        bench = Bench(geometry.model, 1)
        barrier = ranked_barrier(geometry, [(0, 1)])
        barrier.bind(bench.state)
        bench.place(np.zeros((1, geometry.model.joint_coord_count)))
        assert pairs_with_a_row(bench, barrier, [lower], [upper]) == needs_row
