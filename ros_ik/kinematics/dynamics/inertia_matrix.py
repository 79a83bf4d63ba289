# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint-space inertia matrix by the composite rigid body method, in world axes.

    M_ij = S_i' I_c S_j        if dof j is an ancestor of dof i, or of the same joint; else 0

I_c is the spatial inertia, about the world origin, of all bodies that joint i moves. S are the
motion subspaces. The method is that of Featherstone, "Rigid Body Dynamics Algorithms" (2008),
section 6.2, with all vectors in one frame. The kinetic energy is qd' M qd / 2, for the joint
velocities qd of these motion subspaces.

A spatial inertia is stored as ten numbers: mass m, first moment m x, and the upper triangle of the
inertia about the world origin. In float32, M loses digits if the robot is many times its own size
away from the origin.
"""

import dataclasses
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import incoming_joints
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.kinematics.tree import precise_array
from ros_ik.kinematics.tree import tree_struct


@dataclasses.dataclass(frozen=True)
class BodyInertias:
    """Masses and inertias of a model's bodies, on its device in one floating-point type.

    Attributes:
        scalar: ``wp.float32`` or ``wp.float64``.
        mass: Masses [kg], shape [body_count].
        com: Centres of mass in the bodies [m], shape [body_count].
        inertia: Inertias about the centres of mass in body axes [kg m^2], shape [body_count].
        joint_ancestor: Incoming joint of each joint's parent body, -1 = none, [joint_count].
        gravity_row: Row of ``model.gravity`` for each body, [body_count]: that of its world, or
            the last one for bodies outside all worlds.
    """

    scalar: type
    mass: wp.array
    com: wp.array
    inertia: wp.array
    joint_ancestor: wp.array
    gravity_row: wp.array


@no_type_check
@functools.cache
def inertia_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        The type ``inertia10`` and the functions
        ``inertia_in_world(pose, mass, com, inertia) -> inertia10`` and
        ``momentum(inertia10, twist) -> twist``, the linear momentum and the angular momentum about
        the world origin of a moving body.
    """
    types = spatial_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    mat33 = wp.types.matrix((3, 3), scalar)
    inertia10 = wp.types.vector(10, scalar)

    @wp.func
    def inertia_in_world(pose: transform, mass: scalar, com: vec3, inertia: mat33) -> inertia10:
        x = wp.transform_point(pose, com)
        rotation = wp.quat_to_matrix(wp.transform_get_rotation(pose))
        turned = rotation * inertia * wp.transpose(rotation)
        square = wp.dot(x, x)
        return inertia10(
            mass,
            mass * x[0],
            mass * x[1],
            mass * x[2],
            turned[0, 0] + mass * (square - x[0] * x[0]),
            turned[0, 1] - mass * x[0] * x[1],
            turned[0, 2] - mass * x[0] * x[2],
            turned[1, 1] + mass * (square - x[1] * x[1]),
            turned[1, 2] - mass * x[1] * x[2],
            turned[2, 2] + mass * (square - x[2] * x[2]),
        )

    @wp.func
    def momentum(inertia: inertia10, motion: twist) -> twist:
        v = vec3(motion[0], motion[1], motion[2])
        omega = vec3(motion[3], motion[4], motion[5])
        moment = vec3(inertia[1], inertia[2], inertia[3])
        linear = inertia[0] * v + wp.cross(omega, moment)
        angular = wp.cross(moment, v) + vec3(
            inertia[4] * omega[0] + inertia[5] * omega[1] + inertia[6] * omega[2],
            inertia[5] * omega[0] + inertia[7] * omega[1] + inertia[8] * omega[2],
            inertia[6] * omega[0] + inertia[8] * omega[1] + inertia[9] * omega[2],
        )
        return twist(linear[0], linear[1], linear[2], angular[0], angular[1], angular[2])

    return SimpleNamespace(
        inertia10=inertia10, mat33=mat33, inertia_in_world=inertia_in_world, momentum=momentum
    )


