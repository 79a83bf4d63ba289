# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cache of solvers by model, for functions that solve in one call.

A solver takes 4 to 12 ms to create, and microseconds to solve a pose. Arrays in the memory of a
GPU are read once if shapes do not matter, because reading waits for the GPU: a change in place is
not detected there, another array is. Collision checks wait in any case.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Mapping
import dataclasses
import enum
import functools
import operator
from typing import Any
from typing import Generic
from typing import TypeVar

import numpy as np
import warp as wp

from ros_ik.kinematics.cached_values import TREE_SOURCES
from ros_ik.kinematics.runtime.content_reader import ContentReader
from ros_ik.launch_lock import POOL_LOCK
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model import JointGroup
from ros_ik.model import Model

_Value = TypeVar('_Value')

# Largest number of unused solvers of a model, and their largest memory together [bytes]. A batch
# too large for it takes so long that the time to make its solver does not matter.
_MAX_IDLE, _MAX_BYTES = 16, 2**25
# Largest share of the memory of a GPU, where a million poses take less time than their solver.
_GPU_SHARE = 1 / 64
_PLAIN = {type(None), bool, int, float, str}
# Arrays of a model that solvers of poses are made from; ``limits64`` returns copies of the last.
_KINEMATICS = (*TREE_SOURCES, '_limits')
_SHAPES = (
    'shape_body', 'shape_type', 'shape_flags', 'shape_transform', 'shape_scale', 'shape_margin',
    'shape_contact_pairs',
)  # fmt: skip
_arrays_without_shapes = operator.attrgetter(*_KINEMATICS)
_arrays_with_shapes = operator.attrgetter(*_KINEMATICS, *_SHAPES)


class _Equals:
    """Unused solvers for one request, with their memory [bytes].

    Attributes:
        idle: The solvers.
        is_kept: False once they have been dropped for other requests.
    """

    __slots__ = 'idle', 'is_kept'

    def __init__(self) -> None:
        self.idle: list[tuple[Any, int]] = []
        self.is_kept = True


class SolverPool:
    """Unused solvers of a model by request; those of the least recent requests are dropped.

    A solver in use is not in the pool, so threads neither share a solver nor wait for one. As many
    threads as had equal requests at the same time leave as many equal solvers.
    """

    def __init__(self, max_bytes: int) -> None:
        """Start empty.

        Args:
            max_bytes: See the attribute.
        """
        self.max_bytes = max_bytes
        self._requests: collections.OrderedDict[Hashable, _Equals] = collections.OrderedDict()
        self._count = self._bytes = 0

    def take(self, key: Hashable) -> tuple[_Equals, Any]:
        """Return the entry of equal requests, and an idle solver removed from it, or None."""
        with POOL_LOCK:
            equals = self._requests.get(key)
            if equals is None:
                equals = self._requests[key] = _Equals()
                while len(self._requests) > _MAX_IDLE:
                    self._drop()
            else:
                self._requests.move_to_end(key)
            if not equals.idle:
                return equals, None
            return equals, self._removed(equals.idle.pop())

    def put(self, equals: _Equals, solver: Any, n_bytes: int) -> None:
        """Add a solver, unless its request has been dropped or it is too large.

        Args:
            equals: Entry of its request, from :meth:`take`.
            solver: The solver.
            n_bytes: Its memory.
        """
        if n_bytes > self.max_bytes:
            return
        with POOL_LOCK:
            if equals.is_kept:
                equals.idle.append((solver, n_bytes))
                self._count += 1
                self._bytes += n_bytes
                while self._count > _MAX_IDLE or self._bytes > self.max_bytes:
                    self._drop()

    def _drop(self) -> None:
        """Drop one solver of the least recent request, or the request if it has none."""
        key, equals = next(iter(self._requests.items()))
        if equals.idle:
            self._removed(equals.idle.pop())
        if not equals.idle:
            del self._requests[key]
            equals.is_kept = False

    def _removed(self, entry: tuple[Any, int]) -> Any:
        """Count a solver that was removed, and return it."""
        solver, n_bytes = entry
        self._count -= 1
        self._bytes -= n_bytes
        return solver


class PooledValue(Generic[_Value]):
    """Context manager for a value made from a model, and pooled for equal requests.

    The value is created again after a change of the model's arrays on which it depends. Within the
    context no other thread uses it.
    """

    __slots__ = '_equals', '_make', '_model', '_n_bytes', '_pool', '_request', '_size', '_value'

    def __init__(
        self,
        model: Model,
        request: Mapping[str, Any],
        make: Callable[[], _Value],
        n_poses: int = 1,
        n_bytes: Callable[[_Value], int] = lambda value: 0,
    ) -> None:
        """Store the request, which is looked up on entry of the context.

        Args:
            model: The model, in which the value is cached.
            request: Arguments on which the value depends, by name. With ``check_collisions`` it
                also depends on the shapes.
            make: Function that creates the value.
            n_poses: Number of poses of a batch, on which the value depends too.
            n_bytes: Function that returns the memory of the value.
        """
        self._model, self._request, self._make = model, request, make
        self._size, self._n_bytes = n_poses, n_bytes

    def __enter__(self) -> _Value:
        """Return the value for exclusive use until the context is left.

        Raises:
            ArgumentError: As raised by ``make``.
        """
        key = _key(self._model, self._request, self._size)
        value: _Value | None = None
        self._pool: SolverPool | None = None
        if key is not None:
            cache = self._model.solver_cache
            self._pool = cache.get('poses')
            if self._pool is None:  # setdefault is atomic, so all threads find the same
                pool = SolverPool(max_bytes(wp.get_device(self._model.device)))
                self._pool = cache.setdefault('poses', pool)
            self._equals, value = self._pool.take(key)
        self._value: _Value = self._make_value() if value is None else value
        return self._value

    def __exit__(self, *_: object) -> None:
        """Leave the value to the next equal request."""
        if self._pool is not None:
            self._pool.put(self._equals, self._value, self._n_bytes(self._value))

    @shares_launch_lock
    def _make_value(self) -> _Value:
        """Make the value while no other thread records."""
        return self._make()


def max_bytes(device: wp.Device) -> int:
    """Return the largest memory of unused solvers on a device."""
    return int(_GPU_SHARE * device.total_memory) if device.is_cuda else _MAX_BYTES


def _key(model: Any, request: Mapping[str, Any], size: int) -> Hashable | None:
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
        hash(sources)  # the other parts can be hashed
        return size, values, tuple(request), _content(model, with_shapes), sources
    except (TypeError, ValueError):
        return None


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
        # A group of another model has another key, so that it is refused.
        return JointGroup, value.joint_indices, value.joint_names, len(value.dof_variable)
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
