# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Description of the closed form of a chain, or of the reason that it has none."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.serial_chain import serial_chain
from ros_ik.model import Model
from ros_ik.model.checks import checked_array
from ros_ik.model.checks import checked_pose
from ros_ik.model.checks import link_index
from ros_ik.solvers.analytic.general import is_always_singular
from ros_ik.solvers.analytic.structure import best_chart
from ros_ik.solvers.analytic.structure import Chart
from ros_ik.solvers.analytic.structure import ClosedFormFamily
from ros_ik.solvers.analytic.structure import joint_axes
from ros_ik.solvers.analytic.structure import Split
from ros_ik.solvers.analytic.structure import StructureTolerances

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain
    from ros_ik.model import JointGroup

_JOINTS = 6


@dataclasses.dataclass(frozen=True)
class ClosedForm:
    """Closed form of a chain.

    Attributes:
        family: Structure that it uses; GENERAL for six axes without one, of which a polynomial of
            degree 16 is solved; NONE where there is no closed form.
        joints: Names of the joints of the chain that may move, from the base to the tool.
        special_joints: Names of the three whose axes meet or are parallel; empty for GENERAL.
        max_branches: Most solutions of a regular pose, not counting whole turns; 0 for NONE.
        quartic: Whether it takes the roots of a quartic; otherwise square roots are enough,
            but for GENERAL.
        exact: Whether the axes have the structure up to rounding, as any have that of GENERAL. If
            not, the solutions of the nearest arm that has it are where the numerical solution of
            this arm starts.
        deviation: Largest angle [rad], or length over the reach, by which the axes miss it.
        redundancy: Joints beyond the six that a pose fixes.
        redundant_joint: Joint of a chain of seven, the first or the last, that is given values;
            the rest of the form is that of the other six. '' where there is none.
        lockable: Joints of a redundant chain; with any one of them left out of the joint group
            there is a closed form other than GENERAL.
        reason: Why there is none, '' where there is one.
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
    lockable: tuple[str, ...] = ()
    reason: str = ''


def closed_form(
    model: Model,
    link: str | int,
    joint_group: JointGroup | str | Sequence[str] | None = None,
    *,
    joint_q: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    tolerances: StructureTolerances | None = None,
) -> ClosedForm:
    """Tell which closed form solves poses of a link, or why there is none.

    Args:
        model: The model.
        link: Name or index of the link.
        joint_group: Joints that may move, a group or what :meth:`Model.joint_group` takes; None
            for every joint between world and link.
        joint_q: Configuration that holds the other joints, shape [joint_coord_count]; None for
            the neutral one.
        offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
        tolerances: Deviations up to which axes count as parallel or as meeting.

    Raises:
        ArgumentError: An unknown link, no joint that moves it, or a free or ball joint among
            those that may move.
    """
    chain, held = folded_chain(model, link, joint_group, joint_q, offset)
    tolerances = tolerances or StructureTolerances()
    form, _ = recognised(model, chain, tolerances)
    if form.redundancy == 1:
        rest = _forms_of_six(model, link, chain, held, offset, tolerances)
        form = dataclasses.replace(form, lockable=tuple(rest))
        # A joint that follows the redundant one would move the others' axes with it.
        outer = (form.joints[-1], form.joints[0]) if chain.is_direct else ()
        ends = [name for name in outer if name in rest]
        if ends:
            # Exact ones first, then those of square roots alone.
            best = min(ends, key=lambda name: (not rest[name].exact, rest[name].quartic))
            form = dataclasses.replace(
                rest[best], joints=form.joints, redundancy=1, redundant_joint=best,
                lockable=form.lockable,
            )  # fmt: skip
        elif chain.is_direct:
            reason = (
                f'the chain has {_JOINTS + 1} joints, more than the {_JOINTS} that a pose fixes, '
                'and neither the first nor the last six have a closed form'
            )
            form = dataclasses.replace(form, reason=reason)
    return form


def without_form(link: str, reason: str) -> ArgumentError:
    """Return the error of a chain without a closed form."""
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
    """Return the chain to a link and the configuration that holds the other joints."""
    if not isinstance(model, Model):
        raise ArgumentError(f'model must be a ros_ik Model, got {type(model).__name__}')
    held = model.neutral_joint_q() if joint_q is None else joint_q
    held = checked_array('joint_q', held, (model.joint_coord_count,))
    index = link_index(model, link, least=0)
    tool = checked_pose('offset', offset)
    return serial_chain(model, index, group=joint_group, joint_q=held, offset=tool), held


def recognised(
    model: Model, chain: SerialChain, tolerances: StructureTolerances
) -> tuple[ClosedForm, Chart | None]:
    """Return the closed form of a chain, and the chart to solve it with, None for GENERAL."""
    joints = _joint_names(model, chain)
    reason = _unfit(chain)
    if reason:
        redundancy = max(0, chain.n_variables - _JOINTS)
        return ClosedForm(
            ClosedFormFamily.NONE, joints, redundancy=redundancy, reason=reason
        ), None
    axes = joint_axes(chain)
    chart = best_chart(axes, tolerances)
    if chart is None:
        if is_always_singular(axes):
            reason = 'every configuration is singular; the tool cannot move in all six directions'
            return ClosedForm(ClosedFormFamily.NONE, joints, reason=reason), None
        return ClosedForm(ClosedFormFamily.GENERAL, joints, max_branches=16, exact=True), None
    places = slice(3, 6) if chart.family is ClosedFormFamily.SPHERICAL else slice(1, 4)
    form = ClosedForm(
        family=chart.family,
        joints=joints,
        special_joints=tuple(joints[k] for k in sorted(chart.order[places])),
        max_branches=8,
        quartic=chart.split is Split.JOINT,
        exact=chart.deviation <= tolerances.exact,
        deviation=chart.deviation,
    )
    return form, chart


def _unfit(chain: SerialChain) -> str:
    """Return why a chain is none of six revolute joints, '' where it is one."""
    n = len(chain.slides)
    if not chain.is_direct:
        return 'a joint follows another one; closed forms need joints that move by themselves'
    if any(chain.slides):
        return 'a joint slides; closed forms need revolute joints'
    if n > _JOINTS:
        return f'the chain has {n} joints, more than the {_JOINTS} that a pose fixes'
    if n < _JOINTS:
        return f'the chain has {n} joints, fewer than the {_JOINTS} of a pose'
    return ''


def _joint_names(model: Model, chain: SerialChain) -> tuple[str, ...]:
    """Return the joints that the variables of a chain belong to."""
    starts = model.joint_q_start.numpy()
    joints = np.searchsorted(starts, chain.coordinates, side='right') - 1
    return tuple(model.joint_label[int(joint)] for joint in joints)


def _forms_of_six(
    model: Model,
    link: str | int,
    chain: SerialChain,
    held: np.ndarray,
    offset: np.ndarray | None,
    tolerances: StructureTolerances,
) -> dict[str, ClosedForm]:
    """Return the closed forms of a chain of seven with one joint locked, by its name."""
    names = _joint_names(model, chain)
    found = {}
    for name in names:
        others = [other for other in names if other != name]
        rest, _ = folded_chain(model, link, others, held, offset)
        form, _ = recognised(model, rest, tolerances)
        if form.family not in (ClosedFormFamily.NONE, ClosedFormFamily.GENERAL):
            found[name] = form
    return found
