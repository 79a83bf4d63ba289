# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of the objectives of one link, relative to the world or to a reference link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import warp as wp

from ros_ik.kinematics.chain import relative_chain
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.interface.jacobian_type import IKJacobianType

if TYPE_CHECKING:
    from ros_ik.model import Model


class LinkObjective(BuiltinObjective):
    """Base of objectives of a link; those with a reference have a ``reference_link_index``.

    Attributes:
        link_index: The link.
    """

    link_index: int

    def init_buffers(self, model: Model, jacobian_mode: object = IKJacobianType.ANALYTIC) -> None:
        """Find the degrees of freedom that move the link relative to its reference.

        Raises:
            ArgumentError: A link index outside the model, or a link that never moves.
        """
        reference = getattr(self, 'reference_link_index', -1)
        dofs, signs = relative_chain(model, self.link_index, reference)
        self._chain_dof = wp.array(dofs, dtype=wp.int32, device=self.device)
        self._chain_sign = wp.array(signs, dtype=wp.int32, device=self.device)
