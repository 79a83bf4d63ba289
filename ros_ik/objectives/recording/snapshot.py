# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of the host data of objectives, taken when a solver records its launches.

A recorded launch keeps the numbers and arrays of that time. A weight that is set later, or an
array that replaces another, has no effect on it. Solvers therefore compare snapshots before they
replay a recording, and record again if something has changed. Values written into arrays in place
need no comparison.
"""

from __future__ import annotations

import array
from collections import deque
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import functools
import operator
import sys
import types
from typing import Any

import numpy as np
import warp as wp

from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.interface.ownership import ownership_of

# Attributes that solvers write when they set an objective up.
_OF_SOLVERS = frozenset(
    ('device', 'total_residuals', 'residual_offset', 'n_batch', '_ownership', '_structs')
)
# Immutable types.
_UNCHANGING = int | float | complex | bool | str | bytes | None | wp.array | np.generic
LIBRARIES = ('ros_ik', 'newton', 'warp', 'numpy', 'builtins')
_STANDARD = frozenset(sys.stdlib_module_names) - {'test', '__main__'}
# Largest depth of nested objects that are compared.
_DEPTH = 3


class Snapshot:
    """Snapshot of the host data of one objective.

    It contains the attributes of the objective, except those that solvers write. For a user's
    class it also contains the attributes of the class, and the variables of the module and of
    enclosing functions that its methods read.
    """

    def __init__(self, objective: Any, *, whole: bool = False, public_only: bool = False) -> None:
        """Copy the current data.

        Args:
            objective: The objective; or a user's limit or barrier.
            whole: True to include attributes that the set-up and its own methods write.
            public_only: True to exclude attributes whose names begin with an underscore.
        """
        self._objective, self._public_only = objective, public_only
        self._methods = _methods(type(objective))
        self._hidden = self._methods & vars(objective).keys()
        written = {*_OF_SOLVERS, *(() if whole else ownership_of(objective).written)}
        is_ours = public_only or _module(type(objective)) == 'ros_ik'
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
            ('', values, name, _frozen(values[name], _DEPTH))
            for name in names
            if name not in self._plain
        ]
        for scope, holder, name in _outside(objective):
            if (scope, name) not in written:
                self._others.append((scope, holder, name, _frozen(holder[name], _DEPTH)))

    @property
    def is_current(self) -> bool:
        """True if nothing has changed."""
        try:
            values = vars(self._objective)
            if self._read(values) != self._kept:
                return False
            if self._methods and self._methods & values.keys() != self._hidden:
                return False
            return all(
                _frozen(holder[name], _DEPTH) == kept for _, holder, name, kept in self._others
            )
        except (KeyError, ValueError):  # an attribute was removed, or is an array now
            return False

    def changed(self) -> set[Any]:
        """Return the names of changed data, in the form of :attr:`Ownership.written`."""
        if self.is_current:
            return set()
        values, missing = vars(self._objective), object()
        kept = self._kept if len(self._plain) != 1 else (self._kept,)
        found: set[Any] = set()
        for name, value in zip(self._plain, kept, strict=True):
            if _frozen(values.get(name, missing), 0) != _frozen(value, 0):
                found.add(name)
        for scope, holder, name, value in self._others:
            if name not in holder or _frozen(holder[name], _DEPTH) != value:
                found.add((scope, name) if scope else name)
        return found

    def without_own_changes(self) -> Snapshot:
        """Return a snapshot without the data that methods of the objective have just changed."""
        changed = self.changed()
        if not changed:
            return self
        owners = ownership_of(self._objective)
        owners.written.update(changed)
        owners.snapshot = Snapshot(self._objective, public_only=self._public_only)
        return owners.snapshot

    def _read(self, values: Mapping[str, Any]) -> Any:
        """Return immutable copies of the values."""
        return operator.itemgetter(*self._plain)(values) if self._plain else ()


def note_written(objective: Any, before: Mapping[str, Any]) -> None:
    """Store the names of attributes that a set-up wrote, so that snapshots exclude them.

    Args:
        objective: The objective after set-up.
        before: ``dict(vars(objective))`` before set-up.
    """
    written = ownership_of(objective).written
    missing = object()
    for name, value in vars(objective).items():
        if before.get(name, missing) is not value:
            written.add(name)


class Snapshots:
    """Snapshots of several objectives, and of a user's limits and barriers.

    Attributes:
        seen: ``BuiltinObjective.changes`` at the last comparison without a difference. As long as
            it is the same, nothing has changed. -1 if some changes are not counted.
    """

    def __init__(self, objectives: Iterable[Any], parts: Iterable[Any] = ()) -> None:
        """Copy the current data.

        Args:
            objectives: Objectives of any kind.
            parts: Limits and barriers; those of this package are ignored.
        """
        listed = list(objectives)
        own = [part for part in parts if is_of_caller(type(part))]
        self._snapshots = [Snapshot(objective) for objective in listed]
        self._snapshots += [Snapshot(part, public_only=True) for part in own]
        # Built-in objectives change only by setting attributes, which are counted.
        self._are_counted = not own and all(
            isinstance(objective, BuiltinObjective) and _module(type(objective)) == 'ros_ik'
            for objective in listed
        )
        self.seen = BuiltinObjective.changes if self._are_counted else -1

    @property
    def are_current(self) -> bool:
        """True if nothing has changed."""
        changes = BuiltinObjective.changes
        if self.seen == changes:
            return True
        current = all(snapshot.is_current for snapshot in self._snapshots)
        if current and self._are_counted:
            self.seen = changes
        return current

    def leave_out_own_changes(self) -> None:
        """Exclude data that methods of the objectives have just changed; it needs no set-up."""
        self._snapshots = [snapshot.without_own_changes() for snapshot in self._snapshots]


class _Cell(Mapping[str, Any]):
    """Variable of an enclosing function, as a mapping with one entry or none."""

    def __init__(self, cell: types.CellType) -> None:
        self._cell = cell

    def __getitem__(self, name: str) -> Any:
        try:
            return self._cell.cell_contents
        except ValueError:  # not assigned, or deleted
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(('cell_contents',)[: len(self)])

    def __len__(self) -> int:
        try:
            self._cell.cell_contents  # noqa: B018
        except ValueError:
            return 0
        return 1


def is_own_code(module: str) -> bool:
    """Return True if a module is user code, by its name."""
    root = module.split('.')[0]
    return root not in LIBRARIES and root not in _STANDARD


def is_of_caller(kind: type) -> bool:
    """Return True if a class or one of its base classes is user code."""
    return any(is_own_code(cls.__module__ or '') for cls in kind.__mro__)


def _module(kind: type) -> str:
    return (kind.__module__ or '').split('.')[0]


# Scope of a variable, the mapping that holds it, and its name.
_Variable = tuple[str, Mapping[str, Any], str]


def _outside(objective: Any) -> Iterator[_Variable]:
    """Yield the variables outside an object from which its methods read user data."""
    seen: set[Any] = set()
    yield from _of_class(type(objective), seen)
    if is_of_caller(type(objective)):
        for value in vars(objective).values():
            yield from _of_value(value, seen, _DEPTH)


def _of_value(value: Any, seen: set[Any], depth: int) -> Iterator[_Variable]:
    """Yield the variables that a value reads, if it is, or contains, user code."""
    if isinstance(value, types.MethodType | functools.partial):
        value = value.__func__ if isinstance(value, types.MethodType) else value.func
    if isinstance(value, types.FunctionType):
        yield from _of_function(value, seen)
    elif depth and isinstance(value, list | tuple):
        for item in value:
            yield from _of_value(item, seen, depth - 1)
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from _of_value(item, seen, depth - 1)
    elif depth and is_own_code(type(value).__module__ or '') and not isinstance(value, type):
        yield from _of_class(type(value), seen)
        for item in _attributes(value).values():
            yield from _of_value(item, seen, depth - 1)


def _of_class(kind: type, seen: set[Any]) -> Iterator[_Variable]:
    """Yield the variables of a user's class, and those that its methods read."""
    if kind in seen:
        return
    seen.add(kind)
    for cls in kind.__mro__:
        if not is_own_code(cls.__module__ or ''):
            continue
        for name, value in list(vars(cls).items()):
            function = _function(value)
            scope = f'{cls.__module__}.{cls.__qualname__}'
            if function is not None:
                # The method may be replaced.
                yield scope, vars(cls), name
                yield from _of_function(function, seen)
            elif not name.startswith('__') and _is_data(value):
                yield scope, vars(cls), name
                yield from _of_value(value, seen, _DEPTH)


