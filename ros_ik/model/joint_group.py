# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Set of joints that move together, and its mapping to the variables of a solve."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions.labels import listed
from ros_ik.model.conventions.labels import split_pair
from ros_ik.numbers import as_integer
from ros_ik.numbers import check_writable
from ros_ik.numbers import host_array
from ros_ik.numbers import real_array

if TYPE_CHECKING:
    from ros_ik.model.model import Model
    from ros_ik.model.readers.srdf import SemanticDescription


@dataclasses.dataclass(frozen=True, eq=False)
class JointGroup:
    """Joints that move together; the others are locked.

    Attributes:
        name: Specification of the group.
        joint_indices: Its movable joints except mimic joints, in model order.
        joint_names: Their names.
        tip_link: Last link of a chain, '' where there is none.
        dof_variable: Variable that drives each degree of freedom of the model, -1 where locked,
            int32 [joint_dof_count].
        dof_scale: Factor from the variable to the degree of freedom: 1, or the multiplier of a
            mimic, float64 [joint_dof_count].
        variable_dof: Degree of freedom of each variable, int32 [n_variables].
    """

    name: str
    joint_indices: tuple[int, ...]
    joint_names: tuple[str, ...]
    tip_link: str
    dof_variable: np.ndarray
    dof_scale: np.ndarray
    variable_dof: np.ndarray

    @property
    def title(self) -> str:
        """Name in messages; groups of all joints, and of none, have no name."""
        return f'joint group {self.name!r}' if self.name else 'the joint group'

    @property
    def n_variables(self) -> int:
        """Number of variables of a solve over this group."""
        return len(self.variable_dof)

    def write_steps(self, variables: np.ndarray, step: np.ndarray) -> None:
        """Write steps of the variables as steps of the degrees of freedom.

        Args:
            variables: One per variable [n_variables], rad or m.
            step: Output [joint_dof_count]; degrees of freedom without a variable are unchanged.

        Raises:
            ArgumentError: Wrong shapes, or a read-only ``step``.
        """
        check_writable('step', step)
        driven = self.dof_variable >= 0
        if getattr(step, 'shape', None) != driven.shape:
            raise ArgumentError(f'step must be an array of shape {list(driven.shape)}')
        values = host_array(variables, 'variables')
        if values.shape != (self.n_variables,):
            raise ArgumentError(f'variables must have shape {[self.n_variables]}')
        step[driven] = self.dof_scale[driven] * values[self.dof_variable[driven]]

    def variable_limits(self, limits: np.ndarray) -> np.ndarray:
        """Return the limit of each variable, so that all joints it drives keep theirs.

        Args:
            limits: Limits of speed, acceleration and the like, not negative, inf if none, shape
                [joint_dof_count].

        Returns:
            Shape [n_variables]; inf without a limit.
        """
        driven = np.flatnonzero((self.dof_variable >= 0) & (self.dof_scale != 0.0))
        result = np.full(self.n_variables, np.inf)
        given = real_array('limits', limits)
        if given.shape != self.dof_variable.shape:
            raise ArgumentError(f'limits must have shape {list(self.dof_variable.shape)}')
        least = given[driven] / np.abs(self.dof_scale[driven])
        np.minimum.at(result, self.dof_variable[driven], least)
        return result

    def coupled_limits(self, limits: np.ndarray) -> np.ndarray:
        """Return limits of the degrees of freedom with which those that move along keep theirs.

        Args:
            limits: As for :meth:`variable_limits`.

        Returns:
            Shape [joint_dof_count]; degrees of freedom without a variable keep their own.
        """
        coupled = np.array(host_array(limits, 'limits'), dtype=np.float64)
        driven = np.flatnonzero((self.dof_variable >= 0) & (self.dof_scale != 0.0))
        of_variable = self.variable_limits(coupled)[self.dof_variable[driven]]
        coupled[driven] = np.abs(self.dof_scale[driven]) * of_variable
        return coupled


def checked_joint_group(
    model: Model, group: JointGroup | str | Sequence[str] | None, name: str = 'joint_group'
) -> JointGroup:
    """Return a group of a model, created if necessary; None selects all joints.

    Raises:
        ArgumentError: As :func:`make_joint_group`, a group of another model, or no group at all.
    """
    if group is None:
        group = ''
    if not isinstance(group, JointGroup):
        return make_joint_group(model, group, argument=name)
    labels = [model.joint_label[k] for k in group.joint_indices if k < model.joint_count]
    if len(group.dof_variable) != model.joint_dof_count or tuple(labels) != group.joint_names:
        raise ArgumentError(f'{name}: {group.title} belongs to another model')
    return group


def make_joint_group(
    model: Model, spec: str | Sequence[str], world: int | None = None, *, argument: str = 'spec'
) -> JointGroup:
    """Create the group that ``spec`` names; see :meth:`Model.joint_group`.

    Errors call it ``argument``.
    """
    tip = ''
    if isinstance(spec, np.ndarray):
        spec = spec.tolist()
    if isinstance(spec, Iterable) and not isinstance(spec, str):
        spec = tuple(spec)  # read once, because an iterator is empty afterwards
    is_list = isinstance(spec, Iterable) and all(isinstance(joint, str) for joint in spec)
    if not is_list:
        raise ArgumentError(
            f'{argument} must be the name of a group, base_link:tip_link, or a list of joint '
            f'names, got {spec!r}'
        )
    if not isinstance(spec, str):
        name = ','.join(spec)
        joints = [model.joint_index(joint, world) for joint in spec]
    elif not spec:
        name, joints = '', _joints_of_world(model, world)
    elif model.semantic is not None and spec in model.semantic.groups:
        name, (joints, tip) = spec, _semantic_joints(model, model.semantic, spec, world)
    elif ':' in spec:
        base, tip = split_pair(spec, model.body_label)
        name, joints = spec, _chain_joints(model, base, tip, world)
    else:
        groups = sorted(model.semantic.groups) if model.semantic else []
        known = f'groups of the SRDF: {", ".join(groups)}' if groups else 'no SRDF was given'
        raise ArgumentError(
            f'unknown joint group {spec!r}; use base_link:tip_link for a chain ({known})'
        )
    return _from_joints(model, name, joints, tip)


