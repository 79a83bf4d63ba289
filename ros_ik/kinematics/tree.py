# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematic tree of a model, as a struct of arrays for kernels.

As in Newton, the joints of articulations form the tree. Other joints (loop closures) are ignored.
A link without an incoming joint of an articulation keeps its pose of ``model.body_q``.
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
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.model.conventions.poses import inverse
from ros_ik.model.conventions.poses import multiply

_KNOWN_TYPES = {int(kind) for kind in JointType}


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
        still_body: wp.array(dtype=wp.int32)  # links without an incoming joint of the tree
        still_pose: wp.array(dtype=transform)  # poses of these links

    return TreeArrays


@dataclasses.dataclass(frozen=True)
class KinematicTree:
    """Kinematic tree of a model, on its device, in one floating-point type.

    Attributes:
        scalar: ``wp.float32`` or ``wp.float64``.
        arrays: Instance of :func:`tree_struct`.
        device: Device of the arrays.
        joint_coord_count: Number of coordinates of a configuration.
        joint_dof_count: Number of degrees of freedom.
        body_count: Number of links.
    """

    scalar: type
    arrays: Any
    device: wp.Device
    joint_coord_count: int
    joint_dof_count: int
    body_count: int


@shares_launch_lock
def kinematic_tree(model: Any, scalar: type) -> KinematicTree:
    """Build the tree of a model.

    Args:
        model: A :class:`Model`, or any object with Newton's joint arrays. Its float64 arrays
            (such as ``joint_X_p64``) are used if it has them, else the float32 arrays.
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        The tree, on the model's device.

    Raises:
        ArgumentError: A joint of an unsupported type, or between bodies that do not exist; a body
            with two incoming joints; joints of an articulation that form a loop.
    """
    device = model.device
    for joint, kind in enumerate(model.joint_type.numpy().tolist()):
        if kind not in _KNOWN_TYPES:
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
    poses = fixed_body_poses(model)[still]
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
    """Return a model's array in float64, from the model's float64 copy if it has one."""
    precise = getattr(model, f'{name}64', None)
    return precise if precise is not None else getattr(model, name).numpy().astype(np.float64)


def incoming_joints(model: Any) -> dict[int, int]:
    """Return the incoming joint of each body that has one in the tree.

    Args:
        model: Any object with Newton's joint arrays. Without ``joint_articulation``, all joints
            are in the tree.

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
        outside = inside & ((bodies < least) | (bodies >= count))
        if outside.any():
            wrong = np.flatnonzero(outside)
            raise ArgumentError(
                f'model: {name} of joint {wrong[0]} must lie in [{least}, {count}), '
                f'got {bodies[wrong[0]]}'
            )
    joints = np.flatnonzero(inside)
    incoming = dict(zip(child[joints].tolist(), joints.tolist(), strict=True))
    if len(incoming) < len(joints):
        bodies, counts = np.unique(child[joints], return_counts=True)
        raise ArgumentError(f'model: body {bodies[counts > 1][0]} has two incoming joints')
    return incoming


def fixed_body_poses(model: Any) -> np.ndarray:
    """Return ``model.body_q`` in float64 with unit quaternions, shape [body_count, 7]."""
    body_q = getattr(model, 'body_q', None)
    if body_q is None:  # an object with joint arrays only
        return np.tile(IDENTITY_POSE, (model.body_count, 1))
    poses = body_q.numpy().astype(np.float64).reshape(-1, 7)
    norms = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    poses[:, 3:] = np.where(norms > 0.0, poses[:, 3:], (0.0, 0.0, 0.0, 1.0))
    poses[:, 3:] /= np.where(norms > 0.0, norms, 1.0)
    return poses


def root_pose(model: Any, joints: Sequence[int]) -> np.ndarray:
    """Return the world pose of the parent of a chain of joints, shape [7].

    Args:
        model: Any object with Newton's joint arrays.
        joints: Joints from the root outwards. The parent of the first is the world, or a link
            without an incoming joint. The result is the identity if there are no joints.
    """
    parent = int(model.joint_parent.numpy()[joints[0]]) if len(joints) else -1
    if parent < 0:
        return np.array(IDENTITY_POSE)
    return np.asarray(fixed_body_poses(model)[parent])


def poses_between(model: Any, joints: Sequence[int]) -> tuple[list[int], np.ndarray]:
    """Return the joints of a chain that are not fixed, and the constant poses between them.

    Args:
        model: Any object with Newton's joint arrays.
        joints: Joints from the root outwards; the child of each is the parent of the next.

    Returns:
        Joints [m], and poses [m + 1, 7]: from the world to the first joint, from each joint to
        the next, and from the last one to its child. They are products of quaternions, without
        conversion to matrices.
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
    """Return the joints of the tree, each after the incoming joint of its parent body."""
    below: dict[int, list[int]] = {}
    for body, joint in sorted(incoming.items(), key=lambda item: item[1]):
        below.setdefault(int(parent[joint]), []).append(body)
    bodies = [root for root in sorted(below) if root not in incoming]
    order: list[int] = []
    for body in bodies:  # grows during the loop: a breadth-first search
        for child in below.get(body, []):
            order.append(incoming[child])
            bodies.append(child)
    if len(order) < len(incoming):
        raise ArgumentError('model: the joints of an articulation form a loop')
    return order
