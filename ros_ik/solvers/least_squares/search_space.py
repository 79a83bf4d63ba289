# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Search space of a batch solver: limits, frozen degrees of freedom, mimic joints, quaternions."""

import dataclasses
import functools
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.newton.newton_model import dof_limits
from ros_ik.kinematics.newton.newton_model import Mimic
from ros_ik.kinematics.newton.newton_model import mimic_constraints
from ros_ik.kinematics.runtime.array_exchange import as_warp
from ros_ik.model.building.joints.configuration_space import resolve_mimics
from ros_ik.model.building.joints.mimic_range import narrow_drivers
from ros_ik.model.conventions.joint_type import JointType

_QUATERNION_JOINTS = (JointType.BALL, JointType.FREE, JointType.DISTANCE)


@no_type_check
@functools.cache
def space_struct() -> Any:
    """Return the Warp struct of a :class:`SearchSpace`; bounds are +-inf for no limit."""

    @wp.struct
    class SpaceArrays:
        coord_lower: wp.array(dtype=wp.float32)  # [joint_coord_count]
        coord_upper: wp.array(dtype=wp.float32)  # [joint_coord_count]
        coord_frozen: wp.array(dtype=wp.int32)  # [joint_coord_count]
        neutral: wp.array(dtype=wp.float32)  # [joint_coord_count]
        quaternion: wp.array(dtype=wp.int32)  # [n_quaternions], first coordinates, none frozen
        dof_coord: wp.array(dtype=wp.int32)  # [joint_dof_count], -1 for none
        dof_free: wp.array(dtype=wp.int32)  # [joint_dof_count], 0 for frozen ones and followers
        follower_coord: wp.array(dtype=wp.int32)  # [n_mimics]
        driver_coord: wp.array(dtype=wp.int32)  # [n_mimics]
        follower_dof: wp.array(dtype=wp.int32)  # [n_mimics]
        driver_dof: wp.array(dtype=wp.int32)  # [n_mimics]
        coef0: wp.array(dtype=wp.float32)  # [n_mimics]
        coef1: wp.array(dtype=wp.float32)  # [n_mimics]

    return SpaceArrays


@dataclasses.dataclass(frozen=True)
class SearchSpace:
    """Set of configurations that a solver may reach.

    Attributes:
        arrays: Struct of arrays on the device.
        dof_free: True for each degree of freedom that is an unknown, bool [joint_dof_count].
        coord_frozen: True for each coordinate that keeps its value, bool [joint_coord_count].
        lower: Lower limits, float32 [joint_coord_count], -inf for none.
        upper: Upper limits, float32 [joint_coord_count], inf for none.
        followers: Degrees of freedom of mimic joints.
    """

    arrays: Any
    dof_free: np.ndarray
    coord_frozen: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    followers: np.ndarray

    @property
    def all_free(self) -> bool:
        """True if every degree of freedom is an unknown."""
        return bool(np.all(self.dof_free))


def make_search_space(
    model: Any, *, joint_dof_mask: wp.array | np.ndarray | None = None, respect_limits: bool = True
) -> SearchSpace:
    """Build the space of a model.

    Args:
        model: Any object with Newton's joint arrays.
        joint_dof_mask: Degrees of freedom that may move, bool [joint_dof_count]; None for all. If
            one joint of a mimic pair is frozen, both are.
        respect_limits: True to keep coordinates within the model's limits.

    Raises:
        ArgumentError: A mask of a wrong shape, type or device, or one that freezes only a part of
            a joint with a quaternion.
    """
    mask = _checked_mask(model, joint_dof_mask)
    q_start, qd_start = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
    dof_coord = dof_coordinates(model)
    mimics = resolve_mimics(mimic_constraints(model))  # type: ignore[arg-type]
    links = [Mimic(follower, *link) for follower, link in mimics.items()]
    for link in links:
        ends = qd_start[[link.joint0, link.joint1]]
        mask[ends] = np.all(mask[ends])
    frozen, quaternions = _frozen_coordinates(model, mask)
    lower, upper = _coordinate_limits(model, dof_coord, links if respect_limits else None)
    free = mask.copy()
    free[[qd_start[link.joint0] for link in links]] = False
    arrays = space_struct()()
    for name, dtype, values in (
        ('coord_lower', wp.float32, lower),
        ('coord_upper', wp.float32, upper),
        ('coord_frozen', wp.int32, frozen),
        ('neutral', wp.float32, _neutral(model, lower, upper)),
        ('quaternion', wp.int32, quaternions),
        ('dof_coord', wp.int32, dof_coord),
        ('dof_free', wp.int32, free),
        ('follower_coord', wp.int32, [q_start[link.joint0] for link in links]),
        ('driver_coord', wp.int32, [q_start[link.joint1] for link in links]),
        ('follower_dof', wp.int32, [qd_start[link.joint0] for link in links]),
        ('driver_dof', wp.int32, [qd_start[link.joint1] for link in links]),
        ('coef0', wp.float32, [link.coef0 for link in links]),
        ('coef1', wp.float32, [link.coef1 for link in links]),
    ):
        kind = np.int32 if dtype is wp.int32 else np.float32
        setattr(arrays, name, wp.array(np.array(values, kind), dtype=dtype, device=model.device))
    followers = np.array([qd_start[link.joint0] for link in links], dtype=int)
    return SearchSpace(arrays, free, frozen, lower, upper, followers)


