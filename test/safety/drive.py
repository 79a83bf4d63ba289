# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A batch of robots that provoking targets drive through limits, obstacles and themselves."""

import dataclasses
import functools

import numpy as np
from support.collision_oracle import robot_with_meshes

from ros_ik.barriers import CollisionScene
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.kinematics import eval_fk
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model.collision_primitive import CollisionShape
from ros_ik.model.round_fit import fit_capsules
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

DT = 0.01
ACCELERATION = 20.0
# Least distance of pairs, and what the step keeps beyond it [m].
DISTANCE, MARGIN = 0.01, 0.01
# Distance from which on the independent check does not tell how far [m].
NEAR = 0.1
# Configurations free of everything that targets are taken from.
POOL = 2000
# A target lasts so many ticks; a fifth of the robots jumps on in every tenth of that.
TARGET_TICKS = 300
# Places along a step at which the independent check looks.
PARTS = (0.25, 0.5, 0.75, 1.0)


@dataclasses.dataclass(frozen=True)
class Case:
    """A robot and what moves.

    Attributes:
        urdf: Name of its file.
        joints: The joints that move, or a chain.
        start: Configuration of these joints that is free of everything.
        tips: Links with a target.
        obstacles: Name, shape and position of each.
    """

    urdf: str
    joints: tuple[str, ...] | str
    start: tuple[float, ...]
    tips: tuple[str, ...]
    obstacles: tuple = ()


def _talos():
    arm = [f'arm_{side}_{k}_joint' for side in ('left', 'right') for k in range(1, 8)]
    return ('torso_1_joint', 'torso_2_joint', *arm)


def _baxter():
    joints = ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')
    return tuple(f'{side}_{joint}' for side in ('left', 'right') for joint in joints)


CASES = {
    'panda': Case(
        'panda',
        'panda_link0:panda_hand_tcp',
        (0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8),
        ('panda_hand_tcp',),
        (
            ('post', CollisionShape.capsule(0.05, 0.4), (0.5, 0.2, 0.4)),
            ('ball', CollisionShape.sphere(0.1), (0.3, -0.4, 0.5)),
            ('table', CollisionShape.half_space(), (0.0, 0.0, -0.1)),
        ),
    ),
    'baxter': Case(
        'baxter',
        _baxter(),
        (0.3, -0.5, 0.0, 1.2, 0.0, 0.8, 0.0, -0.3, -0.5, 0.0, 1.2, 0.0, 0.8, 0.0),
        ('left_gripper', 'right_gripper'),
        (('ball', CollisionShape.sphere(0.15), (0.8, 0.0, 0.3)),),
    ),
    'talos': Case(
        'talos_full_v2',
        _talos(),
        (0.0, 0.0, 0.3, 0.5, 0.0, -1.4, 0.0, 0.0, 0.0, -0.3, -0.5, 0.0, -1.4, 0.0, 0.0, 0.0),
        ('arm_left_7_link', 'arm_right_7_link'),
        (('box', CollisionShape.box((0.2, 0.3, 0.02)), (0.5, 0.0, 0.0)),),
    ),
}


