# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Detection of host code in users' methods that a recording of launches would miss.

A recording replays launches with their original arguments. Users' methods run each time, unless
their class declares itself recordable: its methods then compute these arguments by pure functions
from data that :mod:`ros_ik.objectives.recording.snapshot` compares. A method contradicts this if
it reads arrays on the host or external state (a clock, random numbers, a file), or changes its own
data. A single run usually shows this: a Python profiler sees every call of the thread, and the
data are compared before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import sys
import types
from typing import Any

import numpy as np
import warp as wp

from ros_ik.objectives.interface.ownership import ownership_of
from ros_ik.objectives.recording.snapshot import is_of_caller
from ros_ik.objectives.recording.snapshot import is_own_code
from ros_ik.objectives.recording.snapshot import LIBRARIES
from ros_ik.objectives.recording.snapshot import Snapshot

# Modules whose functions return the same result for the same arguments.
_PURE = frozenset(
    (
        *LIBRARIES, 'math', 'cmath', 'operator', '_operator', 'itertools', 'functools',
        '_functools', 'collections', 'typing', 'types', 'dataclasses', 'enum', 'abc', '_abc',
        'contextlib', 'numbers',
    )
)  # fmt: skip
# Exceptions: functions that have side effects, read external state or advance an iterator.
_IMPURE = frozenset(('open', 'input', 'print', 'next', 'exec', 'eval'))
# Functions of Warp that copy an array to the host, and from the host.
_READS = frozenset(
    (
        'numpy', 'list', '__array_interface__', '__cuda_array_interface__', '__array__',
        '__dlpack__', 'to_dlpack', 'to_torch', 'to_jax', 'to_paddle',
    )
)  # fmt: skip
_WRITES = frozenset(('from_numpy', 'from_torch', 'from_dlpack', 'from_jax', 'from_paddle'))


def users_parts(parts: Iterable[Any]) -> list[Any]:
    """Return the objectives, limits and barriers of users' classes."""
    return [part for part in parts if is_of_caller(type(part))]


def find_host_code(record: Callable[[], None], own: Sequence[Any]) -> str | None:
    """Run a function once and describe the first host code that its recording would miss.

    Args:
        record: Function that launches kernels; it must have run before.
        own: Objects of users' classes whose methods it calls.

    Returns:
        A predicate such as "calls time.time() in Wave.compute_residuals". None if nothing was
        found, or if ``own`` is empty.
    """
    if not own:
        return None
    if sys.getprofile() is not None:
        return 'cannot be watched while a profiler runs'
    before = [Snapshot(part, whole=True) for part in own]
    watch = _CallRecorder(list(own))
    sys.setprofile(watch)
    try:
        record()
    finally:
        sys.setprofile(None)
    for part, kept in zip(own, before, strict=True):
        if changed := kept.changed():
            ownership_of(part).written.update(changed)
            watch.note(f'changes {_name(changed)} of {type(part).__name__}')
    return watch.found


class _CallRecorder:
    """Profiler that records the first impure call in a user's method."""

    def __init__(self, parts: list[Any]) -> None:
        self.found: str | None = None
        self._parts = parts

    def note(self, found: str) -> None:
        """Keep the first finding."""
        self.found = self.found or found

    def __call__(self, frame: types.FrameType, event: str, arg: Any) -> None:
        """Inspect one call."""
        if self.found is not None:
            return
        if event == 'call':
            if _is_own(frame):
                if _draws_random_numbers(frame, self._parts):
                    self.note(f'draws random numbers in {_where(frame)}')
                return
            caller = _own_caller(frame.f_back)
            if caller is not None and (what := _of_python(frame)):
                self.note(f'{what} in {_where(caller)}')
        elif event == 'c_call':
            caller = _own_caller(frame)
            if caller is not None and (name := _of_c(arg)):
                self.note(f'calls {name}() in {_where(caller)}')


def _is_own(frame: types.FrameType) -> bool:
    return is_own_code(frame.f_globals.get('__name__', ''))


def _own_caller(frame: types.FrameType | None) -> types.FrameType | None:
    """Return the frame of user code that made a call, possibly through NumPy or the stdlib."""
    while frame is not None and not _is_own(frame):
        if _root(frame) in ('ros_ik', 'newton', 'warp'):
            return None
        frame = frame.f_back
    return frame


def _root(frame: types.FrameType) -> str:
    return str(frame.f_globals.get('__name__', '')).split('.')[0]


def _where(frame: types.FrameType) -> str:
    code = frame.f_code
    return str(getattr(code, 'co_qualname', code.co_name))


def _of_python(frame: types.FrameType) -> str | None:
    """Describe the action of a library function that cannot be recorded, or return None."""
    module, name = str(frame.f_globals.get('__name__', '')), frame.f_code.co_name
    root = module.split('.')[0]
    if root == 'warp':
        if name in _READS:
            return f'reads an array on the host ({name})'
        if name in _WRITES or _takes_host_data(frame, name):
            return f'makes an array of numbers on the host ({name})'
        return None
    if root not in _PURE or module.startswith('numpy.random'):
        return f'calls {module}.{name}()'
    return None


def _takes_host_data(frame: types.FrameType, name: str) -> bool:
    """Return True if a method of an array copies numbers from the host to the device."""
    given = frame.f_locals
    if name == '__init__' and isinstance(given.get('self'), wp.array):
        return given.get('data') is not None
    return name == 'assign' and not isinstance(given.get('src'), wp.array)


def _of_c(function: Any) -> str | None:
    """Return the name of an impure function written in C, or None."""
    owner = getattr(function, '__self__', None)
    module = getattr(function, '__module__', None)
    if module is None:
        kind = owner if isinstance(owner, type) else type(owner)
        module = getattr(function, '__objclass__', kind).__module__
    name = getattr(function, '__qualname__', repr(function))
    if module == 'builtins':
        return name if name in _IMPURE else None
    if module.split('.')[0] in _PURE and not module.startswith('numpy.random'):
        return None
    return f'{module}.{name}'


def _draws_random_numbers(frame: types.FrameType, parts: list[Any]) -> bool:
    """Return True if a function uses NumPy's random numbers, which profilers do not see."""
    names = frame.f_code.co_names
    used = [frame.f_globals[name] for name in names if name in frame.f_globals]
    if any(value is np for value in used) and 'random' in names:
        return True
    used += [vars(part)[name] for part in parts for name in names if name in vars(part)]
    owners = [getattr(value, '__self__', value) for value in used]
    return any(
        str(kind.__module__).startswith('numpy.random')
        for owner in owners
        for kind in (type(owner), owner if isinstance(owner, type) else object)
    )


def _name(changed: Iterable[Any]) -> str:
    """Return the name of the first attribute or variable that changed."""
    first = next(iter(changed))
    return first if isinstance(first, str) else str(first[1])
