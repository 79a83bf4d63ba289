# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a chain, with their variables and limits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_link
from ros_ik.kinematics.tree import incoming_joints
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik.model.conventions.joint_type import JointType

_ONE_AXIS = (JointType.REVOLUTE, JointType.PRISMATIC)


class IkChainError(ArgumentError, RuntimeError):
    """Error for an invalid chain, with the name of the unknown link or unsupported joint."""


@dataclasses.dataclass(frozen=True, eq=False)
class ChainPath:
    """Chain with m variables.

    A variable is the position of a joint of the chain that is not a mimic joint.

    Attributes:
        bodies: Links from the start link to the end link.
        base_joints: Joints from the world to the start link's parent, in this order.
        joints: Joints of the chain including fixed ones, that of the start link first, [n].
        joint_variable: Variable that drives each joint, -1 for fixed joints, [n].
        coef0: Offset of each joint from its variable [rad or m], [n].
        coef1: Factor of each joint on its variable, [n].
        coordinates: Coordinate in the model of each variable, [m].
        dofs: Degree of freedom in the model of each variable, [m].
        dof_map: Map from velocities of the variables to those of the model, including all its
            mimic joints, shape [joint_dof_count, m].
        lower: Lower limits of the variables, intersected with those of their mimics [rad or m],
            -inf for none, [m].
        upper: Upper limits, inf for none, [m].
    """

    bodies: tuple[int, ...]
    base_joints: tuple[int, ...]
    joints: tuple[int, ...]
    joint_variable: tuple[int, ...]
    coef0: np.ndarray
    coef1: np.ndarray
    coordinates: np.ndarray
    dofs: np.ndarray
    dof_map: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def chain_path(model: Any, end_link: str | int, start_link: str | int | None) -> ChainPath:
    """Find the chain between two links.

    Args:
        model: A model with names, limits and mimic drivers; see :func:`named_model`.
        end_link: Last link, by name or body index.
        start_link: First link, whose own joint belongs to the chain; None for the root.

    Raises:
        IkChainError: An unknown link, a start link that is not an ancestor of the end link, a
            joint that is not revolute, prismatic or fixed, a mimic joint whose driver is not in
            the chain, or a chain that cannot move.
    """
    last = _body_index(model, 'end_link', end_link)
    first = None if start_link is None else _body_index(model, 'start_link', start_link)
    base_joints, joints, bodies = _split_path(model, first, last)
    if first is not None and bodies[0] != first:
        raise IkChainError(f'end_link {end_link!r} does not lie behind start_link {start_link!r}')
    for joint in joints:
        kind = JointType(int(model.joint_type.numpy()[joint]))
        if kind not in (*_ONE_AXIS, JointType.FIXED):
            raise IkChainError(
                f'joint {model.joint_label[joint]!r} of the chain is a {kind.name.lower()} joint; '
                'expected revolute, prismatic or fixed'
            )
    movable = [joint for joint in joints if model.joint_type.numpy()[joint] in _ONE_AXIS]
    drivers = [joint for joint in movable if joint not in model.mimic_driver]
    _check_mimics(model, base_joints, movable, drivers)
    if not drivers:
        raise IkChainError(f'no joint moves between the start and end_link {end_link!r}')
    followed = [model.mimic_driver.get(joint, (joint, 0.0, 1.0)) for joint in joints]
    dofs = model.joint_qd_start.numpy()[drivers]
    lower, upper = driver_limits(model)
    return ChainPath(
        bodies=bodies,
        base_joints=base_joints,
        joints=joints,
        joint_variable=tuple(
            drivers.index(followed[k][0]) if joint in movable else -1
            for k, joint in enumerate(joints)
        ),
        coef0=np.array([coef0 for _, coef0, _ in followed]),
        coef1=np.array([coef1 for _, _, coef1 in followed]),
        coordinates=model.joint_q_start.numpy()[drivers],
        dofs=dofs,
        dof_map=_dof_map(model, drivers),
        lower=lower[dofs],
        upper=upper[dofs],
    )


def _body_index(model: Any, argument: str, link: str | int) -> int:
    try:
        if isinstance(link, str):
            return int(model.body_index(link))
        index = checked_link(argument, link)
    except ArgumentError as error:
        raise IkChainError(f'{argument}: {error}') from None
    if not 0 <= index < model.body_count:
        raise IkChainError(f'{argument} must lie in [0, {model.body_count}), got {index}')
    return index


def _split_path(
    model: Any, first: int | None, last: int
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the joints before the chain, the joints of the chain, and its links."""
    parent, incoming = model.joint_parent.numpy(), incoming_joints(model)
    path = [(incoming.get(last, -1), last)]  # (joint, its child), outermost first
    while path[-1][0] >= 0 and parent[path[-1][0]] >= 0:
        body = int(parent[path[-1][0]])
        path.append((incoming.get(body, -1), body))
    path.reverse()
    bodies = [body for _, body in path]
    begin = bodies.index(first) if first in bodies else 0
    before = tuple(joint for joint, _ in path[:begin] if joint >= 0)
    return before, tuple(joint for joint, _ in path[begin:] if joint >= 0), tuple(bodies[begin:])


def _check_mimics(
    model: Any, base_joints: tuple[int, ...], movable: list[int], drivers: list[int]
) -> None:
    """Refuse mimic joints with a driver outside the chain, or that would move its base."""
    for joint in (*movable, *base_joints):
        driver = model.mimic_driver.get(joint, (joint,))[0]
        if driver != joint and (driver in drivers) != (joint in movable):
            where = 'is in the chain' if joint in movable else 'lies before the chain'
            raise IkChainError(
                f'joint {model.joint_label[joint]!r} {where} and mimics '
                f'{model.joint_label[driver]!r}; expected both in the chain or neither'
            )


def _dof_map(model: Any, drivers: list[int]) -> np.ndarray:
    """Return the map from velocities of variables to qd, shape [joint_dof_count, m]."""
    start = model.joint_qd_start.numpy()
    dof_map = np.zeros((model.joint_dof_count, len(drivers)))
    for variable, joint in enumerate(drivers):
        dof_map[start[joint], variable] = 1.0
    for follower, (driver, _, coef1) in model.mimic_driver.items():
        if driver in drivers:
            dof_map[start[follower], drivers.index(driver)] = coef1
    return dof_map
