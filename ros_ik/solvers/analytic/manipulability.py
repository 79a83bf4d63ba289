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
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.launch_lock import shares_launch_lock
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
    def volume(jacobian: wp.array3d(dtype=wp.float64), row: int, directions: int) -> wp.float64:
        variables = jacobian.shape[2]
        turned = variables < directions
        count = wp.min(variables, directions)
        length = wp.max(variables, directions)
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

    @compiled_kernel(registers=128)
    def compute_manipulability(
        direction: wp.array(dtype=wp.vec3d),  # [joints], axes of the joints at zero
        point: wp.array(dtype=wp.vec3d),  # [joints], points on them, in reaches
        slides: wp.array(dtype=wp.int32),  # [joints]
        variable: wp.array(dtype=wp.int32),  # [joints], which drives each joint
        coef0: wp.array(dtype=wp.float64),  # [joints], rad and reaches
        coef1: wp.array(dtype=wp.float64),  # [joints], rad and reaches, of each by its variable
        coordinate: wp.array(dtype=wp.int32),  # [variables], of each in a configuration
        unit: wp.array(dtype=wp.float64),  # [variables], 1 rad or the reach
        tool: wp.vec3d,  # position of the tool at zero, in reaches
        across: wp.array(dtype=wp.vec3d),  # directions of turns that matter, in the tool at zero
        joint_q: wp.array2d(dtype=wp.float64),  # [n, joint_coord_count]
        jacobian: wp.array3d(dtype=wp.float64),  # [n, 6, variables], scratch
        measure: wp.array(dtype=wp.float64),  # [n]
    ):
        row = wp.tid()
        for k in range(coordinate.shape[0]):
            for c in range(6):
                jacobian[row, c, k] = wp.float64(0.0)
        # Motion of the links after joint k, x -> R x + t, and columns of velocities at the origin.
        rotation = wp.quat_identity(dtype=wp.float64)
        position = wp.vec3d()
        for k in range(direction.shape[0]):
            axis = wp.quat_rotate(rotation, direction[k])
            on_axis = wp.quat_rotate(rotation, point[k]) + position
            v = variable[k]
            value = coef0[k] + coef1[k] * joint_q[row, coordinate[v]] / unit[v]
            linear = axis
            if slides[k] != 0:
                position += value * axis
            else:
                linear = wp.cross(on_axis, axis)
                turn = wp.quat_from_axis_angle(direction[k], value)
                position += wp.quat_rotate(rotation, point[k] - wp.quat_rotate(turn, point[k]))
                rotation = rotation * turn
            for c in range(3):
                jacobian[row, c, v] = jacobian[row, c, v] + coef1[k] * linear[c]
                if slides[k] == 0:
                    jacobian[row, 3 + c, v] = jacobian[row, 3 + c, v] + coef1[k] * axis[c]
        # Velocities of the tool.
        end = wp.quat_rotate(rotation, tool) + position
        for k in range(coordinate.shape[0]):
            turned = wp.vec3d(jacobian[row, 3, k], jacobian[row, 4, k], jacobian[row, 5, k])
            moved = wp.cross(turned, end)
            for c in range(3):
                jacobian[row, c, k] = jacobian[row, c, k] + moved[c]
            for c in range(across.shape[0]):
                jacobian[row, 3 + c, k] = wp.dot(turned, wp.quat_rotate(rotation, across[c]))
        measure[row] = volume(jacobian, row, 3 + across.shape[0])

    return compute_manipulability


class ChainManipulability:
    """Manipulability of configurations of a chain, by its constants on a device."""

    def __init__(
        self, chain: SerialChain, free_rotation: str = '', device: wp.DeviceLike = 'cpu'
    ) -> None:
        """Copy the constants.

        Args:
            chain: The chain.
            free_rotation: Axes of the tool about which rotations are ignored.
            device: Device of the computation.
        """
        axes, free = joint_axes(chain), free_axes(free_rotation)
        # Basis of the rotations that are not free, the rows after those of the free ones.
        across = np.linalg.qr(np.vstack([free, np.eye(3)]).T)[0].T[len(free) :]
        variables, lengths = np.array(chain.variables), np.where(chain.slides, axes.reach, 1.0)
        # A variable has the unit of the first joint that it drives.
        unit = lengths[[chain.variables.index(k) for k in range(chain.n_variables)]]
        numbers = chain.coef0 / lengths, chain.coef1 * unit[variables] / lengths

        def array(values: np.ndarray, dtype: type) -> wp.array:
            return wp.array(values, dtype=dtype, device=device)

        def integers(values: np.ndarray) -> wp.array:
            return array(np.asarray(values, dtype=np.int32), wp.int32)

        self._device = wp.get_device(device)
        self._n_variables = chain.n_variables
        self._constants = [
            array(axes.directions, wp.vec3d), array(axes.points, wp.vec3d),
            integers(np.array(axes.slides)), integers(variables),
            *(array(each, wp.float64) for each in numbers),
            integers(chain.coordinates), array(unit, wp.float64), wp.vec3d(*axes.tool[:3, 3]),
            array(across @ axes.tool[:3, :3].T, wp.vec3d),
        ]  # fmt: skip

    def launch(self, joint_q: wp.array) -> wp.array:
        """Enqueue the computation for configurations [n, joint_coord_count]; return [n]."""
        n = joint_q.shape[0]
        scratch = wp.empty((n, 6, self._n_variables), dtype=wp.float64, device=self._device)
        measure = wp.empty(n, dtype=wp.float64, device=self._device)
        launch(
            manipulability_kernel(), dim=n, inputs=[*self._constants, joint_q],
            outputs=[scratch, measure], device=self._device,
        )  # fmt: skip
        return measure


@shares_launch_lock
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
    rows = wp.array(joint_q, dtype=wp.float64, device=device)
    measure = ChainManipulability(chain, free_rotation, device).launch(rows)
    wait_for(wp.get_device(device))
    return measure.numpy()
