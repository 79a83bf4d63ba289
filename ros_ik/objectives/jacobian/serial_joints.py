# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Single-axis joints between a link and one of its ancestors."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import axes_in_child_frames
from ros_ik.kinematics.tree import incoming_joints
from ros_ik.model.conventions.joint_type import JointType

if TYPE_CHECKING:
    from ros_ik.model import Model


@dataclasses.dataclass(frozen=True)
class SerialJoints:
    """Joints from a reference link to a link, in this order, with axes given in the child links.

    A joint axis is fixed in the child link, so the pose of that link gives its position.

    Attributes:
        dofs: Degree of freedom of each joint, int32 [n].
        links: Child of each joint, int32 [n].
        slides: True for prismatic joints, bool [n].
        axes: Unit axis in the child, shape [n, 3].
        points: Point on the axis in the child [m], shape [n, 3].
    """

    dofs: np.ndarray
    links: np.ndarray
    slides: np.ndarray
    axes: np.ndarray
    points: np.ndarray


def serial_joints(model: Model, link_index: int, reference_link_index: int = -1) -> SerialJoints:
    """Collect the joints between a link and the reference link, except fixed joints.

    Args:
        model: Any object with Newton's joint arrays.
        link_index: The link.
        reference_link_index: An ancestor of the link; -1 for the world.

    Raises:
        ArgumentError: A link outside the model, a reference that is not an ancestor of the link,
            or a joint between them with more than one degree of freedom.
    """
    if not 0 <= link_index < model.body_count:
        raise ArgumentError(f'link_index must lie in [0, {model.body_count}), got {link_index}')
    parent = model.joint_parent.numpy()
    start, kinds = model.joint_qd_start.numpy(), model.joint_type.numpy()
    incoming = incoming_joints(model)
    joints = []
    body = link_index
    while body != reference_link_index and body in incoming:
        joint = incoming[body]
        count = start[joint + 1] - start[joint]
        if count > 1:
            kind = JointType(int(kinds[joint])).name.lower()
            raise ArgumentError(
                f'reference_link_index: joints between the reference link and link {link_index} '
                f'must have one degree of freedom; joint {joint} is a {kind} joint with {count}'
            )
        if count == 1:
            joints.append(joint)
        body = int(parent[joint])
    if body != reference_link_index:
        raise ArgumentError(
            f'reference_link_index must be a link that carries link {link_index}, or -1, '
            f'got {reference_link_index}'
        )
    return _gathered(model, np.array(joints[::-1], dtype=int))


def _gathered(model: Model, joints: np.ndarray) -> SerialJoints:
    dofs = model.joint_qd_start.numpy()[joints]
    axes, points, slides = axes_in_child_frames(model, joints, dofs)
    return SerialJoints(
        dofs=dofs.astype(np.int32),
        links=model.joint_child.numpy()[joints].astype(np.int32),
        slides=slides,
        axes=axes,
        points=points,
    )
