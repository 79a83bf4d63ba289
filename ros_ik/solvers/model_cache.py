# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cache of solvers by model, for functions that solve in one call.

A solver takes milliseconds to create, and microseconds to solve a pose. Arrays in the memory of a
GPU are read once if shapes do not matter, because reading waits for the GPU: a change in place is
not detected there, another array is. Collision checks wait in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Mapping
import dataclasses
import enum
import functools
import operator
import threading
from typing import Any
from typing import Generic
from typing import TypeVar

import numpy as np

from ros_ik.kinematics.cached_values import TREE_SOURCES
from ros_ik.kinematics.runtime.content_reader import ContentReader
from ros_ik.kinematics.runtime.launch_lock import beside_launches
from ros_ik.kinematics.runtime.launch_lock import LAUNCHES
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.solvers.graph_cache import GraphCache

_Value = TypeVar('_Value')

# Largest batch of a cached solver, and its largest number of solutions. At some kilobytes per
# pose, they bound the memory of a model's solvers to about 10 MB.
_MOST_POSES, _MOST_SOLUTIONS = 64, 4096
# Held by the thread that uses a solver which is kept.
CACHE_LOCK = threading.RLock()
_PLAIN = {type(None), bool, int, float, str}
# Arrays of a model that solvers of poses are made from; ``limits64`` returns copies of the last.
_KINEMATICS = (*TREE_SOURCES, '_limits')
_SHAPES = (
    'shape_body', 'shape_type', 'shape_flags', 'shape_transform', 'shape_scale', 'shape_margin',
    'shape_contact_pairs',
)  # fmt: skip
_arrays_without_shapes = operator.attrgetter(*_KINEMATICS)
_arrays_with_shapes = operator.attrgetter(*_KINEMATICS, *_SHAPES)


class Cached(Generic[_Value]):
    """Context manager for a value made from a model, cached for equal requests.

    The value is created again after a change of the model's arrays on which it depends. Only one
    thread at a time uses a cached value.
    """

    __slots__ = '_is_locked', '_make', '_model', '_request', '_size'

    def __init__(
        self,
        model: Model,
        request: Mapping[str, Any],
        make: Callable[[], _Value],
        n_poses: int = 1,
        n_solutions: int = 1,
    ) -> None:
        """Store the request, which is looked up on entry of the context.

        Args:
            model: The model, in which the value is cached.
            request: Arguments on which the value depends, by name. With ``check_collisions`` it
                also depends on the shapes.
            make: Function that creates the value.
            n_poses: Number of poses of a batch; values for large batches are not cached.
            n_solutions: Number of solutions of a pose.
        """
        self._model, self._request, self._make = model, request, make
        self._size = n_poses, n_solutions
        self._is_locked = False

    def __enter__(self) -> _Value:
        """Return the value for exclusive use until the context is left.

        Raises:
            ArgumentError: As raised by ``make``.
        """
        n_poses, n_solutions = self._size
        key = None
        if n_poses <= _MOST_POSES and n_poses * n_solutions <= _MOST_SOLUTIONS:
            key = _key(self._model, self._request, self._size)
        # A thread that holds launches up must not wait for one that may record.
        if key is None or LAUNCHES.is_held_here:
            return self._make_beside()
        CACHE_LOCK.acquire()
        try:
            cache = self._model.solver_cache
            if 'poses' not in cache:
                cache['poses'] = GraphCache()
            value: _Value = cache['poses'].get(key, self._make_beside)
            self._is_locked = True
            return value
        finally:
            if not self._is_locked:
                CACHE_LOCK.release()

    def __exit__(self, *_: object) -> None:
        """Let other threads use the value."""
        if self._is_locked:
            CACHE_LOCK.release()

    @beside_launches
    def _make_beside(self) -> _Value:
        """Make the value while no other thread records."""
        return self._make()


def _key(model: Any, request: Mapping[str, Any], size: tuple[int, int]) -> Hashable | None:
    """Return the key of a request; None if the type of an argument cannot be compared."""
    if not isinstance(model, Model):
        return None
    try:
        # Most arguments have plain types; this test is faster than a call of _frozen.
        values = tuple(
            [(type(v), v) if type(v) in _PLAIN else _frozen(v) for v in request.values()]
        )
        with_shapes = bool(request.get('check_collisions'))
        sources = tuple(model.shape_source) if with_shapes else ()
        key = tuple(request), values, size, _content(model, with_shapes), sources
        hash(key)
    except (TypeError, ValueError):
        return None
    return key


def _frozen(value: Any) -> Hashable:
    """Return an argument as a key, which is equal for arguments of equal type and content.

    Raises:
        TypeError: An argument of another type.
    """
    kind = type(value)
    if kind in _PLAIN or isinstance(value, (enum.Enum, np.generic)):
        return kind, value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return kind, tuple(map(_frozen, value))
    if isinstance(value, JointGroup):
        return JointGroup, value.joint_names
    if dataclasses.is_dataclass(value) and kind is not type:
        if kind.__hash__ is object.__hash__:  # by identity, not by content
            return _frozen_fields(value)
        try:
            return _frozen_settings(value)
        except TypeError:  # with arrays, or not frozen
            return _frozen_fields(value)
    raise TypeError(f'no key of {kind.__name__}')


def _frozen_fields(value: Any) -> Hashable:
    """Return a dataclass as a key, by the content of its fields."""
    fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
    return type(value), tuple(map(_frozen, fields))


# Settings are nearly always those of the previous call, and their hash takes a fifth of the time.
_frozen_settings: Callable[[Any], Hashable] = functools.lru_cache(maxsize=64)(_frozen_fields)


def _content(model: Model, with_shapes: bool) -> bytes:
    """Return the content of the model's arrays on which pose solvers depend."""
    arrays = _arrays_with_shapes(model) if with_shapes else _arrays_without_shapes(model)
    readers = model.solver_cache.setdefault('contents', {})
    reader = readers.get(with_shapes)
    if reader is None or not all(map(operator.is_, reader.arrays, arrays)):
        reader = readers[with_shapes] = ContentReader(arrays, reads_devices=with_shapes)
    return reader.read()
