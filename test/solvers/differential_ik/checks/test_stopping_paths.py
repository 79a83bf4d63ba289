# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Whole stops: motion between the sampled configurations of a check, and every pair.

The stop is braked tick by tick in NumPy, links are placed by Pinocchio, and distances of capsules
are closed forms of ``safety.geometry``: nothing is shared with the check.
"""

import os

import numpy as np
import pytest
from safety.drive import DISTANCE
from safety.drive import Drive
from safety.geometry import rotate
from support.long_forms import in_turn
from support.robots.collision_oracle import pin
from support.robots.collision_oracle import robot_with_meshes
from support.robots.collision_oracle import urdf_path
from support.robots.robots import PinocchioRobot

from ros_ik.barriers import CollisionScene
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.model import ModelBuilder
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.model.shapes.primitive_fit import fit_capsules
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus

# Least distance of the barrier, tolerance of the check between two samples, and the distance with
# which a stop must pass [m].
D_MIN, BETWEEN, ROOM = 0.02, 2e-6, 1e-3
# Tries for each deceleration, rate and size.
TRIES = int(os.environ.get('STOPPING_TRIES', '3'))
ARMS = {'panda': 'panda_link0:panda_hand_tcp', 'ur5_robot': 'base_link:ee_link'}


class Stops:
    """Random stops of an arm with a sphere on their way."""

    def __init__(self, name, rate, seed):
        self.model = robot_with_meshes(name)
        self.rng, self.dt = np.random.default_rng(seed), 1.0 / rate
        self.diff = DifferentialIK(self.model, ARMS[name], DifferentialIKSettings(dt=self.dt))
        self.dofs = self.diff.group.variable_dof
        self.geometry = fit_capsules(self.model)
        self.scene = CollisionScene(self.geometry, max_obstacles=1)
        self.barrier = WorldCollisionBarrier(
            self.scene, n_collision_pairs=2, d_min=D_MIN, margin=1e-3, max_obstacles=1
        )
        self.low, self.high, self.speed, _ = (
            values[self.dofs] for values in self.model.limits64()[:4]
        )
        self.pin = PinocchioRobot(urdf_path(name).read_text(), self.model)
        half = np.zeros((len(self.geometry), 3))
        half[:, 2] = self.geometry.size[: len(half), 2]
        self.half = rotate(self.geometry.pose[:, 3:], half)
        links = [self.model.body_label[body] for body in self.geometry.body]
        self.frames = [self.pin.pin.getFrameId(link, pin.FrameType.BODY) for link in links]
        self.moving = (
            np.ptp(
                [self.capsules(q)[0] for q in self.model.random_joint_q(5, self.rng)], axis=0
            ).max(axis=1)
            > 1e-6
        )

    def capsules(self, joint_q):
        """Return both ends of each capsule in the world, [n, 3] each."""
        pin.framesForwardKinematics(self.pin.pin, self.pin.data, self.pin.configuration(joint_q))
        poses = [self.pin.data.oMf[frame] for frame in self.frames]
        ends = [
            [pose.rotation @ (center - sign * half) + pose.translation for sign in (1.0, -1.0)]
            for pose, center, half in zip(poses, self.geometry.pose[:, :3], self.half, strict=True)
        ]
        return np.array(ends).transpose(1, 0, 2)

    def path(self, joint_q, step, acceleration):
        """Return 40 configurations or more along a step and its stop, straight between ticks."""
        slowdown, knots, size = acceleration * self.dt**2, [joint_q[self.dofs]], step.copy()
        while np.abs(size).max() > 0.0:
            knots.append(knots[-1] + size)  # each has a coordinate of its own
            size = np.sign(size) * np.maximum(np.abs(size) - slowdown, 0.0)
        knots = np.array(knots)
        way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(knots, axis=0)).sum(axis=1))])
        count = int(np.clip(way[-1] / 0.005, 40, 400))
        found = np.tile(joint_q, (count, 1))
        for column, dof in enumerate(self.dofs):
            found[:, dof] = np.interp(np.linspace(0.0, way[-1], count), way, knots[:, column])
        return found

    def sphere(self, ends, radius, gap):
        """Return a point at a distance beyond D_MIN from a moving capsule, and all distances."""
        start, end = ends
        thick = self.geometry.radius[: start.shape[1]]
        for _ in range(100):
            k, at = self.rng.choice(np.flatnonzero(self.moving)), self.rng.integers(len(start))
            direction = self.rng.normal(size=3)
            direction /= np.linalg.norm(direction)
            away = thick[k] + radius + D_MIN + gap
            center = self.rng.choice([start[at, k], end[at, k]]) + away * direction
            along = end - start
            square = np.maximum((along**2).sum(axis=-1), 1e-18)
            part = np.clip(((center - start) * along).sum(axis=-1) / square, 0.0, 1.0)
            apart = np.linalg.norm(start + part[..., None] * along - center, axis=-1) - thick
            least = apart[:, self.moving].min(axis=1) - radius
            if least[0] > D_MIN + 1e-4 and abs(least.min() - D_MIN - gap) < 5e-4:
                return center, least
        return None, None

    def judge(self, acceleration, radius, gap):
        """Return the distance of a sphere along a stop, and whether the check passes the stop."""
        center = None
        while center is None:
            joint_q = self.model.neutral_joint_q()
            low, high = np.maximum(self.low, -2.0), np.minimum(self.high, 2.0)
            joint_q[self.dofs] = self.rng.uniform(0.7 * low, 0.7 * high)
            # A stop of up to two radians a joint.
            speed = np.minimum(
                0.5 * self.speed, np.sqrt(acceleration * self.rng.uniform(0.5, 4.0))
            )
            step = self.rng.uniform(-speed, speed) * self.dt
            path = self.path(joint_q, step, acceleration)
            ends = np.array([self.capsules(q) for q in path]).transpose(1, 0, 2, 3)
            center, distances = self.sphere(ends, radius, gap)
        place = np.array([*center, 0.0, 0.0, 0.0, 1.0])
        if self.scene.obstacle_names:
            self.scene.remove_obstacle('ball')
        self.scene.add_obstacle('ball', CollisionShape.sphere(radius), place)
        whole, limit = np.zeros((2, self.model.joint_dof_count))
        whole[self.dofs], limit[:] = step, acceleration
        status = self.diff.limit_to_stoppable(
            joint_q, [self.barrier], whole, whole.copy(), limit, 0.0
        )
        return distances, status == SolveStatus.CONVERGED


# Robots, rates and accelerations.
STOPS = [
    ('ur5_robot', 100, 0.05), ('ur5_robot', 100, 0.3), ('panda', 1000, 0.4),
    ('panda', 30, 2.0), ('ur5_robot', 30, 20.0), ('panda', 1000, 20.0),
]  # fmt: skip


# The slow Panda with the small sphere shows a check that looks at samples only.
@pytest.mark.parametrize(('stop', 'radius'), in_turn(STOPS, [0.05, 0.3, 0.005]))
def test_what_is_on_the_way_of_a_stop_is_seen_and_nothing_else(stop, radius):
    name, rate, acceleration = stop
    stops, missed, held = Stops(name, rate, seed=3), [], []
    for k in range(TRIES):
        distances, passes = stops.judge(acceleration, radius, (-1e-3, -3e-4, 3e-3)[k % 3])
        least = distances.min() - D_MIN
        if passes and least < -BETWEEN:
            missed.append(least)
        if not passes and least > ROOM:
            held.append(least)
    assert not missed
    assert not held


@pytest.mark.parametrize('order', [(0, 1), (1, 0)], ids=['blade first', 'post first'])
@pytest.mark.parametrize('moving', ['blade', 'post'])
def test_a_pair_that_meets_between_two_samples_is_seen_by_either_link(moving, order):
    """A blade turns about its middle, or a post around it; the center of the blade rests."""
    builder, links = ModelBuilder(), [0, 0]
    for k in order:
        links[k] = builder.add_link()
        builder.add_articulation([builder.add_joint_revolute(-1, links[k], axis=(0, 0, 1))])
    model, blade = builder.finalize(device='cpu'), [[-0.5, 0, 0], [0.5, 0, 0]]
    ends = np.array([blade, [[0, 0.4, 0]] * 2])[list(order)]
    geometry = CollisionGeometry.from_capsules(model, np.arange(2), ends, np.full(2, 0.005))
    barrier = SelfCollisionBarrier(geometry, pairs=[(0, 1)], d_min=0.0)
    diff = DifferentialIK(model, '', DifferentialIKSettings(dt=0.01))
    for turn, expected in ((0.9, 'HALTED_BY_BARRIER'), (0.4, 'CONVERGED')):
        # A stop of 0.9 or 0.4 half turns, with the contact at 0.5.
        step, limit = np.zeros(2), np.full(2, 2.0)
        step[links[moving == 'post']] = np.sqrt(2.0 * turn * np.pi * limit[0]) * 0.01
        last = step.copy()
        status = diff.limit_to_stoppable(np.zeros(2), [barrier], step, last, limit, 0.0)
        assert status == SolveStatus[expected]


def test_no_pair_gets_worse_where_many_are_violated():
    """Baxter starts deep in itself; six rows cannot show every pair that may get worse."""
    drive = Drive('baxter', 8, seed=2)
    pairs, joint_q = drive.inside.pairs, drive.random(200)
    violated = (drive.gaps(drive.poses(joint_q), pairs) < DISTANCE).sum(axis=1)
    worst = np.argsort(-violated)[: drive.n]
    assert violated[worst].min() > 6
    drive.joint_q = joint_q[worst]
    drive.aim(np.ones(drive.n, dtype=bool))
    gaps, moved, loss = drive.gaps(drive.poses(drive.joint_q), pairs), 0.0, 0.0
    for _ in range(40):
        before = drive.joint_q
        drive.tick(is_checked=False)
        moved += np.abs(drive.joint_q - before).max()
        after = drive.gaps(drive.poses(drive.joint_q), pairs)
        loss = max(loss, (np.minimum(gaps, DISTANCE) - after).max())
        gaps = after
    assert moved > 0.05
    # The check takes rounding for nothing, 1e-9, and between two places a micrometre.
    assert loss < 2e-6
