# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Manipulability of configurations of a chain (Yoshikawa 1985).

It is the product of the singular values of the tool Jacobian, with lengths in units of the reach.
Their number is the smaller of the numbers of joints and of directions. The product is the volume
spanned by the rows, or by the columns if these are fewer. Modified Gram-Schmidt computes it as the
product of the distance of each from the span of those before it.
"""

import functools
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.launch_lock import beside_launches
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.solvers.analytic.structure.form import free_axes
from ros_ik.solvers.analytic.structure.structure import joint_axes


@no_type_check
@functools.cache
def manipulability_kernel() -> wp.Kernel:
    """Build the kernel that computes the Jacobian of each configuration, and the volume."""

    @wp.func
    def entry(jacobian: wp.array3d(dtype=wp.float64), row: int, i: int, k: int, turned: bool):
        """Return component k of vector i, a row or a column of the Jacobian."""
        if turned:
            return jacobian[row, k, i]
        return jacobian[row, i, k]

    @wp.func
    def volume(jacobian: wp.array3d(dtype=wp.float64), row: int) -> wp.float64:
        directions = jacobian.shape[1]
        joints = jacobian.shape[2]
        turned = joints < directions
        count = wp.min(joints, directions)
        length = wp.max(joints, directions)
        product = wp.float64(1.0)
        for i in range(count):
            square = wp.float64(0.0)
            for k in range(length):
                square += entry(jacobian, row, i, k, turned) * entry(jacobian, row, i, k, turned)
            product *= wp.sqrt(square)
            for j in range(i + 1, count):
                along = wp.float64(0.0)
                for k in range(length):
                    first = entry(jacobian, row, i, k, turned)
                    along += first * entry(jacobian, row, j, k, turned)
                if square > wp.float64(0.0):
                    along /= square
                for k in range(length):
                    rest = entry(jacobian, row, j, k, turned)
                    rest -= along * entry(jacobian, row, i, k, turned)
                    if turned:
                        jacobian[row, k, j] = rest
                    else:
                        jacobian[row, j, k] = rest
        return product

    @compiled_kernel()
    def compute_manipulability(
        direction: wp.array(dtype=wp.vec3d),  # [joints], axes of the joints at zero
        point: wp.array(dtype=wp.vec3d),  # [joints], points on them, in reaches
        slides: wp.array(dtype=wp.int32),  # [joints]
        tool: wp.vec3d,  # position of the tool at zero, in reaches
        across: wp.array(dtype=wp.vec3d),  # directions of turns that matter, in the tool at zero
        q: wp.array2d(dtype=wp.float64),  # [n, joints], rad and reaches
        jacobian: wp.array3d(dtype=wp.float64),  # [n, 3 + turns, joints], scratch
        measure: wp.array(dtype=wp.float64),  # [n]
    ):
        row = wp.tid()
        # Motion of the links after joint k, x -> R x + t.
        rotation = wp.quat_identity(dtype=wp.float64)
        position = wp.vec3d()
        for k in range(direction.shape[0]):
            axis = wp.quat_rotate(rotation, direction[k])
            place = wp.quat_rotate(rotation, point[k]) + position
            for c in range(3):
                jacobian[row, c, k] = place[c]
            for c in range(across.shape[0]):
                jacobian[row, 3 + c, k] = wp.float64(0.0)
            if slides[k] != 0:
                position += q[row, k] * axis
            else:
                turn = wp.quat_from_axis_angle(direction[k], q[row, k])
                position += wp.quat_rotate(rotation, point[k] - wp.quat_rotate(turn, point[k]))
                rotation = rotation * turn
        end = wp.quat_rotate(rotation, tool) + position
        behind = wp.quat_identity(dtype=wp.float64)
        for k in range(direction.shape[0]):
            axis = wp.quat_rotate(behind, direction[k])
            if slides[k] == 0:
                place = wp.vec3d(jacobian[row, 0, k], jacobian[row, 1, k], jacobian[row, 2, k])
                for c in range(across.shape[0]):
                    jacobian[row, 3 + c, k] = wp.dot(axis, wp.quat_rotate(rotation, across[c]))
                behind = behind * wp.quat_from_axis_angle(direction[k], q[row, k])
                axis = wp.cross(axis, end - place)
            for c in range(3):
                jacobian[row, c, k] = axis[c]
        measure[row] = volume(jacobian, row)

    return compute_manipulability


@beside_launches
def manipulability(
    chain: SerialChain, joint_q: np.ndarray, free_rotation: str = '', device: wp.DeviceLike = 'cpu'
) -> np.ndarray:
    """Return the manipulability of configurations, [n].

    Args:
        chain: The chain.
        joint_q: Configurations of the whole model, [n, joint_coord_count].
        free_rotation: Axes of the tool about which rotations are ignored.
        device: Device of the computation.
    """
    axes, free = joint_axes(chain), free_axes(free_rotation)
    q = joint_q[:, chain.coordinates] / np.where(chain.slides, axes.reach, 1.0)
    # Basis of the rotations that are not free, the rows after those of the free ones.
    across = np.linalg.qr(np.vstack([free, np.eye(3)]).T)[0].T[len(free) :] @ axes.tool[:3, :3].T

    def array(values: np.ndarray, dtype: type) -> wp.array:
        return wp.array(values, dtype=dtype, device=device)

    n, joints = q.shape
    measure = wp.empty(n, dtype=wp.float64, device=device)
    launch(
        manipulability_kernel(),
        dim=n,
        inputs=[
            array(axes.directions, wp.vec3d), array(axes.points, wp.vec3d),
            array(np.asarray(axes.slides, dtype=np.int32), wp.int32),
            wp.vec3d(*axes.tool[:3, 3]), array(across, wp.vec3d), array(q, wp.float64),
        ],
        outputs=[
            wp.empty((n, 3 + len(across), joints), dtype=wp.float64, device=device), measure,
        ],
        device=device,
    )  # fmt: skip
    wait_for(wp.get_device(device))
    return measure.numpy()
