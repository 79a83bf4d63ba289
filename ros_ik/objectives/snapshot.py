# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What an objective keeps on the host, as it was when a solver recorded its launches.

A recorded launch holds numbers and arrays of that time: a weight that is set later, or an array
that takes the place of another, is not in it. Solvers compare before they replay, and record anew
where something is different. What is written into arrays in place needs no comparison.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import operator
import types
from typing import Any

import numpy as np
import warp as wp

from ros_ik.objectives.builtin import BuiltinObjective
from ros_ik.objectives.ownership import ownership_of

# What solvers write when they set an objective up.
_OF_SOLVERS = frozenset(('device', 'total_residuals', 'residual_offset', 'n_batch', '_ownership'))
# Their values do not change but by being replaced.
_UNCHANGING = int | float | complex | bool | str | bytes | None | wp.array | np.generic
_LIBRARIES = ('ros_ik', 'newton', 'warp', 'numpy', 'builtins')
# Objects within objects that are looked into.
_DEPTH = 3


class Snapshot:
    """The host data of one objective.

    Looked at are its attributes, those that solvers write aside, and where its class is the
    caller's also attributes of the class and what its methods read of their module and of the
    function around them.
    """

    def __init__(self, objective: Any) -> None:
        """Copy what counts now."""
        self._objective = objective
        written = ownership_of(objective).written | _OF_SOLVERS
        is_ours = _module(type(objective)) == 'ros_ik'
        names = [
            name
            for name in vars(objective)
            if name not in written
            and (name == '_changes' or not (is_ours and name.startswith('_')))
        ]
        values = vars(objective)
        self._plain = [name for name in names if isinstance(values[name], _UNCHANGING)]
        self._kept = self._read(values)
        self._others = [
            (values, name, _frozen(values[name], _DEPTH))
            for name in names
            if name not in self._plain
        ]
        for holder, name in _outside(type(objective)):
            self._others.append((holder, name, _frozen(holder[name], _DEPTH)))

    @property
    def is_current(self) -> bool:
        """Whether all of it still is as it was."""
        try:
            if self._read(vars(self._objective)) != self._kept:
                return False
            return all(
                _frozen(holder[name], _DEPTH) == kept for holder, name, kept in self._others
            )
        except KeyError:  # an attribute is gone
            return False

    def _read(self, values: Mapping[str, Any]) -> Any:
        """Return the values that do not change but by being replaced."""
        return operator.itemgetter(*self._plain)(values) if self._plain else ()


def note_written(objective: Any, before: Mapping[str, Any]) -> None:
    """Remember which attributes a set-up wrote: they are no data of the caller.

    Args:
        objective: The objective, set up.
        before: ``dict(vars(objective))`` before that.
    """
    written = ownership_of(objective).written
    missing = object()
    for name, value in vars(objective).items():
        if before.get(name, missing) is not value:
            written.add(name)


class Snapshots:
    """The host data of several objectives."""

    def __init__(self, objectives: Iterable[Any]) -> None:
        """Copy what counts now."""
        listed = list(objectives)
        self._seen = BuiltinObjective.changes
        self._kept = [Snapshot(objective) for objective in listed]
        # Only the setting of an attribute changes a built-in one.
        self._are_counted = all(
            isinstance(objective, BuiltinObjective) and _module(type(objective)) == 'ros_ik'
            for objective in listed
        )

    @property
    def are_current(self) -> bool:
        """Whether all of them still are as they were."""
        changes = BuiltinObjective.changes
        if self._are_counted and self._seen == changes:
            return True
        current = all(kept.is_current for kept in self._kept)
        if current:
            self._seen = changes
        return current


class _Cell(Mapping[str, Any]):
    """A variable of a function around another one, as a mapping of one entry."""

    def __init__(self, cell: types.CellType) -> None:
        self._cell = cell

    def __getitem__(self, name: str) -> Any:
        return self._cell.cell_contents

    def __iter__(self) -> Iterator[str]:
        return iter(('cell_contents',))

    def __len__(self) -> int:
        return 1


def _module(kind: type) -> str:
    return (kind.__module__ or '').split('.')[0]


def _outside(kind: type) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield where the caller's classes keep data beside the object, and under which name."""
    for cls in kind.__mro__:
        if _module(cls) in _LIBRARIES:
            continue
        for name, value in list(vars(cls).items()):
            if isinstance(value, types.FunctionType):
                for used in value.__code__.co_names:
                    if used in value.__globals__ and _is_data(value.__globals__[used]):
                        yield value.__globals__, used
                for cell in value.__closure__ or ():
                    if _has_data(cell):
                        yield _Cell(cell), 'cell_contents'
            elif not name.startswith('__') and _is_data(value):
                yield vars(cls), name


def _has_data(cell: types.CellType) -> bool:
    try:
        return _is_data(cell.cell_contents)
    except ValueError:  # not filled yet
        return False


def _is_data(value: Any) -> bool:
    """Whether a value is data and not code."""
    return not (
        callable(value)
        or isinstance(value, types.ModuleType | property | staticmethod | classmethod)
        or type(value).__name__ in ('member_descriptor', 'getset_descriptor', '_abc_data')
    )


def _frozen(value: Any, depth: int) -> Any:
    """Return something that equals what it returns for the same value later, else not."""
    if isinstance(value, _UNCHANGING):
        return value
    if isinstance(value, np.ndarray):
        return id(value), value.shape, str(value.dtype), value.tobytes()
    if hasattr(type(value), '_wp_scalar_type_'):  # a vector, a matrix, a transform
        return type(value), np.array(value, dtype=np.float64).tobytes()
    if isinstance(value, list | tuple):
        return type(value), tuple(_frozen(item, depth) for item in value)
    if isinstance(value, dict):
        return tuple((key, _frozen(item, depth)) for key, item in value.items())
    # Not into models, devices and tapes, nor into other objectives.
    is_the_callers = _module(type(value)) not in _LIBRARIES and _is_data(value)
    if is_the_callers and depth and not hasattr(value, 'compute_residuals'):
        return _Same(value), _frozen(getattr(value, '__dict__', {}), depth - 1)
    return _Same(value)


class _Same:
    """Equals itself around the same object."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._value is self._value

    def __hash__(self) -> int:
        return id(self._value)
