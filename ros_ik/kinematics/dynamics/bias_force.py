# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Bias force C(q, qd) qd + g(q), the joint force at zero joint acceleration.

Recursive Newton-Euler algorithm in world axes at the world origin, with qdd = 0 (Featherstone,
"Rigid Body Dynamics Algorithms" (2008), section 5.3). Gravity is an acceleration -g of the world.

    outward:  V = V_p + sum_i S_i qd_i,   A = A_p + sum_i S_i' qd_i,   F = I A + V x* (I V)
    inward:   tau_i = S_i . F,            F_p += F

S_i' is the rate of the motion subspace, (twist of the body that its axis is fixed to) x S_i. Each
axis of a D6 joint moves with the axes before it. Axes of ball and free joints are fixed to the
parent.
"""

import dataclasses
import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.dynamics.inertia_matrix import BodyInertias
from ros_ik.kinematics.dynamics.inertia_matrix import inertia_functions
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.kinematics.tree import tree_struct
from ros_ik.model.conventions.joint_type import JointType


@dataclasses.dataclass(frozen=True)
class BiasForceWorkspace:
    """Scratch arrays of :func:`launch_bias_force`, each [n, body_count].

    Attributes:
        body_twist: Twists of the bodies.
        body_acceleration: Spatial accelerations minus gravity.
        body_force: Forces and moments about the world origin that the joints transmit.
    """

    body_twist: wp.array
    body_acceleration: wp.array
    body_force: wp.array


@no_type_check
@functools.cache
def _bias_force_kernel(scalar: type) -> wp.Kernel:
    types = spatial_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    functions = inertia_functions(scalar)
    mat33 = functions.mat33
    inertia_in_world, momentum = functions.inertia_in_world, functions.momentum
    Tree = tree_struct(scalar)

    @wp.func
    def join(linear: vec3, angular: vec3) -> twist:
        return twist(linear[0], linear[1], linear[2], angular[0], angular[1], angular[2])

    @wp.func
    def rising(g: wp.vec3) -> twist:
        """Return the acceleration of the world that is equivalent to gravity."""
        return twist(
            -scalar(g[0]), -scalar(g[1]), -scalar(g[2]), scalar(0.0), scalar(0.0), scalar(0.0)
        )

    @wp.func
    def cross_motion(V: twist, S: twist) -> twist:
        """Return the rate of a twist S that is fixed to a body with twist V."""
        v, omega = vec3(V[0], V[1], V[2]), vec3(V[3], V[4], V[5])
        s, axis = vec3(S[0], S[1], S[2]), vec3(S[3], S[4], S[5])
        return join(wp.cross(omega, s) + wp.cross(v, axis), wp.cross(omega, axis))

    @wp.func
    def cross_force(V: twist, F: twist) -> twist:
        """Return the rate of a momentum F that is fixed to a body with twist V."""
        v, omega = vec3(V[0], V[1], V[2]), vec3(V[3], V[4], V[5])
        p, L = vec3(F[0], F[1], F[2]), vec3(F[3], F[4], F[5])
        return join(wp.cross(omega, p), wp.cross(v, p) + wp.cross(omega, L))

    @compiled_kernel(registers=128)
    def compute_bias_force(
        tree: Tree,
        mass: wp.array(dtype=scalar),  # [body_count]
        com: wp.array(dtype=vec3),  # [body_count]
        inertia: wp.array(dtype=mat33),  # [body_count]
        gravity: wp.array(dtype=wp.vec3),  # [worlds and more]
        gravity_row: wp.array(dtype=wp.int32),  # [body_count]
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        joint_qd: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        body_twist: wp.array2d(dtype=twist),  # [n, body_count], scratch, as the next two
        body_acceleration: wp.array2d(dtype=twist),
        body_force: wp.array2d(dtype=twist),
        # out
        bias_force: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
    ):
        row = wp.tid()
        joints = tree.joint_order.shape[0]
        for body in range(mass.shape[0]):
            body_force[row, body] = twist()
            body_twist[row, body] = twist()
            body_acceleration[row, body] = rising(gravity[gravity_row[body]])
        for k in range(joints):
            joint = tree.joint_order[k]
            kind = tree.joint_type[joint]
            parent = tree.joint_parent[joint]
            child = tree.joint_child[joint]
            V = twist()
            A = rising(gravity[gravity_row[child]])
            if parent >= 0:
                V = body_twist[row, parent]
                A = body_acceleration[row, parent]
            carrier = V
            for dof in range(tree.joint_qd_start[joint], tree.joint_qd_start[joint + 1]):
                A += cross_motion(carrier, joint_S_s[row, dof]) * joint_qd[row, dof]
                V += joint_S_s[row, dof] * joint_qd[row, dof]
                if kind == wp.static(int(JointType.D6)):
                    carrier = V
            body_twist[row, child] = V
            body_acceleration[row, child] = A
            body_inertia = inertia_in_world(
                body_q[row, child], mass[child], com[child], inertia[child]
            )
            body_force[row, child] = momentum(body_inertia, A) + cross_force(
                V, momentum(body_inertia, V)
            )
        for k in range(joints):
            joint = tree.joint_order[joints - 1 - k]
            force = body_force[row, tree.joint_child[joint]]
            for dof in range(tree.joint_qd_start[joint], tree.joint_qd_start[joint + 1]):
                bias_force[row, dof] = wp.dot(joint_S_s[row, dof], force)
            parent = tree.joint_parent[joint]
            if parent >= 0:
                body_force[row, parent] = body_force[row, parent] + force

    return compute_bias_force


def bias_force_workspace(tree: KinematicTree, n: int) -> BiasForceWorkspace:
    """Return the scratch arrays of :func:`launch_bias_force` for a batch of n."""
    twist = spatial_functions(tree.scalar).twist
    arrays = (wp.empty((n, tree.body_count), dtype=twist, device=tree.device) for _ in range(3))
    return BiasForceWorkspace(*arrays)


def launch_bias_force(
    tree: KinematicTree,
    inertias: BodyInertias,
    gravity: wp.array,
    body_q: wp.array,
    joint_S_s: wp.array,
    joint_qd: wp.array,
    workspace: BiasForceWorkspace,
    bias_force: wp.array,
) -> None:
    """Compute bias forces; allocates nothing, so a graph can capture it.

    Args:
        tree: The tree.
        inertias: Inertias of its bodies, in the type of the tree.
        gravity: ``model.gravity`` [m/s^2], float32 vec3; each body has the gravity of its world.
        body_q: Link poses in the world, shape [n, body_count].
        joint_S_s: Motion subspaces, shape [n, joint_dof_count].
        joint_qd: Joint velocities [rad/s, m/s], shape [n, joint_dof_count].
        workspace: From :func:`bias_force_workspace`.
        bias_force: Output: forces and torques [N, Nm], shape [n, joint_dof_count].
    """
    launch(
        _bias_force_kernel(tree.scalar),
        dim=body_q.shape[0],
        inputs=[
            tree.arrays, inertias.mass, inertias.com, inertias.inertia, gravity,
            inertias.gravity_row, body_q, joint_S_s, joint_qd,
            workspace.body_twist, workspace.body_acceleration, workspace.body_force,
        ],
        outputs=[bias_force],
        device=tree.device,
    )  # fmt: skip
