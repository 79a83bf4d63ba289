# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barriers along a trajectory, at closely spaced samples."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import numpy as np
import warp as wp

from ros_ik.barriers import CollisionBarrier
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.planning.context.budget import Budget
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.motion_barriers import MotionBarriers
from ros_ik.planning.trajectories.spline import Spline
from ros_ik.planning.trajectories.spline_limits import Violation

# Number of samples per batch; constant, because barriers allocate memory per batch size.
_CHUNK = 512
# Tolerance of a barrier for rounding errors, in units of its value.
_ROUNDING = 1e-9

Configurations = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass(eq=False)
class BarrierRecord:
    """Barrier values along a trajectory.

    Attributes:
        names: Names of the barriers.
        minimum: Smallest value of each [m].
        at: Configuration with the smallest value of each, none before the first one.
        violation: The first violation, or None.
        worst: Configuration with the smallest of all values, None without barriers.
    """

    names: tuple[str, ...]
    minimum: np.ndarray
    at: dict[int, np.ndarray] = dataclasses.field(default_factory=dict)
    violation: Violation | None = None
    worst: np.ndarray | None = None


def barriers_along(
    motion_barriers: MotionBarriers,
    spline: Spline,
    configurations: Configurations,
    max_step: float,
    factors: np.ndarray,
    most_samples: int,
    budget: Budget,
) -> BarrierRecord:
    """Evaluate every barrier along a trajectory.

    Args:
        motion_barriers: Barriers of the joints of the trajectory.
        spline: The trajectory.
        configurations: Function that returns complete configurations [n, joint_coord_count] for
            positions [n, joints].
        max_step: Largest joint displacement between two samples [rad or m].
        factors: Largest displacement of a joint by the displacement of each joint of the
            trajectory, [joints].
        most_samples: Maximum number of samples.
        budget: Time budget.

    Raises:
        RequestError: More samples are needed, the time limit has passed, or the budget was
            cancelled.
    """
    barriers = motion_barriers.barriers
    record = BarrierRecord(tuple(b.name for b in barriers), np.full(len(barriers), np.inf))
    segment, s = _samples(spline, max_step, factors, most_samples)
    if not barriers:
        return record
    values_of = BarrierValues(motion_barriers)
    for first in range(0, len(s), _CHUNK):
        budget.check_time()
        rows = slice(first, first + _CHUNK)
        joint_q = configurations(spline.positions(segment[rows], s[rows]))
        values = values_of(joint_q)
        least = int(np.argmin(values.min(axis=1)))
        if values[least].min() < record.minimum.min():
            record.worst = joint_q[least]
        lower = values.min(axis=0) < record.minimum
        for barrier in np.flatnonzero(lower).tolist():
            record.at[barrier] = joint_q[np.argmin(values[:, barrier])]
        record.minimum = np.minimum(record.minimum, values.min(axis=0))
        bad = np.flatnonzero((values < -_ROUNDING).any(axis=1))
        if len(bad) and record.violation is None:
            record.violation = _refine(
                spline, segment, s, first + int(bad[0]), configurations, values_of
            )
    return record


def least_distances(motion_barriers: MotionBarriers, record: BarrierRecord) -> np.ndarray:
    """Return the smallest distance of each barrier along a trajectory [m]; inf for none."""
    found = np.full(len(record.names), np.inf)
    for barrier, joint_q in record.at.items():
        values = motion_barriers.values(joint_q)
        found[barrier] = motion_barriers.rows.least_distance(barrier, values)
    return found


def closest_pair(motion_barriers: MotionBarriers, record: BarrierRecord) -> tuple[str, str]:
    """Return the closest pair of the collision barriers at the worst configuration, or ''."""
    collision = [
        (record.minimum[k], barrier)
        for k, barrier in enumerate(motion_barriers.barriers)
        if isinstance(barrier, CollisionBarrier)
    ]
    if record.worst is None or not collision:
        return '', ''
    motion_barriers.values(record.worst)
    pairs = min(collision, key=lambda entry: entry[0])[1].closest_pairs()[0]
    return pairs[0] if pairs else ('', '')


class BarrierValues:
    """Smallest value of each barrier at many configurations.

    Attributes:
        names: Names of the barriers.
    """

    @shares_launch_lock
    def __init__(self, motion_barriers: MotionBarriers) -> None:
        """Allocate for :data:`_CHUNK` configurations."""
        self._barriers = motion_barriers.barriers
        self._rows = motion_barriers.rows.barrier
        self.names = tuple(barrier.name for barrier in self._barriers)
        model = motion_barriers.robot.model
        device = model.device
        self._tree = kinematic_tree(model, wp.float64)
        self._joint_q = HostBuffer((_CHUNK, model.joint_coord_count), wp.float64, device)
        shape = (_CHUNK, model.body_count)
        self._body_q = wp.zeros(shape, dtype=wp.transformd, device=device)
        self._values = wp.zeros((_CHUNK, len(self._rows)), dtype=wp.float64, device=device)

    def __call__(self, joint_q: np.ndarray) -> np.ndarray:
        """Return shape [n, number of barriers]; n at most :data:`_CHUNK`."""
        self._joint_q.host[: len(joint_q)] = joint_q
        self._joint_q.host[len(joint_q) :] = joint_q[-1]
        self._joint_q.upload()
        launch_forward_kinematics(self._tree, self._joint_q.array, self._body_q)
        start = 0
        for barrier in self._barriers:
            barrier.launch_values(self._body_q, self._values, start)
            start += barrier.row_count
        values = self._values.numpy()[: len(joint_q)]
        return np.column_stack(
            [values[:, self._rows == k].min(axis=1) for k in range(len(self._barriers))]
        )


def _samples(
    spline: Spline, max_step: float, factors: np.ndarray, most_samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return segments and elapsed fractions: the first point, then the end of each step."""
    speed = (np.abs(spline.velocity_control()) * factors).max(axis=(1, 2))
    with np.errstate(over='ignore'):
        steps = np.maximum(1.0, np.ceil(speed * spline.duration / max_step))
    if not steps.sum() + 1.0 <= most_samples:
        raise RequestError(
            f'max_step {max_step:g} takes {steps.sum() + 1:.6g} checks along the trajectory, at '
            f'most {most_samples} are permitted (services.max_poses)'
        )
    counts = steps.astype(int)
    segment = np.repeat(np.arange(len(counts)), counts)
    before = np.repeat(np.cumsum(counts) - counts, counts)
    s = (np.arange(len(segment)) - before + 1.0) / counts[segment]
    return np.concatenate([[0], segment]), np.concatenate([[0.0], s])


def _refine(
    spline: Spline,
    segment: np.ndarray,
    s: np.ndarray,
    bad: int,
    configurations: Configurations,
    values_of: BarrierValues,
) -> Violation:
    """Locate the violation between the last valid sample and the first invalid one."""
    begin = s[bad - 1] if bad and segment[bad - 1] == segment[bad] else 0.0
    parts = np.linspace(begin, s[bad], _CHUNK)
    at = np.full(_CHUNK, segment[bad])
    values = values_of(configurations(spline.positions(at, parts)))
    row = int(np.argmax((values < -_ROUNDING).any(axis=1)))
    time = spline.start[segment[bad]] + parts[row] * spline.duration[segment[bad]]
    return Violation(float(time), values_of.names[int(np.argmin(values[row]))])
