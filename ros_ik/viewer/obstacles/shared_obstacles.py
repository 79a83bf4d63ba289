# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The obstacles of the node, and which of them this page has changed last.

The node says what there is, and that counts. Only what was changed here a moment ago waits for the
node to have heard of it: what the node says meanwhile may be older, and a hand that drags an
obstacle would fight it. Something that was never sent from here is of somebody else, and newer.
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

# What the node says within this time after a change here may be older than that [s].
_HOLD = 1.0
# Versions of one obstacle on the way to the node; it answers the newer ones in order.
_MOST_SENT = 100
# Removals that are repeated until the node has heard of them; more than a page can have.
_MOST_REMOVALS = 100


@dataclasses.dataclass(eq=False)
class _Change:
    """Change made here that the node may not have heard of; None is no obstacle.

    Attributes:
        since: When it was changed last [s].
        answered: What the node has said of it before, or answered last.
        sent: What was sent since then.
        asked: When it was sent once more without a change [s].
    """

    since: float
    answered: PlacedObstacle | None
    sent: collections.deque[PlacedObstacle | None]
    asked: float = np.inf


class SharedObstacles:
    """Obstacles by name; for one thread at a time.

    Attributes:
        placed: The obstacles.
        own: Names of those that this page changed last.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with none; ``clock`` returns a time [s]."""
        self._clock = clock
        self.placed: dict[str, PlacedObstacle] = {}
        self.own: set[str] = set()
        # What the node said last, with the messages: who is in a link that moves stays where it
        # was seen first.
        self._known: dict[str, tuple[Obstacle, PlacedObstacle]] = {}
        self._heard = -np.inf
        self._touched: dict[str, _Change] = {}
        self._removed: list[str] = []
        self._is_changed = False
        # When others changed what the last message has [s]: who hears that later must not get it.
        # It is replaced a while after, for they may be at it, and the next change not heard yet.
        self._outdated = np.inf

    def is_free(self, name: str) -> bool:
        """Return whether no obstacle has this name, here or in the node."""
        return name not in self.placed and name not in self._known and name not in self._removed

    def put(self, name: str, obstacle: PlacedObstacle) -> None:
        """Add an obstacle, or change one, whoever made it."""
        self.placed[name] = obstacle
        self.own.add(name)
        if name in self._removed:
            self._removed.remove(name)
        self._touch(name)

    def remove(self, name: str) -> None:
        """Remove an obstacle, whoever made it."""
        del self.placed[name]
        self.own.discard(name)
        self._removed.append(name)
        self._touch(name)
        for forgotten in self._removed[:-_MOST_REMOVALS]:
            self._forget(forgotten)

    def hear(
        self,
        message: ObstacleArray,
        link_pose: Callable[[str], np.ndarray | None],
        is_other_node: bool,
    ) -> None:
        """Take over what the node says that there is; in order, and none left out.

        Args:
            message: All of it: CLEAR, and an ADD for each obstacle.
            link_pose: Returns the pose of a link in the world [7], None for no link.
            is_other_node: True if another node says it than before: it may not have heard of this
                page yet, and what is missing was not removed.
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
        self._heard = self._clock()
        for name, change in self._touched.items():
            self._note_answer(self._said(name), change)
        if is_other_node:
            for name in (*self._removed, *self.own):
                self._forget(name)
            for name in self.own:
                self._touch(name)

    def agree(self) -> None:
        """Let what the node says count, but for what was changed here a moment ago."""
        for name in {**self.placed, **self._known, **self._touched}:
            if self._is_in_doubt(name):
                continue
            if name in self._removed:
                # Others may use the name.
                self._outdate()
            self._forget(name)
            self._take(name)

    def take_message(self, from_world: np.ndarray, frame: str) -> ObstacleArray | None:
        """Return what has changed here since the last call, or None.

        It has every obstacle that this page changed last, for who joins late, and clears none of
        others.

        Args:
            from_world: Pose of the world in the frame [7].
            frame: Link in which poses are given.
        """
        if not self._is_changed and self._clock() - self._outdated < _HOLD:
            return None
        self._is_changed, self._outdated = False, np.inf
        message = ObstacleArray()
        for name in self._removed:
            if not self._is_of_others(name):
                message.obstacles.append(Obstacle(id=name, operation=Obstacle.REMOVE))
        for name, obstacle in self.placed.items():
            if name in self.own and not self._is_of_others(name):
                message.obstacles.append(obstacle.message(name, from_world, frame))
        for name, change in self._touched.items():
            change.sent.append(self.placed.get(name))
        return message

    def _touch(self, name: str) -> None:
        self._is_changed = True
        change = self._touched.get(name)
        if change is None:
            sent = collections.deque[PlacedObstacle | None](maxlen=_MOST_SENT)
            self._touched[name] = _Change(self._clock(), self._said(name), sent)
        else:
            # What is done here now is newer than anything that the node has said.
            change.answered = self._said(name)
            change.since, change.asked = self._clock(), np.inf

    def _outdate(self) -> None:
        self._outdated = min(self._outdated, self._clock())

    def _forget(self, name: str) -> None:
        """Forget that a name was changed here."""
        self._touched.pop(name, None)
        if name in self._removed:
            self._removed.remove(name)

    def _said(self, name: str) -> PlacedObstacle | None:
        """Return what the node says of a name."""
        known = self._known.get(name)
        return None if known is None else known[1]

    def _is_in_doubt(self, name: str) -> bool:
        """Return whether the node may not have heard of a change here; ask it once.

        Asked by the same once more: the node publishes after each message that it accepts.
        """
        change, now = self._touched.get(name), self._clock()
        if change is None:
            return False
        if now - change.since < _HOLD:
            return True
        said = self._said(name)
        if _are_same(said, self.placed.get(name)) or self._heard - change.asked >= _HOLD:
            return False
        if self._is_of_others(name):
            return False
        if change.asked == np.inf:
            change.asked, self._is_changed = now, True
        return True

    def _is_of_others(self, name: str) -> bool:
        """Return whether the node says of a name in doubt what was never sent from here."""
        change, said = self._touched.get(name), self._said(name)
        ours = () if change is None else (self.placed.get(name), change.answered, *change.sent)
        return change is not None and not any(_are_same(said, one) for one in ours)

    @staticmethod
    def _note_answer(said: PlacedObstacle | None, change: _Change) -> None:
        """Note which of the messages on the way the node has heard."""
        for count, sent in enumerate(change.sent, start=1):
            if _are_same(said, sent):
                change.answered = said
                for _ in range(count):
                    change.sent.popleft()
                return

    def _take(self, name: str) -> None:
        """Let the node's word on one obstacle count."""
        said = self._said(name)
        if said is None:
            self.placed.pop(name, None)
        elif name in self.own and _are_same(said, self.placed[name]):
            return
        else:
            self.placed[name] = said
        if name in self.own:
            self.own.discard(name)
            self._outdate()


def _are_same(one: PlacedObstacle | None, other: PlacedObstacle | None) -> bool:
    """Return whether two are the same but for rounding, or both nothing."""
    if one is None or other is None:
        return one is other
    return one.is_like(other)
