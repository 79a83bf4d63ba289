# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cache of what solvers make from a model, for functions that solve in one call.

A solver takes milliseconds to make and microseconds to solve a pose.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import dataclasses
import enum
from typing import Any
from typing import TypeVar

import numpy as np

from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.solvers.graph import CAPTURE_LOCK
from ros_ik.solvers.graph_cache import GraphCache

_Value = TypeVar('_Value')

# Largest batch of a solver that is kept, and most solutions of it: at some kilobytes a pose these
# bound the memory of a model's solvers to some 10 MB.
_MOST_POSES, _MOST_SOLUTIONS = 64, 4096
_PLAIN = {type(None), bool, int, float, str}
# Arrays of a model that solvers of poses are made from.
_KINEMATICS = (
    'joint_type', 'joint_parent', 'joint_child', 'joint_articulation', 'joint_dof_dim',
    'joint_q_start', 'joint_qd_start', 'body_q', 'joint_X_p64', 'joint_X_c64', 'joint_axis64',
)  # fmt: skip
_SHAPES = (
    'shape_body', 'shape_type', 'shape_flags', 'shape_transform', 'shape_scale', 'shape_margin',
    'shape_contact_pairs',
)  # fmt: skip


@contextlib.contextmanager
def cached(
    model: Model,
    request: Mapping[str, Any],
    make: Callable[[], _Value],
    n_poses: int = 1,
    n_solutions: int = 1,
) -> Iterator[_Value]:
    """Yield what is made from a model, kept for the next call with an equal request.

    It is made anew once an array of the model has changed that it was made from. One thread at a
    time uses what is kept.

    Args:
        model: The model, with which the value is kept.
        request: All that the value is made for, by name; ``check_collisions`` says whether it is
            made from shapes as well.
        make: Makes it.
        n_poses: Poses of a batch; what is made for large batches is not kept.
        n_solutions: Solutions of a pose.

    Raises:
        ArgumentError: What ``make`` raises.
    """
    key = None
    if n_poses <= _MOST_POSES and n_poses * n_solutions <= _MOST_SOLUTIONS:
        key = _key(model, {**request, 'n_poses': n_poses, 'n_solutions': n_solutions})
    if key is None:
        with CAPTURE_LOCK:
            value = make()
        yield value
        return
    with CAPTURE_LOCK:
        kept: GraphCache[_Value] = model.solver_cache.setdefault('poses', GraphCache())
        yield kept.get(key, make)


def _key(model: Any, request: Mapping[str, Any]) -> Hashable | None:
    """Return the key of a request; None where an argument is of no type that can be compared."""
    if not isinstance(model, Model):
        return None
    try:
        values = tuple(map(_frozen, request.values()))
        key = tuple(request), values, _state(model, bool(request.get('check_collisions')))
        hash(key)
    except (TypeError, ValueError):
        return None
    return key


def _frozen(value: Any) -> Hashable:
    """Return an argument as a key, equal for those of equal type and content.

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
        fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        return kind, tuple(map(_frozen, fields))
    raise TypeError(f'no key of {kind.__name__}')


def _state(model: Model, with_shapes: bool) -> Hashable:
    """Return the content of the arrays of a model that solvers of poses are made from."""
    names = (*_KINEMATICS, *_SHAPES) if with_shapes else _KINEMATICS
    views = model.solver_cache.setdefault('views', {})
    content = tuple(_content(views, name, getattr(model, name)) for name in names)
    limits = tuple(limit.tobytes() for limit in model.limits64())
    return content, limits, tuple(model.shape_source) if with_shapes else ()


def _content(views: dict[str, Any], name: str, array: Any) -> bytes:
    """Return the content of an array of a model, through a view where the host has its memory."""
    if isinstance(array, np.ndarray):
        return array.tobytes()
    if not array.device.is_cpu:
        return array.numpy().tobytes()
    known, view = views.get(name, (None, None))
    if known is not array:
        view = array.numpy()
        views[name] = array, view
    return view.tobytes()
