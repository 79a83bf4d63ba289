# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Degrees of freedom that move a link relative to the world or to another link."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.kinematics.tree import incoming_joints
from ros_ik.kinematics.tree import precise_array
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.poses import rotate

if TYPE_CHECKING:
    from ros_ik.model import Model

_ONE_COORDINATE_PER_DOF = (JointType.PRISMATIC, JointType.REVOLUTE, JointType.D6)


def link_dofs(model: Model, link_index: int) -> np.ndarray:
    """Return the degrees of freedom that move a link: those between the world and the link.

    Those that move a link relative to another one belong to one of both:
    ``np.setxor1d(link_dofs(model, a), link_dofs(model, b))``.

    Args:
        model: A :class:`Model`, or any object with Newton's joint arrays.
        link_index: Index of the link; -1 for the world, which has none.

    Returns:
        Their indices, ascending, int32 [n_dofs]. Mimic joints have their own.

    Raises:
        ArgumentError: The index is outside the model.
    """
    checked_model(model)
    return dofs_of_links(model, (checked_link('link_index', link_index),))[0]


def dofs_of_links(model: Model, link_indices: Iterable[int]) -> list[np.ndarray]:
    """Return :func:`link_dofs` of each of some links, in less time than one after the other.

    Raises:
        ArgumentError: An index is outside the model.
    """
    parent, start = model.joint_parent.numpy(), model.joint_qd_start.numpy()
    incoming = incoming_joints(model)
    found = []
    for link_index in link_indices:
        if not -1 <= link_index < model.body_count:
            raise ArgumentError(
                f'link_index must lie in [-1, {model.body_count}), got {link_index}'
            )
        dofs: list[int] = []
        body = link_index
        while body in incoming:
            joint = incoming[body]
            dofs.extend(range(start[joint], start[joint + 1]))
            body = int(parent[joint])
        found.append(np.array(sorted(dofs), dtype=np.int32))
    return found


def require_link(link_index: int) -> None:
    """Raise ArgumentError for -1, the world, and for other negative indices."""
    if link_index < 0:
        raise ArgumentError(f'link_index must name a link of the model, got {link_index}')


def relative_chain(
    model: Model, link_index: int, reference_link_index: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the degrees of freedom that move a link relative to a reference link.

    Args:
        model: Any object with Newton's joint arrays.
        link_index: The link.
        reference_link_index: The reference link; -1 for the world.

    Returns:
        Degrees of freedom, and for each the sign +1 if it moves the link, or -1 if it moves the
        reference link. Those that move both are left out.

    Raises:
        ArgumentError: An index outside the model, or a link that is not the child of a joint of
            an articulation.
    """
    require_link(link_index)
    if link_index < model.body_count and link_index not in incoming_joints(model):
        raise ArgumentError(
            f'link_index {link_index} is a link that no joint of an articulation places: '
            'it never moves'
        )
    of_link = link_dofs(model, link_index)
    of_reference = link_dofs(model, reference_link_index)
    dofs = np.setxor1d(of_link, of_reference).astype(np.int32)
    signs = np.where(np.isin(dofs, of_link), 1, -1).astype(np.int32)
    return dofs, signs


def axes_in_child_frames(
    model: Model, joints: np.ndarray, dofs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the axes of single-axis joints in the frames of their children.

    A joint axis is fixed in the child link, so the pose of that link gives its position.

    Args:
        model: Any object with Newton's joint arrays.
        joints: The joints [n].
        dofs: Their degrees of freedom [n].

    Returns:
        Unit axes [n, 3] and points on them [m], [n, 3], in the children; whether each is
        prismatic, bool [n].
    """
    poses = precise_array(model, 'joint_X_c').reshape(-1, 7)[joints]
    axes = precise_array(model, 'joint_axis').reshape(-1, 3)[dofs]
    slides = model.joint_dof_dim.numpy().reshape(-1, 2)[joints, 0] == 1
    return rotate(poses[:, 3:], axes), poses[:, :3], slides


def dof_coordinates(model: Model) -> np.ndarray:
    """Return the coordinate of each degree of freedom, -1 for none.

    Degrees of freedom of ball and free joints have none, because the joint has a quaternion. This
    includes the linear ones of a free joint.

    Args:
        model: Any object with Newton's joint arrays.

    Returns:
        int32 [joint_dof_count].
    """
    q_start, qd_start = model.joint_q_start.numpy(), model.joint_qd_start.numpy().tolist()
    coords = np.full(model.joint_dof_count, -1, dtype=np.int32)
    for joint, joint_type in enumerate(model.joint_type.numpy().tolist()):
        first, last = qd_start[joint], qd_start[joint + 1]
        if joint_type in _ONE_COORDINATE_PER_DOF:
            coords[first:last] = np.arange(q_start[joint], q_start[joint] + last - first)
    return coords
