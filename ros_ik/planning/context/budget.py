# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Budget of a request: its deadline and the reason for a cancellation."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import math
import time

from ros_ik.errors import ArgumentError
from ros_ik.errors import RosIkError
from ros_ik.model.conventions.checks import as_number
from ros_ik.model.conventions.labels import listed


class RequestError(RosIkError, ValueError):
    """A request that cannot be answered; the message names the fault."""


class UnmeasuredError(RequestError):
    """A collision check that would ignore links.

    Attributes:
        links: Names of the links whose collision shapes are missing in whole or in part.
    """

    def __init__(self, links: tuple[str, ...]) -> None:
        """Store the links."""
        super().__init__(
            f'check_collisions: collision shapes of {listed(links)} are missing; give the node '
            'their meshes, or ask without the check'
        )
        self.links = links


@contextlib.contextmanager
def argument_errors_as_request_errors() -> Iterator[None]:
    """Turn argument errors into request errors."""
    try:
        yield
    except ArgumentError as error:
        raise RequestError(str(error)) from error


class Budget:
    """Time budget of one request, checked between slices of work."""

    def __init__(
        self, seconds: float = math.inf, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Start the time.

        Args:
            seconds: Time limit [s].
            now: Clock [s].

        Raises:
            ArgumentError: Not a number, or a clock that cannot be called.
        """
        if math.isnan(as_number('seconds', seconds)):
            raise ArgumentError('seconds must not be NaN')
        if not callable(now):
            raise ArgumentError(f'now must be a function, got {now!r}')
        self.seconds = float(seconds)
        self._now = now
        self._end = now() + self.seconds
        self._reason = ''

    @property
    def expired(self) -> bool:
        """True if the time limit has passed."""
        return self._now() >= self._end

    def cancel(self, reason: str) -> None:
        """Cancel the request; for any thread."""
        self._reason = reason

    def check(self) -> None:
        """Raise :class:`RequestError` if the request was cancelled."""
        if self._reason:
            raise RequestError(self._reason)

    def check_time(self) -> None:
        """Raise :class:`RequestError` after a cancellation or the time limit."""
        self.check()
        if self.expired:
            raise RequestError(f'the time limit has passed: {self.seconds:g} s')
