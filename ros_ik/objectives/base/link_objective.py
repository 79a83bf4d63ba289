# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of the objectives of one link, relative to the world or to a reference link."""

from __future__ import annotations

from typing import Any
from typing import ClassVar
from typing import TYPE_CHECKING

import warp as wp

from ros_ik.kinematics.chain import relative_chain
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.number_table import as_table
from ros_ik.objectives.base.parameter import Parameter
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model


class LinkObjective(BuiltinObjective):
    """Base of objectives of a link; those with a reference have a ``reference_link_index``.

    Attributes:
        link_index: The link.
    """

    link_index: int
    # True if the first three residuals are the distance of a point, at the offset in the link,
    # from the first three numbers of a target.
    _places_a_point: ClassVar[bool] = False
    _offset: Parameter
    _targets: Parameter

    @shares_launch_lock
    def init_buffers(self, model: Model, jacobian_mode: object = IKJacobianType.ANALYTIC) -> None:
        """Find the degrees of freedom that move the link relative to its reference.

        Raises:
            ArgumentError: A link index outside the model, or a link that never moves.
        """
        reference = getattr(self, 'reference_link_index', -1)
        dofs, signs = relative_chain(model, self.link_index, reference)
        self._chain_dof = wp.array(dofs, dtype=wp.int32, device=self.device)
        self._chain_sign = wp.array(signs, dtype=wp.int32, device=self.device)

    def world_point(self) -> list[Any] | None:
        """Return the point that the objective places in the world, for kernels, or None.

        Returns:
            Its link and offset, and tables of the targets and the weights.
        """
        if not self._places_a_point or getattr(self, 'reference_link_index', -1) >= 0:
            return None
        tables = as_table(self._targets), as_table(self._weights)
        return [self.link_index, self._offset.array, *tables]
