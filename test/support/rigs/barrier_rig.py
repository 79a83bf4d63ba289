# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A servo for a robot with its meshes, and distances by coal."""

import dataclasses
import functools

import numpy as np
from support.rigs.servo_rig import Rig
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import coal_distance
from support.robots.collision_oracle import CollisionOracle
from support.robots.collision_oracle import pin
from support.robots.collision_oracle import robot_with_meshes
from support.robots.collision_oracle import urdf_path

from ros_ik.servo import ObstacleKind
from ros_ik.servo import ObstacleOperation
from ros_ik.servo import ObstacleRegistry
from ros_ik.servo import ObstacleRequest
from ros_ik.servo import Rejection

# Pairs farther apart than this at every tenth tick are skipped between them [m].
NEAR = 0.2


@dataclasses.dataclass(frozen=True)
class Case:
    """A robot, its tasks and its start configuration."""

    urdf: str
    base: str
    frames: dict
    home: dict


CASES = {
    'panda': Case(
        'panda',
        'panda_link0',
        {'ee': 'panda_hand_tcp'},
        {
            'panda_joint2': -0.785, 'panda_joint4': -2.356, 'panda_joint6': 1.571,
            'panda_joint7': 0.785,
        },
    ),
    'baxter': Case(
        'baxter',
        'base',
        {'left': 'left_gripper', 'right': 'right_gripper'},
        {
            'left_s0': 0.3, 'left_s1': -0.5, 'left_e1': 1.2, 'left_w1': 0.8,
            'right_s0': -0.3, 'right_s1': -0.5, 'right_e1': 1.2, 'right_w1': 0.8,
        },
    ),
    'talos': Case(
        'talos_full_v2',
        'base_link',
        {'left': 'arm_left_7_link', 'right': 'arm_right_7_link'},
        {
            'arm_left_1_joint': 0.3, 'arm_left_2_joint': 0.5, 'arm_left_4_joint': -1.4,
            'arm_right_1_joint': -0.3, 'arm_right_2_joint': -0.5, 'arm_right_4_joint': -1.4,
        },
    ),
}  # fmt: skip


@functools.cache
def oracle(name):
    """Return coal's view of a robot of CASES."""
    urdf = CASES[name].urdf
    return CollisionOracle(urdf, robot_with_meshes(urdf))


