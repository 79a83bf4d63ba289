# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel of the whole search for configurations of a pose, with a thread per lane.

A lane makes several attempts. An attempt iterates from a seed until it converges, or until the
error has not shrunk enough in the last iterations; the next one starts from a random
configuration. Most successful attempts converge within ten iterations, so it is faster to give up
early and often. The last attempts are more patient, and the final one continues from the best
configuration found. An unreachable pose therefore ends at a local optimum.

All lanes of a problem end with the lane that needs the fewest iterations, and later solutions are
discarded. The result is therefore independent of the order in which lanes run. The attempt from
the problem's own seed has a head start, the iterations that it may take at most: where it
converges, its solution is the answer, whatever the number of lanes.

A search may run in phases, see :mod:`ros_ik.solvers.pose_ik.kernels.phase`: each ends after a
number of iterations, and the next one continues the lanes that are still running. Some lanes may
begin later than others, where their problem is still unsolved. The result does not depend on the
phases.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_bound_functions
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_bounds_struct
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_error_functions
from ros_ik.solvers.pose_ik.kernels.functions import chain_functions
from ros_ik.solvers.pose_ik.kernels.functions import rotation_error_function
from ros_ik.solvers.pose_ik.kernels.phase import lane_start_function
from ros_ik.solvers.pose_ik.kernels.phase import phase_struct


@no_type_check
@functools.cache
def search_struct(scalar: type) -> Any:
    """Return the struct of the settings of the search."""
    AxisBounds = axis_bounds_struct(scalar)

    @wp.struct
    class Search:
        position_tolerance: scalar  # [m]
        rotation_tolerance: scalar  # [rad]
        bounds: AxisBounds
        position_weight: scalar  # 0 if the position is free, else 1
        length: scalar  # [m], weight of a radian; 0 if the rotation is free
        damping: scalar  # factor of the cost
        least_damping: scalar
        separation: scalar  # [rad or m], least distance of distinct solutions
        max_iterations: int  # of one attempt
        max_attempts: int  # of one lane
        window: int  # iterations between tests of the progress
        patient_window: int  # the same for the last tenth of the attempts
        progress: scalar  # factor by which the cost must shrink in a window
        lanes: int  # per problem
        head_start: int  # iterations from which attempts other than that from the seed count
        first_lanes: int  # lanes of a problem that begin together
        next_start: int  # iterations at which as many lanes again begin
        delay: int  # iterations after which the number of lanes doubles from then on
        seed: int  # of the random restarts

    return Search


@no_type_check
@functools.cache
def unit_pose_function(scalar: type) -> wp.Function:
    """Build ``unit_pose(problem, target, seed) -> pose, is_finite``.

    The function normalises the quaternion; a zero quaternion is treated as not finite.
    """
    transform = wp.types.transformation(scalar)

    @wp.func
    def unit_pose(
        problem: int,
        target: wp.array(dtype=transform),
        seed: wp.array2d(dtype=scalar),
    ):
        p = wp.transform_get_translation(target[problem])
        rotation = wp.transform_get_rotation(target[problem])
        length = wp.length(rotation)
        total = length + wp.length_sq(p)
        for j in range(seed.shape[1]):
            total += seed[problem, j]
        valid = wp.isfinite(total) and length > scalar(1e-9)
        return transform(p, rotation / length), valid

    return unit_pose


@no_type_check
def _errors_by_length(
    scalar: type, functions: SimpleNamespace
) -> tuple[wp.Function, wp.Function]:
    """Build the error functions for tolerances of distance and angle.

    Returns:
        ``pose_error(search, R, p, R_t, p_t) -> r_p, r_r, cost, near``: the residual, and whether
        it is within the tolerances; ``linearise(chain, search, axes, pivots, R, p, R_t, p_t, r_p,
        r_r) -> H, g``.
    """
    Chain, Search, mat33 = functions.Chain, search_struct(scalar), wp.types.matrix((3, 3), scalar)
    vec3, matn3 = functions.vec3, functions.matn3
    normal_equations = functions.normal_equations
    rotation_error = rotation_error_function(scalar)

    @wp.func
    def pose_error(search: Search, R: mat33, p: vec3, R_t: mat33, p_t: vec3):
        e_p = search.position_weight * (p_t - p)
        e_r = rotation_error(R, R_t)
        near = wp.length(e_p) <= search.position_tolerance
        near = near and wp.length(e_r) <= search.rotation_tolerance
        cost = wp.length_sq(e_p) + search.length * search.length * wp.length_sq(e_r)
        return e_p, e_r, scalar(0.5) * cost, near

    @wp.func
    def linearise(
        chain: Chain,
        search: Search,
        axes: matn3,
        pivots: matn3,
        R: mat33,
        p: vec3,
        R_t: mat33,
        p_t: vec3,
        r_p: vec3,
        r_r: vec3,
    ):
        return normal_equations(
            chain, axes, pivots, p, r_p, r_r, search.position_weight, search.length
        )

    return pose_error, linearise


