# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Records of objectives, which a kernel that evaluates many of them reads.

One struct holds the numbers of any built-in objective, so that a list of objectives is an array of
structs and one compiled kernel serves every list. The arrays are the objective's own: what is
written to a target is what the next solve reads.
"""

import enum
import functools
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.dynamics.center_of_mass import center_of_mass_functions


class RecordKind(enum.IntEnum):
    """Objective of a record."""

    POSITION = 0
    ROTATION = 1
    POSE = 2
    LOOK_AT = 3
    CENTER_OF_MASS = 4
    JOINT_POSITION = 5
    JOINT_LIMIT = 6
    SELF_DISTANCE = 7
    MANIPULABILITY = 8


@no_type_check
@functools.cache
def record_struct() -> Any:
    """Return the Warp struct; an array that a kind does not use is empty."""
    MassArrays = center_of_mass_functions(wp.float64).MassArrays

    @wp.struct
    class ObjectiveRecord:
        kind: int
        link: int
        reference: int
        flag: int  # of a rotation: the shorter way round
        rows: int  # residuals
        weight: wp.array2d(dtype=wp.float64)  # [1, rows]
        target32: wp.array2d(dtype=wp.float32)  # [n_problems, width], one of the two is empty
        target64: wp.array2d(dtype=wp.float64)
        upper32: wp.array2d(dtype=wp.float32)  # [joint_dof_count, 1], the lower is the target
        upper64: wp.array2d(dtype=wp.float64)
        offset: wp.array2d(dtype=wp.float64)  # [1, width]; spheres [n_spheres, 4]
        axis: wp.array2d(dtype=wp.float64)  # [1, 3]; distances [1, n_pairs]; threshold [1, 1]
        chain_dof: wp.array(dtype=wp.int32)  # [n_chain], degrees of freedom that matter
        chain_sign: wp.array(dtype=wp.int32)  # [n_chain]
        dof_coord: wp.array(dtype=wp.int32)  # [joint_dof_count]
        axes: wp.array(dtype=wp.int32)  # rows of the Jacobian that count
        sphere_link: wp.array(dtype=wp.int32)  # [n_spheres]
        pairs: wp.array2d(dtype=wp.int32)  # [n_pairs, 2]
        moves: wp.array2d(dtype=wp.int32)  # [n_spheres, joint_dof_count]
        masses: MassArrays

    return ObjectiveRecord


def make_record(kind: RecordKind, weight: wp.array, **fields: Any) -> Any:
    """Return a record.

    Args:
        kind: Which objective.
        weight: Factors, float64 [1, rows].
        fields: Other fields; ``target`` and ``upper`` of either floating-point type.
    """
    record = record_struct()()
    record.kind, record.weight, record.rows = int(kind), weight, weight.shape[1]
    record.reference = -1
    for name, value in fields.items():
        if name in ('target', 'upper'):
            name += '32' if value.dtype == wp.float32 else '64'
        setattr(record, name, value)
    return record


def is_recorded(objective: Any) -> bool:
    """Return whether a kernel may evaluate an objective by its record; set up or not.

    Not where a class derived from a built-in one overrides what its record stands for.
    """
    if not getattr(objective, 'has_record', False):
        return False
    order = type(objective).__mro__

    def depth(name: str) -> int:
        return next(k for k, cls in enumerate(order) if name in vars(cls))

    methods = ('compute_residuals', 'compute_jacobian_analytic')
    return all(depth('record') <= depth(name) for name in methods)