class BarrierRig(Rig):
    """A rig that measures distances by coal at each watched tick."""

    def __init__(self, name='panda', home=None, model=None, **values):
        case = CASES[name]
        given = {f'{task}__frame': frame for task, frame in case.frames.items()}
        given['frame_tasks'] = list(case.frames)
        self.oracle = oracle(name)
        super().__init__(
            str(urdf_path(case.urdf)), home={**case.home, **(home or {})},
            model=model or robot_with_meshes(case.urdf), base_frame=case.base, **given, **values,
        )  # fmt: skip
        self._clear()
        self.pairs = self._near = self._watched()

    def renewed(self, activate, home, reports, **values):
        """Return a robot at home that has this one's servo, without obstacles."""
        other = super().renewed(activate, home, reports, **values)
        other._clear()
        return other

    def _clear(self):
        """Start without obstacles."""
        self.book = ObstacleRegistry(self.robot, self.settings.barriers_max_obstacles)
        self._requests = {}

    def add(self, name, kind, dimensions, position, frame='', quaternion=(0.0, 0.0, 0.0, 1.0)):
        """Add an obstacle."""
        request = ObstacleRequest(
            ObstacleOperation.ADD, name, ObstacleKind[kind.upper()], dimensions, frame, position,
            quaternion,
        )  # fmt: skip
        self._apply(request)
        self._requests[name] = request

    def remove(self, name):
        """Remove an obstacle."""
        self._apply(ObstacleRequest(ObstacleOperation.REMOVE, name))
        del self._requests[name]

    def links_apart(self, ticks=0):
        """Return the least distance of watched links by coal [m]."""
        if ticks % 10 == 0:
            distances = self.oracle.distances(self.q, self.pairs)
            self._near = self.pairs[distances < NEAR]
            return distances.min()
        return self.oracle.distances(self.q, self._near).min(initial=NEAR)

    def obstacles_apart(self):
        """Return the least distance of a moving link and an obstacle by coal [m]."""
        oracle, least = self.oracle, np.inf
        if not self._requests:
            return least
        self._update()
        for name in self._requests:
            solid, placed = self.obstacle(name)
            for k in self._moving_shapes:
                distance, _ = coal_distance(oracle.hulls[k], oracle._pose(k), solid, placed)
                least = min(least, distance)
        return least

    def obstacle(self, name):
        """Return an obstacle that stands in the world in coal: its shape and where it is."""
        request = self._requests[name]
        rotation = pin.Quaternion(np.array(request.quaternion)).toRotationMatrix()
        return _solid(request), coal.Transform3s(rotation, np.array(request.position))

    def colliding(self, seed, deep=0.02):
        """Return positions of the controlled joints at which links cut into each other."""
        rng, q, dofs = np.random.default_rng(seed), self.q.copy(), self.robot.group.variable_dof
        low = np.maximum(self.robot.lower[dofs], -np.pi) + 0.05
        high = np.minimum(self.robot.upper[dofs], np.pi) - 0.05
        while True:
            q[self.robot.coords] = rng.uniform(low, high)
            if self.oracle.distances(self.model.apply_mimic(q), self.pairs).min() < -deep:
                return dict(zip(self.robot.group.joint_names, q[self.robot.coords], strict=True))

    def drive(self, count):
        """Tick and return the least distance of links and of obstacles at each tick."""
        links, obstacles = [], []
        for tick in range(count):
            self.tick()
            links.append(self.links_apart(tick))
            obstacles.append(self.obstacles_apart())
        return np.array(links), np.array(obstacles)

    def _watched(self):
        """Return the pairs of shapes whose links the robot moves and keeps apart."""
        shapes, model = self.robot.shapes, self.model
        body, label = shapes.geometry.body[shapes.pairs], model.body_label
        # Pairs that are watched in part only, or by hulls without the margin, have other tests.
        near = {frozenset(pair) for pair in (*shapes.near, *shapes.hidden, *shapes.tight)}
        apart = [frozenset((label[a], label[b])) not in near for a, b in body.tolist()]
        found = np.unique(np.sort(shapes.geometry.shape[shapes.pairs[apart]], axis=1), axis=0)
        distances, rng = [], np.random.default_rng(0)
        for _ in range(3):
            q = self.q.copy()
            q[self.robot.coords] += rng.uniform(-0.2, 0.2, len(self.robot.coords))
            distances.append(self.oracle.distances(model.apply_mimic(q), found))
        return found[np.ptp(distances, axis=0) > 1e-7]

    def _apply(self, request):
        result = self.book.apply([request])
        assert not isinstance(result, Rejection), result
        self.change(obstacles=result)

    def _update(self):
        robot, oracle = self.oracle.robot, self.oracle
        q = robot.configuration(self.q)
        pin.updateGeometryPlacements(robot.pin, robot.data, oracle.geometry, oracle.data, q)

    @functools.cached_property
    def _moving_shapes(self):
        """Return coal's numbers of the shapes that the controlled joints move."""
        geometry = self.robot.shapes.geometry
        shapes = np.unique(geometry.shape[self._moving_links()[geometry.body]])
        return [self.oracle.of_shape[k] for k in shapes.tolist()]

    def _moving_links(self):
        """Return which links the controlled joints move."""
        diff, q = self.servo._solver.diff, self.q.copy()
        before = diff.body_poses(q)
        q[self.robot.coords] += 0.1
        return np.abs(diff.body_poses(q) - before).max(axis=1) > 1e-9


def _solid(request):
    """Return the shape of a request in coal."""
    size = request.dimensions
    return {
        ObstacleKind.SPHERE: lambda: coal.Sphere(*size),
        ObstacleKind.BOX: lambda: coal.Box(*size),
        ObstacleKind.CYLINDER: lambda: coal.Cylinder(*size),
        ObstacleKind.CAPSULE: lambda: coal.Capsule(*size),
        ObstacleKind.HALF_SPACE: lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
    }[request.kind]()
