# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of poses of a link, in one call."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import functools
from typing import Any
from typing import NamedTuple
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_choice
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.array_exchange import checked_namespace
from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.model.conventions.checks import checked_flag
from ros_ik.model.model_argument import require_model
from ros_ik.numbers import host_array
from ros_ik.solvers.analytic.batch import all_solutions
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.structure.form import closed_form
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.default_tolerances import POSITION_TOLERANCE
from ros_ik.solvers.default_tolerances import ROTATION_TOLERANCE
from ros_ik.solvers.model_cache import PooledValue
from ros_ik.solvers.pose_batches.choice import checked_preference
from ros_ik.solvers.pose_batches.choice import N_CANDIDATES
from ros_ik.solvers.pose_batches.choice import Preference
from ros_ik.solvers.pose_batches.choice import SolutionChoice
from ros_ik.solvers.pose_batches.closed_form_first import as_chain_result
from ros_ik.solvers.pose_batches.closed_form_first import ClosedFormFirstIK
from ros_ik.solvers.pose_batches.closed_form_first import is_closed_form_faster
from ros_ik.solvers.pose_ik.interface.batch_result import batches
from ros_ik.solvers.pose_ik.interface.batch_result import checked_progress
from ros_ik.solvers.pose_ik.interface.batch_result import largest_batch
from ros_ik.solvers.pose_ik.interface.result import ChainIKResult
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.interface.result import checked_chain_settings
from ros_ik.solvers.pose_ik.interface.result import GoalSetResult
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance
from ros_ik.solvers.pose_ik.search.setup import rows_where
from ros_ik.solvers.pose_ik.search.setup import seed_rows
from ros_ik.solvers.pose_ik.search.setup import seen_from_bases
from ros_ik.solvers.pose_ik.solver import ChainIK

if TYPE_CHECKING:
    from ros_ik.kinematics.serial_chain import SerialChain
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Largest number of solutions of a solver on a CPU; larger requests are split. At about 360 bytes
# each, this bounds the memory of the solver to 25 MB, in addition to the results.
MAX_BATCH = 65_536

_METHODS = ('search', 'closed_form', 'auto')


