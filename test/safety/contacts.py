# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Contacts of a robot, as pairs of points that are fixed on their links.

The distance of two bodies has kinks where its nearest points jump, as between capsules that lie
along each other. The distances of points do not: each end of a capsule is one of them, so a step
that keeps all of them keeps the bodies apart on both sides of a kink.
"""

import dataclasses

import numpy as np
from safety.geometry import nearest_of_shape
from safety.geometry import rotate
from safety.geometry import segment_candidates

# Points along a capsule at which its distance to an obstacle is evaluated.
PLACES = np.linspace(0.0, 1.0, 9)


@dataclasses.dataclass
class Contacts:
    """k pairs of points.

    Attributes:
        body: Links of the first and the second point, int [k, 2]; -1 for the world.
        point: The points in their links, [k, 2, 3].
        axes: Axes along which the distance counts, [k, 3].
        thick: What is taken off the distance of the points [m], [k].
        kind: 'self' or 'obstacle', [k].
    """

    body: np.ndarray
    point: np.ndarray
    axes: np.ndarray
    thick: np.ndarray
    kind: np.ndarray

    def distances(self, poses):
        """Return the distances at link poses [n, bodies, 7], shape [n, k] in m."""
        fixed = (self.body < 0)[..., None]
        links = poses[:, self.body]
        placed = np.where(fixed, self.point, rotate(links[..., 3:], self.point) + links[..., :3])
        gap = self.axes * (placed[:, :, 0] - placed[:, :, 1])
        return np.linalg.norm(gap, axis=-1) - self.thick

    def chosen(self, which):
        """Return some of the pairs."""
        values = (getattr(self, field.name)[which] for field in dataclasses.fields(self))
        return Contacts(*values)


def near_contacts(drive, joint_q, distance):
    """Return the contacts nearer than a distance [m] at one configuration of a drive's robot."""
    poses = drive.poses(joint_q[None])
    parts = [_of_links(drive, poses), *_of_obstacles(drive, poses)]
    joined = Contacts(
        *(
            np.concatenate([getattr(part, field.name) for part in parts])
            for field in dataclasses.fields(Contacts)
        )
    )
    return joined.chosen(joined.distances(poses)[0] < distance)


def _of_links(drive, poses):
    """Return the possible contacts of the watched pairs of capsules, five each."""
    pairs = drive.inside.pairs
    a, b = pairs[drive.gaps(poses, pairs)[0] < 0.1].T
    starts, ends, _ = drive.placed(poses)
    first, second, valid = segment_candidates(starts[0, a], ends[0, a], starts[0, b], ends[0, b])
    body, start, end, radius = drive.capsules
    count = valid.sum()
    rows, columns = np.nonzero(valid)
    a, b = a[columns], b[columns]
    on_a = start[a] + first[rows, columns, None] * (end[a] - start[a])
    on_b = start[b] + second[rows, columns, None] * (end[b] - start[b])
    return Contacts(
        np.stack([body[a], body[b]], axis=1),
        np.stack([on_a, on_b], axis=1),
        np.ones((count, 3)),
        radius[a] + radius[b],
        np.full(count, 'self', dtype='U8'),
    )


def _of_obstacles(drive, poses):
    """Yield the possible contacts with each obstacle."""
    body, start, end, radius = drive.capsules
    moving = np.repeat(drive.moving, len(PLACES))
    part = np.tile(PLACES, len(drive.moving))[:, None]
    local = (1.0 - part) * start[moving] + part * end[moving]
    links = poses[0, body[moving]]
    placed = rotate(links[:, 3:], local) + links[:, :3]
    for _, shape, position in drive.case.obstacles:
        position = np.array(position)
        on_shape = nearest_of_shape(shape, placed - position) + position
        is_flat = shape.kind.name == 'PLANE'
        yield Contacts(
            np.stack([body[moving], np.full(len(moving), -1)], axis=1),
            np.stack([local, on_shape], axis=1),
            np.tile([0.0, 0.0, 1.0] if is_flat else [1.0, 1.0, 1.0], (len(moving), 1)),
            radius[moving] + shape.radius,
            np.full(len(moving), 'obstacle', dtype='U8'),
        )
