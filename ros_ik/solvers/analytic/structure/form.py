# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Description of the closed form of a chain, or of the reason why it has none."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import functools
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.kinematics.serial_chain import serial_chain
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import link_index
from ros_ik.model.joint_group import group_of_joints
from ros_ik.model.model_argument import require_model
from ros_ik.solvers.analytic.structure.completion import Completion
from ros_ik.solvers.analytic.structure.completion import completions
from ros_ik.solvers.analytic.structure.completion import self_motion_joint
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily
from ros_ik.solvers.analytic.structure.structure import joint_axes
from ros_ik.solvers.analytic.structure.structure import Split
from ros_ik.solvers.analytic.structure.structure import StructureTolerances
from ros_ik.solvers.model_cache import PooledValue

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

_JOINTS = 6
# Number of dimensions that a pose determines, by the number of free rotations.
_FIXED = {0: _JOINTS, 1: 5, 3: 3}
# Largest deviation of revolute axes whose solutions are refined from those of the exact structure.
# At 1e-3 up to 25 of 10,000 would be missed, and none is by the solution of general axes, in about
# the same time. At 1e-4 and less it was at most one, and general axes take up to five times as
# long; they missed 8 of 26,000 of an xArm7, which deviates by 1e-6.
_MOST_REFINED = 1e-4


@dataclasses.dataclass(frozen=True)
class ClosedForm:
    """Closed form of a chain.

    Attributes:
        family: Structure of the solution. GENERAL for six axes without special structure, solved
            by a polynomial of degree 16; NONE if there is no closed form.
        joints: Names of the movable joints of the chain, from the base to the tool.
        special_joints: Names of the three joints whose axes intersect or are parallel, or that are
            prismatic (CARTESIAN); empty for GENERAL. Chains with fewer than six joints are
            completed by virtual joints, which may be among the three and have no name.
        max_branches: Largest number of solutions of a regular pose, without whole turns; 0 for
            NONE. Chains with fewer than six joints usually have fewer.
        quartic: True if the solution needs the roots of a quartic. Otherwise, except for GENERAL,
            square roots are sufficient.
        exact: True if the axes have the structure exactly, up to rounding, as is always the case
            for GENERAL. If not, the solution is refined numerically from that of the nearest arm
            with the exact structure. Revolute axes that deviate by more than 1e-4 are solved like
            GENERAL instead, which misses fewer solutions.
        deviation: Largest angle [rad], or length relative to the extent of the revolute axes, by
            which the axes deviate from the structure. The tool does not change it.
        redundancy: Number of joints beyond the dimensions that a pose determines, which are six
            without free rotation.
        redundant_joint: The first or last joint of a chain of seven, at whose values the other six
            are solved; the other attributes describe these six. '' for none.
        redundant_variable: Index of this joint in ``joints``, -1 for none.
        lockable: Joints of a redundant chain that can be left out of the joint group to get a
            closed form other than GENERAL.
        free_rotation: Axes of the tool about which it may rotate freely, '' for none.
        reason: Reason why there is no closed form, or ''. Six joints whose every configuration is
            singular, such as two that coincide or four parallel ones, have none: they reach a pose
            along curves of configurations.
    """

    family: ClosedFormFamily
    joints: tuple[str, ...]
    special_joints: tuple[str, ...] = ()
    max_branches: int = 0
    quartic: bool = False
    exact: bool = False
    deviation: float = 0.0
    redundancy: int = 0
    redundant_joint: str = ''
    redundant_variable: int = -1
    lockable: tuple[str, ...] = ()
    free_rotation: str = ''
    reason: str = ''


