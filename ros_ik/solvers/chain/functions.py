# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions of a chain: error, Jacobian and quadratic program of a step.

    e = [p_t - p; log(R_t R^T)],       J the geometric Jacobian, both in world axes, linear first
    minimise over d   |J d - e|^2 / 2 + lambda |d|^2 / 2   s. t.   lower <= q + alpha d <= upper

J omits the derivative of the logarithm. J'e is still the exact gradient of |e|^2 / 2, because the
rotation error is along its own axis, so the solution of the program is a descent direction.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.forward import joint_transform_function
from ros_ik.kinematics.joint_motion import joint_functions
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import tree_struct
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.solvers.qp.active_set import active_set_functions

# Least damping, relative to the mean of the Hessian's diagonal. At a singularity, or with more
# than six joints, the program then has a unique solution, of least norm. The effect elsewhere is
# 1e-9.
_MIN_RELATIVE_DAMPING = 1e-10

# Largest motion of a joint in one iteration [rad or m], for which the linearisation is valid.
_MAX_MOVE = 1.0

# Tolerance of bounds in the program [rad or m]. A joint this close to a limit is moved to it, so
# that rounding does not make it appear free.
BOUND_TOLERANCE = 1e-12

# Length below which a quaternion is treated as zero.
MIN_QUATERNION_LENGTH = 1e-6


@no_type_check
@functools.cache
def chain_structs(scalar: type) -> SimpleNamespace:
    """Build the structs ``Chain`` and ``Iterates`` of one floating-point type."""
    transform = spatial_functions(scalar).transform

    @wp.struct
    class Chain:
        root: wp.array(dtype=transform)  # [1], parent of the first joint
        base_joints: wp.array(dtype=wp.int32)  # from the world to the chain
        joints: wp.array(dtype=wp.int32)  # [n_joints]
        joint_variable: wp.array(dtype=wp.int32)  # [n_joints], -1 = fixed
        coef0: wp.array(dtype=scalar)  # [n_joints], joint = coef0 + coef1 * variable
        coef1: wp.array(dtype=scalar)  # [n_joints]
        coordinates: wp.array(dtype=wp.int32)  # [m], of the model
        lower: wp.array(dtype=scalar)  # [m]
        upper: wp.array(dtype=scalar)  # [m]
        offset: wp.array(dtype=transform)  # [1]

    # Two slots for each problem i, 2 i and 2 i + 1, for the current and the trial configuration.
    @wp.struct
    class Iterates:
        q: wp.array2d(dtype=scalar)  # [2 n, m], variables
        error: wp.array2d(dtype=scalar)  # [2 n, 6]
        jacobian: wp.array3d(dtype=scalar)  # [2 n, 6, m]

    return SimpleNamespace(Chain=Chain, Iterates=Iterates)


@no_type_check
@functools.cache
def chain_evaluation(scalar: type) -> SimpleNamespace:
    """Build the functions that evaluate the chain.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        - ``base_pose(tree, chain, row, joint_q) -> transform``: the parent of the chain;
        - ``is_usable(row, joint_q, target) -> bool``: whether a problem is finite;
        - ``evaluate(tree, chain, base, target, slot, iterates) -> scalar``: computes error and
          Jacobian of a slot and returns the length of the error.
    """
    types = spatial_functions(scalar)
    transform, twist = types.transform, types.twist
    rotation_difference, point_velocity = types.rotation_difference, types.point_velocity
    joints, joint_transform = joint_functions(scalar), joint_transform_function(scalar)
    axis_motion, axis_column = joints.axis_motion, joints.axis_column
    structs = chain_structs(scalar)
    Chain, Iterates = structs.Chain, structs.Iterates
    Tree = tree_struct(scalar)

    @wp.func
    def base_pose(
        tree: Tree, chain: Chain, row: int, joint_q: wp.array2d(dtype=scalar)
    ) -> transform:
        pose = chain.root[0]
        for k in range(chain.base_joints.shape[0]):
            joint = chain.base_joints[k]
            moved = tree.joint_X_p[joint] * joint_transform(tree, joint, row, joint_q)
            pose = pose * moved * tree.joint_X_c_inverse[joint]
        return pose

    @wp.func
    def is_usable(row: int, joint_q: wp.array2d(dtype=scalar), target: transform) -> bool:
        for k in range(joint_q.shape[1]):
            if not wp.isfinite(joint_q[row, k]):
                return False
        for k in range(7):
            if not wp.isfinite(target[k]):
                return False
        length = wp.length(wp.transform_get_rotation(target))
        return wp.isfinite(length) and length > scalar(wp.static(MIN_QUATERNION_LENGTH))

    @wp.func
    def evaluate(
        tree: Tree, chain: Chain, base: transform, target: transform, slot: int, at: Iterates
    ) -> scalar:
        m = at.q.shape[1]
        for row in range(6):
            for j in range(m):
                at.jacobian[slot, row, j] = scalar(0.0)
        pose = base
        for k in range(chain.joints.shape[0]):
            joint = chain.joints[k]
            pose = pose * tree.joint_X_p[joint]
            j = chain.joint_variable[k]
            if j >= 0:
                slides = tree.joint_type[joint] == wp.static(int(JointType.PRISMATIC))
                axis = tree.joint_axis[tree.joint_qd_start[joint]]
                S = axis_column(slides, pose, axis)
                for row in range(6):
                    at.jacobian[slot, row, j] = at.jacobian[slot, row, j] + chain.coef1[k] * S[row]
                value = chain.coef0[k] + chain.coef1[k] * at.q[slot, j]
                pose = pose * axis_motion(slides, axis, value)
            pose = pose * tree.joint_X_c_inverse[joint]
        pose = pose * chain.offset[0]
        point = wp.transform_get_translation(pose)
        for j in range(m):
            S = twist()
            for row in range(6):
                S[row] = at.jacobian[slot, row, j]
            velocity = point_velocity(S, point)
            for row in range(3):
                at.jacobian[slot, row, j] = velocity[row]
        position = wp.transform_get_translation(target) - point
        rotation = rotation_difference(
            wp.normalize(wp.transform_get_rotation(target)), wp.transform_get_rotation(pose)
        )
        for row in range(3):
            at.error[slot, row] = position[row]
            at.error[slot, 3 + row] = rotation[row]
        return wp.sqrt(wp.length_sq(position) + wp.length_sq(rotation))

    return SimpleNamespace(base_pose=base_pose, is_usable=is_usable, evaluate=evaluate)


