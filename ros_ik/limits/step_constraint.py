# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Constraint on a step, a limit or a barrier, whose arrays belong to one solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.copies import WithoutDeepCopies
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.objectives.recording.snapshot import is_of_caller
from ros_ik.objectives.recording.snapshot import Snapshot

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


class StepConstraint(WithoutDeepCopies, ReadOnce):
    """Base of limits and barriers; the graph of their solver refers to their arrays."""

    _state: StepState
    # Attributes of a user's class when its arrays were allocated, to detect changes.
    _snapshot: Snapshot | None = None

    def _holds_arrays(self) -> bool:
        return self._is_bound

    def _is_bound_to(self, state: StepState, title: str) -> bool:
        """Return True if the arrays belong to a solver; a user's changed class allocates again.

        Args:
            state: State of the solver.
            title: Name of this constraint, for errors.

        Raises:
            ArgumentError: They belong to another solver.
        """
        if not self._is_bound:
            return False
        if self._state is not state:
            raise ArgumentError(f'{title} already belongs to another solver; create one for each')
        if self._snapshot is not None and not self._snapshot.is_current:
            self._allocate(state)
            self._snapshot = Snapshot(self, public_only=True)
        return True

    def _set_bound(self, state: StepState) -> None:
        """Record that the arrays have been allocated for a solver."""
        self._state, self._is_bound = state, True
        if is_of_caller(type(self)):
            self._snapshot = Snapshot(self, public_only=True)

    def _allocate(self, state: StepState) -> None:
        """Allocate arrays on the device of ``state``."""
        raise NotImplementedError
