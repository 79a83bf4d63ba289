# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The kinematic tree of a model as one struct of arrays that every kernel takes.

As in Newton, the joints of articulations form the tree. Joints outside (loop closures) place no
link, and a link that no joint of an articulation places stays where ``model.body_q`` has it.
"""

from collections.abc import Sequence
import dataclasses
import functools
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.model.conventions.poses import inverse
from ros_ik.model.conventions.poses import multiply


@no_type_check
@functools.cache
def tree_struct(scalar: type) -> Any:
    """Return the Warp struct of a tree in one floating-point type."""
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform

    @wp.struct
    class TreeArrays:
        joint_type: wp.array(dtype=wp.int32)  # [joint_count]
        joint_parent: wp.array(dtype=wp.int32)  # [joint_count], body, -1 = world
        joint_child: wp.array(dtype=wp.int32)  # [joint_count], body
        joint_q_start: wp.array(dtype=wp.int32)  # [joint_count + 1]
        joint_qd_start: wp.array(dtype=wp.int32)  # [joint_count + 1]
        joint_dof_dim: wp.array2d(dtype=wp.int32)  # [joint_count, 2]: linear, angular
        joint_axis: wp.array(dtype=vec3)  # [joint_dof_count]
        joint_X_p: wp.array(dtype=transform)  # [joint_count]
        joint_X_c_inverse: wp.array(dtype=transform)  # [joint_count]
        joint_order: wp.array(dtype=wp.int32)  # joints of the tree, parents before children
        still_body: wp.array(dtype=wp.int32)  # links that none of them places
        still_pose: wp.array(dtype=transform)  # where these are

    return TreeArrays


@dataclasses.dataclass(frozen=True)
class KinematicTree:
    """A model's tree on its device in one floating-point type.

    Attributes:
        scalar: ``wp.float32`` or ``wp.float64``.
        arrays: Instance of :func:`tree_struct`.
        device: Device of the arrays.
        joint_coord_count: Coordinates per configuration.
        joint_dof_count: Degrees of freedom.
        body_count: Links.
    """

    scalar: type
    arrays: Any
    device: wp.Device
    joint_coord_count: int
    joint_dof_count: int
    body_count: int


def kinematic_tree(model: Any, scalar: type) -> KinematicTree:
    """Build the tree of a model.

    Args:
        model: A :class:`Model`, or any object with Newton's joint arrays. Where the model keeps
            its description in float64 (``joint_X_p64`` and the like) that is used, else the
            float32 arrays.
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        The tree, on the model's device.

    Raises:
        ArgumentError: A joint of a kind that has no kinematics here, or between bodies that do not
            exist; a body with two incoming joints; joints of an articulation that form a loop.
    """
    device = model.device
    known = {int(kind) for kind in JointType}
    for joint, kind in enumerate(model.joint_type.numpy().tolist()):
        if kind not in known:
            raise ArgumentError(f'model: joint {joint} has the unsupported type {kind}')
    arrays = tree_struct(scalar)()
    for name in (
        'joint_type', 'joint_parent', 'joint_child', 'joint_q_start', 'joint_qd_start',
        'joint_dof_dim',
    ):  # fmt: skip
        setattr(arrays, name, getattr(model, name))
    types = spatial_functions(scalar)
    axes, before = (precise_array(model, name) for name in ('joint_axis', 'joint_X_p'))
    behind = inverse(precise_array(model, 'joint_X_c').reshape(-1, 7))
    arrays.joint_axis = wp.array(axes, dtype=types.vec3, device=device)
    arrays.joint_X_p = wp.array(before, dtype=types.transform, device=device)
    arrays.joint_X_c_inverse = wp.array(behind, dtype=types.transform, device=device)
    incoming = incoming_joints(model)
    order = _parents_first(model.joint_parent.numpy(), incoming)
    arrays.joint_order = wp.array(order, dtype=wp.int32, device=device)
    still = [body for body in range(model.body_count) if body not in incoming]
    arrays.still_body = wp.array(still, dtype=wp.int32, device=device)
    poses = still_poses(model)[still]
    arrays.still_pose = wp.array(poses, dtype=types.transform, device=device)
    return KinematicTree(
        scalar=scalar,
        arrays=arrays,
        device=wp.get_device(device),
        joint_coord_count=model.joint_coord_count,
        joint_dof_count=model.joint_dof_count,
        body_count=model.body_count,
    )


def precise_array(model: Any, name: str) -> np.ndarray:
    """Return a model's array in float64, from the model's own float64 copy where it has one."""
    precise = getattr(model, f'{name}64', None)
    return precise if precise is not None else getattr(model, name).numpy().astype(np.float64)


def incoming_joints(model: Any) -> dict[int, int]:
    """Return the joint that places each body, for the bodies that a joint of the tree places.

    Args:
        model: Any object with Newton's joint arrays; without ``joint_articulation`` every joint
            counts.

    Raises:
        ArgumentError: A joint between bodies that do not exist, or a body with two such joints.
    """
    parent, child = model.joint_parent.numpy(), model.joint_child.numpy()
    articulation = getattr(model, 'joint_articulation', None)
    inside = np.ones(len(child), dtype=bool)
    if articulation is not None and articulation.shape[0] == len(child):
        inside = articulation.numpy() >= 0
    count = model.body_count
    for name, bodies, least in (('joint_parent', parent, -1), ('joint_child', child, 0)):
        wrong = np.flatnonzero(inside & ((bodies < least) | (bodies >= count)))
        if len(wrong):
            raise ArgumentError(
                f'model: {name} of joint {wrong[0]} must lie in [{least}, {count}), '
                f'got {bodies[wrong[0]]}'
            )
    bodies, counts = np.unique(child[inside], return_counts=True)
    if np.any(counts > 1):
        raise ArgumentError(f'model: body {bodies[counts > 1][0]} has two incoming joints')
    return {int(child[joint]): int(joint) for joint in np.flatnonzero(inside)}


def still_poses(model: Any) -> np.ndarray:
    """Return ``model.body_q`` in float64 with unit quaternions, shape [body_count, 7]."""
    body_q = getattr(model, 'body_q', None)
    if body_q is None:  # an object with the joint arrays alone
        return np.tile(IDENTITY_POSE, (model.body_count, 1))
    poses = body_q.numpy().astype(np.float64).reshape(-1, 7)
    norms = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    poses[:, 3:] = np.where(norms > 0.0, poses[:, 3:], (0.0, 0.0, 0.0, 1.0))
    poses[:, 3:] /= np.where(norms > 0.0, norms, 1.0)
    return poses


def root_pose(model: Any, joints: Sequence[int]) -> np.ndarray:
    """Return the pose in the world of what the first of some joints hangs on, shape [7].

    Args:
        model: Any object with Newton's joint arrays.
        joints: Joints from the root outwards: the first one hangs on the world or on a link that
            no joint places. None leave the world.
    """
    parent = int(model.joint_parent.numpy()[joints[0]]) if len(joints) else -1
    if parent < 0:
        return np.array(IDENTITY_POSE)
    return np.asarray(still_poses(model)[parent])


def poses_between(model: Any, joints: Sequence[int]) -> tuple[list[int], np.ndarray]:
    """Return the joints of a path that are not fixed, and the fixed poses before and behind them.

    Args:
        model: Any object with Newton's joint arrays.
        joints: Joints from the root outwards, each on the link of the one before.

    Returns:
        Joints [m], and poses [m + 1, 7]: from the world to the first joint, from each joint to
        the next, and from the last one to the link behind it. Quaternions alone make them.
    """
    kinds = model.joint_type.numpy()
    before = precise_array(model, 'joint_X_p').reshape(-1, 7)
    behind = inverse(precise_array(model, 'joint_X_c').reshape(-1, 7))
    moving, poses, pose = [], [], root_pose(model, joints)
    for joint in joints:
        pose = multiply(pose, before[joint])
        if kinds[joint] != JointType.FIXED:
            moving.append(int(joint))
            poses.append(pose)
            pose = np.array(IDENTITY_POSE)
        pose = multiply(pose, behind[joint])
    return moving, np.array([*poses, pose])


def _parents_first(parent: np.ndarray, incoming: dict[int, int]) -> list[int]:
    """Return the joints of the tree, each after the one that places its parent body."""
    below: dict[int, list[int]] = {}
    for body, joint in sorted(incoming.items(), key=lambda item: item[1]):
        below.setdefault(int(parent[joint]), []).append(body)
    bodies = [root for root in sorted(below) if root not in incoming]
    order: list[int] = []
    for body in bodies:  # grows while it is walked: a breadth-first search
        for child in below.get(body, []):
            order.append(incoming[child])
            bodies.append(child)
    if len(order) < len(incoming):
        raise ArgumentError('model: the joints of an articulation form a loop')
    return order