def inverse_kinematics(
    model: Model,
    link: str | int,
    poses: Any,
    seeds: Any = None,
    position_tolerance: float | Sequence[float] | np.ndarray = POSITION_TOLERANCE,
    rotation_tolerance: float | Sequence[float] | np.ndarray = ROTATION_TOLERANCE,
    n_solutions: int = 1,
    check_collisions: bool = False,
    *,
    collision_pairs: Sequence[Sequence[int]] | np.ndarray | None = None,
    collision_margin: float = 0.0,
    joint_group: JointGroup | str | Sequence[str] | None = None,
    joint_q: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    settings: ChainIKSettings | None = None,
    n_threads: int | None = None,
    method: str = 'search',
    tolerance_frame: str = 'target',
    base_poses: Any = None,
    preference: Preference = 'seed',
    n_candidates: int = N_CANDIDATES,
    on_progress: Callable[[int, int], object] | None = None,
    xp: Any = None,
) -> ChainIKResult:
    """Find configurations within the joint limits that bring a link to poses.

    Every solution is verified by an independent forward kinematics. Mimic joints follow their
    drivers. Solvers of small batches are cached with the model, for the next call with the same
    arguments. Your own :class:`ChainIK` is faster still.

    Args:
        model: The model.
        link: Name or index of the link whose frame is to reach the poses.
        poses: Targets in the world, shape [n, 7] or [7], x y z qx qy qz qw; or goal sets, shape
            [n, n_goals, 7], of which the link reaches any one pose.
        seeds: Start configurations, shape [n, joint_coord_count] or [joint_coord_count]; None for
            the middle of the limits. Solutions near the seed are preferred.
        position_tolerance: Largest distance of a solution [m], or largest error along each of
            three axes; inf leaves the position or the axis free.
        rotation_tolerance: Largest angle of a solution [rad], or largest component of the rotation
            vector about each axis; inf leaves the rotation or the axis free.
        n_solutions: Number of distinct solutions per pose; sorted by the preference.
        check_collisions: True to return only collision-free solutions. If solutions collide,
            the search continues with a bounded effort. If it finds no free solution for a pose,
            the status is IN_COLLISION, with the solution nearest to the seed. Meshes are replaced
            by their convex hulls, so some free solutions may be rejected.
        collision_pairs: Pairs of shapes to check, int [n_pairs, 2], indices into the model. None
            for ``model.shape_contact_pairs``, except pairs that a warning names: those that
            collide at the neutral and at all of 1000 random configurations, see
            :func:`always_colliding_pairs`, and those that collide at ``joint_q`` and that the
            chain does not move.
        collision_margin: Distance [m] that the shapes of a pair must keep. It does not apply to
            pairs of the model that are closer at all of these configurations.
        joint_group: Joints that may move, a group or an argument of :meth:`Model.joint_group`;
            None for all joints between world and link.
        joint_q: Configuration at which the other joints are locked, shape [joint_coord_count];
            None for the neutral one.
        offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
        settings: Settings of the search.
        n_threads: CPU threads that share a batch; None for one per core.
        method: 'search'; 'closed_form' for the solutions of :func:`all_solutions` nearest to the
            seed, exact to 1e-10 m and rad, with each joint at its nearest turn; or 'auto'. 'auto'
            uses the closed form for chains of six joints that have an exact one, except six
            general axes, for which the search is faster. It then searches the unsolved poses, and
            uses the search for everything else. The closed form requires two finite tolerances
            that are not by axis. ``settings`` apply only to the search.
        tolerance_frame: 'target' or 'tool', the frame of the axes of tolerances.
        base_poses: Pose of the model's world in the frame of the poses, shape [n, 7] or [7], for
            robots at different places; None for the identity. Everything fixed to the model's
            world moves with it.
        preference: Criterion for the best solutions: 'seed' for the nearest to the seed, 'middle'
            for the nearest to the middle of the joint limits, 'manipulability' for the highest
            manipulability (of whole turns of joints the nearest to the seed), or a function that
            returns costs [n] of configurations [n, joint_coord_count].
        n_candidates: Number of distinct solutions from which to choose for each pose, for
            preferences other than 'seed'.
        on_progress: Function that is called with the number of solved poses and the total number,
            after at most 65,536 poses or one goal set, in closed form after 262,144 poses. An
            exception that it raises ends the call.
        xp: Module of the arrays of the result, such as torch or warp. None for the module of
            ``poses``, or NumPy for Warp arrays. See docs/inverse_kinematics.md.

    Returns:
        The results, in the order of the poses; for goal sets a :class:`GoalSetResult`.

    Raises:
        ArgumentError: A wrong shape, type or size; an unknown method, frame, preference or link;
            a chain or request that 'closed_form' does not support; a free or ball joint among
            those that may move; or a shape without geometry, because its mesh file was not found.
            The message gives name and reason.
        ModelError: A mesh file that cannot be read.
    """
    xp = checked_namespace(xp, poses)
    checked_choice('method', method, _METHODS)
    check_collisions = checked_flag('check_collisions', check_collisions)
    # A search reads arrays of a device there, unless what follows works on the host.
    is_plain = method == 'search' and not check_collisions and not callable(preference)
    problems = _read_problems(poses, seeds, base_poses, is_plain and base_poses is None)
    tolerance = PoseTolerance.checked(position_tolerance, rotation_tolerance, tolerance_frame)
    checked_progress(on_progress)
    wanted = checked_count('n_solutions', n_solutions, 1)
    count = wanted
    if checked_preference(preference) != 'seed':
        count = max(wanted, checked_count('n_candidates', n_candidates, 1))
    shared: dict[str, Any] = {
        'joint_group': joint_group, 'joint_q': joint_q, 'offset': offset,
        'check_collisions': check_collisions, 'collision_pairs': collision_pairs,
        'collision_margin': collision_margin,
    }  # fmt: skip
    is_chosen = preference != 'seed' or problems.are_sets
    if method == 'closed_form':
        separation = ClosedFormSettings().separation
        found = _in_closed_form(model, link, problems, count, tolerance, shared, on_progress)
        chain, _ = folded_chain(model, link, joint_group, joint_q, offset)
    else:
        separation = checked_chain_settings(settings).separation
        request = {
            **shared, 'position_tolerance': tolerance.position,
            'rotation_tolerance': tolerance.rotation, 'tolerance_frame': tolerance.frame,
            'n_solutions': count, 'settings': settings, 'n_threads': n_threads,
        }  # fmt: skip
        # A function of the user may solve poses itself, so it is called after the solver is free.
        chosen_by = str(preference) if is_chosen and not callable(preference) else None
        found, chain = _searched(
            model, link, problems, tolerance, request, may_be_closed=method == 'auto',
            chosen_by=chosen_by, n_solutions=wanted, on_progress=on_progress,
        )  # fmt: skip
    if is_chosen and not isinstance(found, GoalSetResult):
        choice = SolutionChoice(preference, chain, model, separation)
        found = choice.best(found, problems.starts, problems.n_goals, wanted)
    found = found.given_as(xp, model.device)
    if isinstance(found, GoalSetResult) and not problems.are_sets:
        return found.without_goals()
    return found


