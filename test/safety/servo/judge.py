# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Judge of a servo's log, by limits of the description and independent distances."""

import collections
import dataclasses

import numpy as np
from safety.servo.bodies import Bodies
from safety.servo.bodies import matrix
from safety.servo.bodies import solid
from support.robots.urdf_limits import urdf_limits

# Distance beyond the margin within which places between two commands are looked at [m].
NEAR = 0.005
# Ticks evaluated together, bounded by the size of the distance matrix of all pairs.
_BATCH = 250
# Rounding of sums of positions [rad or m].
_ROUNDING = 1e-9


@dataclasses.dataclass
class Record:
    """Result of a drive; excesses are 0 or negative where everything holds.

    Attributes:
        ticks: Ticks with a command.
        moving: Those in motion.
        position: Worst excess over position limits, of joints that began inside [rad or m].
        velocity: Over velocity limits [rad/s or m/s].
        acceleration: Over acceleration limits [rad/s^2 or m/s^2].
        deceleration: Largest deceleration, in parts of the limit.
        jump: Largest way between where a step began and where it had to [rad or m].
        distance: Least distance left above the margin after a step that began above it [m].
        between: The same half way between two commands.
        shrink: Most that a distance below its margin became less in a step [m].
        deep: The same for bodies that are in each other, whose depth has no one measure.
        unbraked: Ticks in which something stood too near, and the robot neither braked nor left.
        held: Ticks whose status says that a barrier held the motion back.
        failed: Ticks whose status says that the solver failed.
        near: Ticks in which a distance was less than NEAR above its margin.
        worst: Where the worst of each was, as text.
        counts: How many ticks missed what, by name.
    """

    ticks: int = 0
    moving: int = 0
    position: float = -np.inf
    velocity: float = -np.inf
    acceleration: float = -np.inf
    deceleration: float = 0.0
    jump: float = 0.0
    distance: float = np.inf
    between: float = np.inf
    shrink: float = 0.0
    deep: float = 0.0
    unbraked: int = 0
    held: int = 0
    failed: int = 0
    near: int = 0
    worst: dict = dataclasses.field(default_factory=dict)
    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def highest(self, name, value, where):
        """Keep the largest value of a field, and its place."""
        if value > getattr(self, name):
            setattr(self, name, float(value))
            self.worst[name] = where

    def least(self, name, value, where):
        """Keep the least value of a field, and its place."""
        if value < getattr(self, name):
            setattr(self, name, float(value))
            self.worst[name] = where

    def add(self, other):
        """Add another record."""
        for name in ('ticks', 'moving', 'unbraked', 'held', 'failed', 'near'):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ('position', 'velocity', 'acceleration', 'deceleration', 'jump', 'shrink',
                     'deep'):  # fmt: skip
            self.highest(name, getattr(other, name), other.worst.get(name, ''))
        for name in ('distance', 'between'):
            self.least(name, getattr(other, name), other.worst.get(name, ''))
        self.counts.update(other.counts)