def _methods(kind: type) -> frozenset[str]:
    """Return the names of methods of a user's class, which instance attributes may hide."""
    if not is_of_caller(kind):
        return frozenset()
    return frozenset(
        name
        for cls in kind.__mro__
        for name, value in vars(cls).items()
        if isinstance(value, types.FunctionType)
    )


def _function(value: Any) -> types.FunctionType | None:
    """Return the function behind an attribute of a class, or None."""
    value = getattr(value, 'fget', getattr(value, '__func__', value))
    return value if isinstance(value, types.FunctionType) else None


def _of_function(function: types.FunctionType, seen: set[Any]) -> Iterator[_Variable]:
    """Yield the outer variables that a function reads, and those that its callees read."""
    if function.__code__ in seen or not is_own_code(function.__module__ or ''):
        return
    seen.add(function.__code__)
    scope = f'{function.__module__}.{function.__qualname__}'
    for name in ('__defaults__', '__kwdefaults__'):
        if getattr(function, name):
            yield scope, {name: getattr(function, name)}, name
    names, variables = function.__code__.co_names, function.__globals__
    for name in names:
        if name in variables:
            yield from _of_variable(function.__module__, variables, name, names, seen)
    for k, cell in enumerate(function.__closure__ or ()):
        held = _Cell(cell)
        if len(held):
            yield from _of_variable(f'{scope}[{k}]', held, 'cell_contents', names, seen)