class _Problems(NamedTuple):
    """Poses to solve.

    Attributes:
        targets: The poses, ``n_goals`` successive ones for each problem.
        starts: A seed for each pose, or None.
        n_goals: Number of poses of a problem, of which any one is to be reached.
        are_sets: True if the poses were given as goal sets.
    """

    targets: Any
    starts: Any
    n_goals: int
    are_sets: bool

    @property
    def n(self) -> int:
        """Number of problems."""
        return len(self.targets) // self.n_goals


def _read_problems(poses: Any, seeds: Any, base_poses: Any, on_device: bool) -> _Problems:
    """Return the poses and seeds of :func:`inverse_kinematics`.

    Args:
        poses: Its argument.
        seeds: Its argument.
        base_poses: Its argument.
        on_device: True to leave rows of a device there, as Warp arrays; goal sets are copied.
    """
    if is_exchanged(poses) or is_exchanged(seeds):
        poses, seeds = rows_where('poses', poses, on_device), rows_where('seeds', seeds, on_device)
        if isinstance(poses, wp.array) and poses.ndim == 3:
            poses, seeds = (rows_where('', rows, False) for rows in (poses, seeds))
    if not isinstance(poses, wp.array):
        poses = host_array(poses, 'poses')
    goals, n_goals = _goal_rows(poses)
    targets = goals if base_poses is None else seen_from_bases(base_poses, goals, n_goals)
    starts = seed_rows(seeds, len(targets) // n_goals)
    if starts is not None and n_goals > 1:
        starts = np.repeat(starts, n_goals, axis=0)
    return _Problems(targets, starts, n_goals, poses.ndim == 3)


def _searched(
    model: Model,
    link: str | int,
    problems: _Problems,
    tolerance: PoseTolerance,
    request: dict[str, Any],
    *,
    may_be_closed: bool,
    chosen_by: str | None,
    n_solutions: int,
    on_progress: Callable[[int, int], object] | None,
) -> tuple[ChainIKResult, SerialChain]:
    """Solve by the search, after the closed form if it is allowed and faster.

    Args:
        model: The model.
        link: Link whose frame is to reach the poses.
        problems: The poses.
        tolerance: Tolerances of a solution.
        request: Other arguments of the solver.
        may_be_closed: True if the closed form is allowed.
        chosen_by: Preference of the choice; None to return the solutions of all poses.
        n_solutions: Number of solutions to choose for each problem.
        on_progress: Function that is called after each batch.

    Returns:
        The results and the chain.
    """
    targets, starts, n_goals = problems.targets, problems.starts, problems.n_goals
    n, count = problems.n, request['n_solutions']
    on_device = isinstance(targets, wp.array) or isinstance(starts, wp.array)

    def make(size: int) -> tuple[ChainIK | ClosedFormFirstIK, SolutionChoice | None]:
        pays = may_be_closed and is_closed_form_faster(
            model, link, request['joint_group'], request['joint_q'], request['offset'], tolerance
        )
        solver: ChainIK | ClosedFormFirstIK
        if pays:
            taken = {name: value for name, value in request.items() if name != 'tolerance_frame'}
            solver = ClosedFormFirstIK(model, link, size, **taken)
        else:
            solver = ChainIK(model, link, size, **request)
        separation = checked_chain_settings(request['settings']).separation
        if not chosen_by:
            return solver, None
        return solver, SolutionChoice(chosen_by, solver.chain, model, separation)

    key = {**request, 'link': link, 'may_be_closed': may_be_closed, 'chosen_by': chosen_by}
    result: Any = None
    most = largest_batch(MAX_BATCH, wp.get_device(require_model(model).device))
    for size, slices in batches(n, most // (count * n_goals)):
        size *= n_goals
        made = PooledValue(model, key, functools.partial(make, size), size, _n_bytes)
        with made as (solver, choice):
            stays = on_device or (choice is not None and isinstance(solver, ChainIK))
            as_arrays = {'xp': wp} if stays else {}
            for some in slices:
                rows = slice(some.start * n_goals, some.stop * n_goals)
                seeds = None if starts is None else starts[rows]
                part = solver.solve(targets[rows], seeds, **as_arrays)
                if choice is None:
                    result = part.added_to(result, rows, n * n_goals)
                else:
                    part = choice.best(part, seeds, n_goals, n_solutions, on_device=on_device)
                    result = part.added_to(result, some, n)
                if on_progress is not None:
                    on_progress(rows.stop, n * n_goals)
    assert result is not None, 'no poses'
    return result, solver.chain


def _n_bytes(made: tuple[ChainIK | ClosedFormFirstIK, SolutionChoice | None]) -> int:
    """Return the memory of a solver and of a choice, which copies the solutions."""
    solver, choice = made
    return solver.n_bytes if choice is None else 2 * solver.n_bytes


def _in_closed_form(
    model: Model,
    link: str | int,
    problems: _Problems,
    count: int,
    tolerance: PoseTolerance,
    shared: dict[str, Any],
    on_progress: Callable[[int, int], object] | None,
) -> ChainIKResult:
    """Solve by the closed form."""
    if np.isinf(tolerance.lengths).any():
        raise ArgumentError(
            'method closed_form: a tolerance is infinite or by axis; closed forms need one finite '
            'number each, and all_solutions takes free_rotation'
        )
    chain = {name: shared[name] for name in ('joint_group', 'joint_q', 'offset')}
    form = closed_form(model, link, **chain)
    if form.reason:
        raise ArgumentError(f'method closed_form: {form.reason}')
    every = all_solutions(
        model, link, problems.targets, problems.starts, count, **shared, on_progress=on_progress
    )
    return as_chain_result(every, count)


def _goal_rows(poses: Any) -> tuple[Any, int]:
    """Return poses as rows, and the number of goals per problem."""
    if isinstance(poses, wp.array) and poses.ndim == 2 and len(poses):
        return poses, 1
    targets = host_array(poses, 'poses')
    if targets.ndim == 3:
        n_goals = targets.shape[1]
        targets = targets.reshape(-1, targets.shape[2])
    else:
        n_goals, targets = 1, np.atleast_2d(targets)
    if len(targets) == 0:
        raise ArgumentError('poses must have at least one row, got none')
    return targets, n_goals
