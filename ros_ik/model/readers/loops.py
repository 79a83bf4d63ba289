# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Detection of loops in descriptions that must be trees."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping


def find_loops(
    following: Mapping[str, Collection[str]], starts: Iterable[str] | None = None
) -> Iterator[list[str]]:
    """Yield the names of loops in a map from a name to those that follow it.

    Args:
        following: Names that follow each; a name may be missing.
        starts: Names from which loops are looked for; None for all.

    Yields:
        For each name from which a search returns to one that it has passed, the names between;
        at least one loop if there is any.
    """
    done: set[str] = set()
    for start in following if starts is None else starts:
        if start in done:
            continue
        path = {start: iter(following.get(start, ()))}
        while path:
            name = next(reversed(path))
            for other in path[name]:
                if other in path:
                    names = list(path)
                    yield names[names.index(other) :]
                elif other not in done:
                    path[other] = iter(following.get(other, ()))
                    break
            else:
                path.popitem()
                done.add(name)


def find_loop(following: Mapping[str, str]) -> list[str]:
    """Return the names of a loop in a map from name to name, [] if there is none."""
    return next(find_loops({name: (other,) for name, other in following.items()}), [])


def shortened(names: list[str]) -> str:
    """Return names as text that fits into a message."""
    more = f' and {len(names) - 10} more' if len(names) > 10 else ''
    return ', '.join(names[:10]) + more
