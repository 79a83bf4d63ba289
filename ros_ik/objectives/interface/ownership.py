# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Owners of an objective: the solvers that hold its arrays.

A solver records launches as graphs, which hold the arrays that an objective made when it was set
up. Setting the objective up again may replace them, so that it is done only when no living solver
needs what is there, or when every solver that does can set it up once more before it goes on.
"""

from __future__ import annotations

import gc
from typing import Any
import weakref

import warp as wp

from ros_ik.errors import ArgumentError


class Layout:
    """Setup of an objective by a solver.

    Attributes:
        model: The model.
        device: Device of the arrays.
        rows: Rows of all objectives, first row and rows of the batch; the Jacobian mode. None for
            a solver that does not tell.
        renews: Whether the solver sets the objective up again when another one took it over.
        is_current: Whether the objective still has the arrays that it made for this.
    """

    def __init__(
        self,
        model: Any,
        device: wp.Device | None,
        rows: tuple | None = None,
        *,
        renews: bool = False,
    ) -> None:
        """Keep the attributes."""
        self.model, self.device, self.rows, self.renews = model, device, rows, renews
        self.is_current = True

    def serves(self, other: Layout, *, any_rows: bool) -> bool:
        """Return whether arrays made for this serve the other, whose rows may differ or not."""
        same_rows = any_rows or (self.rows is not None and self.rows == other.rows)
        return self.model is other.model and self.device == other.device and same_rows

    def yields_to(self, other: Layout) -> bool:
        """Return whether the solver can do without the arrays until its own next solve."""
        return self.renews and other.renews and self.device == other.device


class Ownership:
    """The solvers that hold the arrays of one objective; those that are gone hold nothing.

    Attributes:
        written: Names of the attributes that solvers write when they set the objective up, or
            that its own methods change; (place, name) for a variable that is no attribute.
        kept: What the objective was when it was set up last, a ``Snapshot``; None before.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.written: set[Any] = set()
        self.kept: Any = None
        self._layouts: weakref.WeakKeyDictionary[Any, Layout] = weakref.WeakKeyDictionary()

    def claim(self, name: str, owner: Any, layout: Layout, *, any_rows: bool) -> bool:
        """Register a solver; return whether it has to set the objective up.

        Args:
            name: Name of the objective, for errors.
            owner: What identifies the solver, referred to weakly.
            layout: What it needs; not current any more once another solver took over.
            any_rows: Whether the arrays serve every layout of rows.

        Raises:
            ArgumentError: A living solver needs the arrays as they are.
        """
        if self._needs_them(owner, layout, any_rows):
            gc.collect()  # solvers are cyclic: one may be gone but for the collector
            if self._needs_them(owner, layout, any_rows):
                raise ArgumentError(
                    f'{name} already belongs to another solver, which needs it for another model, '
                    'device or number of rows; make one for each'
                )
        known = self._layouts.get(owner)
        is_set_up = known is not None and known.is_current
        for other in self._others(owner):
            if other.serves(layout, any_rows=any_rows):
                is_set_up = True
            else:
                other.is_current = False
        self._layouts[owner] = layout
        return not is_set_up

    def _needs_them(self, owner: Any, layout: Layout, any_rows: bool) -> bool:
        return any(
            not other.serves(layout, any_rows=any_rows) and not other.yields_to(layout)
            for other in self._others(owner)
        )

    def _others(self, owner: Any) -> list[Layout]:
        """Return what living solvers rely on."""
        return [
            layout
            for holder, layout in list(self._layouts.items())
            if holder is not owner and layout.is_current
        ]


def ownership_of(objective: Any) -> Ownership:
    """Return the record of an objective, ours or Newton's; kept on the object itself."""
    found: Ownership = vars(objective).setdefault('_ownership', Ownership())
    return found
