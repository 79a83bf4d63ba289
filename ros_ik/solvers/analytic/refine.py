# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that makes solutions of candidates: polished, distinct, inside the limits, sorted.

Candidates come from axes that were made exact; they are polished on the chain as it is, by the
Levenberg-Marquardt steps of the search (``pose_ik.functions``), which converge quadratically.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.solvers.analytic.circles import within_half_turn
from ros_ik.solvers.pose_ik.functions import chain_functions
from ros_ik.solvers.pose_ik.functions import chain_struct
from ros_ik.solvers.pose_ik.functions import rotation_error_function
from ros_ik.solvers.pose_ik.kernel import unit_pose_function
from ros_ik.solvers.qp.small_system import small_system_functions

# Longest step of a joint in one iteration [rad].
_LONGEST_STEP = 0.5
# Growth in a step of inverse iteration below which the least singular value is above 0.003 even if
# the start has a share of 1e-3 of its direction only.
_REGULAR = 1e2
# Distances at which a twin of a nearly singular solution is looked for [rad].
_WAYS = wp.types.vector(6, wp.float64)(0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
# Damping of the direction in which a singular configuration can move, over the trace of J^T J.
_RIDGE = 1e-15


@no_type_check
@functools.cache
def refinement_struct() -> Any:
    """Return the struct of what is asked of solutions."""

    @wp.struct
    class Refinement:
        position_tolerance: wp.float64  # [m], of a solution
        rotation_tolerance: wp.float64  # [rad]
        length: wp.float64  # [m], weight of a radian
        reach: wp.float64  # [m], by which a slide moves for what counts as a radian
        free_axis: wp.vec3d  # in the tool, of the turn that does not matter
        slack: wp.float64  # largest miss of a candidate that is polished
        margin: wp.float64  # [rad, reaches], a candidate further outside the limits is not
        separation: wp.float64  # [rad, reaches], between solutions that count as two
        singular_value: wp.float64  # below it a configuration is singular
        fold_value: wp.float64  # below it a solution may have an unseen twin; 0 for exact axes
        at_limit: wp.float64  # [rad, m], a solution this far outside a limit is pulled to it
        steps: int  # of polishing
        least_error: int  # 1: without a solution, look for a configuration of least error
        sparse: int  # 1: flags and directions of solutions only are written
        all_turns: int  # 1: each turn that the limits allow, 0: that nearest to the seed

    return Refinement


@no_type_check
@functools.cache
def polish_functions(slides: tuple[bool, ...], free_turns: int) -> SimpleNamespace:
    """Build the functions of one configuration.

    Steps and weakest directions are those of joints that are measured in radians and in reaches
    of the arm, whether slides move by metres or by millimetres.

    Args:
        slides: Whether each joint slides.
        free_turns: Turns of the tool that do not matter: 0, 1 (about ``free_axis``) or 3.
    """
    n = len(slides)
    has_slides, slide = any(slides), wp.types.vector(n, wp.int32)(*slides)
    structure = zlib.crc32(repr((slides, free_turns)).encode()) & 0x7FFFFFFF
    functions = chain_functions(wp.float64, slides, tuple(range(n)), True)
    forward, normal_equations = functions.forward, functions.normal_equations
    box_step, vecm = functions.box_step, functions.vecm
    struct = chain_struct(wp.float64)
    Chain, vec3, mat33 = struct.Chain, struct.vec3, struct.mat33
    matmm, matn3 = wp.types.matrix((n, n), wp.float64), wp.types.matrix((n, 3), wp.float64)
    rotation_error = rotation_error_function(wp.float64)
    solve_all = small_system_functions(wp.float64, n).solve_all
    Refinement = refinement_struct()
    one, zero = wp.float64(1.0), wp.float64(0.0)

    @wp.func
    def turn_left(refinement: Refinement, R: mat33, R_t: mat33) -> vec3:
        """Rotation vector of the turn from R to R_t that matters, in world axes."""
        _structure = wp.static(structure)
        if wp.static(free_turns == 3):
            return vec3()
        if wp.static(free_turns == 1):
            a = R * refinement.free_axis
            b = R_t * refinement.free_axis
            normal = wp.cross(a, b)
            sine = wp.length(normal)
            if sine > wp.float64(0.0):
                return normal * (wp.atan2(sine, wp.dot(a, b)) / sine)
            if wp.dot(a, b) > wp.float64(0.0):
                return vec3()
        return rotation_error(R, R_t)

    @wp.func
    def units(refinement: Refinement) -> vecm:
        """Motion of each joint that counts as one radian."""
        unit = vecm()
        for j in range(n):
            unit[j] = one
            if slide[j] == 1:
                unit[j] = refinement.reach
        return unit

    @wp.func
    def equations(
        chain: Chain, refinement: Refinement, axes: matn3, pivots: matn3, R: mat33, p: vec3,
        e_p: vec3, e_r: vec3,
    ):  # fmt: skip
        """Return the normal equations, the lower triangle, of the errors that matter."""
        L = refinement.length
        if wp.static(free_turns == 3):
            L = zero
        H, g = normal_equations(chain, axes, pivots, p, e_p, e_r, one, L)
        if wp.static(free_turns == 1):
            a = R * refinement.free_axis
            along = vecm()
            for i in range(n):
                if slide[i] == 0:
                    along[i] = L * wp.dot(vec3(axes[i, 0], axes[i, 1], axes[i, 2]), a)
            for i in range(n):
                for j in range(i, -1, -1):
                    H[i, j] -= along[i] * along[j]
        if wp.static(has_slides):
            unit = units(refinement)
            for i in range(n):
                g[i] *= unit[i]
                for j in range(i, -1, -1):
                    H[i, j] *= unit[i] * unit[j]
        return H, g

    @wp.func
    def polish(
        chain: Chain, refinement: Refinement, start: vecm, R_t: mat33, p_t: vec3, steps: int,
        bounded: bool,
    ):  # fmt: skip
        """Return the best of some iterations, its cost, and whether it solves the pose.

        Iterations end where rounding does, a thousandth of the tolerances. ``bounded`` keeps
        the joints inside their limits, where the start is.
        """
        unit = units(refinement)
        q = start
        best = start
        best_cost = wp.float64(wp.inf)
        H = matmm()
        g = vecm()
        solves = bool(False)
        stalled = int(0)
        # A pose inside reach is met at once or not: each step is taken, even one that leads away.
        # The nearest to a pose outside is crept up to, by steps that lead nearer.
        progress = wp.where(bounded, wp.float64(0.999999), wp.float64(0.25))
        caution = wp.float64(0.1)
        step = int(0)
        while step <= steps:
            axes, pivots, R, p = forward(chain, q)
            e_p = p_t - p
            e_r = turn_left(refinement, R, R_t)
            off = wp.length(e_p)
            turn = wp.length(e_r)
            L = refinement.length
            cost = wp.float64(0.5) * (off * off + L * L * turn * turn)
            stalled += 1
            nearer = cost < best_cost
            if nearer:
                if cost < progress * best_cost:
                    stalled = 0
                caution = wp.max(wp.float64(0.5) * caution, wp.float64(0.01))
                best = q
                best_cost = cost
                solves = off <= refinement.position_tolerance
                solves = solves and turn <= refinement.rotation_tolerance
            else:
                caution *= wp.float64(4.0)
            fine = off <= wp.float64(0.001) * refinement.position_tolerance
            fine = fine and turn <= wp.float64(0.001) * refinement.rotation_tolerance
            # Rounding ends the progress of a solution; others may cross a slow stretch.
            if fine or step == steps or (solves and stalled > 1) or stalled > 8:
                step = steps
            else:
                if nearer or not bounded:
                    H, g = equations(chain, refinement, axes, pivots, R, p, e_p, e_r)
                damping = wp.float64(0.1) * cost
                if bounded:
                    damping = caution * best_cost
                damping += wp.float64(wp.static(_RIDGE)) * wp.trace(H)
                d = vecm()
                if bounded:
                    q = best
                    low = vecm()
                    high = vecm()
                    for j in range(n):
                        low[j] = (chain.lower[j] - best[j]) / unit[j]
                        high[j] = (chain.upper[j] - best[j]) / unit[j]
                    d = box_step(H, g, damping, low, high)
                else:
                    d = solve_all(H, g, damping)
                longest = wp.max(wp.max(d), -wp.min(d))
                if longest > wp.float64(wp.static(_LONGEST_STEP)):
                    d *= wp.float64(wp.static(_LONGEST_STEP)) / longest
                q += wp.cw_mul(d, unit)
                if bounded:
                    for j in range(n):
                        q[j] = wp.clamp(q[j], chain.lower[j], chain.upper[j])
            step += 1
        return best, best_cost, solves

    @wp.func
    def weakest_direction(chain: Chain, refinement: Refinement, q: vecm):
        """Return the unit motion that moves the tool least, and its singular value over L.

        The motion is measured in ``units``.
        Of configurations far from singular both are those of one step of inverse iteration.
        """
        axes, pivots, R, p = forward(chain, q)
        H, g = equations(chain, refinement, axes, pivots, R, p, vec3(), vec3())
        length = refinement.length
        damping = wp.float64(wp.static(_RIDGE)) * wp.trace(H)
        x = vecm()
        for j in range(n):
            x[j] = one + wp.float64(0.3) * wp.float64(j)
        before = wp.length(x)
        x = solve_all(H, x, damping)
        grown = wp.length(x)
        x /= grown
        if grown > wp.float64(wp.static(_REGULAR)) * before / (length * length):
            for _ in range(2):
                x = wp.normalize(solve_all(H, x, damping))
        # solve_all reads the lower triangle; H is filled there only.
        energy = zero
        for i in range(n):
            energy += H[i, i] * x[i] * x[i]
            for j in range(i):
                energy += wp.float64(2.0) * H[i, j] * x[i] * x[j]
        return x, wp.sqrt(wp.max(energy, zero)) / length

    return SimpleNamespace(
        polish=polish, weakest_direction=weakest_direction, nearest_turns=functions.nearest_turns,
        units=units, vecm=vecm, Chain=Chain, Refinement=Refinement,
    )  # fmt: skip


@no_type_check
@functools.cache
def refine_kernel(slides: tuple[bool, ...], free_turns: int) -> wp.Kernel:
    """Build the kernel for arms whose joints slide or turn alike; see ``polish_functions``."""
    n = len(slides)
    structure = zlib.crc32(repr((slides, free_turns)).encode()) & 0x7FFFFFFF
    functions = polish_functions(slides, free_turns)
    units = functions.units
    polish, weakest_direction = functions.polish, functions.weakest_direction
    nearest_turns, vecm = functions.nearest_turns, functions.vecm
    Chain, Refinement = functions.Chain, functions.Refinement
    unit_pose = unit_pose_function(wp.float64)
    Turns = wp.types.vector(n, wp.int32)
    slide = Turns(*slides)

    @wp.func
    def read(problem: int, slot: int, values: wp.array3d(dtype=wp.float64)) -> vecm:
        q = vecm()
        for j in range(n):
            q[j] = values[problem, slot, j]
        return q

    @wp.func
    def without_turns(change: vecm) -> vecm:
        """Leave out whole turns of the joints that turn."""
        _structure = wp.static(structure)
        rest = change
        for j in range(n):
            if slide[j] == 0:
                rest[j] = within_half_turn(change[j])
        return rest

    @wp.func
    def allowed_turns(chain: Chain, q: vecm):
        """Return the lowest turn that the limits of each joint allow, and how many they allow."""
        _structure = wp.static(structure)
        lowest = Turns()
        number = Turns()
        for j in range(n):
            number[j] = 1
            limited = wp.isfinite(chain.lower[j]) and wp.isfinite(chain.upper[j])
            if slide[j] == 0 and limited:
                down = int(wp.floor((q[j] - chain.lower[j]) / wp.float64(wp.TAU)))
                lowest[j] = -down
                up = int(wp.floor((chain.upper[j] - q[j]) / wp.float64(wp.TAU)))
                number[j] = 1 + down + up
        return lowest, number

    @wp.func
    def is_new(
        q: vecm, problem: int, count: int, refinement: Refinement,
        branches: wp.array3d(dtype=wp.float64),
    ) -> bool:  # fmt: skip
        """Return whether q differs from the first ``count`` branches by more than whole turns."""
        unit = units(refinement)
        for k in range(count):
            apart = bool(False)
            for j in range(n):
                # Most branches differ in the first joint already.
                if not apart:
                    change = q[j] - branches[problem, k, j]
                    if slide[j] == 0:
                        change = within_half_turn(change)
                    apart = wp.abs(change) >= refinement.separation * unit[j]
            if not apart:
                return False
        return True

    @wp.func
    def outside(chain: Chain, q: vecm) -> wp.float64:
        """Largest distance of a joint to the interval of its limits."""
        most = wp.float64(0.0)
        for j in range(n):
            most = wp.max(most, wp.max(chain.lower[j] - q[j], q[j] - chain.upper[j]))
        return most

    @wp.func
    def far_outside(chain: Chain, refinement: Refinement, q: vecm) -> bool:
        """Return whether a joint is so far outside its limits that polishing leaves it there."""
        unit = units(refinement)
        for j in range(n):
            far = refinement.margin * unit[j]
            if q[j] < chain.lower[j] - far or q[j] > chain.upper[j] + far:
                return True
        return False

    @wp.func
    def clamped(chain: Chain, q: vecm) -> vecm:
        inside = q
        for j in range(n):
            inside[j] = wp.clamp(q[j], chain.lower[j], chain.upper[j])
        return inside

    @wp.func
    def insert(
        q: vecm, branch: int, problem: int, count: int, seed: wp.array2d(dtype=wp.float64),
        solutions: wp.array3d(dtype=wp.float64), distances: wp.array2d(dtype=wp.float64),
        branch_of: wp.array2d(dtype=wp.int32),
    ) -> int:  # fmt: skip
        """Put a solution where its distance to the seed belongs; return their number."""
        distance = wp.float64(0.0)
        for j in range(n):
            change = q[j] - seed[problem, j]
            distance += change * change
        room = solutions.shape[1]
        at = wp.min(count, room)
        while at > 0 and distances[problem, at - 1] > distance:
            if at < room:
                distances[problem, at] = distances[problem, at - 1]
                branch_of[problem, at] = branch_of[problem, at - 1]
                for j in range(n):
                    solutions[problem, at, j] = solutions[problem, at - 1, j]
            at -= 1
        if at < room:
            distances[problem, at] = distance
            branch_of[problem, at] = branch
            for j in range(n):
                solutions[problem, at, j] = q[j]
        return count + 1

    # Loops over the joints unroll.
    @compiled_kernel(max_unroll=16)
    def refine(
        chain: Chain,
        wide: Chain,  # the same with limits wider by refinement.at_limit
        refinement: Refinement,
        target: wp.array(dtype=wp.transformd),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, n]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, room, n], overwritten
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, room]
        solutions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        distances: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        branch_of: wp.array2d(dtype=wp.int32),  # [n_problems, max_solutions]
        directions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        singular: wp.array2d(dtype=wp.int32),  # [n_problems, max_solutions]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems], solutions inside the limits
        n_branches: wp.array(dtype=wp.int32),  # [n_problems], solutions whatever the limits
        least_cost: wp.array(dtype=wp.float64),  # [n_problems], of the best one without solutions
    ):
        _structure = wp.static(structure)
        problem = wp.tid()
        pose, valid = unit_pose(problem, target, seed)
        R_t = wp.quat_to_matrix(wp.transform_get_rotation(pose))
        p_t = wp.transform_get_translation(pose)
        branches = int(0)
        count = int(0)
        slot = int(0)
        best = vecm()
        best_cost = wp.float64(wp.inf)
        # A first pass over candidates without limits; a second, where it found nothing inside
        # them, for the nearest configuration inside.
        beyond = int(0)
        while valid and slot < candidates.shape[1]:
            if misses[problem, slot] <= refinement.slack:
                start = read(problem, slot, candidates)
                if far_outside(chain, refinement, nearest_turns(wide, start, problem, seed)):
                    beyond += 1
                else:
                    q, _cost, solves = polish(
                        chain, refinement, start, R_t, p_t, refinement.steps, False
                    )
                    if solves and is_new(q, problem, branches, refinement, candidates):
                        # Places up to this one have been read.
                        for j in range(n):
                            change = candidates[problem, branches, j]
                            candidates[problem, slot, j] = change
                            candidates[problem, branches, j] = q[j]
                        misses[problem, slot] = misses[problem, branches]
                        branches += 1
            slot += 1
        # Where two branches of nearby exact axes meet, those of the arm itself may lie farther
        # apart than both candidates: walk along the weakest direction to look for the twin.
        branch = int(0)
        while branch < branches and refinement.fold_value > wp.float64(0.0):
            q = read(problem, branch, candidates)
            x, value = weakest_direction(chain, refinement, q)
            side = int(0)
            while side < wp.static(2 * len(_WAYS)) and value < refinement.fold_value:
                way = wp.float64(_WAYS[side // 2]) * wp.float64(1 - 2 * (side % 2))
                twin, _cost, solves = polish(
                    chain, refinement, q + way * wp.cw_mul(x, units(refinement)), R_t, p_t,
                    refinement.steps, False,
                )
                if (
                    solves
                    and branches < candidates.shape[1]
                    and is_new(twin, problem, branches, refinement, candidates)
                ):
                    twin = without_turns(twin)
                    for j in range(n):
                        candidates[problem, branches, j] = twin[j]
                    branches += 1
                side += 1
            branch += 1
        branch = int(0)
        while branch < branches:
            q = read(problem, branch, candidates)
            q = nearest_turns(wide, q, problem, seed)
            off = outside(chain, q)
            fits = off <= wp.float64(0.0)
            if off > wp.float64(0.0) and off <= refinement.at_limit:
                q, _cost, fits = polish(
                    chain, refinement, clamped(chain, q), R_t, p_t, refinement.steps, True
                )
            if fits and refinement.all_turns == 0:
                count = insert(q, branch, problem, count, seed, solutions, distances, branch_of)
            elif fits:
                # Turns of the joints are the digits of a number.
                whole = vecm()
                lowest, choices = allowed_turns(chain, q)
                combinations = int(1)
                for j in range(n):
                    combinations *= choices[j]
                code = int(0)
                while code < combinations:
                    rest = code
                    for j in range(n):
                        whole[j] = q[j] + wp.float64(wp.TAU) * wp.float64(
                            lowest[j] + rest % choices[j]
                        )
                        rest = rest // choices[j]
                    count = insert(
                        whole, branch, problem, count, seed, solutions, distances, branch_of
                    )
                    code += 1
            branch += 1
        if valid and count == 0:
            for j in range(n):
                best[j] = seed[problem, j]
            solves = bool(False)
            slot = candidates.shape[1]
            if refinement.least_error != 0:
                best, best_cost, solves = polish(
                    chain, refinement, clamped(chain, best), R_t, p_t, 10, True
                )
                slot = int(0)
            while slot < candidates.shape[1]:
                if wp.isfinite(misses[problem, slot]):
                    start = read(problem, slot, candidates)
                    start = clamped(chain, nearest_turns(wide, start, problem, seed))
                    q, cost, solves = polish(chain, refinement, start, R_t, p_t, 10, True)
                    if cost < best_cost:
                        best = q
                        best_cost = cost
                slot += 1
            if refinement.least_error != 0:
                best, best_cost, solves = polish(chain, refinement, best, R_t, p_t, 400, True)
            count = insert(best, 0, problem, 0, seed, solutions, distances, branch_of)
            if not solves:
                count = 0
        written = int(0)
        if valid:
            written = wp.min(wp.max(count, 1), solutions.shape[1])
        shown = solutions.shape[1]
        if refinement.sparse != 0:
            written = wp.min(count, shown)
            shown = written
        for k in range(shown):
            flag = int(0)
            x = vecm()
            if k < written:
                x, value = weakest_direction(chain, refinement, read(problem, k, solutions))
                x = wp.normalize(wp.cw_mul(x, units(refinement)))
                if value < refinement.singular_value:
                    flag = 1
            singular[problem, k] = flag
            for j in range(n):
                directions[problem, k, j] = x[j] * wp.float64(flag)
        n_exist[problem] = count
        n_branches[problem] = branches + beyond
        least_cost[problem] = best_cost

    return refine
