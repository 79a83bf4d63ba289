# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barrier that keeps the origin of a link inside an axis-aligned box.

    h = p_a - min_a   and   h = max_a - p_a   for each finite bound of each selected axis a

p is the origin of the link in the axes of the reference link, or of the world.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.barriers.barrier import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import relative_chain
from ros_ik.kinematics.collision.pairs.pair_sweep import arc_function
from ros_ik.kinematics.collision.pairs.pair_sweep import ROUNDING
from ros_ik.kinematics.collision.pairs.point_path import follow_point_kernel
from ros_ik.kinematics.collision.pairs.point_path import point_in_function
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.numbers import host_array
from ros_ik.numbers import real_value

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState
    from ros_ik.kinematics.stepping.stop_path import PathCheck


@no_type_check
@functools.cache
def _position_barrier_kernels(scalar: type) -> SimpleNamespace:
    """Build the value and Jacobian kernels of one floating-point type."""
    point_velocity = spatial_functions(scalar).point_velocity
    arc, point_in = arc_function(scalar), point_in_function(scalar)
    transform = wp.types.transformation(scalar)
    spatial_vector = wp.types.vector(6, scalar)

    @compiled_kernel()
    def position_barrier_values(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        link: int,
        reference: int,
        row_axis: wp.array(dtype=wp.int32),  # [row_count]
        row_sign: wp.array(dtype=scalar),  # [row_count], +1 at a minimum, -1 at a maximum
        row_bound: wp.array(dtype=scalar),  # [row_count]
        start_idx: int,
        values: wp.array2d(dtype=scalar),  # [n, total_rows]
    ):
        robot = wp.tid()
        position = point_in(robot, link, reference, body_q)
        for row in range(row_axis.shape[0]):
            values[robot, start_idx + row] = row_sign[row] * (
                position[row_axis[row]] - row_bound[row]
            )

    @compiled_kernel()
    def position_barrier_jacobian(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=spatial_vector),  # [n, joint_dof_count]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        chain_sign: wp.array(dtype=wp.int32),  # [n_chain]
        link: int,
        reference: int,
        row_axis: wp.array(dtype=wp.int32),  # [row_count]
        row_sign: wp.array(dtype=scalar),  # [row_count]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
    ):
        robot = wp.tid()
        for row in range(row_axis.shape[0]):
            for variable in range(jacobian.shape[2]):
                jacobian[robot, start_idx + row, variable] = scalar(0.0)
        world = wp.transform_get_translation(body_q[robot, link])
        to_reference = wp.quat_identity(dtype=scalar)
        if reference >= 0:
            to_reference = wp.quat_inverse(wp.transform_get_rotation(body_q[robot, reference]))
        for k in range(chain_dof.shape[0]):
            dof = chain_dof[k]
            variable = dof_variable[dof]
            if variable >= 0:
                velocity = wp.quat_rotate(
                    to_reference, point_velocity(joint_S_s[robot, dof], world)
                )
                factor = scalar(chain_sign[k]) * dof_scale[dof]
                for row in range(row_axis.shape[0]):
                    added = row_sign[row] * factor * velocity[row_axis[row]]
                    at = start_idx + row
                    jacobian[robot, at, variable] = jacobian[robot, at, variable] + added

    @compiled_kernel()
    def sweep_position_barrier(
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=spatial_vector),  # [n, joint_dof_count]
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        travel: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        link: int,
        reference: int,
        row_axis: wp.array(dtype=wp.int32),  # [row_count]
        row_sign: wp.array(dtype=scalar),  # [row_count]
        row_bound: wp.array(dtype=scalar),  # [row_count]
        may_fall: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        world = wp.transform_get_translation(body_q[robot, link])
        reach = scalar(wp.static(ROUNDING))
        for k in range(chain_dof.shape[0]):
            dof = chain_dof[k]
            reach += arc(joint_S_s[robot, dof], travel[robot, dof], world, scalar(0.0))
        position = point_in(robot, link, reference, body_q)
        for row in range(row_axis.shape[0]):
            if not (row_sign[row] * (position[row_axis[row]] - row_bound[row]) >= reach):
                may_fall[robot] = 1

    return SimpleNamespace(
        values=position_barrier_values,
        jacobian=position_barrier_jacobian,
        sweep=sweep_position_barrier,
    )


