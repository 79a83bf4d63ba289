# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ownership of an objective by the solvers that use its arrays.

A solver records launches as graphs, which refer to the arrays that an objective allocated at
set-up. A new set-up may replace these arrays. It is allowed only if no other solver uses them, or
if every other solver can repeat its own set-up before its next solve.
"""

from __future__ import annotations

import gc
from typing import Any
import weakref

import warp as wp

from ros_ik.errors import ArgumentError


class Layout:
    """Requirements of a solver on the arrays of an objective.

    Attributes:
        model: The model.
        device: Device of the arrays.
        rows: Number of rows of all objectives, first row, rows of the batch, and the Jacobian
            mode; None if the solver does not specify them.
        renews: True if the solver can set the objective up again after another solver has.
        is_current: True if the objective still has the arrays of this set-up.
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
        """Return True if arrays for this layout serve another, with other rows if ``any_rows``."""
        same_rows = any_rows or (self.rows is not None and self.rows == other.rows)
        return self.model is other.model and self.device == other.device and same_rows

    def can_give_up_to(self, other: Layout) -> bool:
        """Return True if the solver can give up the arrays until its own next solve."""
        return self.renews and other.renews and self.device == other.device


class Ownership:
    """Register of the solvers that use the arrays of an objective, by weak reference.

    Attributes:
        written: Names of the attributes that solvers write at set-up, or that the objective's own
            methods change; (scope, name) for a variable that is not an attribute.
        snapshot: ``Snapshot`` of the objective at its last set-up; None before.
    """

    def __init__(self) -> None:
        """Start without owners."""
        self.written: set[Any] = set()
        self.snapshot: Any = None
        self._layouts: weakref.WeakKeyDictionary[Any, Layout] = weakref.WeakKeyDictionary()

    def claim(self, name: str, owner: Any, layout: Layout, *, any_rows: bool) -> bool:
        """Register a solver; return True if it must set the objective up.

        Args:
            name: Name of the objective, for errors.
            owner: Object that represents the solver, held by weak reference.
            layout: Requirements of the solver. ``is_current`` becomes False as soon as another
                solver sets the objective up for other requirements.
            any_rows: True if the arrays serve any layout of rows.

        Raises:
            ArgumentError: Another solver needs the current arrays.
        """
        if self._others_need_arrays(owner, layout, any_rows):
            gc.collect()  # until then, deleted solvers in reference cycles still exist
            if self._others_need_arrays(owner, layout, any_rows):
                raise ArgumentError(
                    f'{name} already belongs to another solver, which needs it for another model, '
                    'device or number of rows; create one for each'
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

    def _others_need_arrays(self, owner: Any, layout: Layout, any_rows: bool) -> bool:
        return any(
            not other.serves(layout, any_rows=any_rows) and not other.can_give_up_to(layout)
            for other in self._others(owner)
        )

    def _others(self, owner: Any) -> list[Layout]:
        """Return the current layouts of the other solvers."""
        return [
            layout
            for holder, layout in list(self._layouts.items())
            if holder is not owner and layout.is_current
        ]


def ownership_of(objective: Any) -> Ownership:
    """Return the ownership of an objective, ours or Newton's, stored in the object itself."""
    found: Ownership = vars(objective).setdefault('_ownership', Ownership())
    return found