def group_of_joints(model: Model, joints: Iterable[int]) -> JointGroup:
    """Create the group of joints given by index, because several joints may share a name."""
    joints = [int(joint) for joint in joints]
    return _from_joints(model, ','.join(model.joint_label[joint] for joint in joints), joints, '')


def _from_joints(model: Model, name: str, joints: Iterable[int], tip: str) -> JointGroup:
    """Assign variable numbers to a set of joints; drivers replace mimic joints."""
    start = model.joint_qd_start.numpy()
    drivers = sorted({model.mimic_driver.get(joint, (joint,))[0] for joint in joints})
    movable = [joint for joint in drivers if start[joint + 1] > start[joint]]
    dof_variable = np.full(model.joint_dof_count, -1, dtype=np.int32)
    dof_scale = np.ones(model.joint_dof_count)
    variable_dof = [dof for joint in movable for dof in range(start[joint], start[joint + 1])]
    dof_variable[variable_dof] = np.arange(len(variable_dof))
    for follower, (driver, _, factor) in model.mimic_driver.items():
        dof_variable[start[follower]] = dof_variable[start[driver]]
        dof_scale[start[follower]] = factor
    return JointGroup(
        name=name,
        joint_indices=tuple(movable),
        joint_names=tuple(model.joint_label[joint] for joint in movable),
        tip_link=tip,
        dof_variable=dof_variable,
        dof_scale=dof_scale,
        variable_dof=np.array(variable_dof, dtype=np.int32),
    )


def _joints_of_world(model: Model, world: int | None) -> list[int]:
    """Return all joints of a world; None for those of every world."""
    if world is None:
        return list(range(model.joint_count))
    count = model.world_count
    if as_integer(world) is None or not -1 <= world < count:
        raise ArgumentError(f'world must be an integer in [-1, {count}), got {world!r}')
    return [int(joint) for joint in np.flatnonzero(model.joint_world.numpy() == world)]


def _incoming_joints(model: Model) -> dict[int, int]:
    """Return the joint that carries each link."""
    return {int(body): joint for joint, body in enumerate(model.joint_child.numpy())}


def _chain_joints(model: Model, base: str, tip: str, world: int | None) -> list[int]:
    """Return the joints from a base link to a tip link below it."""
    parent, incoming = model.joint_parent.numpy(), _incoming_joints(model)
    first, body = model.body_index(base, world), model.body_index(tip, world)
    joints: list[int] = []
    while body != first:
        joint = incoming.get(body)
        if joint is None or parent[joint] < 0:
            raise ArgumentError(f'link {tip!r} does not lie below link {base!r}')
        joints.append(joint)
        body = int(parent[joint])
    return joints[::-1]


def _semantic_chain(model: Model, base: str, tip: str, world: int | None) -> list[int]:
    """Return the joints that MoveIt takes for a chain of an SRDF.

    If the tip does not lie below the base, these are the joints from both links up to the nearest
    common ancestor, and the joint that carries it. Virtual joints are left out.
    """
    parent, incoming = model.joint_parent.numpy(), _incoming_joints(model)

    def joints_above(body: int) -> list[int]:
        joints: list[int] = []
        while body in incoming:
            joints.append(incoming[body])
            body = int(parent[joints[-1]])
        return joints

    first, last = model.body_index(base, world), model.body_index(tip, world)
    of_base, of_tip = joints_above(first), joints_above(last)
    if first == last or first in parent[of_tip]:
        return _chain_joints(model, base, tip, world)
    shared = [joint for joint in of_tip if joint in of_base]
    found = {*of_base, *of_tip} - set(shared[1:])
    return sorted(joint for joint in found if parent[joint] >= 0)


def _semantic_joints(
    model: Model, semantic: SemanticDescription, name: str, world: int | None
) -> tuple[list[int], str]:
    """Return the joints of an SRDF group with its subgroups, and its own tip link."""
    incoming = _incoming_joints(model)
    loop = semantic.group_loop(name)
    if loop:
        raise ArgumentError(
            f'SRDF group {name!r}: group {loop[0]!r} contains itself through {listed(loop)}'
        )
    joints: list[int] = []
    tip = ''
    names, known = [name], {name}
    for current in names:  # grows during the iteration
        if current not in semantic.groups:
            raise ArgumentError(f'SRDF group {name!r} names an unknown group {current!r}')
        group = semantic.groups[current]
        joints += [model.joint_index(joint, world) for joint in group.joints]
        joints += [incoming[model.body_index(link, world)] for link in group.links]
        for base, chain_tip in group.chains:
            joints += _semantic_chain(model, base, chain_tip, world)
            tip = chain_tip if current == name else tip
        names += [subgroup for subgroup in group.subgroups if subgroup not in known]
        known.update(group.subgroups)
    return joints, tip
