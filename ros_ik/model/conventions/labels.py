# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lookup of elements of a model by label, and lists of labels for messages."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import difflib

from ros_ik.errors import ArgumentError
from ros_ik.numbers import as_integer

# Maximum number of names in a message.
_MAX_NAMES = 5


class LabelIndex:
    """The indices of the elements of one kind by label."""

    def __init__(self, kind: str, labels: Sequence[str], worlds: Sequence[int]) -> None:
        """Index the labels.

        Args:
            kind: Kind of the elements, for errors.
            labels: Label of each.
            worlds: World of each, or -1.
        """
        self._kind, self._worlds = kind, list(worlds)
        self._indices: dict[str, list[int]] = {}
        for index, label in enumerate(labels):
            self._indices.setdefault(label, []).append(index)

    def find(self, name: str, world: int | None) -> int:
        """Return the index of the only element with a label.

        Args:
            name: The label.
            world: World of the element; None if the label is unique.

        Raises:
            ArgumentError: No element has the label (the error lists the closest ones), or several
                have it.
        """
        if not isinstance(name, str):
            raise ArgumentError(f'name must be that of a {self._kind}, got {name!r}')
        if name not in self._indices:
            close = difflib.get_close_matches(name, self._indices, n=3, cutoff=0.4)
            close = close or sorted(self._indices)[:5]
            raise ArgumentError(
                f'the model has no {self._kind} {name!r}; closest: {", ".join(close)}'
            )
        found = self._indices[name]
        if world is not None and as_integer(world) is None:
            raise ArgumentError(f'world must be an integer, got {world!r}')
        if world is not None:
            found = [index for index in found if self._worlds[index] == world]
        if len(found) == 1:
            return found[0]
        if not found:
            raise ArgumentError(f'world {world} of the model has no {self._kind} {name!r}')
        where = ', '.join(f'{index} (world {self._worlds[index]})' for index in found[:4])
        raise ArgumentError(
            f'the model has {len(found)} {self._kind}s {name!r}: {where}'
            f'{", .." if len(found) > 4 else ""}; give the world or an index'
        )


def split_pair(text: str, labels: Sequence[str]) -> tuple[str, str]:
    """Return the two names before and after a colon; names may contain colons themselves.

    Args:
        text: The names, with a colon between them.
        labels: Known names. If no colon is between two of them, the first one separates.

    Raises:
        ArgumentError: Several colons are between two known names.
    """
    places = [place for place, letter in enumerate(text) if letter == ':']
    pairs = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    known = [pair for pair in pairs if set(pair) <= set(labels)]
    if len(known) > 1:
        choices = ' or '.join(f'{first!r} and {second!r}' for first, second in known)
        raise ArgumentError(f'{text!r} may mean {choices}')
    return (known or pairs)[0]


def link_names(labels: Sequence[str], links: Iterable[int]) -> tuple[str, ...]:
    """Return the names of links in model order, without repetition; 'world' for -1."""
    return tuple(labels[link] if link >= 0 else 'world' for link in sorted(set(links)))


def listed(names: Iterable[str], most: int = _MAX_NAMES) -> str:
    """Return the first few names, and the number of others, for a message."""
    names = list(dict.fromkeys(names))
    more = f' and {len(names) - most} more' if len(names) > most else ''
    return ', '.join(names[:most]) + more
