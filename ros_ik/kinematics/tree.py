# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The kinematic tree of a model as one struct of arrays that every kernel takes."""

import dataclasses
import functools
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.spatial import spatial_functions


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
        joint_order: wp.array(dtype=wp.int32)  # [joint_count], parents before children

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
    """
    device = model.device
    arrays = tree_struct(scalar)()
    for name in (
        'joint_type', 'joint_parent', 'joint_child', 'joint_q_start', 'joint_qd_start',
        'joint_dof_dim',
    ):  # fmt: skip
        setattr(arrays, name, getattr(model, name))
    types = spatial_functions(scalar)
    arrays.joint_axis = wp.array(_precise(model, 'joint_axis'), dtype=types.vec3, device=device)
    arrays.joint_X_p = wp.array(_precise(model, 'joint_X_p'), dtype=types.transform, device=device)
    inverse = _inverse_poses(_precise(model, 'joint_X_c'))
    arrays.joint_X_c_inverse = wp.array(inverse, dtype=types.transform, device=device)
    order = _parents_first(model.joint_parent.numpy(), model.joint_child.numpy())
    arrays.joint_order = wp.array(order, dtype=wp.int32, device=device)
    return KinematicTree(
        scalar=scalar,
        arrays=arrays,
        device=wp.get_device(device),
        joint_coord_count=model.joint_coord_count,
        joint_dof_count=model.joint_dof_count,
        body_count=model.body_count,
    )


def _precise(model: Any, name: str) -> np.ndarray:
    """Return an array in float64, from the model's own float64 copy where it has one."""
    precise = getattr(model, f'{name}64', None)
    return precise if precise is not None else getattr(model, name).numpy().astype(np.float64)


def _inverse_poses(poses: np.ndarray) -> np.ndarray:
    """Return the inverses of poses x y z qx qy qz qw, shape [n, 7]."""
    inverse = np.array(poses, dtype=np.float64).reshape(-1, 7)
    inverse[:, 3:6] *= -1.0
    vector, w = inverse[:, 3:6], inverse[:, 6:]
    p = -inverse[:, :3]
    inverse[:, :3] = p + 2.0 * np.cross(vector, np.cross(vector, p) + w * p)
    return inverse


def _parents_first(parent: np.ndarray, child: np.ndarray) -> list[int]:
    """Return the joints ordered so that each comes after the joint that places its parent body.

    Joints on a loop without a root place no body and are left out.
    """
    of_parent: dict[int, list[int]] = {}
    for joint, body in enumerate(parent.tolist()):
        of_parent.setdefault(body, []).append(joint)
    roots = set(parent.tolist()) - set(child.tolist())
    order = [joint for body in sorted(roots) for joint in of_parent[body]]
    for joint in order:  # grows while it is walked: a breadth-first search
        order.extend(of_parent.pop(int(child[joint]), []))
    return order
