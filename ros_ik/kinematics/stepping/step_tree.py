# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reduced kinematic tree for control steps, without fixed joints and unused branches.

A node computes the pose of one link from its parent,

    X_node = X_parent C X_j(q)

where C includes X_p and all preceding fixed joints. A D6 joint has a node per axis, and a joint
with a child anchor is followed by a node without motion. Links whose poses are not used, and the
branches that lead only to them, have no nodes. A node also computes the twist of its degrees of
freedom, in world axes at the world origin, as ``joint_S_s`` in newton.ik.
"""

from collections.abc import Iterable
import dataclasses
import functools
from typing import Any
from typing import NamedTuple
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.joint_motion import joint_functions
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import sincos_function
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import fixed_body_poses
from ros_ik.kinematics.tree import incoming_joints
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.poses import IDENTITY_POSE
from ros_ik.model.conventions.poses import inverse
from ros_ik.model.conventions.poses import multiply

if TYPE_CHECKING:
    from ros_ik.model import Model

# Special parents of a node.
_WORLD = -1
_NODE_BEFORE = -2


@no_type_check
@functools.cache
def step_node_struct(scalar: type) -> Any:
    """Return the Warp struct of a node; a tree is an array of them, parents before children."""
    types = spatial_functions(scalar)

    @wp.struct
    class StepNode:
        kind: wp.int32  # JointType
        parent: wp.int32  # link, -1 = world, -2 = the node before
        link: wp.int32  # link whose pose is written, -1 = none
        coord: wp.int32  # first coordinate
        dof: wp.int32  # first degree of freedom
        constant: types.transform  # C
        axis: types.vec3

    return StepNode


@no_type_check
@functools.cache
def place_nodes_function(scalar: type) -> wp.Function:
    """Build ``place_nodes(tree, row, joint_q, body_q, joint_S_s)``."""
    types, joints = spatial_functions(scalar), joint_functions(scalar)
    vec3, quat, transform, twist = types.vec3, types.quat, types.transform, types.twist
    floating_motion, write_floating = joints.floating_motion, joints.write_floating
    vec2 = wp.types.vector(2, scalar)
    axis_twist, slide_twist = types.axis_twist, types.slide_twist
    sincos = sincos_function(scalar)
    Node = step_node_struct(scalar)
    before = wp.constant(_NODE_BEFORE)
    fixed, revolute = wp.constant(int(JointType.FIXED)), wp.constant(int(JointType.REVOLUTE))
    prismatic, ball = wp.constant(int(JointType.PRISMATIC)), wp.constant(int(JointType.BALL))

    # Most axes are z, for which half of the products are with zero.
    @wp.func
    def z_axis(r: quat) -> vec3:
        """Return the z axis of a frame."""
        two = scalar(2.0)
        return vec3(
            two * (r[0] * r[2] + r[3] * r[1]),
            two * (r[1] * r[2] - r[3] * r[0]),
            two * (r[3] * r[3] + r[2] * r[2]) - scalar(1.0),
        )

    @wp.func
    def turn_about_z(r: quat, half: vec2) -> quat:
        """Rotate a frame about its z axis, given sine and cosine of half the angle."""
        s = half[0]
        c = half[1]
        return quat(
            r[0] * c + r[1] * s, r[1] * c - r[0] * s, r[2] * c + r[3] * s, r[3] * c - r[2] * s
        )

    @wp.func
    def place_nodes(
        tree: wp.array(dtype=Node),
        row: int,
        joint_q: wp.array2d(dtype=scalar),
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ):
        pose = wp.transform_identity(dtype=scalar)
        for k in range(tree.shape[0]):
            parent = tree[k].parent
            frame = tree[k].constant
            if parent >= 0:
                frame = body_q[row, parent] * frame
            elif parent == before:
                frame = pose * frame
            kind = tree[k].kind
            pose = frame
            if kind == revolute:
                point = wp.transform_get_translation(frame)
                rotation = wp.transform_get_rotation(frame)
                half = sincos(scalar(0.5) * joint_q[row, tree[k].coord])
                axis = tree[k].axis
                if axis[2] == scalar(1.0):
                    joint_S_s[row, tree[k].dof] = axis_twist(z_axis(rotation), point)
                    pose = transform(point, turn_about_z(rotation, half))
                else:
                    joint_S_s[row, tree[k].dof] = axis_twist(wp.quat_rotate(rotation, axis), point)
                    turn = axis * half[0]
                    pose = transform(point, rotation * quat(turn[0], turn[1], turn[2], half[1]))
            elif kind == prismatic:
                axis = wp.quat_rotate(wp.transform_get_rotation(frame), tree[k].axis)
                joint_S_s[row, tree[k].dof] = slide_twist(axis)
                point = wp.transform_get_translation(frame) + axis * joint_q[row, tree[k].coord]
                pose = transform(point, wp.transform_get_rotation(frame))
            elif kind != fixed:
                write_floating(row, tree[k].dof, kind != ball, frame, joint_S_s)
                pose = frame * floating_motion(row, tree[k].coord, kind != ball, joint_q)
            if tree[k].link >= 0:
                body_q[row, tree[k].link] = pose

    return place_nodes


@no_type_check
@functools.cache
def place_links_kernel() -> wp.Kernel:
    """Build the kernel that computes the link poses of each robot from a step tree."""
    place_nodes = place_nodes_function(wp.float64)
    Node = step_node_struct(wp.float64)

    @compiled_kernel(registers=144)
    def place_links_of_step(
        tree: wp.array(dtype=Node),
        joint_q: wp.array2d(dtype=wp.float64),  # [n, joint_coord_count]
        body_q: wp.array2d(dtype=wp.transformd),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=wp.spatial_vectord),  # [n, joint_dof_count]
    ):
        place_nodes(tree, wp.tid(), joint_q, body_q, joint_S_s)

    return place_links_of_step


def launch_place_nodes(
    tree: wp.array, joint_q: wp.array, body_q: wp.array, joint_S_s: wp.array
) -> None:
    """Compute link poses in float64; allocates nothing, so a graph can capture it.

    Args:
        tree: Array of :func:`step_node_struct`.
        joint_q: Coordinates, shape [n, joint_coord_count].
        body_q: Output: link poses in the world, shape [n, body_count]; others are unchanged.
        joint_S_s: Output: motion subspaces, shape [n, joint_dof_count].
    """
    launch(
        place_links_kernel(),
        dim=joint_q.shape[0],
        inputs=[tree, joint_q],
        outputs=[body_q, joint_S_s],
        device=joint_q.device,
    )


@dataclasses.dataclass
class _Node:
    """The fields of :func:`step_node_struct`, in its order."""

    kind: int
    parent: int
    link: int
    coord: int
    dof: int
    constant: np.ndarray
    axis: np.ndarray


class _Joints(NamedTuple):
    """Arrays of a model as lists, of which Python reads single numbers faster."""

    kind: list[int]
    coord: list[int]
    dof: list[int]
    linear: list[int]  # number of prismatic axes
    axis: np.ndarray

    @classmethod
    def of(cls, model: 'Model') -> '_Joints':
        """Read them from a model."""
        return cls(
            model.joint_type.numpy().tolist(),
            model.joint_q_start.numpy().tolist(),
            model.joint_qd_start.numpy().tolist(),
            model.joint_dof_dim.numpy()[:, 0].tolist(),
            model.joint_axis64,
        )


@shares_launch_lock
def make_step_tree(
    model: 'Model', order: np.ndarray, links: Iterable[int] | None, scalar: type
) -> wp.array:
    """Reduce the tree of a model to some links.

    Args:
        model: The model.
        order: Joints, parents before children.
        links: Links whose poses are needed; None for all.
        scalar: Floating-point type of the kernels.

    Returns:
        Array of :func:`step_node_struct` on the model's device.
    """
    struct = step_node_struct(scalar)
    nodes = np.array(
        [tuple(vars(node).values()) for node in _fold(model, order, links)],
        dtype=struct.numpy_dtype(),
    )
    return wp.array(nodes, dtype=struct, device=model.device)


def _fold(model: 'Model', order: np.ndarray, links: Iterable[int] | None) -> list[_Node]:
    """Return the nodes for the links."""
    parent, child = model.joint_parent.numpy().tolist(), model.joint_child.numpy().tolist()
    wanted = set(range(model.body_count)) if links is None else {k for k in links if k >= 0}
    on_path = set(wanted)
    for joint in order[::-1].tolist():
        if child[joint] in on_path:
            on_path.add(parent[joint])
    joints = _Joints.of(model)
    behind = inverse(model.joint_X_c64.reshape(-1, 7))
    is_centred = (behind == IDENTITY_POSE).all(axis=1)
    nodes: list[_Node] = []
    # Each link: an ancestor with a node, and the constant pose relative to it.
    anchors: dict[int, tuple[int, np.ndarray]] = {_WORLD: (_WORLD, np.array(IDENTITY_POSE))}
    poses, placed = fixed_body_poses(model), incoming_joints(model)
    for body in sorted(on_path - {_WORLD}):
        if body not in placed:
            anchors[body] = _WORLD, poses[body]
            if body in wanted:
                nodes.append(_fixed_node(_WORLD, poses[body]))
                nodes[-1].link = body
                anchors[body] = body, np.array(IDENTITY_POSE)
    for joint in order.tolist():
        body = child[joint]
        if body not in on_path:
            continue
        before, constant = anchors[parent[joint]]
        constant = multiply(constant, model.joint_X_p64[joint])
        own = _joint_nodes(joints, joint, before, constant)
        if own and not is_centred[joint]:
            own.append(_fixed_node(_NODE_BEFORE, behind[joint]))
        elif not own:
            constant = multiply(constant, behind[joint])
            if body not in wanted:
                anchors[body] = before, constant
                continue
            own = [_fixed_node(before, constant)]
        own[-1].link = body
        nodes += own
        anchors[body] = body, np.array(IDENTITY_POSE)
    return nodes


def _fixed_node(before: int, constant: np.ndarray) -> _Node:
    return _Node(int(JointType.FIXED), before, _WORLD, 0, 0, constant, np.zeros(3))


def _joint_nodes(joints: _Joints, joint: int, before: int, constant: np.ndarray) -> list[_Node]:
    """Return the nodes of a joint, none for a fixed one."""
    q, dof, kind = joints.coord[joint], joints.dof[joint], joints.kind[joint]
    count = joints.dof[joint + 1] - dof
    if count == 0:
        return []
    if kind in (JointType.BALL, JointType.FREE, JointType.DISTANCE):
        return [_Node(kind, before, _WORLD, q, dof, constant, np.zeros(3))]
    nodes = []
    for k in range(count):
        one = JointType.PRISMATIC if k < joints.linear[joint] else JointType.REVOLUTE
        axis = joints.axis[dof + k]
        nodes.append(_Node(int(one), before, _WORLD, q + k, dof + k, constant, axis))
        before, constant = _NODE_BEFORE, np.array(IDENTITY_POSE)
    return nodes