def closed_form(
    model: Model,
    link: str | int,
    joint_group: JointGroup | str | Sequence[str] | None = None,
    *,
    joint_q: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    free_rotation: str = '',
    tolerances: StructureTolerances | None = None,
) -> ClosedForm:
    """Describe the closed form for poses of a link, or the reason why there is none.

    Args:
        model: The model.
        link: Name or index of the link.
        joint_group: Joints that may move, a group or an argument of :meth:`Model.joint_group`;
            None for all joints between world and link.
        joint_q: Configuration at which the other joints are locked, shape [joint_coord_count];
            None for the neutral one.
        offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
        free_rotation: Axes of the tool about which it may rotate freely: '' for whole poses;
            'x', 'y' or 'z' for the position and the direction of that axis, which five joints can
            reach; 'xyz' for the position only, which three joints can reach.
        tolerances: Tolerances for parallel and for intersecting axes.

    Raises:
        ArgumentError: An unknown link, no joint that moves it, a free or ball joint among those
            that may move, or another free_rotation or type of tolerances.
    """
    request: dict[str, Any] = {
        'link': link, 'joint_group': joint_group, 'joint_q': joint_q, 'offset': offset,
        'free_rotation': free_rotation,
        'tolerances': checked_options('tolerances', StructureTolerances, tolerances),
    }  # fmt: skip
    with PooledValue(model, request, functools.partial(_form, model, **request)) as form:
        return form


def _form(
    model: Model,
    link: str | int,
    joint_group: JointGroup | str | Sequence[str] | None,
    joint_q: np.ndarray | None,
    offset: np.ndarray | None,
    free_rotation: str,
    tolerances: StructureTolerances,
) -> ClosedForm:
    """Return the closed form of a link; see :func:`closed_form`."""
    chain, locked_joint_q = folded_chain(model, link, joint_group, joint_q, offset)
    form, _ = recognised(model, chain, free_rotation, tolerances)
    if form.redundancy == 1 and not free_rotation:
        rest = _forms_without_joint(model, link, chain, locked_joint_q, offset, tolerances)
        lockable = tuple(model.joint_label[joint] for joint in rest)
        form = dataclasses.replace(form, lockable=lockable)
        joints = variable_joints(model, chain)
        # A mimic joint of the redundant one would move the axes of the others, and a joint of
        # several variables leaves fewer than six.
        outer = (joints[-1], joints[0]) if chain.is_direct else ()
        ends = [joint for joint in outer if joint in rest and joints.count(joint) == 1]
        if ends:
            # First exact forms, then those without a quartic, then those without prismatic joints.
            sliding = (ClosedFormFamily.SLIDING, ClosedFormFamily.CARTESIAN)
            best = min(
                ends,
                key=lambda joint: (
                    not rest[joint].exact, rest[joint].quartic, rest[joint].family in sliding
                ),
            )  # fmt: skip
            form = dataclasses.replace(
                rest[best], joints=form.joints, redundancy=1,
                redundant_joint=model.joint_label[best], redundant_variable=joints.index(best),
                lockable=lockable,
            )  # fmt: skip
        elif chain.is_direct:
            reason = (
                f'the chain has {_JOINTS + 1} joints, more than the {_JOINTS} that a pose needs, '
                'and neither the first nor the last six have a closed form'
            )
            form = dataclasses.replace(form, reason=reason)
    return form


def without_form(link: str, reason: str) -> ArgumentError:
    """Return the error for a chain without a closed form."""
    return ArgumentError(
        f'poses of link {link!r} have no closed form: {reason}; inverse_kinematics searches'
    )


def folded_chain(
    model: Model,
    link: str | int,
    joint_group: JointGroup | str | Sequence[str] | None,
    joint_q: np.ndarray | None,
    offset: np.ndarray | None,
) -> tuple[SerialChain, np.ndarray]:
    """Return the chain to a link, and the configuration at which other joints are locked."""
    locked_joint_q = require_model(model).locked_joint_q('joint_q', joint_q)
    index = link_index(model, link, least=0)
    tool = checked_pose('offset', offset)
    chain = serial_chain(model, index, group=joint_group, joint_q=locked_joint_q, offset=tool)
    return chain, locked_joint_q


