# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective for the position of the centre of mass of the robot or of some links.

    r = w (c_t - R^T (c - p)),   c = sum_b m_b x_b / m,   dr/dq_j = -w R^T (dc/dq_j - v_j(c))

p, R are the pose of the reference link in the world, and v_j(c) is the velocity at c of a point
fixed in that link. Without a reference link, the world takes its place, and v_j is zero.
:mod:`ros_ik.kinematics.dynamics.center_of_mass` computes the Jacobian dc/dq_j.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.dynamics.center_of_mass import center_of_mass_functions
from ros_ik.kinematics.dynamics.center_of_mass import mass_distribution
from ros_ik.kinematics.dynamics.center_of_mass import MassDistribution
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model.conventions.checks import checked_items
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.builtin import PositionTargetObjective
from ros_ik.objectives.base.formula import block_functions
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.functions import objective_functions
from ros_ik.objectives.base.number_table import as_table
from ros_ik.objectives.base.number_table import table_functions
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model


@no_type_check
@functools.cache
def _functions(scalar: type) -> SimpleNamespace:
    types, tables = objective_functions(scalar), table_functions(scalar)
    masses = center_of_mass_functions(scalar)
    vec3, transform, twist = types.vec3, types.transform, types.twist
    point_velocity, link_pose = types.point_velocity, types.link_pose
    MassArrays, center_of_mass = masses.MassArrays, masses.center_of_mass
    center_velocity = masses.center_of_mass_velocity
    Table, table_vec3 = tables.Table, tables.table_vec3
    rows3 = block_functions(scalar).rows3

    @wp.struct
    class Parameters:
        reference: int
        masses: MassArrays
        target: Table  # [n_problems, 3]

    @wp.struct
    class State:
        to_reference: transform
        center: vec3  # in the world
        target: vec3

    @wp.func
    def prepare(
        parameters: Parameters,
        row: int,
        problem: int,
        block: int,
        body_q: wp.array2d(dtype=transform),
    ) -> State:
        state = State()
        reference = link_pose(row, parameters.reference, body_q)
        state.to_reference = wp.transform_inverse(reference)
        state.center = center_of_mass(parameters.masses, row, body_q)
        state.target = table_vec3(parameters.target, problem, 0)
        return state

    @wp.func
    def residual(state: State) -> twist:
        return rows3(state.target - wp.transform_point(state.to_reference, state.center))

    @wp.func
    def column(
        state: State,
        parameters: Parameters,
        row: int,
        slot: int,
        dof: int,
        sign: scalar,
        body_q: wp.array2d(dtype=transform),
        joint_S_s: wp.array2d(dtype=twist),
    ) -> twist:
        velocity = center_velocity(parameters.masses, row, dof, body_q, joint_S_s)
        if parameters.reference >= 0:
            # Subtract the velocity of the reference link at the centre of mass.
            velocity -= sign * point_velocity(joint_S_s[row, dof], state.center)
            velocity = wp.transform_vector(state.to_reference, velocity)
        return rows3(-velocity)

    return SimpleNamespace(
        Parameters=Parameters, State=State, prepare=prepare, residual=residual, column=column
    )


CENTER_OF_MASS = Formula('center_of_mass', _functions, rows=3)


class IKObjectiveCenterOfMass(PositionTargetObjective):
    """Move the centre of mass to a position in the world or in a link.

    Attributes:
        reference_link_index: Link in whose frame the targets are given; -1 for the world.
    """

    formula = CENTER_OF_MASS

    construction_only = frozenset(('bodies',))

    def __init__(
        self,
        target_positions: Any,
        *,
        weight: float | Sequence[float] = 1.0,
        bodies: Sequence[int] | None = None,
        reference_link_index: int = -1,
    ) -> None:
        """Create the objective.

        Args:
            target_positions: Targets in the reference link [m]: numbers of shape [3] or
                [n_problems, 3], or a Warp array [n_problems] of vec3, which is read in
                place.
            weight: Factor on the residuals [1/m], one or per axis; (1, 1, 0) leaves the height
                free.
            bodies: Indices of the links that are included; None for all.
            reference_link_index: Link in whose frame the targets are given; -1 for the world.

        Raises:
            ArgumentError: A wrong shape or type, a NaN, a negative weight, or an invalid link
                index.
        """
        super().__init__(target_positions, checked_weight('weight', weight, 3))
        self._bodies = None
        if bodies is not None:
            indices = checked_items('bodies', bodies, 'body indices')
            self._bodies = [checked_link('an index in bodies', body) for body in indices]
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        self._masses: dict[type, MassDistribution] = {}

    @shares_launch_lock
    def init_buffers(
        self, model: 'Model', jacobian_mode: object = IKJacobianType.ANALYTIC
    ) -> None:
        """Collect the masses and the bodies that each degree of freedom moves.

        Raises:
            ArgumentError: A link outside the model, or links without mass.
        """
        self._masses = {
            scalar: mass_distribution(model, scalar, self._bodies)
            for scalar in (wp.float32, wp.float64)
        }
        moves = np.zeros(model.joint_dof_count, dtype=np.int32)
        moves[link_dofs(model, self.reference_link_index)] = 1
        moved = np.diff(self._masses[wp.float64].arrays.moved_start.numpy())
        dofs = np.flatnonzero(moved | moves)
        self._chain_dof = wp.array(dofs, dtype=wp.int32, device=self.device)
        self._chain_sign = wp.array(moves[dofs], dtype=wp.int32, device=self.device)

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.reference = self.reference_link_index
        parameters.masses = self._masses[scalar].arrays
        parameters.target = as_table(self._targets)

    def _links(self) -> None:
        return None
