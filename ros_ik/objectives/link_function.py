# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objective for a user's function of the pose of a link, declared as Warp functions.

    r = w f(p, X),   dr/dq_j = w g(p, X, V_j)

X is the pose of the link in the reference link, or in the world. V_j is the velocity of the link
due to degree of freedom j: the velocity of its origin, then the angular velocity, in the axes of
the reference link. p are parameters, a ``wp.struct`` for each problem. f and g are in float64;
solves in float32 convert.
"""

from collections.abc import Sequence
from typing import Any

import warp as wp

from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.declared import checked_function
from ros_ik.objectives.base.declared import parameter_struct
from ros_ik.objectives.base.declared import ParameterTable
from ros_ik.objectives.base.declared import returned_rows
from ros_ik.objectives.base.formula import Formula
from ros_ik.objectives.base.link_formula import link_formula
from ros_ik.objectives.base.link_objective import LinkObjective


class IKObjectiveLinkFunction(LinkObjective):
    """Drive your own function of the pose of a link to zero, inside the kernels of the solvers.

    Attributes:
        link_index: The link.
        reference_link_index: Link in whose frame its pose is given; -1 for the world.
    """

    construction_only = frozenset(('residual', 'column', 'parameters'))

    def __init__(
        self,
        link_index: int,
        residual: wp.Function,
        column: wp.Function,
        parameters: Any,
        *,
        reference_link_index: int = -1,
        weight: float | Sequence[float] = 1.0,
    ) -> None:
        """Declare the objective.

        Args:
            link_index: Index of the link.
            residual: The ``wp.func`` f, ``(parameters, pose: wp.transformd)``. It returns the
                residuals, a ``wp.float64`` or a vector of up to six of them such as ``wp.vec2d``.
                The return type must be annotated.
            column: The ``wp.func`` g, ``(parameters, pose: wp.transformd, velocity:
                wp.spatial_vectord)``. It returns the rate of the residuals as the link moves with
                this velocity, in the same type.
            parameters: An instance of the ``wp.struct`` that both take, or one for each problem.
                They are copied: a field that is set later changes nothing before
                :meth:`set_parameters`.
            reference_link_index: Link in whose frame the pose is given; -1 for the world.
            weight: Factor on the residuals, one or as many.

        Raises:
            ArgumentError: A function with other arguments or results, parameters of another type,
                or a negative weight.
        """
        name = type(self).__name__
        residual = checked_function(name, 'residual', residual, (wp.transformd,), parameters)
        motion = wp.transformd, wp.spatial_vectord
        column = checked_function(name, 'column', column, motion, parameters, like=residual)
        values = parameter_struct(residual)
        self._table = ParameterTable(name, values, parameters)
        super().__init__(checked_weight('weight', weight, returned_rows(residual)))
        self._formula = link_formula(residual, column, values)
        self.link_index = checked_link('link_index', link_index)
        self.reference_link_index = checked_link('reference_link_index', reference_link_index)
        self.n_problems = self._table.count

    @property
    def formula(self) -> Formula:
        """Formula made of the two functions."""
        return self._formula

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Copy parameters and weights to ``device``."""
        super().bind_device(device)
        self._table.bind_device(self.device)

    def set_parameters(self, parameters: Any) -> None:
        """Change the parameters of all problems; their number is fixed.

        Raises:
            ArgumentError: Another number of parameters, or another struct.
        """
        self._table.set(parameters)

    def set_parameter(self, problem_idx: int, parameters: Any) -> None:
        """Change the parameters of one problem.

        Raises:
            ArgumentError: No such problem, or another struct.
        """
        self._table.set_one('problem_idx', problem_idx, parameters)

    def _fill(self, parameters: Any, scalar: type) -> None:
        parameters.link, parameters.reference = self.link_index, self.reference_link_index
        parameters.values = self._table.array