@no_type_check
@functools.cache
def step_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of a step.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        - ``assemble(i, slot, chain, iterates, damping, step_size, bend, program, lower, upper)``:
          writes the program of problem i, with the curvature of the position times ``bend``;
        - ``predicted_decrease(i, slot, iterates, x) -> scalar``: decrease of |e|^2 / 2 by the full
          step x for a linear error;
        - ``predicted_bend(i, slot, iterates, x) -> scalar``: reduction of this decrease by the
          curvature of the position, which is approximate for mimic joints;
        - ``move(i, from_slot, to_slot, chain, iterates, step_size, x)``: computes q + alpha x,
          within the limits.
    """
    structs = chain_structs(scalar)
    Chain, Iterates = structs.Chain, structs.Iterates
    Program, vec3 = active_set_functions(scalar).Workspace, wp.types.vector(3, scalar)

    @wp.func
    def curvature(slot: int, near: int, far: int, at: Iterates) -> scalar:
        """Return the part of the second derivative of |e_p|^2 / 2 that J_p^T J_p lacks."""
        omega = vec3()
        velocity = vec3()
        error = vec3()
        for axis in range(3):
            omega[axis] = at.jacobian[slot, 3 + axis, near]
            velocity[axis] = at.jacobian[slot, axis, far]
            error[axis] = at.error[slot, axis]
        return -wp.dot(error, wp.cross(omega, velocity))

    @wp.func
    def predicted_bend(i: int, slot: int, at: Iterates, x: wp.array2d(dtype=scalar)) -> scalar:
        total = scalar(0.0)
        for j in range(at.q.shape[1]):
            for k in range(j + 1):
                term = x[i, j] * x[i, k] * curvature(slot, k, j, at)
                if k == j:
                    term = scalar(0.5) * term
                total += term
        return total

    @wp.func
    def assemble(
        i: int,
        slot: int,
        chain: Chain,
        at: Iterates,
        damping: scalar,
        step_size: scalar,
        bend: scalar,
        program: Program,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
    ):
        m = at.q.shape[1]
        trace = scalar(0.0)
        reach = scalar(wp.static(_MAX_MOVE))
        for j in range(m):
            gradient = scalar(0.0)
            for row in range(6):
                gradient -= at.jacobian[slot, row, j] * at.error[slot, row]
            program.c[i, j] = gradient
            for k in range(j + 1):
                value = scalar(0.0)
                for row in range(6):
                    value += at.jacobian[slot, row, j] * at.jacobian[slot, row, k]
                if j == k:
                    trace += value
                if bend != scalar(0.0):
                    value += bend * curvature(slot, k, j, at)
                program.H[i, j, k] = value
                program.H[i, k, j] = value
            q = at.q[slot, j]
            lower[i, j] = wp.max(chain.lower[j] - q, -reach) / step_size
            upper[i, j] = wp.min(chain.upper[j] - q, reach) / step_size
        least = scalar(wp.static(_MIN_RELATIVE_DAMPING)) * trace / scalar(m)
        for j in range(m):
            program.H[i, j, j] = program.H[i, j, j] + wp.max(damping, least)

    @wp.func
    def predicted_decrease(i: int, slot: int, at: Iterates, x: wp.array2d(dtype=scalar)) -> scalar:
        decrease = scalar(0.0)
        for row in range(6):
            moved = scalar(0.0)
            for j in range(at.q.shape[1]):
                moved += at.jacobian[slot, row, j] * x[i, j]
            decrease += moved * (at.error[slot, row] - scalar(0.5) * moved)
        return decrease

    @wp.func
    def move(
        i: int,
        from_slot: int,
        to_slot: int,
        chain: Chain,
        at: Iterates,
        step_size: scalar,
        x: wp.array2d(dtype=scalar),
    ):
        near = scalar(wp.static(BOUND_TOLERANCE))
        for j in range(at.q.shape[1]):
            moved = at.q[from_slot, j] + step_size * x[i, j]
            if moved < chain.lower[j] + near:
                moved = chain.lower[j]
            if moved > chain.upper[j] - near:
                moved = chain.upper[j]
            at.q[to_slot, j] = moved

    return SimpleNamespace(
        assemble=assemble,
        predicted_decrease=predicted_decrease,
        predicted_bend=predicted_bend,
        move=move,
        Program=Program,
    )
