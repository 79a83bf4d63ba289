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
from ros_ik.kinematics.runtime.fresh_read import fresh_read_function
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_bound_functions
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_bounds_struct
from ros_ik.solvers.pose_ik.kernels.axis_errors import axis_error_functions
from ros_ik.solvers.pose_ik.kernels.functions import chain_functions
from ros_ik.solvers.pose_ik.kernels.functions import rotation_error_function
from ros_ik.solvers.pose_ik.kernels.phase import entry_functions
from ros_ik.solvers.pose_ik.kernels.phase import lane_start_function
from ros_ik.solvers.pose_ik.kernels.phase import lanes_struct
from ros_ik.solvers.pose_ik.kernels.phase import phase_struct


@no_type_check
@functools.cache
def search_struct(scalar: type) -> Any:
    """Return the struct of the settings of the search."""
    AxisBounds, Lanes = axis_bounds_struct(scalar), lanes_struct()

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
        lanes: Lanes  # of a problem
        seed: int  # of the random restarts

    return Search


@no_type_check
@functools.cache
def unit_pose_function() -> wp.Function:
    """Build ``unit_pose(problem, target, seed) -> pose, is_finite``.

    The function normalises the quaternion; a zero quaternion is treated as not finite.
    """

    @wp.func
    def unit_pose(
        problem: int,
        target: wp.array(dtype=wp.transformd),
        seed: wp.array2d(dtype=wp.float64),
    ):
        p = wp.transform_get_translation(target[problem])
        rotation = wp.transform_get_rotation(target[problem])
        length = wp.length(rotation)
        total = length + wp.length_sq(p)
        for j in range(seed.shape[1]):
            total += seed[problem, j]
        valid = wp.isfinite(total) and length > wp.float64(1e-9)
        return wp.transformd(p, rotation / length), valid

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
        scalar: Floating-point type of the iterations. All arrays are float64.
        slides: True for each prismatic joint.
        variables: Variable that drives each joint.
        direct: True if joint i is variable i.
        by_axis: True if tolerances are given by axis, which is slower.
    """
    functions = chain_functions(scalar, slides, variables, direct)
    make_errors = _errors_by_axis if by_axis else _errors_by_length
    pose_error, linearise = make_errors(scalar, functions)
    forward = functions.forward
    # A search in float32 yields starts alone, and need not find the exact step at a joint limit.
    box_step = functions.projected_step if scalar is wp.float32 else functions.box_step
    resources = {'max_registers': 128} if scalar is wp.float32 else {'registers': 255}
    vecm = functions.vecm
    nearest_turns = functions.nearest_turns
    Chain, Search, Phase = functions.Chain, search_struct(scalar), phase_struct()
    unit_pose = unit_pose_function()
    entries, row_of_entry = entry_functions().entries, entry_functions().row_of_entry
    lane_start, fresh_read = lane_start_function(), fresh_read_function()
    m, vec3, mat33 = max(variables) + 1, functions.vec3, wp.types.matrix((3, 3), scalar)

    @wp.func
    def read_target(
        problem: int, target: wp.array(dtype=wp.transformd), seed: wp.array2d(dtype=wp.float64)
    ):
        pose, is_finite = unit_pose(problem, target, seed)
        rotation = wp.quat_to_matrix(wp.transform_get_rotation(pose))
        position = wp.transform_get_translation(pose)
        R_t = mat33()
        p_t = vec3()
        for i in range(3):
            p_t[i] = scalar(position[i])
            for j in range(3):
                R_t[i, j] = scalar(rotation[i, j])
        return R_t, p_t, is_finite

    @wp.func
    def sample(chain: Chain, state: wp.uint32):
        q = vecm()
        for j in range(m):
            low = chain.sample_lower[j]
            q[j] = low + (chain.sample_upper[j] - low) * scalar(wp.randf(state))
        return q, state

    @wp.func
    def read(row: int, slot: int, values: wp.array3d(dtype=wp.float64)) -> vecm:
        q = vecm()
        for j in range(m):
            q[j] = scalar(values[row, slot, j])
        return q

    @wp.func
    def is_new(
        q: vecm, row: int, found: int, separation: scalar, solutions: wp.array3d(dtype=wp.float64)
    ) -> bool:
        """Return True if a solution is distinct from each one found so far."""
        for slot in range(found):
            distance = scalar(0.0)
            for j in range(m):
                distance = wp.max(distance, wp.abs(q[j] - scalar(solutions[row, slot, j])))
            if distance < separation:
                return False
        return True

    @wp.func
    def record(
        chain: Chain, search: Search, q: vecm, total: int, attempt: int, row: int, problem: int,
        n_found: int, seed: wp.array2d(dtype=wp.float64), solved: wp.array(dtype=wp.int32),
        solutions: wp.array3d(dtype=wp.float64), found_at: wp.array2d(dtype=wp.int32),
    ) -> int:  # fmt: skip
        """Write a solution if it is new; return the number of those found."""
        answer = nearest_turns(chain, q, problem, seed, scalar(0.0))
        # First other branches; then whole turns of the solutions found.
        turns_allowed = 2 * attempt >= search.max_attempts
        known = not is_new(answer, row, n_found, search.separation, solutions)
        if known and turns_allowed:
            answer = q
        count = n_found
        if is_new(answer, row, n_found, search.separation, solutions):
            for j in range(m):
                solutions[row, n_found, j] = wp.float64(answer[j])
            found_at[row, n_found] = total
            count += 1
        if count == solutions.shape[1]:
            wp.atomic_min(solved, problem, total)
        return count

    @wp.func
    def keep_best(
        q: vecm, cost: scalar, best: scalar, row: int, n_found: int,
        solutions: wp.array3d(dtype=wp.float64),
    ) -> scalar:  # fmt: skip
        """Write the best configuration while there is no solution; return its cost."""
        if n_found > 0 or cost >= best:
            return best
        for j in range(m):
            solutions[row, 0, j] = wp.float64(q[j])
        return cost

    @wp.func
    def keep_later(
        q: vecm, cost: scalar, best: scalar, row: int, n_found: int,
        solutions: wp.array3d(dtype=wp.float64),
    ) -> scalar:  # fmt: skip
        return best

    # Of a search in float32, the ends of attempts are enough to go on from.
    keep_iterate = keep_later if scalar is wp.float32 else keep_best

    # Every loop over joints unrolls; Warp unrolls at most 16 iterations by default.
    @compiled_kernel(max_unroll=max(16, len(variables)), **resources)
    def chain_ik(
        chain: Chain,
        search: Search,
        phase: Phase,
        first: int,  # first problem
        count: int,  # number of problems
        target: wp.array(dtype=wp.transformd),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, m]
        start_q: wp.array2d(dtype=wp.float64),  # [n_problems, m], where the first attempt begins
        solved: wp.array(dtype=wp.int32),  # [n_problems], least iterations to all that is wanted
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems * lanes, n_solutions, m]
        found_at: wp.array2d(dtype=wp.int32),  # [n_problems * lanes, n_solutions], iterations
        found: wp.array(dtype=wp.int32),  # [n_problems * lanes]
        lane_cost: wp.array(dtype=wp.float64),  # [n_problems * lanes], of solution 0
        iterations: wp.array(dtype=wp.int32),  # [n_problems * lanes]
    ):
        entry, last, entry_step = entries(phase, wp.tid())
        while entry <= last:
            row = row_of_entry(phase, search.lanes, first, count, entry)
            problem = row // search.lanes.count
            lane = row % search.lanes.count
            R_t, p_t, running = read_target(problem, target, seed)
            random = wp.rand_init(search.seed, row)
            q, random = sample(chain, random)
            start = lane_start(search.lanes, lane)
            total = int(start)
            if lane == 0:
                for j in range(m):
                    q[j] = wp.clamp(scalar(start_q[problem, j]), chain.lower[j], chain.upper[j])
            best = scalar(wp.inf)
            mark = scalar(wp.inf)
            n_found = int(0)
            attempt = int(0)
            step = int(0)
            if phase.begin > 0 and start < phase.begin:
                for j in range(m):
                    q[j] = scalar(phase.q[row, j])
                random = phase.random[row]
                best = scalar(lane_cost[row])
                mark = scalar(phase.mark[row])
                n_found = found[row]
                attempt = phase.attempt[row]
                step = phase.step[row]
                total = iterations[row]
            while running and total < phase.end:
                lanes = search.lanes.count
                window = search.window
                if 10 * (attempt * lanes + lane) >= 9 * search.max_attempts * lanes:
                    window = search.patient_window
                cost = scalar(0.0)
                near = bool(False)
                stalled = bool(False)
                # Nothing but iterations in this loop, so that the lanes of a warp do the same.
                while running and not stalled and total < phase.end:
                    axes, pivots, R, p = forward(chain, q)
                    r_p, r_r, cost, near = pose_error(search, R, p, R_t, p_t)
                    total += 1
                    best = keep_iterate(q, cost, best, row, n_found, solutions)
                    stalled = near or step >= search.max_iterations
                    if step % window == 0:
                        stalled = stalled or cost > search.progress * mark
                        mark = cost
                    # Every lane makes at least as many iterations as the fastest successful one,
                    # so the solutions found by then do not depend on the order of execution.
                    running = total < solved[problem]
                    if not stalled:
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
                if near:
                    known = n_found
                    n_found = record(
                        chain, search, q, total, attempt, row, problem, n_found, seed, solved,
                        solutions, found_at,
                    )  # fmt: skip
                    if n_found > known:
                        best = cost
                elif stalled:
                    best = keep_best(q, cost, best, row, n_found, solutions)
                # The loop above may have read an old number.
                running = running and total < fresh_read(solved, problem)
                if stalled:
                    attempt += 1
                    total = wp.max(total, search.lanes.head_start)
                    step = 0
                    mark = scalar(wp.inf)
                    q, random = sample(chain, random)
                    if attempt >= search.max_attempts:
                        q = read(row, 0, solutions)
                        running = running and attempt == search.max_attempts and n_found == 0
            found[row] = n_found
            lane_cost[row] = wp.float64(best)
            iterations[row] = total
            if phase.running.shape[0] > 0:
                phase.running[row] = wp.where(running, 1, 0)
                phase.random[row] = random
                phase.mark[row] = wp.float64(mark)
                phase.attempt[row] = attempt
                phase.step[row] = step
                for j in range(m):
                    phase.q[row, j] = wp.float64(q[j])
            entry += entry_step

    return chain_ik
