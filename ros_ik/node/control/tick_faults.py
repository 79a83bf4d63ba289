# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of ticks: their text for log and status, and the servo to release after several."""

from __future__ import annotations

from typing import Generic
from typing import NamedTuple
from typing import TypeVar

_Controlled = TypeVar('_Controlled')

# Number of consecutive failed ticks after which a servo is released.
_MAX_FAILURES = 5


class Fault(NamedTuple):
    """Error of a tick.

    Attributes:
        number: Number of errors up to this one; 0 before the first.
        text: Text of the error, or ''.
    """

    number: int = 0
    text: str = ''


class TickFaults(Generic[_Controlled]):
    """Errors of the ticks of a loop.

    Attributes:
        latest: Last error.
        to_release: Servo that failed in too many consecutive ticks and still runs, or None.
        failures: Number of consecutive failed ticks.
    """

    def __init__(self) -> None:
        """Start without an error."""
        self.latest = Fault()
        self.to_release: _Controlled | None = None
        self.failures = 0

    def begin_tick(self, controlled: _Controlled | None) -> None:
        """Forget another servo than that of this tick, so that its memory can be freed."""
        if self.to_release is not controlled:
            self.to_release = None

    def note_reading(self, error: Exception) -> None:
        """Record an error in reading a topic without a servo."""
        self._note(f'reading a topic failed: {type(error).__name__}: {error}')

    def note_loop(self, error: Exception) -> None:
        """Record an error outside the servo, such as in publishing a status."""
        self._note(f'the control loop failed: {type(error).__name__}: {error}')

    def note_tick(self, controlled: _Controlled, device: object, error: Exception) -> None:
        """Count a failed tick of a servo on a device."""
        self._note(f'a tick failed on {device}: {type(error).__name__}: {error}')
        self.failures += 1
        if self.failures >= _MAX_FAILURES:
            self.to_release = controlled

    def note_success(self) -> None:
        """Record a tick without an error."""
        self.failures = 0

    def _note(self, text: str) -> None:
        """Make a text that of the last error."""
        self.latest = Fault(self.latest.number + 1, text)
