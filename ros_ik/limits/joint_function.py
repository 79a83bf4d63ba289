# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limit with a user's function of the joint position that bounds the step of each joint.

    f(p, q, dt) = (low, high),   min(low, 0) <= dq <= max(high, 0)

p are parameters, a ``wp.struct`` for each degree of freedom. The limit never forces a joint to
move. If the bounds exclude zero, the joint may move back freely but not farther out, as at a
position limit, and the status of the step is ``RELAXED``. Free and ball joints have no position
of each degree of freedom and are not bounded.
"""

import functools
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.limits.limit import Limit
from ros_ik.limits.limit import STATE_TOLERANCE
from ros_ik.limits.limit import tighten_function
from ros_ik.objectives.base.declared import checked_function
from ros_ik.objectives.base.declared import parameter_struct
from ros_ik.objectives.base.declared import ParameterTable

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


@no_type_check
@functools.cache
def _parameters_struct(joint_bounds: wp.Function) -> Any:
    """Return the struct of the parameters of a kernel.

    If a function and its struct are declared again with the same text, as by a notebook cell that
    runs again, Warp uses the kernel of the first ones. It takes such a struct of the second ones,
    but no array of them.
    """
    Values = parameter_struct(joint_bounds)

    @wp.struct
    class Parameters:
        values: wp.array(dtype=Values)  # [1 or joint_dof_count]

    return Parameters


@no_type_check
@functools.cache
def _joint_function_kernel(joint_bounds: wp.Function, scalar: type) -> wp.Kernel:
    tighten, outside = tighten_function(scalar), wp.constant(wp.float64(STATE_TOLERANCE))
    Parameters = _parameters_struct(joint_bounds)

    @compiled_kernel()
    def apply_joint_function_limit(
        parameters: Parameters,
        dt: wp.float64,
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        moving_dof: wp.array(dtype=wp.int32),  # [n_moving]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        # in and out
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
        is_relaxed: wp.array(dtype=wp.int32),  # [n]
    ):
        row = wp.tid()
        for k in range(moving_dof.shape[0]):
            dof = moving_dof[k]
            coord = dof_coord[dof]
            if coord >= 0:
                record = wp.min(dof, parameters.values.shape[0] - 1)
                bounds = joint_bounds(
                    parameters.values[record], wp.float64(joint_q[row, coord]), dt
                )
                # A bound that is NaN allows no motion.
                if not (bounds[0] <= outside and bounds[1] >= -outside):
                    is_relaxed[row] = 1
                low = scalar(0.0)
                if bounds[0] < wp.float64(0.0):
                    low = scalar(bounds[0])
                high = scalar(0.0)
                if bounds[1] > wp.float64(0.0):
                    high = scalar(bounds[1])
                tighten(row, dof_variable[dof], dof_scale[dof], low, high, lower, upper)

    return apply_joint_function_limit


class JointFunctionLimit(Limit):
    """Keep steps within your own bounds, inside the kernels of the solver."""

    construction_only = frozenset(('bounds', 'parameters'))
    splits = True

    def __init__(self, bounds: wp.Function, parameters: Any) -> None:
        """Declare the limit.

        Args:
            bounds: The ``wp.func`` f, ``(parameters, q: wp.float64, dt: wp.float64) -> wp.vec2d``:
                least and largest step of a joint at its position q, in a step of dt [s]; infinite
                for none [rad or m].
            parameters: An instance of the ``wp.struct`` that it takes, or one for each degree of
                freedom of the model.

        Raises:
            ArgumentError: A function with other arguments or results, or parameters of another
                type.
        """
        owner = type(self).__name__
        arguments = wp.float64, wp.float64
        bounds = checked_function(owner, 'bounds', bounds, arguments, parameters, rows=2)
        table = ParameterTable(owner, parameter_struct(bounds), parameters)
        self._bounds, self._table = bounds, table

    def set_parameters(self, parameters: Any) -> None:
        """Change the parameters, whose number is fixed, between solves without a new graph.

        Raises:
            ArgumentError: Another number of parameters, or another struct.
        """
        self._table.set(parameters)

    def _allocate(self, state: 'StepState') -> None:
        """Copy the parameters to the device.

        Raises:
            ArgumentError: A number of parameters that is not 1 or that of degrees of freedom.
        """
        dofs = state.model.joint_dof_count
        if self._table.count not in (1, dofs):
            raise ArgumentError(
                f'{type(self).__name__}: parameters must be one or one for each degree of freedom '
                f'({dofs}), got {self._table.count}'
            )
        self._table.bind_device(state.device)

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box; see :meth:`Limit.launch`."""
        state, parameters = self._state, _parameters_struct(self._bounds)()
        parameters.values = self._table.array
        launch(
            _joint_function_kernel(self._bounds, state.scalar),
            dim=state.n_robots,
            inputs=[
                parameters, state.dt, state.joint_q, state.moving_dof, state.dof_coord,
                state.dof_variable, state.dof_scale,
            ],
            outputs=[lower, upper, state.is_relaxed],
            device=state.device,
        )  # fmt: skip