@no_type_check
@functools.cache
def _inertia_matrix_kernel(scalar: type) -> wp.Kernel:
    types = spatial_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    functions = inertia_functions(scalar)
    inertia10, mat33 = functions.inertia10, functions.mat33
    inertia_in_world, momentum = functions.inertia_in_world, functions.momentum
    Tree = tree_struct(scalar)

    @compiled_kernel()
    def compute_inertia_matrix(
        tree: Tree,
        joint_ancestor: wp.array(dtype=wp.int32),  # [joint_count]
        mass: wp.array(dtype=scalar),  # [body_count]
        com: wp.array(dtype=vec3),  # [body_count]
        inertia: wp.array(dtype=mat33),  # [body_count]
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        composite: wp.array2d(dtype=inertia10),  # [n, body_count], scratch
        # out
        inertia_matrix: wp.array3d(dtype=scalar),  # [n, joint_dof_count, joint_dof_count]
    ):
        row = wp.tid()
        for body in range(mass.shape[0]):
            composite[row, body] = inertia_in_world(
                body_q[row, body], mass[body], com[body], inertia[body]
            )
        joints = tree.joint_order.shape[0]
        for k in range(joints):
            joint = tree.joint_order[joints - 1 - k]
            parent = tree.joint_parent[joint]
            if parent >= 0:
                behind = composite[row, tree.joint_child[joint]]
                composite[row, parent] = composite[row, parent] + behind
        for i in range(inertia_matrix.shape[1]):
            for j in range(inertia_matrix.shape[1]):
                inertia_matrix[row, i, j] = scalar(0.0)
        for k in range(joints):
            joint = tree.joint_order[k]
            behind = composite[row, tree.joint_child[joint]]
            for i in range(tree.joint_qd_start[joint], tree.joint_qd_start[joint + 1]):
                force = momentum(behind, joint_S_s[row, i])
                ancestor = int(joint)
                while ancestor >= 0:
                    for j in range(
                        tree.joint_qd_start[ancestor], tree.joint_qd_start[ancestor + 1]
                    ):
                        value = wp.dot(joint_S_s[row, j], force)
                        inertia_matrix[row, i, j] = value
                        inertia_matrix[row, j, i] = value
                    ancestor = joint_ancestor[ancestor]

    return compute_inertia_matrix


def body_inertias(model: Any, scalar: type) -> BodyInertias:
    """Collect the inertias of a model's bodies.

    Args:
        model: A :class:`Model`, or any object with Newton's joint and body arrays. If it has
            ``body_mass64``, ``body_com64`` and ``body_inertia64``, these are used.
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        The inertias, on the model's device.
    """
    parent, incoming = model.joint_parent.numpy(), incoming_joints(model)
    ancestor = np.array([incoming.get(int(body), -1) for body in parent], dtype=np.int32)
    world = model.body_world.numpy()
    types, device = spatial_functions(scalar), model.device
    mat33 = inertia_functions(scalar).mat33
    return BodyInertias(
        scalar=scalar,
        mass=wp.array(precise_array(model, 'body_mass'), dtype=scalar, device=device),
        com=wp.array(precise_array(model, 'body_com'), dtype=types.vec3, device=device),
        inertia=wp.array(precise_array(model, 'body_inertia'), dtype=mat33, device=device),
        joint_ancestor=wp.array(ancestor, dtype=wp.int32, device=device),
        gravity_row=wp.array(world % len(model.gravity), dtype=wp.int32, device=device),
    )


def inertia_matrix_workspace(tree: KinematicTree, n: int) -> wp.array:
    """Return the scratch array of :func:`launch_inertia_matrix` for a batch of n."""
    dtype = inertia_functions(tree.scalar).inertia10
    return wp.empty((n, tree.body_count), dtype=dtype, device=tree.device)


def launch_inertia_matrix(
    tree: KinematicTree,
    inertias: BodyInertias,
    body_q: wp.array,
    joint_S_s: wp.array,
    workspace: wp.array,
    inertia_matrix: wp.array,
) -> None:
    """Compute inertia matrices; allocates nothing, so a graph can capture it.

    Args:
        tree: The tree.
        inertias: Inertias of its bodies, in the type of the tree.
        body_q: Link poses in the world, shape [n, body_count].
        joint_S_s: Motion subspaces, shape [n, joint_dof_count].
        workspace: From :func:`inertia_matrix_workspace`.
        inertia_matrix: Output, every entry written: symmetric, [kg], [kg m], [kg m^2], shape
            [n, joint_dof_count, joint_dof_count].
    """
    launch(
        _inertia_matrix_kernel(tree.scalar),
        dim=body_q.shape[0],
        inputs=[
            tree.arrays, inertias.joint_ancestor, inertias.mass, inertias.com, inertias.inertia,
            body_q, joint_S_s, workspace,
        ],
        outputs=[inertia_matrix],
        device=tree.device,
    )  # fmt: skip
