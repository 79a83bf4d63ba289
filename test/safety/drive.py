# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A batch of robots whose targets provoke violations of limits, obstacles and self-collisions."""

import dataclasses
import functools

import numpy as np
from safety.cases import CASES
from safety.geometry import rotate
from safety.geometry import segment_distance
from safety.geometry import shape_distance
from support.robots.collision_oracle import robot_with_meshes

from ros_ik.barriers import CollisionScene
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.kinematics import eval_fk
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model.shapes.primitive_fit import fit_capsules
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

DT = 0.01
ACCELERATION = 20.0
# Least distance of pairs, and the margin of the step beyond it [m].
DISTANCE, MARGIN = 0.01, 0.01
# Gain of the targets, and weight of the posture at the start beside them.
GAIN, POSTURE_WEIGHT = 0.2, 0.01
# Distance beyond which the independent check is not exact [m].
NEAR = 0.1
# Collision-free configurations from which targets are taken.
POOL = 2000
# A target lasts so many ticks; a fifth of the robots jumps on in every tenth of that.
TARGET_TICKS = 300
# Points along a step at which the independent check evaluates distances.
PARTS = (0.25, 0.5, 0.75, 1.0)


@dataclasses.dataclass
class Record:
    """Result of a drive; margins are the least seen, limits the worst excess."""

    ticks: int = 0
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0
    distance: float = np.inf
    swept: float = np.inf
    box: float = np.inf
    halted: int = 0
    relaxed: int = 0
    failed: int = 0
    longest: float = 0.0


