# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""All solutions of poses of a link, in one call."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import functools
from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.array_exchange import checked_namespace
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.conventions.checks import link_index
from ros_ik.numbers import host_array
from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.redundancy.redundant_values import checked_values
from ros_ik.solvers.analytic.redundant import RedundantClosedFormIK
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.result import checked_settings
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.selection import chain_checker
from ros_ik.solvers.analytic.selection import collision_free
from ros_ik.solvers.analytic.selection import first_entries
from ros_ik.solvers.analytic.selection import most_manipulable
from ros_ik.solvers.analytic.solver import ClosedFormIK
from ros_ik.solvers.analytic.structure.form import closed_form
from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.analytic.structure.form import without_form
from ros_ik.solvers.model_cache import PooledValue
from ros_ik.solvers.pose_ik.interface.batch_result import batches
from ros_ik.solvers.pose_ik.interface.batch_result import checked_progress
from ros_ik.solvers.pose_ik.interface.batch_result import largest_batch
from ros_ik.solvers.pose_ik.search.setup import rows_where
from ros_ik.solvers.pose_ik.search.setup import seed_rows

if TYPE_CHECKING:
    from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Largest number of solutions of a solver on a CPU; larger requests are split. At about 300 bytes
# each, this bounds the memory of the solver to 80 MB (150 MB for six general axes with 16
# solutions), in addition to the results.
_MAX_BATCH = 262_144


