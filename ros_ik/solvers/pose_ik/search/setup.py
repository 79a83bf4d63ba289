# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Device arrays and structs of the search, and checks of its arguments."""

from __future__ import annotations

from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.array_exchange import exchanged
from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.kinematics.runtime.batch_arrays import as_numbers
from ros_ik.kinematics.serial_chain import joints_to
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.kinematics.tree import poses_between
from ros_ik.kinematics.tree import precise_array
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.model.conventions.poses import inverse
from ros_ik.model.conventions.poses import multiply
from ros_ik.model.conventions.poses import pose_rows
from ros_ik.model.conventions.poses import quaternion_between
from ros_ik.numbers import host_array
from ros_ik.numbers import real_array
from ros_ik.numbers import shown
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_bounds_struct
from ros_ik.solvers.pose_ik.kernels.functions import chain_struct
from ros_ik.solvers.pose_ik.kernels.kernel import search_struct
from ros_ik.solvers.pose_ik.kernels.phase import lanes_struct
from ros_ik.solvers.pose_ik.kernels.placement import placement_struct
from ros_ik.solvers.pose_ik.search.lane_plan import LanePlan

if TYPE_CHECKING:
    from ros_ik.model import Model

# Least damping, relative to the squared reach, above the rounding error of the Hessian. It makes
# the step of a redundant chain unique.
LEAST_DAMPING: dict[type, float] = {wp.float32: 1e-5, wp.float64: 1e-7}
# Rotation by half a turn about x.
_HALF_TURN = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def make_chain(chain: SerialChain, scalar: type = wp.float64) -> Any:
    """Return the chain as a struct for kernels of one floating-point type."""
    struct = chain_struct(scalar, len(chain.slides), chain.n_variables)()
    struct.constants = np.concatenate(chain.constants[:, :3], axis=1).T
    struct.slides = np.array(chain.slides, dtype=np.int32)
    struct.sample_lower, struct.sample_upper = chain.sampling_range()
    for name in ('coef0', 'coef1', 'lower', 'upper'):
        setattr(struct, name, getattr(chain, name))
    return struct


def axis_bounds(tolerance: PoseTolerance) -> Any:
    """Return tolerances by axis as a struct for kernels."""
    bounds = axis_bounds_struct(wp.float64)()
    bounds.position, bounds.rotation = (wp.vec3d(*row) for row in tolerance.bounds.reshape(2, 3))
    zones = (wp.vec3d(*row) for row in tolerance.zones.reshape(2, 3))
    bounds.position_zone, bounds.rotation_zone = zones
    bounds.in_tool = int(tolerance.frame == 'tool')
    return bounds


