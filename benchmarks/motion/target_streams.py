# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Streams of pose targets about paths, as cameras, trackers and hands of people send them.

A path gives the displacement [3] of the target from its start at a time [s], in the base. This
file needs only numpy.
"""

from collections.abc import Callable
from collections.abc import Iterator
import dataclasses

import numpy as np

SPEED = 0.25  # m/s, of the ramp
RAMP_BEGIN, RAMP_SECONDS = 0.5, 1.2

# When a message is received and was made [s], and its displacement [3].
Message = tuple[float, float, np.ndarray]


def eight(time: float) -> np.ndarray:
    """Return displacements along y and z on a figure of eight, at up to 0.28 m/s."""
    return np.array([0.0, 0.1 * np.sin(2.0 * time), 0.05 * np.sin(4.0 * time)])


def ramp(time: float) -> np.ndarray:
    """Return displacements at 0.25 m/s from 0.5 s to 1.7 s, with an abrupt start and stop."""
    return np.array([0.0, SPEED * np.clip(time - RAMP_BEGIN, 0.0, RAMP_SECONDS), 0.0])


def step(time: float) -> np.ndarray:
    """Return displacements that jump by 20 mm at 1 s."""
    return np.array([0.0, 0.02 * (time > 1.0), 0.0])


@dataclasses.dataclass
class Stream:
    """Messages about a path.

    Attributes:
        path: Displacement from the start [3] at a time [s].
        rate: Messages a second [Hz].
        jitter: How far each is early or late, as a part of the period.
        delay: Time on the way [s].
        noise: Standard deviation of positions [m].
        stamped: True if each says when it was made, on a clock of its own.
        lost: Part of them that is lost.
        copies: How late copies of each message are received, in periods.
        overtakes: True if of every forty messages, three in succession come after the one that
            follows them.
    """

    path: Callable[[float], np.ndarray] = eight
    rate: float = 30.0
    jitter: float = 0.0
    delay: float = 0.0
    noise: float = 0.0
    stamped: bool = True
    lost: float = 0.0
    copies: tuple[float, ...] = ()
    overtakes: bool = False

    def messages(self, seconds: float, rng: np.random.Generator) -> list[Message]:
        """Return times of receipt, times of making and displacements, in the order of receipt."""
        made = np.arange(0.0, seconds, 1.0 / self.rate)
        late = self.delay + self.jitter / self.rate * rng.uniform(-1.0, 1.0, len(made))
        if self.overtakes:
            for first, periods in enumerate((3.2, 2.55, 1.9)):
                late[20 + first :: 40] += periods / self.rate
        points = [self.path(time) + self.noise * rng.normal(size=3) for time in made]
        found = list(zip(made + late, made, points, strict=True))
        found = [message for message in found if rng.random() >= self.lost]
        found += [
            (received + copy / self.rate, *rest)
            for received, *rest in found
            for copy in self.copies
        ]
        return sorted(found, key=lambda message: message[0])

    def arrivals(
        self, seconds: float, loop: float, rng: np.random.Generator
    ) -> Iterator[tuple[float, list[Message]]]:
        """Yield the time of each tick [s] and the messages received since the previous one.

        The last tick is the one before the end. At the end the target would seem to stop, and the
        jerk of that stop would hide that of the motion.

        Args:
            seconds: How long the stream lasts.
            loop: Ticks a second [Hz].
            rng: Draws jitter, noise and losses.
        """
        waiting = self.messages(seconds, rng)
        for tick in range(1, round(seconds * loop)):
            time, received = tick / loop, []
            while waiting and waiting[0][0] <= time + 1e-9:
                received.append(waiting.pop(0))
            yield time, received