class Drive:
    """n robots of one kind, each with targets of its own."""

    def __init__(self, name, n, seed):
        case = CASES[name]
        self.case, self.n, self.rng = case, n, np.random.default_rng(seed)
        self.model = model = robot_with_meshes(case.urdf)
        self.diff = DifferentialIK(model, case.joints, DifferentialIKSettings(dt=DT), n_robots=n)
        self.dofs = self.diff.group.variable_dof
        starts, dof_starts = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
        joints = np.searchsorted(dof_starts, self.dofs, side='right') - 1
        self.coords = starts[joints]
        low, high, speed, _ = model.limits64()
        self.low, self.high, self.speed = low[self.dofs], high[self.dofs], speed[self.dofs]
        self.tips = [model.body_index(tip) for tip in case.tips]
        geometry = fit_capsules(model)
        self.scene = CollisionScene(geometry, max_obstacles=4)
        for label, shape, position in case.obstacles:
            self.scene.add_obstacle(label, shape, np.array([*position, 0.0, 0.0, 0.0, 1.0]))
        keep = {
            'n_collision_pairs': 6, 'd_min': DISTANCE, 'margin': MARGIN, 'gain': 5.0,
            'safe_displacement_gain': 0.0,
        }  # fmt: skip
        self.base = self._start()
        self.inside = SelfCollisionBarrier(self.scene, pairs=self._watched(), **keep)
        self.world = WorldCollisionBarrier(self.scene, max_obstacles=4, **keep)
        poses = self.poses(self.base[None])[0]
        middle = poses[self.tips[0], :3]
        self.box = PositionBarrier(
            self.tips[0], middle - [0.45, 0.45, 0.35], middle + [0.45, 0.45, 0.35], gain=5.0,
            margin=MARGIN,
        )  # fmt: skip
        self.barriers = [self.inside, self.world, self.box]
        self.limit = np.full(model.joint_dof_count, ACCELERATION)
        self.acceleration = AccelerationLimit(self.limit)
        self.limits = [PositionLimit(), VelocityLimit(), self.acceleration]
        self.targets = [IKObjectivePose(tip, np.tile(poses[tip], (n, 1))) for tip in self.tips]
        posture = IKObjectiveJointPosition(model, self.base)
        self.tasks = [Task(target, gain=GAIN, damping=1e-2) for target in self.targets]
        self.tasks.append(Task(posture, weight=POSTURE_WEIGHT))
        self.joint_q = np.tile(self.base, (n, 1))
        self.last = np.zeros((n, model.joint_dof_count))
        self.wanted = np.stack([np.tile(poses[tip], (n, 1)) for tip in self.tips], axis=1)
        self.feasible = np.ones(n, dtype=bool)
        self.record = Record()

    def run(self, ticks):
        """Drive for so many ticks of all robots together; return the record."""
        for tick in range(-(-ticks // self.n)):
            part = tick % TARGET_TICKS
            if part == 0:
                self.aim(np.ones(self.n, dtype=bool))
            elif part % (TARGET_TICKS // 10) == 0 and part <= TARGET_TICKS // 2:
                self.aim(self.rng.random(self.n) < 0.2)
            self.tick()
        self.record.ticks = self.n * (-(-ticks // self.n))
        return self.record

    def tick(self, *, is_checked=True):
        """Step every robot once.

        Args:
            is_checked: True if to compare the step with limits and geometry, which takes most of
                the time.
        """
        record, step = self.record, np.zeros_like(self.last)
        self.acceleration.set_last_displacement(self.last)
        status = self.diff.solve_ik(self.joint_q, self.tasks, self.limits, self.barriers, step)
        record.relaxed += int((status == SolveStatus.RELAXED).sum())
        failed = ~np.isin(status, (SolveStatus.CONVERGED, SolveStatus.RELAXED))
        record.failed += int(failed.sum())
        checked = self.diff.limit_to_stoppable(
            self.joint_q, self.barriers, step, self.last, self.limit
        )
        record.halted += int((checked == SolveStatus.HALTED_BY_BARRIER).sum())
        if is_checked:
            self._check(step)
        self.joint_q = self.diff.integrate(self.joint_q, step)
        self.last = step

    def _check(self, step):
        """Compare a step with limits and geometry, by independent code."""
        record, moved, before = self.record, step[:, self.dofs], self.last[:, self.dofs]
        assert np.all(np.isfinite(step))
        locked = np.ones(step.shape[1], dtype=bool)
        locked[self.diff.group.dof_variable >= 0] = False
        assert not step[:, locked].any()
        q = self.joint_q[:, self.coords] + moved
        record.position = max(record.position, (q - self.high).max(), (self.low - q).max())
        speed = np.abs(moved) / DT - self.speed
        record.velocity = max(record.velocity, speed.max())
        change = np.abs(moved - before) / DT**2 - ACCELERATION
        record.acceleration = max(record.acceleration, change.max())
        record.longest = max(record.longest, float(np.abs(moved).max()))
        for part in PARTS:
            poses = self.poses(self.diff.integrate(self.joint_q, part * step))
            least = self.clearance(poses).min() - DISTANCE
            outside = self.outside(poses).min()
            if part == 1.0:
                record.distance, record.box = min(record.distance, least), min(record.box, outside)
            record.swept = min(record.swept, least, outside)

    def aim(self, chosen):
        """Give some robots new targets, of which many cannot be reached."""
        count = int(chosen.sum())
        if not count:
            return
        poses = self.poses(self._free[self.rng.integers(0, len(self._free), count)])
        center = self.poses(self.base[None])[0, self.tips[0], :3]
        kind = self.rng.integers(0, 5, count)
        for k, tip in enumerate(self.tips):
            wanted = poses[:, tip].copy()
            inside = self.rng.uniform(-0.15, 0.15, (count, 3))  # near the base, in the body
            far = center + 3.0 * self.rng.normal(size=(count, 3))
            wanted[kind == 1, :3] = inside[kind == 1]
            wanted[kind == 2, :3] = far[kind == 2]
            # Stretched out, at the edge of the reach: near singularities.
            edge = wanted[:, :3] / np.linalg.norm(wanted[:, :3], axis=1, keepdims=True)
            wanted[kind == 3, :3] = edge[kind == 3]
            self.wanted[chosen, k] = wanted
            self.targets[k].set_target_poses(self.wanted[:, k])
        self.feasible[chosen] = (kind == 0) | (kind == 4)

    def _start(self):
        """Return the neutral configuration with the arms bent."""
        joint_q = self.model.neutral_joint_q()
        joint_q[self.coords] = self.case.start
        return joint_q

    def _watched(self):
        """Return the pairs that the group moves and that are apart at the start.

        Descriptions without an SRDF have shapes that overlap by design.
        """
        pairs = np.asarray(self.scene.geometry.self_pairs())
        joint_q = np.concatenate([self.base[None], self.random(300)])
        gaps = self.gaps(self.poses(joint_q), pairs)
        apart = (gaps[0] > DISTANCE + MARGIN) & (np.ptp(gaps, axis=0) > 1e-6)
        return pairs[apart]

    def gaps(self, poses, pairs):
        """Return the distances of pairs of capsules, [n, pairs]."""
        starts, ends, radii = self.placed(poses)
        a, b = pairs.T
        apart = segment_distance(starts[:, a], ends[:, a], starts[:, b], ends[:, b])
        return apart - radii[a] - radii[b]

    @functools.cached_property
    def _free(self):
        """Return random configurations in which nothing is violated, margins included."""
        found = []
        while len(found) < POOL:
            spread = self.rng.uniform(0.0, 1.0, (500, 1))
            joint_q = self.base + spread * (self.random(500) - self.base)
            poses = self.poses(joint_q)
            free = (self.clearance(poses) > DISTANCE + MARGIN) & (self.outside(poses) > MARGIN)
            found.extend(joint_q[free])
        return np.array(found[:POOL])

    def random(self, count):
        """Return random configurations of the group, the other joints as at the start."""
        joint_q = np.tile(self.base, (count, 1))
        random = self.model.random_joint_q(count, self.rng)
        joint_q[:, self.coords] = random[:, self.coords]
        return self.model.apply_mimic(joint_q) if self.model.mimic_driver else joint_q

    def poses(self, joint_q):
        poses = np.zeros((len(joint_q), self.model.body_count, 7))
        eval_fk(self.model, joint_q, poses)
        return poses

    def clearance(self, poses):
        """Return the least distance of watched pairs and obstacles, [n]."""
        starts, ends, radii = self.placed(poses)
        a, b = self.inside.pairs.T
        # Far pairs, by their bounding spheres, need no closer look.
        middle = 0.5 * (starts + ends)
        reach = radii + 0.5 * np.linalg.norm(ends[0] - starts[0], axis=1)
        bound = np.linalg.norm(middle[:, a] - middle[:, b], axis=2) - reach[a] - reach[b]
        row, pair = np.nonzero(bound < NEAR)
        a, b = a[pair], b[pair]
        apart = segment_distance(starts[row, a], ends[row, a], starts[row, b], ends[row, b])
        least = np.full(len(poses), NEAR)
        np.minimum.at(least, row, apart - radii[a] - radii[b])
        moving = self.moving
        for _, shape, position in self.case.obstacles:
            # Between the ends: the distance from a convex body is convex along a segment.
            for part in (0.0, 0.25, 0.5, 0.75, 1.0):
                along = (1 - part) * starts[:, moving] + part * ends[:, moving]
                gap = shape_distance(shape, along - np.array(position)) - radii[moving]
                least = np.minimum(least, gap.min(axis=1))
        return least

    def outside(self, poses):
        """Return the distance of the watched link inside its box."""
        tip = poses[:, self.tips[0], :3]
        return np.minimum(tip - self.box.p_min, self.box.p_max - tip).min(axis=1)

    @functools.cached_property
    def capsules(self):
        """Return link, both ends in the link and radius of each capsule."""
        geometry = self.scene.geometry
        count = len(geometry)
        half = np.zeros((count, 3))
        half[:, 2] = geometry.size[:count, 2]
        turned = rotate(geometry.pose[:, 3:], half)
        center = geometry.pose[:, :3]
        return geometry.body, center - turned, center + turned, geometry.radius

    def placed(self, poses):
        body, start, end, radius = self.capsules
        rotation, position = poses[:, body, 3:], poses[:, body, :3]
        return rotate(rotation, start) + position, rotate(rotation, end) + position, radius

    @functools.cached_property
    def moving(self):
        """Return the capsules of links that the group moves."""
        poses = self.poses(np.concatenate([self.base[None], self.random(20)]))
        moves = np.ptp(poses, axis=0).max(axis=1) > 1e-6
        return np.flatnonzero(moves[self.capsules[0]])