class PositionBarrier(Barrier):
    """Keep the origin of a link inside a box.

    Attributes:
        link_index: Index of the link.
        p_min: Lower corner [m], shape [3]; -inf for no bound.
        p_max: Upper corner [m], shape [3]; inf for no bound.
    """

    read_once = Barrier.read_once | {'link_index', 'reference_link_index', 'p_min', 'p_max'}
    construction_only = frozenset(('axes',))

    splits = sweeps = follows = True

    def __init__(
        self,
        link_index: int,
        p_min: Sequence[float] | np.ndarray,
        p_max: Sequence[float] | np.ndarray,
        *,
        axes: Sequence[bool] = (True, True, True),
        reference_link_index: int = -1,
        gain: float = 1.0,
        margin: float = 0.0,
        safe_displacement_gain: float = 1.0,
        name: str = '',
    ) -> None:
        """Create the barrier.

        Args:
            link_index: Index of the link.
            p_min: Lower corner of the box [m], shape [3]; -inf for no bound.
            p_max: Upper corner of the box [m], shape [3]; inf for no bound.
            axes: Axes that have bounds, bool [3].
            reference_link_index: Link in whose frame the box is given; -1 for the world.
            gain: Fraction of the distance that may be used up per second [1/s].
            margin: Distance kept from the faces in the step [m].
            safe_displacement_gain: Weight of the damping cost; see :class:`Barrier`.
            name: Name of the barrier in status texts.

        Raises:
            ArgumentError: A negative link index, a wrong shape, NaN, a lower corner above the
                upper one, no finite bound.
        """
        super().__init__(
            gain=gain, margin=margin, safe_displacement_gain=safe_displacement_gain, name=name
        )
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        for label, link, least in (
            ('link_index', self.link_index, 0),
            ('reference_link_index', self.reference_link_index, -1),
        ):
            if link < least:
                raise ArgumentError(f'{label} must be at least {least}, got {link}')
        self.p_min, self.p_max = _corner('p_min', p_min), _corner('p_max', p_max)
        if host_array(axes, 'axes').shape != (3,):
            raise ArgumentError(f'axes must have 3 entries, got {axes}')
        if not np.all(self.p_min < self.p_max):
            raise ArgumentError(
                f'p_min must lie below p_max on each axis, got {p_min} and {p_max}'
            )
        rows = [
            (axis, sign, bound[axis])
            for sign, bound in ((1.0, self.p_min), (-1.0, self.p_max))
            for axis in range(3)
            if axes[axis] and np.isfinite(bound[axis])
        ]
        if not rows:
            raise ArgumentError(
                'p_min and p_max must have a finite bound on a selected axis, got '
                f'{p_min} and {p_max} with axes {axes}'
            )
        self._rows = rows

    @property
    def row_count(self) -> int:
        """Number of finite bounds on the selected axes."""
        return len(self._rows)

    def links(self) -> tuple[int, int]:
        """Return the link and the reference link."""
        return self.link_index, self.reference_link_index

    def launch_values(self, body_q: wp.array, values: wp.array, start_idx: int) -> None:
        """Write the distances to the faces; see :meth:`Barrier.launch_values`."""
        launch(
            self._kernels.values,
            dim=body_q.shape[0],
            inputs=[
                body_q, self.link_index, self.reference_link_index,
                self._axis, self._sign, self._bound, start_idx,
            ],
            outputs=[values],
            device=body_q.device,
        )  # fmt: skip

    def launch_sweep(self, travel: wp.array, may_fall: wp.array) -> None:
        """Mark robots whose link may leave the box; see :meth:`Barrier.launch_sweep`."""
        state = self._state
        launch(
            self._kernels.sweep,
            dim=state.n_robots,
            inputs=[
                state.body_q, state.joint_S_s, self._chain_dof, travel, self.link_index,
                self.reference_link_index, self._axis, self._sign, self._bound,
            ],
            outputs=[may_fall],
            device=state.device,
        )  # fmt: skip

    def launch_follow(self, check: 'PathCheck', column: int) -> None:
        """Check the distances to the faces along paths; see :meth:`Barrier.launch_follow`."""
        state = self._state
        launch(
            follow_point_kernel(state.scalar),
            dim=state.n_robots,
            inputs=[
                check.path.arrays, self._chain_dof, state.dof_variable, self.link_index,
                self.reference_link_index, self._axis, self._sign, self._bound, check.tolerance,
                check.between, column,
            ],
            outputs=[check.unsafe, check.cut],
            device=state.device,
        )  # fmt: skip

    def launch_jacobian(self, jacobian: wp.array, start_idx: int) -> None:
        """Write the derivatives of the distances; see :meth:`Barrier.launch_jacobian`."""
        state = self._state
        launch(
            self._kernels.jacobian,
            dim=state.n_robots,
            inputs=[
                state.body_q, state.joint_S_s, state.dof_variable, state.dof_scale,
                self._chain_dof, self._chain_sign, self.link_index, self.reference_link_index,
                self._axis, self._sign, start_idx,
            ],
            outputs=[jacobian],
            device=state.device,
        )  # fmt: skip

    def _allocate(self, state: 'StepState') -> None:
        """Copy the bounds and the chain of the link to the device.

        Raises:
            ArgumentError: A link index outside the model.
        """
        dofs, signs = relative_chain(state.model, self.link_index, self.reference_link_index)
        axis, sign, bound = zip(*self._rows, strict=True)
        self._kernels = _position_barrier_kernels(state.scalar)
        self._chain_dof = wp.array(dofs, dtype=wp.int32, device=state.device)
        self._chain_sign = wp.array(signs, dtype=wp.int32, device=state.device)
        self._axis = wp.array(axis, dtype=wp.int32, device=state.device)
        self._sign = wp.array(sign, dtype=state.scalar, device=state.device)
        self._bound = wp.array(bound, dtype=state.scalar, device=state.device)


def _corner(name: str, values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return a corner of a box, float64 [3], or raise ArgumentError."""
    corner = real_value(name, values)
    if corner.shape != (3,) or np.any(np.isnan(corner)):
        raise ArgumentError(
            f'{name} must be 3 numbers, infinite where there is no bound, got {values}'
        )
    return read_only(corner)
