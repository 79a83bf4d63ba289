# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barrier on a user's functions of the pose of a link.

    h = f(p, X),   dh/dq_j = g(p, X, V_j)

X is the pose of the link in the reference link, or in the world. V_j is the velocity of the link
due to degree of freedom j, as in :mod:`ros_ik.objectives.link_function`. p are parameters, a
``wp.struct`` for each robot.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import warp as wp

from ros_ik.barriers.barrier import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import relative_chain
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.objectives.base.declared import checked_function
from ros_ik.objectives.base.declared import parameter_struct
from ros_ik.objectives.base.declared import ParameterTable
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.formula import formula_functions
from ros_ik.objectives.base.link_formula import link_formula

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


@no_type_check
@functools.cache
def _link_function_kernels(barrier_formula: Formula, scalar: type) -> SimpleNamespace:
    """Build the value and Jacobian kernels of a formula with a single block."""
    types, functions = spatial_functions(scalar), formula_functions(barrier_formula, scalar)
    transform, twist, Parameters = types.transform, types.twist, functions.Parameters
    prepare, residual = functions.prepare, functions.residual
    linearize, column = functions.linearize, functions.column
    rows = wp.constant(barrier_formula.rows)

    @compiled_kernel()
    def link_function_values(
        parameters: Parameters,
        first: int,  # record of the first robot
        step: int,  # 1 for a record for each robot, 0 for one for all
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        start_idx: int,
        values: wp.array2d(dtype=scalar),  # [n, total_rows]
    ):
        robot = wp.tid()
        h = residual(prepare(parameters, robot, first + step * robot, 0, body_q))
        for k in range(rows):
            values[robot, start_idx + k] = h[k]

    @compiled_kernel()
    def link_function_jacobian(
        parameters: Parameters,
        first: int,
        step: int,
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        joint_S_s: wp.array2d(dtype=twist),  # [n, joint_dof_count]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        chain_dof: wp.array(dtype=wp.int32),  # [n_chain]
        chain_sign: wp.array(dtype=wp.int32),  # [n_chain]
        start_idx: int,
        jacobian: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
    ):
        robot = wp.tid()
        for k in range(rows):
            for variable in range(jacobian.shape[2]):
                jacobian[robot, start_idx + k, variable] = scalar(0.0)
        state = linearize(prepare(parameters, robot, first + step * robot, 0, body_q))
        for slot in range(chain_dof.shape[0]):
            dof = chain_dof[slot]
            variable = dof_variable[dof]
            if variable >= 0:
                sign = scalar(chain_sign[slot])
                slope = dof_scale[dof] * column(
                    state, parameters, robot, slot, dof, sign, body_q, joint_S_s
                )
                for k in range(rows):
                    at = start_idx + k
                    jacobian[robot, at, variable] = jacobian[robot, at, variable] + slope[k]

    return SimpleNamespace(values=link_function_values, jacobian=link_function_jacobian)


class LinkFunctionBarrier(Barrier):
    """Keep your own functions of the pose of a link positive, inside the kernels of the solver.

    Attributes:
        link_index: The link.
        reference_link_index: Link in whose frame its pose is given; -1 for the world.
    """

    read_once = Barrier.read_once | {'link_index', 'reference_link_index'}
    construction_only = frozenset(('value', 'rate', 'parameters'))
    splits = True

    def __init__(
        self,
        link_index: int,
        value: wp.Function,
        rate: wp.Function,
        parameters: Any,
        *,
        reference_link_index: int = -1,
        gain: float = 1.0,
        margin: float = 0.0,
        safe_displacement_gain: float = 1.0,
        name: str = '',
    ) -> None:
        """Declare the barrier.

        Args:
            link_index: Index of the link.
            value: The ``wp.func`` f, ``(parameters, pose: wp.transformd)``. It returns the values
                h, a ``wp.float64`` or a vector of up to six of them such as ``wp.vec2d``. The
                return type must be annotated.
            rate: The ``wp.func`` g, ``(parameters, pose: wp.transformd, velocity:
                wp.spatial_vectord)``. It returns the rate of the values as the link moves with
                this velocity, in the same type.
            parameters: An instance of the ``wp.struct`` that both take, or one for each robot.
            reference_link_index: Link in whose frame the pose is given; -1 for the world.
            gain: Fraction of h that may be used up per second [1/s].
            margin: Value of h that the step treats as the boundary, in units of h.
            safe_displacement_gain: Weight of the damping cost; see :class:`Barrier`.
            name: Name of the barrier in status texts.

        Raises:
            ArgumentError: A function with other arguments or results, parameters of another type,
                or a value outside its range.
        """
        super().__init__(
            gain=gain, margin=margin, safe_displacement_gain=safe_displacement_gain, name=name
        )
        owner = type(self).__name__
        value = checked_function(owner, 'value', value, (wp.transformd,), parameters)
        motion = wp.transformd, wp.spatial_vectord
        rate = checked_function(owner, 'rate', rate, motion, parameters, like=value)
        struct = parameter_struct(value)
        self._table = ParameterTable(owner, struct, parameters)
        self._formula = link_formula(value, rate, struct)
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        if self.link_index < 0:
            raise ArgumentError(f'link_index must be at least 0, got {link_index}')

    @property
    def row_count(self) -> int:
        """Number of values that the function returns."""
        return self._formula.rows

    def links(self) -> tuple[int, int]:
        """Return the link and the reference link."""
        return self.link_index, self.reference_link_index

    def set_parameters(self, parameters: Any) -> None:
        """Change the parameters, whose number is fixed, between solves without a new graph.

        Raises:
            ArgumentError: Another number of parameters, or another struct.
        """
        self._table.set(parameters)

    def launch_values(self, body_q: wp.array, values: wp.array, start_idx: int) -> None:
        """Write h; see :meth:`Barrier.launch_values`."""
        launch(
            self._kernels.values,
            dim=body_q.shape[0],
            inputs=[self._parameters, *self._records(), body_q, start_idx],
            outputs=[values],
            device=body_q.device,
        )

    def launch_jacobian(self, jacobian: wp.array, start_idx: int) -> None:
        """Write the derivatives of h; see :meth:`Barrier.launch_jacobian`."""
        state = self._state
        launch(
            self._kernels.jacobian,
            dim=state.n_robots,
            inputs=[
                self._parameters, *self._records(), state.body_q, state.joint_S_s,
                state.dof_variable, state.dof_scale, self._chain_dof, self._chain_sign, start_idx,
            ],
            outputs=[jacobian],
            device=state.device,
        )  # fmt: skip

    def _records(self) -> tuple[int, int]:
        """Return the record of the first robot of the state, and the stride of the records."""
        step = int(self._table.count > 1)
        return step * self._state.first_robot, step

    def _allocate(self, state: 'StepState') -> None:
        """Copy parameters and the chain of the link to the device.

        Raises:
            ArgumentError: A link index outside the model, or a wrong number of parameters.
        """
        if self._table.count not in (1, state.n_robots):
            raise ArgumentError(
                f'parameters must be one or one for each robot ({state.n_robots}), got '
                f'{self._table.count}'
            )
        dofs, signs = relative_chain(state.model, self.link_index, self.reference_link_index)
        self._kernels = _link_function_kernels(self._formula, state.scalar)
        self._chain_dof = wp.array(dofs, dtype=wp.int32, device=state.device)
        self._chain_sign = wp.array(signs, dtype=wp.int32, device=state.device)
        self._table.bind_device(state.device)
        self._parameters = self._formula.functions(state.scalar).Parameters()
        self._parameters.link = self.link_index
        self._parameters.reference = self.reference_link_index
        self._parameters.values = self._table.array