def make_search(
    chain: SerialChain,
    settings: ChainIKSettings,
    tolerance: PoseTolerance,
    plan: LanePlan,
    scalar: type = wp.float64,
) -> Any:
    """Return the settings of the search as a struct for its kernel.

    Args:
        chain: The chain.
        settings: Settings of the search.
        tolerance: Tolerances of a solution.
        plan: Parallel searches of a problem, which share its attempts.
        scalar: Floating-point type of the search; tolerances by axis are float64.
    """
    search = search_struct(scalar)()
    search.position_tolerance, search.rotation_tolerance = tolerance.lengths
    if scalar is wp.float64:
        search.bounds = axis_bounds(tolerance)
    search.position_weight, search.length = cost_weights(chain, settings, tolerance)
    search.damping = settings.damping
    search.least_damping = LEAST_DAMPING[scalar] * chain.reach**2
    for name in (
        'separation', 'max_iterations', 'window', 'patient_window', 'progress', 'seed',
    ):
        setattr(search, name, getattr(settings, name))
    search.max_attempts = -(-settings.max_attempts // plan.lanes)
    search.lanes = make_lanes(plan)
    return search


def cost_weights(
    chain: SerialChain, settings: ChainIKSettings, tolerance: PoseTolerance
) -> tuple[float, float]:
    """Return the weight of a distance, and of an angle [m], in the cost of the search."""
    free_position, free_rotation = tolerance.is_free
    length = settings.relative_length * chain.reach
    return 0.0 if free_position else 1.0, 0.0 if free_rotation else length


def make_lanes(plan: LanePlan) -> Any:
    """Return the lanes of a problem as a struct for kernels."""
    lanes = lanes_struct()()
    lanes.count, lanes.first, lanes.head_start = plan.lanes, plan.first_lanes, plan.head_start
    lanes.next_start, lanes.delay = plan.next_start, plan.delay
    return lanes


def make_placement(
    model: Model,
    link: int,
    chain: SerialChain,
    locked_joint_q: np.ndarray,
    offset: np.ndarray,
    tolerance: PoseTolerance,
    weights: tuple[float, float],
    separation: float,
    free: np.ndarray | None = None,
) -> Any:
    """Return the map from the variables of a chain to the model, for the verification.

    Args:
        model: The model.
        link: Index of the link that carries the tool.
        chain: The chain to it.
        locked_joint_q: Configuration at which the other joints are locked, [joint_coord_count].
        offset: Pose of the tool in the link, [7].
        tolerance: Tolerances of a solution.
        weights: Weight of a distance, and of an angle [m], in the cost of the search.
        separation: Least distance of distinct solutions.
        free: Axes of the tool about which it may rotate, [0, 1 or 3, 3]; None if there are none.
    """
    mimics = model.mimic_driver
    start = model.joint_q_start.numpy()
    drivers = [driver for driver, _, _ in mimics.values()]
    placement = placement_struct()()
    moved = np.concatenate([chain.coordinates, start[list(mimics)]])
    path, between = poses_between(model, joints_to(model, link))
    for name, indices in (
        ('path', path),
        ('coordinate', chain.coordinates),
        ('locked', np.setdiff1d(np.arange(model.joint_coord_count), moved)),
        ('follower', start[list(mimics)]),
        ('driver', start[drivers]),
    ):
        values = np.asarray(indices, dtype=np.int32)
        setattr(placement, name, wp.array(values, dtype=wp.int32, device=model.device))
    for name, numbers in (
        ('coef0', [coef0 for _, coef0, _ in mimics.values()]),
        ('coef1', [coef1 for _, _, coef1 in mimics.values()]),
        ('base', locked_joint_q),
        ('lower', chain.lower),
        ('upper', chain.upper),
    ):
        values = np.asarray(numbers, dtype=np.float64)
        setattr(placement, name, wp.array(values, dtype=wp.float64, device=model.device))
    between = _about_z(model, path, between)
    placement.before = wp.array(between[:-1], dtype=wp.transformd, device=model.device)
    placement.tool = wp.transformd(*multiply(between[-1], np.asarray(offset, dtype=np.float64)))
    placement.separation = separation
    placement.position_tolerance, placement.rotation_tolerance = tolerance.lengths
    placement.bounds, placement.by_axis = axis_bounds(tolerance), int(tolerance.by_axis)
    placement.position_weight, placement.length = weights
    if free is not None:
        placement.free_turns = len(free)
        if len(free) == 1:
            placement.free_axis = wp.vec3d(*free[0])
    return placement


def _about_z(model: Model, path: list[int], between: np.ndarray) -> np.ndarray:
    """Return poses between joints, in frames of which z is the axis of a revolute joint."""
    kinds, starts = model.joint_type.numpy(), model.joint_qd_start.numpy()
    axes = precise_array(model, 'joint_axis').reshape(-1, 3)
    poses = between.copy()
    for k, joint in enumerate(path):
        if kinds[joint] == JointType.REVOLUTE:
            axis, frame = axes[starts[joint]], np.array(IDENTITY_POSE)
            # From the nearer end of the z axis: half a turn has no determined direction.
            end = np.copysign([0.0, 0.0, 1.0], axis[2])
            frame[3:] = quaternion_between(end, axis)
            if end[2] < 0.0:
                frame = multiply(frame, _HALF_TURN)
            poses[k] = multiply(poses[k], frame)
            poses[k + 1] = multiply(inverse(frame), poses[k + 1])
    return poses


def has_direct_path(model: Model, link: int, chain: SerialChain) -> bool:
    """Return True if the joints on the way to a link are those of a chain, all revolute."""
    path, _ = poses_between(model, joints_to(model, link))
    starts, kinds = model.joint_q_start.numpy()[path], model.joint_type.numpy()[path]
    is_revolute = bool(np.all(kinds == JointType.REVOLUTE))
    return is_revolute and np.array_equal(starts, chain.coordinates)


def checked_rows(name: str, values: np.ndarray, n: int, width: int) -> np.ndarray:
    """Return ``values`` as float64 [n, width], or raise ArgumentError naming it."""
    rows = real_array(name, values)
    if rows.shape != (n, width):
        raise ArgumentError(f'{name} must have shape [{n}, {width}], got {list(rows.shape)}')
    return rows


def rows_where(name: str, given: Any, on_device: bool) -> Any:
    """Return an array of another library as Warp or NumPy rows, and anything else unchanged.

    Args:
        name: Name of the argument, for errors.
        given: The array, of rows or one row.
        on_device: True to use it in place by Warp; otherwise it is copied to the host.
    """
    if not is_exchanged(given):
        return given
    if not on_device:
        return host_array(given, name)
    rows = as_numbers(exchanged(name, given))
    return rows.reshape((1, rows.shape[0])) if rows.ndim == 1 else rows


def seed_rows(seeds: Any, n: int) -> Any:
    """Return seeds as a row for each of n problems, or None.

    Args:
        seeds: Configurations [n, joint_coord_count] or one; Warp arrays [n, ..] stay on their
            device.
        n: Number of problems.

    Raises:
        ArgumentError: No rows, or another number of them.
    """
    if seeds is None:
        return None
    if isinstance(seeds, wp.array) and seeds.ndim == 2 and seeds.shape[0] == n:
        return seeds
    starts = host_array(seeds, 'seeds')
    if not starts.ndim:
        raise ArgumentError(f'seeds must be rows of numbers, got {shown(seeds)}')
    if starts.ndim == 2 and len(starts) == 1 != n:
        starts = starts[0]
    if starts.ndim == 1:
        starts = np.broadcast_to(starts, (n, len(starts)))
    if len(starts) != n:
        raise ArgumentError(f'seeds must have one row per pose ({n}), got {len(starts)}')
    return starts


def seen_from_bases(base_poses: Any, goals: Any, n_goals: int) -> np.ndarray:
    """Return goals in the frames of bases; invalid poses become not finite.

    Args:
        base_poses: Poses of the bases, [n, 7] or [7] for all.
        goals: Poses in the same frame as the bases, [n * n_goals, 7].
        n_goals: Number of successive goals of each base.

    Raises:
        ArgumentError: Another number of bases or of columns.
    """
    n = len(goals) // n_goals
    given = real_array('base_poses', base_poses)
    bases = np.atleast_2d(given)
    if bases.shape not in ((1, 7), (n, 7)):
        raise ArgumentError(
            f'base_poses must have shape [7] or [{n}, 7], got {list(given.shape)}'
        )
    bases = pose_rows(np.repeat(np.broadcast_to(bases, (n, 7)), n_goals, axis=0))
    return multiply(inverse(bases), pose_rows(checked_rows('poses', goals, len(goals), 7)))