def all_solutions(
    model: Model,
    link: str | int,
    poses: Any,
    seeds: Any = None,
    max_solutions: int = 16,
    joint_group: JointGroup | str | Sequence[str] | None = None,
    *,
    joint_q: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    free_rotation: str = '',
    all_turns: bool = False,
    redundant_values: int | Sequence[float] | np.ndarray = 64,
    order: str = 'distance',
    check_collisions: bool = False,
    collision_pairs: Sequence[Sequence[int]] | np.ndarray | None = None,
    collision_margin: float = 0.0,
    settings: ClosedFormSettings | None = None,
    on_progress: Callable[[int, int], object] | None = None,
    xp: Any = None,
) -> AllSolutions:
    """Find all configurations within the joint limits that bring a link to each pose.

    The function supports arms of six revolute joints, and is fast if three consecutive axes
    intersect in one point or are parallel. It supports arms with fewer joints, for poses or parts
    of a pose that they can reach; arms with prismatic joints of the structures of
    :class:`ClosedFormFamily`; and arms of seven joints whose first or last six have such a
    structure. :func:`closed_form` describes the closed form of an arm. Solutions of seven joints
    form curves and are found at values of the redundant joint.

    Each solution is refined to 1e-10 m and 1e-10 rad and verified by an independent forward
    kinematics. Solvers are cached with the model, for calls with as many poses and the same other
    arguments. Your own :class:`ClosedFormIK`, or :class:`RedundantClosedFormIK` for seven joints,
    is faster still.

    Args:
        model: The model.
        link: Name or index of the link whose frame is to reach the poses.
        poses: Targets in the world, shape [n, 7] or [7], x y z qx qy qz qw.
        seeds: Configurations by whose distance solutions are sorted, shape [n, joint_coord_count]
            or [joint_coord_count]; None for the middle of the limits.
        max_solutions: Largest number of solutions per pose, the first in ``order``.
        joint_group: Joints that may move, a group or an argument of :meth:`Model.joint_group`;
            None for all joints between world and link.
        joint_q: Configuration at which the other joints are locked, shape [joint_coord_count];
            None for the neutral one.
        offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
        free_rotation: Axes of the tool about which it may rotate freely: '' for whole poses;
            'x', 'y' or 'z' for the position and the direction of that axis; 'xyz' for the
            position only.
        all_turns: True to return all turns of a joint within its limits as separate solutions;
            otherwise only the turn nearest to the seed. Joints without limits always get one turn.
        redundant_values: Values of the redundant joint of seven. A number: as many values over its
            limits, or over a turn about the seed if they allow more, the seed's value first. The
            nearest solution is then searched along the curves of solutions, and poses without a
            solution at these values are searched by :class:`ChainIK`. 1: only the seed's value,
            and that search if it has no solution. An array [k]: only these values [rad].
        order: 'distance' to return solutions nearest to the seed first, 'manipulability' for those
            with the largest manipulability first (Yoshikawa 1985), at the values of the redundant
            joint for seven joints.
        check_collisions: True to return only collision-free solutions, up to
            ``max_solutions``; with ``all_turns`` those among the ``max_solutions`` nearest. If all
            collide, the status is IN_COLLISION.
        collision_pairs: Pairs of shapes to check; see :func:`inverse_kinematics`.
        collision_margin: Distance [m] that the shapes of a pair must keep.
        settings: Tolerances and other settings.
        on_progress: Function that is called with the number of solved poses and the total number,
            after at most 262,144 solutions. An exception that it raises ends the call.
        xp: Module of the arrays of the result, such as torch or warp. None for the module of
            ``poses``, or NumPy for Warp arrays. See docs/inverse_kinematics.md.

    Returns:
        The solutions, in the order of the poses.

    Raises:
        ArgumentError: A chain without a closed form, with the reason; a wrong shape, type or
            size, an unknown link, a free or ball joint among those that may move, or a shape to
            check that has no geometry. The message names it.
    """
    xp = checked_namespace(xp, poses)
    max_solutions = checked_count('max_solutions', max_solutions, 1)
    if not (isinstance(order, str) and order in ('distance', 'manipulability')):
        raise ArgumentError(f"order must be 'distance' or 'manipulability', got {order!r}")
    settings = checked_settings(settings)
    all_turns = checked_flag('all_turns', all_turns)
    check_collisions = checked_flag('check_collisions', check_collisions)
    checked_progress(on_progress)
    form = closed_form(
        model, link, joint_group, joint_q=joint_q, offset=offset, free_rotation=free_rotation,
        tolerances=settings.structure,
    )  # fmt: skip
    if form.reason:
        raise without_form(model.body_label[link_index(model, link, least=0)], form.reason)
    # Colliding solutions are removed from the set of all solutions, and the most manipulable ones
    # are chosen from it, on the host.
    is_selected = check_collisions or order == 'manipulability'
    on_device = not (form.redundant_joint or is_selected)
    targets, starts = _input_rows(poses, seeds, on_device)
    on_device = isinstance(targets, wp.array) or isinstance(starts, wp.array)
    kind, own_arguments, n_values = _solver_of(form, redundant_values, free_rotation)
    chain: dict[str, Any] = {'joint_group': joint_group, 'joint_q': joint_q, 'offset': offset}
    arguments: dict[str, Any] = {
        **chain, **own_arguments, 'all_turns': all_turns, 'settings': settings
    }
    n_entries = max_solutions
    if is_selected:
        n_entries = max(n_entries, MAX_CANDIDATES * (n_values + 1))
    request = {
        **arguments, 'link': link, 'n_entries': n_entries, 'check_collisions': check_collisions,
        'pairs': collision_pairs, 'margin': collision_margin,
    }  # fmt: skip

    def make(size: int) -> tuple[ClosedFormIK | RedundantClosedFormIK, CollisionChecker | None]:
        checker = None
        if check_collisions:
            checker = chain_checker(
                model, link, **chain, pairs=collision_pairs, margin=collision_margin
            )
        return kind(model, link, size, n_entries, **arguments), checker

    result: AllSolutions | None = None
    n = len(targets)
    solutions_per_pose = n_entries + MAX_CANDIDATES * (n_values - 1)
    largest = largest_batch(_MAX_BATCH, wp.get_device(model.device))
    for size, slices in batches(n, largest // solutions_per_pose):
        made = PooledValue(model, request, functools.partial(make, size), size, _n_bytes)
        with made as (solver, checker):
            for rows in slices:
                part = solver.solve(
                    targets[rows], None if starts is None else starts[rows],
                    xp=wp if on_device else np,
                )  # fmt: skip
                if checker is not None:
                    part = collision_free(part, checker, n_entries)
                if order == 'manipulability':
                    part = most_manipulable(part, solver.chain, free_rotation, model.device)
                if n_entries > max_solutions:
                    part = first_entries(part, max_solutions)
                result = part.added_to(result, rows, n)
                if on_progress is not None:
                    on_progress(rows.stop, n)
    assert result is not None, 'no poses'
    return result.given_as(xp, model.device)


def _input_rows(poses: Any, seeds: Any, on_device: bool) -> tuple[Any, Any]:
    """Return poses [n, 7] and seeds [n, joint_coord_count] or None.

    Args:
        poses: Argument of :func:`all_solutions`.
        seeds: Argument of :func:`all_solutions`.
        on_device: True to keep arrays of a device there, as Warp arrays; otherwise all are NumPy.
    """
    targets, starts = rows_where('poses', poses, on_device), rows_where('seeds', seeds, on_device)
    if not isinstance(targets, wp.array):
        targets = np.atleast_2d(host_array(targets, 'poses'))
    if len(targets) == 0:
        raise ArgumentError('poses must have at least one row, got none')
    return targets, seed_rows(starts, len(targets))


def _solver_of(
    form: ClosedForm, redundant_values: int | Sequence[float] | np.ndarray, free_rotation: str
) -> tuple[type[ClosedFormIK] | type[RedundantClosedFormIK], dict[str, Any], int]:
    """Return the class of the solver, arguments that only it has, and its number of values."""
    if not form.redundant_joint:
        return ClosedFormIK, {'free_rotation': free_rotation}, 1
    given, n_sampled = checked_values(redundant_values)
    arguments = {'redundant_values': redundant_values, 'form': form}
    return RedundantClosedFormIK, arguments, n_sampled or len(given)


def _n_bytes(made: tuple[ClosedFormIK | RedundantClosedFormIK, object]) -> int:
    """Return the memory of a solver beside its collision checker."""
    return made[0].n_bytes