@no_type_check
def _errors_by_axis(
    scalar: type, functions: SimpleNamespace
) -> tuple[wp.Function, wp.Function]:
    """Build the error functions for tolerances by axis, as :func:`_errors_by_length` does."""
    Chain, Search, mat33 = functions.Chain, search_struct(scalar), wp.types.matrix((3, 3), scalar)
    vec3, matn3 = functions.vec3, functions.matn3
    sum_products = functions.sum_products
    errors = axis_error_functions(scalar, functions)
    axis_errors, axis_columns = errors.axis_errors, errors.axis_columns
    bound = axis_bound_functions(scalar)
    is_inside, beyond, counted = bound.is_inside, bound.beyond, bound.counted

    @wp.func
    def pose_error(search: Search, R: mat33, p: vec3, R_t: mat33, p_t: vec3):
        bounds = search.bounds
        e_p, e_r = axis_errors(bounds, R, p, R_t, p_t)
        near = is_inside(e_p, bounds.position) and is_inside(e_r, bounds.rotation)
        distance = wp.length(counted(e_p, bounds.position_zone))
        angle = wp.length(counted(e_r, bounds.rotation_zone))
        near = near and distance <= search.position_tolerance
        near = near and angle <= search.rotation_tolerance
        r_p = beyond(e_p, bounds.position_zone)
        r_r = beyond(e_r, bounds.rotation_zone)
        cost = wp.length_sq(r_p) + search.length * search.length * wp.length_sq(r_r)
        return r_p, r_r, scalar(0.5) * cost, near

    @wp.func
    def linearise(
        chain: Chain,
        search: Search,
        axes: matn3,
        pivots: matn3,
        R: mat33,
        p: vec3,
        R_t: mat33,
        p_t: vec3,
        r_p: vec3,
        r_r: vec3,
    ):
        linear, angular = axis_columns(
            chain, search.bounds, axes, pivots, R, p, R_t, p_t, r_p, r_r
        )
        return sum_products(chain, linear, angular, r_p, r_r, search.length)

    return pose_error, linearise


