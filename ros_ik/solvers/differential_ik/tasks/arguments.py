# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of a control step, in all overloads."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.array_exchange import exchanged
from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.limits import Limit
from ros_ik.numbers import real_array
from ros_ik.solvers.differential_ik.tasks.task import Task

# Kinds of NumPy's types of real numbers: integers and floats.
REAL_KINDS = 'iuf'
# Weight of |dq|^2 in the cost if none is given.
REGULARIZATION = 1e-12
_PARTS = Task | Limit | Barrier
_WANTED = 'must be a NumPy or Warp array of floats, into which the step is written'


def sorted_arguments(
    limits: Any, barriers: Any, delta_q: Any, regularization: float
) -> tuple[Sequence[Limit], Sequence[Barrier], np.ndarray | wp.array, float]:
    """Identify the arguments after the tasks by their types, because some may be omitted.

    Returns:
        Limits, barriers, delta_q, regularization.

    Raises:
        ArgumentError: No array for the step, an argument of another type, or two of one type.
    """
    found: dict[str, Any] = {}
    for value in (limits, barriers, delta_q):
        if value is None or _is_sequence(value) and not value:
            continue
        name = _purpose(value)
        if name in found and _is_sequence(value) and not isinstance(value[0], _PARTS):
            raise _misplaced(value)
        if name in found or name == 'tasks':
            raise _given_twice(name)
        found[name] = value
    if 'regularization' in found and regularization != REGULARIZATION:
        raise _given_twice('regularization')
    limits, barriers = found.get('limits', ()), found.get('barriers', ())
    if 'delta_q' not in found:
        if limits and isinstance(limits[0], Real):
            raise _misplaced(limits)
        raise ArgumentError(f'delta_q {_WANTED}, such as np.zeros(model.joint_dof_count)')
    return limits, barriers, found['delta_q'], found.get('regularization', regularization)


def _purpose(value: Any) -> str:
    """Return the name of the argument to which a value belongs by its type.

    Raises:
        ArgumentError: A value that belongs to none.
    """
    if isinstance(value, np.ndarray) or is_exchanged(value):
        return 'delta_q'
    if isinstance(value, Real):
        return 'regularization'
    if not _is_sequence(value):
        raise _misplaced(value)
    for name, kind in (('tasks', Task), ('barriers', Barrier)):
        if isinstance(value[0], kind):
            return name
    return 'limits'


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _given_twice(name: str) -> ArgumentError:
    return ArgumentError(f'{name} must be given once, got two arguments of this kind')


def _misplaced(value: Any) -> ArgumentError:
    """Return the error for an argument of a wrong type, named by its probable purpose."""
    if _is_sequence(value):
        return ArgumentError(f'delta_q {_WANTED}, got the {type(value).__name__} {value!r}')
    if hasattr(value, 'shape'):
        return ArgumentError(f'delta_q {_WANTED}, got {type(value).__name__}')
    if isinstance(value, Limit | Barrier):
        name = 'limits' if isinstance(value, Limit) else 'barriers'
        return ArgumentError(f'{name} must be a sequence, got one {type(value).__name__}')
    return ArgumentError(
        'solve_ik takes sequences of limits and of barriers, an array and a number after the '
        f'tasks, got {value!r}'
    )


def checked_parts(
    tasks: Sequence[Task], limits: Sequence[Limit], barriers: Sequence[Barrier]
) -> None:
    """Check that tasks, limits and barriers are sequences of such objects.

    Raises:
        ArgumentError: Another type; it names the argument and its content.
    """
    for name, parts, kind in (
        ('tasks', tasks, Task), ('limits', limits, Limit), ('barriers', barriers, Barrier),
    ):  # fmt: skip
        if not isinstance(parts, Sequence):
            raise ArgumentError(f'{name} must be a sequence, got {parts!r}')
        for k, part in enumerate(parts):
            if not isinstance(part, kind):
                raise ArgumentError(
                    f'{name} must hold {kind.__name__} objects, got {part!r} at {k}'
                )


def on_host(name: str, given: Any) -> np.ndarray:
    """Return an array of any library as a NumPy array; on the CPU both share their memory.

    Raises:
        ArgumentError: Not an array, or not one of real numbers.
    """
    if isinstance(given, np.ndarray):
        return given if given.dtype.kind in REAL_KINDS else real_array(name, given)
    if is_exchanged(given):
        return exchanged(name, given).numpy()  # type: ignore[no-any-return]
    raise ArgumentError(f'{name} must be a NumPy or Warp array, got {type(given).__name__}')
