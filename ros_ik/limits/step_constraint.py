# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Constraint on a step, a limit or a barrier, whose arrays belong to one solver."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import gc
from typing import cast
from typing import TYPE_CHECKING
import weakref

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.copies import WithoutDeepCopies
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.objectives.recording.snapshot import is_of_caller
from ros_ik.objectives.recording.snapshot import Snapshot

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


class StepConstraint(WithoutDeepCopies, ReadOnce):
    """Base of limits and barriers; the graph of their solver refers to their arrays.

    They belong to the solver as long as it lives, and hold its state by weak reference.
    """

    _owner: weakref.ref[StepState] | None = None
    # Attributes of a user's class when its arrays were allocated, to detect changes.
    _snapshot: Snapshot | None = None

    @property
    def _state(self) -> StepState:
        """State of the solver, while it lives; of some of its robots during a launch."""
        return cast('StepState', None if self._owner is None else self._owner())

    @_state.setter
    def _state(self, state: StepState) -> None:
        self._owner = weakref.ref(state)

    @property
    def _is_bound(self) -> bool:  # type: ignore[override]  # nothing sets it
        """True if the arrays belong to a solver that lives."""
        return self._owner is not None and self._owner() is not None

    def _holds_arrays(self) -> bool:
        return self._owner is not None

    def _release(self) -> None:
        """Let the arrays belong to no solver, so that another one may allocate them."""
        self._owner = None

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
            gc.collect()  # until then, deleted solvers in reference cycles still exist
            if not self._is_bound:
                return False
            raise ArgumentError(f'{title} already belongs to another solver; create one for each')
        if self._snapshot is not None and not self._snapshot.is_current:
            self._allocate(state)
            self._snapshot = Snapshot(self, public_only=True)
        return True

    def _set_bound(self, state: StepState) -> None:
        """Record that the arrays have been allocated for a solver."""
        self._state = state
        if is_of_caller(type(self)):
            self._snapshot = Snapshot(self, public_only=True)

    def _allocate(self, state: StepState) -> None:
        """Allocate arrays on the device of ``state``."""
        raise NotImplementedError


@contextlib.contextmanager
def released_on_error(constraints: Iterable[StepConstraint]) -> Iterator[None]:
    """Release limits and barriers that a set-up binds, if it ends with an error."""
    unbound = [constraint for constraint in constraints if not constraint._is_bound]
    try:
        yield
    except BaseException:
        for constraint in unbound:
            constraint._release()
        raise