@no_type_check
@functools.cache
def chain_ik_kernel(
    scalar: type,
    slides: tuple[bool, ...],
    variables: tuple[int, ...],
    direct: bool,
    by_axis: bool = False,
) -> wp.Kernel:
    """Build the kernel for one structure of chain; see :func:`chain_functions`.

    Args:
        scalar: Floating-point type.
        slides: True for each prismatic joint.
        variables: Variable that drives each joint.
        direct: True if joint i is variable i.
        by_axis: True if tolerances are given by axis, which is slower.
    """
    functions = chain_functions(scalar, slides, variables, direct)
    make_errors = _errors_by_axis if by_axis else _errors_by_length
    pose_error, linearise = make_errors(scalar, functions)
    forward = functions.forward
    box_step, vecm = functions.box_step, functions.vecm
    nearest_turns = functions.nearest_turns
    Chain, Search, Phase = functions.Chain, search_struct(scalar), phase_struct(scalar)
    unit_pose = unit_pose_function(scalar)
    listed_row = row_list_functions().listed_row
    lane_start = lane_start_function()
    m = max(variables) + 1
    transform = wp.types.transformation(scalar)

    @wp.func
    def sample(chain: Chain, state: wp.uint32):
        q = vecm()
        for j in range(m):
            low = chain.sample_lower[j]
            q[j] = low + (chain.sample_upper[j] - low) * scalar(wp.randf(state))
        return q, state

    @wp.func
    def read(row: int, slot: int, values: wp.array3d(dtype=scalar)) -> vecm:
        q = vecm()
        for j in range(m):
            q[j] = values[row, slot, j]
        return q

    @wp.func
    def is_new(
        q: vecm, row: int, found: int, separation: scalar, solutions: wp.array3d(dtype=scalar)
    ) -> bool:
        """Return True if a solution is distinct from each one found so far."""
        for slot in range(found):
            distance = scalar(0.0)
            for j in range(m):
                distance = wp.max(distance, wp.abs(q[j] - solutions[row, slot, j]))
            if distance < separation:
                return False
        return True

    # Every loop over joints unrolls; Warp unrolls at most 16 iterations by default.
    @compiled_kernel(max_unroll=max(16, len(variables)), registers=255)
    def chain_ik(
        chain: Chain,
        search: Search,
        phase: Phase,
        first: int,  # problem of the first thread's lane, for a phase without a list
        target: wp.array(dtype=transform),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=scalar),  # [n_problems, m]
        solved: wp.array(dtype=wp.int32),  # [n_problems], least iterations to all that is wanted
        solutions: wp.array3d(dtype=scalar),  # [n_problems * lanes, n_solutions, m]
        found_at: wp.array2d(dtype=wp.int32),  # [n_problems * lanes, n_solutions], iterations
        found: wp.array(dtype=wp.int32),  # [n_problems * lanes]
        lane_cost: wp.array(dtype=scalar),  # [n_problems * lanes], of solution 0
        iterations: wp.array(dtype=wp.int32),  # [n_problems * lanes]
    ):
        is_listed = phase.rows.row.shape[0] > 0
        row = wp.tid()
        if is_listed:
            row = listed_row(phase.rows, row)
            if row < 0:
                return
        else:
            row = (row // phase.lanes) * search.lanes + row % phase.lanes
        row += first * search.lanes
        problem = row // search.lanes
        lane = row % search.lanes
        pose, running = unit_pose(problem, target, seed)
        R_t = wp.quat_to_matrix(wp.transform_get_rotation(pose))
        p_t = wp.transform_get_translation(pose)
        random = wp.rand_init(search.seed, row)
        q, random = sample(chain, random)
        start = lane_start(
            lane, search.head_start, search.first_lanes, search.next_start, search.delay
        )
        total = int(start)
        if lane == 0:
            for j in range(m):
                q[j] = wp.clamp(seed[problem, j], chain.lower[j], chain.upper[j])
        best = scalar(wp.inf)
        mark = best
        n_found = int(0)
        attempt = int(0)
        step = int(0)
        if is_listed and start < phase.begin:
            for j in range(m):
                q[j] = phase.q[row, j]
            random = phase.random[row]
            best = lane_cost[row]
            mark = phase.mark[row]
            n_found = found[row]
            attempt = phase.attempt[row]
            step = phase.step[row]
            total = iterations[row]
        while running and total < phase.end:
            axes, pivots, R, p = forward(chain, q)
            r_p, r_r, cost, near = pose_error(search, R, p, R_t, p_t)
            total += 1
            if near:
                answer = nearest_turns(chain, q, problem, seed)
                # First other branches; then whole turns of the solutions found.
                turns_allowed = 2 * attempt >= search.max_attempts
                known = not is_new(answer, row, n_found, search.separation, solutions)
                if known and turns_allowed:
                    answer = q
                if is_new(answer, row, n_found, search.separation, solutions):
                    for j in range(m):
                        solutions[row, n_found, j] = answer[j]
                    found_at[row, n_found] = total
                    best = cost
                    n_found += 1
                if n_found == solutions.shape[1]:
                    wp.atomic_min(solved, problem, total)
            elif n_found == 0 and cost < best:
                best = cost
                for j in range(m):
                    solutions[row, 0, j] = q[j]
            window = search.window
            if 10 * (attempt * search.lanes + lane) >= 9 * search.max_attempts * search.lanes:
                window = search.patient_window
            stalled = near or step >= search.max_iterations
            if step % window == 0:
                stalled = stalled or cost > search.progress * mark
                mark = cost
            # Every lane makes at least as many iterations as the fastest successful one, so the
            # solutions found by then do not depend on the order of execution.
            if total >= solved[problem] or attempt > search.max_attempts:
                running = False
            if stalled:
                attempt += 1
                total = wp.max(total, search.head_start)
                step = 0
                mark = scalar(wp.inf)
                q, random = sample(chain, random)
                if attempt >= search.max_attempts:
                    q = read(row, 0, solutions)
                    running = running and attempt == search.max_attempts and n_found == 0
            else:
                step += 1
                low = vecm()
                high = vecm()
                for j in range(m):
                    low[j] = chain.lower[j] - q[j]
                    high[j] = chain.upper[j] - q[j]
                H, g = linearise(chain, search, axes, pivots, R, p, R_t, p_t, r_p, r_r)
                damping = search.damping * cost + search.least_damping
                q += box_step(H, g, damping, low, high)
                for j in range(m):
                    q[j] = wp.clamp(q[j], chain.lower[j], chain.upper[j])
        found[row] = n_found
        lane_cost[row] = best
        iterations[row] = total
        if phase.running.shape[0] > 0:
            phase.running[row] = wp.where(running, 1, 0)
            phase.random[row] = random
            phase.mark[row] = mark
            phase.attempt[row] = attempt
            phase.step[row] = step
            for j in range(m):
                phase.q[row, j] = q[j]

    return chain_ik