def _of_variable(
    scope: str,
    holder: Mapping[str, Any],
    name: str,
    names: Iterable[str],
    seen: set[Any],
) -> Iterator[_Variable]:
    """Yield a variable, or the data in the function, module or class that it names."""
    value = holder[name]
    if isinstance(value, types.FunctionType):
        yield from _of_function(value, seen)
    elif isinstance(value, types.ModuleType | type):
        of_module = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
        if is_own_code(of_module or ''):
            inside = vars(value)
            for used in names:
                if used in inside and _is_data(inside[used]):
                    yield f'{of_module}.{value.__name__}', inside, used
    elif _is_data(value):
        yield scope, holder, name
        yield from _of_value(value, seen, _DEPTH)


def _is_data(value: Any) -> bool:
    """Return True if a value is data and not code."""
    return not (
        (callable(value) and not is_own_code(type(value).__module__ or ''))
        or isinstance(value, types.ModuleType | property | staticmethod | classmethod)
        or type(value).__name__ in ('member_descriptor', 'getset_descriptor', '_abc_data')
    )


def _frozen(value: Any, depth: int) -> Any:
    """Return an immutable value that compares equal as long as the given value is unchanged."""
    if isinstance(value, _UNCHANGING):
        return value
    if isinstance(value, np.ndarray):
        return id(value), value.shape, str(value.dtype), value.tobytes()
    if hasattr(type(value), '_wp_scalar_type_'):  # a vector, a matrix, a transform
        return type(value), np.array(value, dtype=np.float64).tobytes()
    if isinstance(value, list | tuple | deque):
        return type(value), tuple(_frozen(item, depth) for item in value)
    if isinstance(value, bytearray | array.array):
        return type(value), bytes(value)
    if hasattr(type(value), '_cls') and hasattr(value._cls, 'vars'):  # a struct of Warp
        fields = (getattr(value, name) for name in value._cls.vars)
        return _Same(value), tuple(_frozen(field, depth) for field in fields)
    if isinstance(value, types.MethodType) and depth:
        return _Same(value.__func__), _frozen(value.__self__, depth - 1)
    if isinstance(value, functools.partial) and depth:
        parts = value.func, value.args, value.keywords
        return functools.partial, tuple(_frozen(part, depth - 1) for part in parts)
    if isinstance(value, types.ModuleType) and is_own_code(value.__name__) and depth:
        inside = {name: item for name, item in vars(value).items() if name[:2] != '__'}
        return _Same(value), _frozen(inside, min(depth - 1, 1))
    if isinstance(value, set | frozenset):
        return type(value), frozenset(value)
    if isinstance(value, dict):
        return tuple((key, _frozen(item, depth)) for key, item in value.items())
    # Models, devices, tapes and other objectives are compared by identity.
    is_the_callers = is_own_code(type(value).__module__ or '') and _is_data(value)
    if is_the_callers and depth and not hasattr(value, 'compute_residuals'):
        return _Same(value), _frozen(_attributes(value), depth - 1)
    return _Same(value)


def _attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, including those in slots."""
    slots = {
        name: getattr(value, name)
        for cls in type(value).__mro__
        for name, kind in vars(cls).items()
        if isinstance(kind, types.MemberDescriptorType) and hasattr(value, name)
    }
    return {**slots, **getattr(value, '__dict__', {})}


class _Same:
    """Wrapper that compares an object by identity."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._value is self._value

    def __hash__(self) -> int:
        return id(self._value)