def recognised(
    model: Model, chain: SerialChain, free_rotation: str, tolerances: StructureTolerances
) -> tuple[ClosedForm, list[Completion]]:
    """Return the closed form of a chain, and the completions for its solution."""
    names = tuple(model.joint_label[joint] for joint in variable_joints(model, chain))
    free = free_axes(free_rotation)

    def without(reason: str, redundancy: int = 0) -> tuple[ClosedForm, list[Completion]]:
        form = ClosedForm(
            ClosedFormFamily.NONE, names, redundancy=redundancy, free_rotation=free_rotation,
            reason=reason,
        )  # fmt: skip
        return form, []

    n, most = len(chain.slides), _FIXED[len(free)]
    redundancy = max(0, chain.n_variables - most)
    if not chain.is_direct:
        return without(
            'a joint is a mimic joint; closed forms need independent joints',
            redundancy,
        )
    if n > most:
        return without(
            f'the chain has {n} joints, more than the {most} that '
            + (f'free_rotation={free_rotation!r} leaves' if free_rotation else 'a pose needs'),
            redundancy,
        )
    axes = joint_axes(chain)
    idle, joint = self_motion_joint(axes, free)
    if idle:
        return without(_idle_reason(n, free_rotation, None if joint is None else names[joint]))
    made = completions(axes, free, tolerances)
    chart = made[0].chart if made else None
    if chart is None and any(chain.slides):
        return without(
            'some joints are prismatic, but there are neither three prismatic and three revolute '
            'joints, nor prismatic joints before or after three axes through one point'
        )
    if chart is None:
        if not made:
            return without('every completion to six joints is singular')
        form = ClosedForm(
            ClosedFormFamily.GENERAL, names, max_branches=16, exact=True,
            free_rotation=free_rotation,
        )  # fmt: skip
        return form, made
    special_axes = slice(1, 4) if chart.family is ClosedFormFamily.PARALLEL else slice(3, 6)
    special = np.isin(made[0].real, chart.order[special_axes])
    if chart.family is ClosedFormFamily.CARTESIAN:
        special = np.array(chain.slides)
    exact = chart.deviation <= tolerances.exact
    if chart.deviation > _MOST_REFINED and not any(made[0].axes.slides):
        made = [dataclasses.replace(part, chart=None) for part in made]
    form = ClosedForm(
        family=chart.family,
        joints=names,
        special_joints=tuple(name for name, there in zip(names, special, strict=True) if there),
        max_branches=16 if made[0].chart is None else 4 if len(free) == 3 else 8,
        quartic=chart.split is Split.JOINT,
        exact=exact,
        deviation=chart.deviation,
        free_rotation=free_rotation,
    )
    return form, made


def free_axes(free_rotation: str) -> np.ndarray:
    """Return the axes of free rotations of the tool, shape [0, 1 or 3, 3].

    Raises:
        ArgumentError: Anything but '', 'x', 'y', 'z' or 'xyz'.
    """
    known = ('', 'x', 'y', 'z', 'xyz')
    if not (isinstance(free_rotation, str) and free_rotation in known):
        raise ArgumentError(
            "free_rotation must be '', 'x', 'y', 'z' or 'xyz' (rotations about two axes "
            f'generate all rotations), got {free_rotation!r}'
        )
    return np.eye(3)[['xyz'.index(name) for name in free_rotation]].reshape(-1, 3)


def _idle_reason(n: int, free_rotation: str, joint: str | None) -> str:
    """Return the reason why a chain with self-motions has no closed form."""
    if joint is not None and free_rotation:
        return (
            f'joint {joint!r} only rotates the tool about the free axes of free_rotation='
            f'{free_rotation!r}; leave it out of the joint group'
        )
    where = 'every configuration is singular:' if n == _JOINTS else 'at every configuration,'
    return (
        f'{where} some motion of the joints does not move the tool, so each pose has infinitely '
        'many solutions; lock a joint'
    )


def variable_joints(model: Model, chain: SerialChain) -> list[int]:
    """Return the joint of each variable of a chain; variables of a D6 joint share it."""
    starts = model.joint_q_start.numpy()
    joints = np.searchsorted(starts, chain.coordinates, side='right') - 1
    return [int(joint) for joint in joints]


def _forms_without_joint(
    model: Model,
    link: str | int,
    chain: SerialChain,
    locked_joint_q: np.ndarray,
    offset: np.ndarray | None,
    tolerances: StructureTolerances,
) -> dict[int, ClosedForm]:
    """Return the closed forms of a chain of seven with one joint locked, by this joint."""
    joints = dict.fromkeys(variable_joints(model, chain))
    found = {}
    for joint in joints:
        others = group_of_joints(model, [other for other in joints if other != joint])
        rest, _ = folded_chain(model, link, others, locked_joint_q, offset)
        form, _ = recognised(model, rest, '', tolerances)
        if form.family not in (ClosedFormFamily.NONE, ClosedFormFamily.GENERAL):
            found[joint] = form
    return found