def _checked_mask(model: Any, mask: wp.array | np.ndarray | None) -> np.ndarray:
    """Return the mask on the host, all True for None."""
    n = model.joint_dof_count
    if mask is None:
        return np.ones(n, dtype=bool)
    if isinstance(mask, np.ndarray) and mask.dtype == bool and mask.ndim == 1:
        mask = wp.array(mask, dtype=wp.bool, device=model.device)
    mask = as_warp('joint_dof_mask', mask)
    if not isinstance(mask, wp.array) or mask.dtype != wp.bool or mask.shape != (n,):
        given = f'{list(mask.shape)} of {mask.dtype}' if hasattr(mask, 'dtype') else repr(mask)
        raise ArgumentError(f'joint_dof_mask must be a wp.bool array of shape [{n}], got {given}')
    if mask.device != wp.get_device(model.device):
        raise ArgumentError(
            f'joint_dof_mask must be on the device of the model, {model.device}, got {mask.device}'
        )
    values = mask.numpy().astype(bool)
    starts = model.joint_qd_start.numpy()
    for joint, kind in enumerate(model.joint_type.numpy().tolist()):
        of_joint = values[starts[joint] : starts[joint + 1]]
        if kind in _QUATERNION_JOINTS and len(set(of_joint.tolist())) > 1:
            raise ArgumentError(
                f'joint_dof_mask must freeze all or none of joint {joint} '
                f'({JointType(kind).name}), which holds a quaternion; got {of_joint.tolist()}'
            )
    return values


def _frozen_coordinates(model: Any, mask: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Return the frozen coordinates, and the first coordinates of the other quaternions."""
    q_start, qd_start = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
    frozen = np.zeros(model.joint_coord_count, dtype=bool)
    quaternions = []
    for joint, kind in enumerate(model.joint_type.numpy().tolist()):
        coords = slice(q_start[joint], q_start[joint + 1])
        of_joint = mask[qd_start[joint] : qd_start[joint + 1]]
        if kind in _QUATERNION_JOINTS:
            frozen[coords] = not of_joint[0]
            if of_joint[0]:
                quaternions.append(int(q_start[joint + 1]) - 4)
        else:
            frozen[coords] = ~of_joint
    return frozen, quaternions


def _coordinate_limits(
    model: Any, dof_coord: np.ndarray, mimics: list[Mimic] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of each coordinate; drivers respect those of their mimic joints.

    Mimic joints themselves have none, because they follow. Limits of a mimic joint that exclude
    all the others have no effect. ``mimics`` = None means no limits.
    """
    lower = np.full(model.joint_coord_count, -np.inf, dtype=np.float32)
    upper = -lower
    if mimics is None:
        return lower, upper
    has = dof_coord >= 0
    lower[dof_coord[has]], upper[dof_coord[has]] = (limit[has] for limit in dof_limits(model))
    start = model.joint_q_start.numpy()
    links = [
        (int(start[link.joint0]), int(start[link.joint1]), link.coef0, link.coef1)
        for link in mimics
    ]
    narrow_drivers(lower, upper, links)
    followers = [follower for follower, _, _, _ in links]
    lower[followers], upper[followers] = -np.inf, np.inf
    return lower, upper


def _neutral(model: Any, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the neutral configuration, zero clamped to the limits."""
    q = np.clip(0.0, lower, upper)
    starts = model.joint_q_start.numpy()
    for joint, kind in enumerate(model.joint_type.numpy().tolist()):
        if kind in _QUATERNION_JOINTS:
            q[starts[joint + 1] - 1] = 1.0
    return q