@dataclasses.dataclass
class Record:
    """What a drive came to; margins are the least seen, limits the worst excess."""

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
    targets: int = 0
    reached: int = 0
    stuck: int = 0


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
        poses = self._poses(self.base[None])[0]
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
        self.tasks = [Task(target, gain=0.2, damping=1e-2) for target in self.targets]
        self.tasks.append(Task(posture, weight=0.01))
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
                if tick:
                    self._judge_targets()
                self._aim(np.ones(self.n, dtype=bool))
            elif part % (TARGET_TICKS // 10) == 0 and part <= TARGET_TICKS // 2:
                self._aim(self.rng.random(self.n) < 0.2)
            self._tick()
        self.record.ticks = self.n * (-(-ticks // self.n))
        return self.record

    def _tick(self):
        record, step = self.record, np.zeros_like(self.last)
        self.acceleration.set_last_displacement(self.last)
        status = self.diff.solve_ik(self.joint_q, self.tasks, self.limits, self.barriers, step)
        record.relaxed += int((status == SolveStatus.RELAXED).sum())
        failed = ~np.isin(status, (SolveStatus.CONVERGED, SolveStatus.RELAXED))
        record.failed += int(failed.sum())
        checked = self.diff.enforce_stopping(
            self.joint_q, self.barriers, step, self.last, self.limit
        )
        record.halted += int((checked == SolveStatus.HALTED_BY_BARRIER).sum())
        self._check(step)
        self.joint_q = self.diff.integrate(self.joint_q, step)
        self.last = step

    def _check(self, step):
        """Compare a step with limits and geometry, by means of its own."""
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
            poses = self._poses(self.diff.integrate(self.joint_q, part * step))
            least = self._clearance(poses).min() - DISTANCE
            outside = self._outside(poses).min()
            if part == 1.0:
                record.distance, record.box = min(record.distance, least), min(record.box, outside)
            record.swept = min(record.swept, least, outside)

    def _aim(self, chosen):
        """Give some robots new targets, of which many cannot be reached."""
        count = int(chosen.sum())
        if not count:
            return
        poses = self._poses(self._free[self.rng.integers(0, len(self._free), count)])
        center = self._poses(self.base[None])[0, self.tips[0], :3]
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

    def _judge_targets(self):
        """Count targets of free configurations that were reached, and those that were given up."""
        poses = self._poses(self.joint_q)
        error = np.zeros(self.n)
        for k, tip in enumerate(self.tips):
            error += np.linalg.norm(poses[:, tip, :3] - self.wanted[:, k, :3], axis=1)
        still = np.abs(self.last).max(axis=1) < 1e-3
        self.record.targets += int(self.feasible.sum())
        self.record.reached += int((self.feasible & (error < 0.01)).sum())
        self.record.stuck += int((self.feasible & still & (error >= 0.01)).sum())

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
        joint_q = np.concatenate([self.base[None], self._random(300)])
        gaps = self._gaps(self._poses(joint_q), pairs)
        apart = (gaps[0] > DISTANCE + MARGIN) & (np.ptp(gaps, axis=0) > 1e-6)
        return pairs[apart]

    def _gaps(self, poses, pairs):
        """Return the distances of pairs of capsules, [n, pairs], by formulas of its own."""
        starts, ends, radii = self._placed(poses)
        a, b = pairs.T
        apart = segment_distance(starts[:, a], ends[:, a], starts[:, b], ends[:, b])
        return apart - radii[a] - radii[b]

    @functools.cached_property
    def _free(self):
        """Return random configurations in which nothing is violated, margins included."""
        found = []
        while len(found) < POOL:
            spread = self.rng.uniform(0.0, 1.0, (500, 1))
            joint_q = self.base + spread * (self._random(500) - self.base)
            poses = self._poses(joint_q)
            free = (self._clearance(poses) > DISTANCE + MARGIN) & (self._outside(poses) > MARGIN)
            found.extend(joint_q[free])
        return np.array(found[:POOL])

    def _random(self, count):
        """Return random configurations of the group, the other joints as at the start."""
        joint_q = np.tile(self.base, (count, 1))
        random = self.model.random_joint_q(count, self.rng)
        joint_q[:, self.coords] = random[:, self.coords]
        return self.model.apply_mimic(joint_q) if self.model.mimic_driver else joint_q

    def _poses(self, joint_q):
        poses = np.zeros((len(joint_q), self.model.body_count, 7))
        eval_fk(self.model, joint_q, poses)
        return poses

    def _clearance(self, poses):
        """Return the least distance of watched pairs and obstacles, [n]."""
        starts, ends, radii = self._placed(poses)
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
        moving = self._moving
        for _, shape, position in self.case.obstacles:
            # Between the ends: the distance from a convex body is convex along a segment.
            for part in (0.0, 0.25, 0.5, 0.75, 1.0):
                along = (1 - part) * starts[:, moving] + part * ends[:, moving]
                gap = shape_distance(shape, along - np.array(position)) - radii[moving]
                least = np.minimum(least, gap.min(axis=1))
        return least

    def _outside(self, poses):
        """Return how far the watched link is inside its box."""
        tip = poses[:, self.tips[0], :3]
        return np.minimum(tip - self.box.p_min, self.box.p_max - tip).min(axis=1)

    @functools.cached_property
    def _capsules(self):
        """Return link, both ends in the link and radius of each capsule."""
        geometry = self.scene.geometry
        count = len(geometry)
        half = np.zeros((count, 3))
        half[:, 2] = geometry.size[:count, 2]
        turned = rotate(geometry.pose[:, 3:], half)
        center = geometry.pose[:, :3]
        return geometry.body, center - turned, center + turned, geometry.radius

    def _placed(self, poses):
        body, start, end, radius = self._capsules
        rotation, position = poses[:, body, 3:], poses[:, body, :3]
        return rotate(rotation, start) + position, rotate(rotation, end) + position, radius

    @functools.cached_property
    def _moving(self):
        """Return the capsules of links that the group moves."""
        poses = self._poses(np.concatenate([self.base[None], self._random(20)]))
        moves = np.ptp(poses, axis=0).max(axis=1) > 1e-6
        return np.flatnonzero(moves[self._capsules[0]])


def rotate(quaternion, vector):
    """Return a vector turned by a quaternion x, y, z, w."""
    axis, w = quaternion[..., :3], quaternion[..., 3:]
    twice = 2.0 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)


def segment_distance(p, q, r, s):
    """Return the distance of segments pq and rs: the least of the crossing and four ends."""
    u, v, w = q - p, s - r, p - r
    a, b, c = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    d, e = (u * w).sum(-1), (v * w).sum(-1)
    det = a * c - b * b
    with np.errstate(divide='ignore', invalid='ignore'):
        x = np.where(det > 1e-12, (b * e - c * d) / det, 0.0)
        y = np.where(det > 1e-12, (a * e - b * d) / det, 0.0)
    cross = (det > 1e-12) & (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
    inner = np.linalg.norm(w + x[..., None] * u - y[..., None] * v, axis=-1)
    best = np.where(cross, inner, np.inf)
    for point, start, along, length in ((p, r, v, c), (q, r, v, c), (r, p, u, a), (s, p, u, a)):
        offset = point - start
        with np.errstate(divide='ignore', invalid='ignore'):
            t = np.where(length > 0, (offset * along).sum(-1) / length, 0.0)
        t = np.clip(np.nan_to_num(t), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(offset - t[..., None] * along, axis=-1))
    return best


def shape_distance(shape, point):
    """Return the distance of points from a shape at the origin, not negative inside."""
    size, kind = np.asarray(shape.size), shape.kind.name
    if kind == 'PLANE':
        return point[..., 2]
    core = np.clip(point, -size, size) if kind in ('BOX', 'CAPSULE') else 0.0
    return np.linalg.norm(point - core, axis=-1) - shape.radius
