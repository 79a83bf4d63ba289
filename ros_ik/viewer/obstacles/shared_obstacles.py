# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles of the node, merged with recent changes of this page.

The list of the node is authoritative. Only obstacles changed here recently keep their local state
until the node has processed the change, because its messages may be older; otherwise an obstacle
would jump back while it is dragged. A state that was never sent from here is a newer change by
someone else.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
import dataclasses
import time

import numpy as np

from ros_ik.viewer.obstacles.placed_obstacle import PlacedObstacle
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

# Time after a local change within which messages of the node may be older than it [s].
_CONFIRMATION_TIME = 1.0
# Maximum number of unanswered versions of one obstacle; the node answers in order.
_MAX_SENT = 100
# Maximum number of unanswered removals; more than a page can have obstacles.
_MAX_REMOVALS = 100


@dataclasses.dataclass(eq=False)
class _Change:
    """A local change that the node may not have processed; None means no obstacle.

    Attributes:
        since: Time of the last change [s].
        answered: Last state reported by the node, before the change or as an answer.
        sent: Versions sent since then.
        resent: Time at which it was sent again without a change [s].
    """

    since: float
    answered: PlacedObstacle | None
    sent: collections.deque[PlacedObstacle | None]
    resent: float = np.inf


class SharedObstacles:
    """Obstacles by name; for one thread at a time.

    Attributes:
        placed: The obstacles.
        own: Names of the obstacles last changed by this page.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty; ``clock`` returns a time [s]."""
        self._clock = clock
        self.placed: dict[str, PlacedObstacle] = {}
        self.own: set[str] = set()
        # Last list of the node, with its messages: an obstacle in a moving link stays where it was
        # first.
        self._known: dict[str, tuple[Obstacle, PlacedObstacle]] = {}
        self._last_heard = -np.inf
        self._changes: dict[str, _Change] = {}
        self._removed: list[str] = []
        self._is_changed = False
        # Times at which others changed obstacles of the last message [s]. Late subscribers must
        # not receive the old state. The message is replaced after a delay, because further changes
        # may follow.
        self._outdated_since = np.inf

    def is_free(self, name: str) -> bool:
        """Return True if no obstacle has this name, here or in the node."""
        return name not in self.placed and name not in self._known and name not in self._removed

    def put(self, name: str, obstacle: PlacedObstacle) -> None:
        """Add or change an obstacle."""
        self.placed[name] = obstacle
        self.own.add(name)
        if name in self._removed:
            self._removed.remove(name)
        self._record_change(name)

    def remove(self, name: str) -> None:
        """Remove an obstacle."""
        del self.placed[name]
        self.own.discard(name)
        self._removed.append(name)
        self._record_change(name)
        for forgotten in self._removed[:-_MAX_REMOVALS]:
            self._forget(forgotten)

    def process_node_list(
        self,
        message: ObstacleArray,
        link_pose: Callable[[str], np.ndarray | None],
        is_other_node: bool,
    ) -> None:
        """Process the list of the node; call it in order, for every message.

        Args:
            message: The complete list: CLEAR, and an ADD for each obstacle.
            link_pose: Function that returns the pose of a link in the world [7], or None for
                an unknown link.
            is_other_node: True if the node was restarted. It may not know this page yet, so
                missing obstacles were not removed.
        """
        before, self._known = self._known, {}
        for entry in message.obstacles:
            if entry.operation != Obstacle.ADD:
                continue
            known = before.get(entry.id)
            if known is not None and known[0] == entry:
                self._known[entry.id] = known
                continue
            frame = link_pose(entry.header.frame_id)
            placed = None if frame is None else PlacedObstacle.from_message(entry, frame)
            if placed is not None:
                self._known[entry.id] = entry, placed
        self._last_heard = self._clock()
        for name, change in self._changes.items():
            self._note_answer(self._state_in_node(name), change)
        if is_other_node:
            for name in (*self._removed, *self.own):
                self._forget(name)
            for name in self.own:
                self._record_change(name)

    def adopt_node_list(self) -> None:
        """Adopt the list of the node, except for recent local changes."""
        for name in {**self.placed, **self._known, **self._changes}:
            if self._is_unconfirmed(name):
                continue
            if name in self._removed:
                # Others may reuse the name.
                self._note_outdated()
            self._forget(name)
            self._adopt(name)

    def take_message(self, from_world: np.ndarray, frame: str) -> ObstacleArray | None:
        """Return the changes made here since the last call, or None.

        The message contains every obstacle that this page changed last, for late subscribers. It
        has no CLEAR, which would delete the obstacles of others.

        Args:
            from_world: Pose of the world in the frame [7].
            frame: Link in whose frame poses are given.
        """
        if not self._is_changed and self._clock() - self._outdated_since < _CONFIRMATION_TIME:
            return None
        self._is_changed, self._outdated_since = False, np.inf
        message = ObstacleArray()
        for name in self._removed:
            if not self._is_changed_by_others(name):
                message.obstacles.append(Obstacle(id=name, operation=Obstacle.REMOVE))
        for name, obstacle in self.placed.items():
            if name in self.own and not self._is_changed_by_others(name):
                message.obstacles.append(obstacle.message(name, from_world, frame))
        for name, change in self._changes.items():
            change.sent.append(self.placed.get(name))
        return message

    def _record_change(self, name: str) -> None:
        self._is_changed = True
        change = self._changes.get(name)
        if change is None:
            sent = collections.deque[PlacedObstacle | None](maxlen=_MAX_SENT)
            self._changes[name] = _Change(self._clock(), self._state_in_node(name), sent)
        else:
            # Current changes are newer than all messages of the node.
            change.answered = self._state_in_node(name)
            change.since, change.resent = self._clock(), np.inf

    def _note_outdated(self) -> None:
        self._outdated_since = min(self._outdated_since, self._clock())

    def _forget(self, name: str) -> None:
        """Forget the local change of a name."""
        self._changes.pop(name, None)
        if name in self._removed:
            self._removed.remove(name)

    def _state_in_node(self, name: str) -> PlacedObstacle | None:
        """Return the state of a name in the node."""
        known = self._known.get(name)
        return None if known is None else known[1]

    def _is_unconfirmed(self, name: str) -> bool:
        """Return True if the node may not have processed a local change; resend it once.

        Resending makes the node answer, because it publishes after each accepted message.
        """
        change, now = self._changes.get(name), self._clock()
        if change is None:
            return False
        if now - change.since < _CONFIRMATION_TIME:
            return True
        reported = self._state_in_node(name)
        if (
            _are_same(reported, self.placed.get(name))
            or self._last_heard - change.resent >= _CONFIRMATION_TIME
        ):
            return False
        if self._is_changed_by_others(name):
            return False
        if change.resent == np.inf:
            change.resent, self._is_changed = now, True
        return True

    def _is_changed_by_others(self, name: str) -> bool:
        """Return True if the node reports a state that was never sent from here."""
        change, reported = self._changes.get(name), self._state_in_node(name)
        ours = () if change is None else (self.placed.get(name), change.answered, *change.sent)
        return change is not None and not any(_are_same(reported, one) for one in ours)

    @staticmethod
    def _note_answer(reported: PlacedObstacle | None, change: _Change) -> None:
        """Record which of the sent messages the node has processed."""
        for count, sent in enumerate(change.sent, start=1):
            if _are_same(reported, sent):
                change.answered = reported
                for _ in range(count):
                    change.sent.popleft()
                return

    def _adopt(self, name: str) -> None:
        """Adopt the state of one obstacle in the node."""
        reported = self._state_in_node(name)
        if reported is None:
            self.placed.pop(name, None)
        elif name in self.own and _are_same(reported, self.placed[name]):
            return
        else:
            self.placed[name] = reported
        if name in self.own:
            self.own.discard(name)
            self._note_outdated()


def _are_same(one: PlacedObstacle | None, other: PlacedObstacle | None) -> bool:
    """Return True if two states are equal up to rounding errors, or both None."""
    if one is None or other is None:
        return one is other
    return one.is_like(other)