class Judge:
    """Judges the logs of one drive."""

    def __init__(self, drive, label):
        self.drive, self.label, self.record = drive, label, Record()
        case, kinematics = drive.case, drive.kinematics
        self.limits = urdf_limits(case.text, drive.names)
        self.followers = [
            (drive.names.index(joint[5][0]), joint[5][1], joint[5][2],
             urdf_limits(case.text, [joint[0]]))
            for joint in kinematics.joints.values()
            if joint[5] is not None and joint[5][0] in drive.names
        ]  # fmt: skip
        shapes = drive.robot.shapes
        geometry, labels = shapes.geometry, case.model.body_label
        self.links = [labels[body] for body in geometry.body]
        self.solids = [
            solid(
                geometry.kind[k], geometry.size[k], geometry.radius[k],
                geometry.points[geometry.first[k] : geometry.first[k] + geometry.count[k]],
            )
            for k in range(len(geometry))
        ]  # fmt: skip
        self.local = _frames(geometry.pose)
        moved = set(drive.names)
        paths = [kinematics.path(link) for link in self.links]
        self.own = np.array(
            [pair for pair in shapes.pairs if (paths[pair[0]] ^ paths[pair[1]]) & moved]
        ).reshape(-1, 2)
        # Hulls have no margin, and meet no obstacles.
        first_hull = len(geometry) - shapes.hulls
        self.is_hull = np.any(self.own >= first_hull, axis=1)
        self.moving = np.array([k for k, path in enumerate(paths[:first_hull]) if path & moved])

    def take(self, log):
        """Judge a log."""
        record = self.record
        record.ticks += len(log.tick)
        record.moving += int(log.qd.any(axis=1).sum())
        record.held += int(np.isin(log.codes, (4, 5)).sum())
        record.failed += int(np.isin(log.codes, (30, 31)).sum())
        self._judge_limits(log)
        moved = np.flatnonzero(log.qd.any(axis=1))
        for first in range(0, len(moved), _BATCH):
            self._judge_distances(log, moved[first : first + _BATCH])
        return record

    def _where(self, log, row, what=''):
        return f'{self.label} tick {log.tick[row]} {what}'.strip()

    def _judge_limits(self, log):
        """Compare positions, velocities and accelerations with those of the description."""
        assert np.isfinite(log.q).all() and np.isfinite(log.qd).all()
        expanded = [(log.q, log.before, log.qd, log.last, self.limits)]
        for driver, factor, offset, limits in self.followers:
            q, before = (factor * part[:, [driver]] + offset for part in (log.q, log.before))
            qd, last = (factor * part[:, [driver]] for part in (log.qd, log.last))
            expanded.append((q, before, qd, last, limits))
        for q, before, qd, last, limits in expanded:
            over = np.maximum(
                q - np.maximum(limits.upper, before), np.minimum(limits.lower, before) - q
            )
            speed = np.abs(qd) - limits.velocity * log.velocity_scale[:, None]
            most = limits.acceleration * log.acceleration_scale[:, None]
            change = np.abs(qd - last) / self.drive.dt
            slower = np.where(np.abs(qd) < np.abs(last), change / most, 0.0)
            for name, values in (
                ('position', over), ('velocity', speed), ('acceleration', change - most),
                ('deceleration', slower),
            ):  # fmt: skip
                row, joint = np.unravel_index(values.argmax(), values.shape)
                self.record.highest(name, values[row, joint], self._where(log, row, f'{joint=}'))
                if name == 'acceleration':
                    bad = (values > 1e-6).any(axis=1).sum()
                    self.record.counts[name] += int(bad)
        row = int(log.jump.argmax())
        self.record.highest('jump', log.jump[row], self._where(log, row))

    def _judge_distances(self, log, rows):
        """Measure distances before, after and half way, and judge their changes."""
        after = self._bodies(log, rows, log.q[rows])
        solids = len(self.solids)
        slots = np.array([[k, solids + s] for k in self.moving for s in range(len(log.shapes))])
        pairs = np.concatenate([self.own, slots]).astype(int)
        is_world = np.arange(len(pairs)) >= len(self.own)
        is_hull = np.concatenate([self.is_hull, np.zeros(len(slots), dtype=bool)])
        margins = log.margins[rows]
        widest = margins.max() + NEAR
        row, column = after.near(pairs, widest)
        if not len(row):
            return
        a, b = pairs[column].T
        margin = np.where(is_hull[column], 0.0, margins[row, is_world[column].astype(int)])
        distance = after.distances(row, a, b)
        close = distance < margin + NEAR
        row, column, margin, distance = (
            part[close] for part in (row, column, margin, distance)
        )  # fmt: skip
        self.record.near += len(np.unique(row))
        if not len(row):
            return
        a, b = pairs[column].T
        places, at = np.unique(row, return_inverse=True)
        before = self._bodies(log, rows[places], log.before[rows[places]])
        began = before.distances(at, a, b)
        middle = 0.5 * (log.before[rows[places]] + log.q[rows[places]])
        half = self._bodies(log, rows[places], middle).distances(at, a, b)
        excused = log.excused[rows[row], np.where(is_world[column], b - solids + 1, 0)]
        braking = self._braking(log, rows[row])
        self._note(log, rows[row], a, b, margin, began, half, distance, excused, braking)

    def _note(self, log, row, a, b, margin, began, half, distance, excused, braking):
        record = self.record
        above = began >= margin
        # From an obstacle that moved too near, the robot brakes or moves away.
        pardoned = excused & braking
        worse = began - distance
        # There is more than one way out of a body: the robot may leave by another than the
        # shortest one, along which this depth is measured.
        deep = ~above & (distance < 0.0)

        def keep(name, chosen, values, least):
            at = np.flatnonzero(chosen)
            if len(at):
                k = at[values[at].argmin() if least else values[at].argmax()]
                what = f'{self._name(a[k])} {self._name(b[k])} at {1e3 * distance[k]:.3f} mm'
                where = self._where(log, row[k], what)
                (record.least if least else record.highest)(name, values[k], where)

        keep('distance', above & ~pardoned, distance - margin, True)
        keep('between', above & ~pardoned, np.minimum(half, distance) - margin, True)
        keep('shrink', ~above & ~deep & ~pardoned, worse, False)
        keep('deep', deep & ~pardoned, worse, False)
        bad = ~pardoned & (distance < margin - 1e-6) & (worse > 1e-6)
        for name, chosen in (
            ('overrun', bad & above), ('shrink', bad & ~above & ~deep), ('deep', bad & deep),
        ):  # fmt: skip
            record.counts[name] += len(np.unique(row[chosen]))
        record.unbraked += len(np.unique(row[bad & excused & ~deep]))

    def _name(self, k):
        return self.links[k] if k < len(self.links) else f'slot {k - len(self.links)}'

    def _braking(self, log, row):
        """Return True if every joint brakes as hard as it may, [n]."""
        loss = self.limits.acceleration * log.least_scale[row, None] * self.drive.dt
        most = np.maximum(np.abs(log.last[row]) - loss, 0.0)
        return (np.abs(log.qd[row]) <= most + _ROUNDING / self.drive.dt).all(axis=1)

    def _bodies(self, log, rows, q):
        """Return the solids of the robot and of the slots at positions [n, joints]."""
        placed = self.drive.kinematics.poses(self.drive.values(q))
        turned = np.stack([placed[link][0] for link in self.links], axis=1)
        at = np.stack([placed[link][1] for link in self.links], axis=1)
        local_turned, local_at = self.local
        position = at + np.einsum('nmij,mj->nmi', turned, local_at)
        rotation, origin, _ = self.drive.obstacle_frames(log.obstacles[rows])
        shapes = [solid(one.kind, one.size, one.radius, one.points) for one in log.shapes]
        return Bodies(
            [*self.solids, *shapes],
            np.concatenate([turned @ local_turned, rotation], axis=1),
            np.concatenate([position, origin], axis=1),
        )


def _frames(poses):
    """Return rotations and positions of poses [n, 7]."""
    return matrix(poses[:, 3:]), poses[:, :3]
