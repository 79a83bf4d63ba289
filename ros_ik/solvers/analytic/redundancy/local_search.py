# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that searches a value of the redundant joint with a solution near the seed, on a CPU.

Several searches by the steps of :mod:`ros_ik.solvers.pose_ik.kernels.functions` run together. The
first one begins at the seed, the others between the seed and random configurations, where more
searches converge. A search that stalls begins again at a random configuration. If the first one
converges from the seed, its value is the answer. Otherwise it is that of the nearest solution that
the others have found when the first one stalls, or find then.
"""

import functools
from typing import Any
from typing import no_type_check
import zlib

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import arctangent
from ros_ik.solvers.analytic.redundancy.redundant_joint import redundancy_struct
from ros_ik.solvers.pose_ik.kernels.functions import direct_chain_functions
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function
from ros_ik.solvers.qp.small_system import small_system_functions

# Number of searches that run together.
SEARCH_LANES = 4
# Largest number of iterations of all searches.
_STEPS = 48
# Part of the range of each joint, about its middle, that random configurations are in. Of the
# searches for random poses of a Panda, 69 % converge from there and 41 % from the whole range.
_PART = 0.5
# Sine below which an angle equals it.
_SMALL = 1e-7


def random_configurations(lower: np.ndarray, upper: np.ndarray, seed: int) -> np.ndarray:
    """Return the first random configurations, [joints, SEARCH_LANES].

    Args:
        lower: Lower ends of the ranges of the joints, [joints].
        upper: Upper ends, [joints].
        seed: Seed of the random numbers.
    """
    parts = np.random.default_rng(seed).random((SEARCH_LANES, len(lower)))
    parts = 0.5 + _PART * (parts - 0.5)
    return np.ascontiguousarray((lower + (upper - lower) * parts).T)


@no_type_check
@functools.cache
def local_search_struct() -> Any:
    """Return the struct of the settings, see ``ChainIKSettings``."""

    @wp.struct
    class LocalSearch:
        tolerance: wp.float64  # [m, rad], of a solution
        length: wp.float64  # [m], weight of a radian
        damping: wp.float64  # factor of the cost
        least_damping: wp.float64
        window: int  # iterations between tests of the progress
        progress: wp.float64  # factor by which the cost must shrink in a window
        seed: int  # of the random configurations
        starts: wp.array2d(dtype=wp.float64)  # [joints, lanes], see ``random_configurations``

    return LocalSearch


@no_type_check
@functools.cache
def local_values_kernel(n: int, has_slides: bool, lanes: int) -> wp.Kernel:
    """Build the kernel for arms of seven joints; one thread solves some problems.

    Args:
        n: Number of joints.
        has_slides: True for chains with prismatic joints; see ``polish_functions``.
        lanes: Number of searches of a problem.
    """
    structure = zlib.crc32(repr((n, has_slides, lanes)).encode()) & 0x7FFFFFFF
    functions = direct_chain_functions(n, has_slides)
    forward, normal_equations = functions.forward, functions.normal_equations
    Chain, vec3, vecm = functions.Chain, wp.vec3d, functions.vecm
    nearest_turns = functions.nearest_turns
    solve_all = small_system_functions(wp.float64, n).solve_all
    unit_pose = unit_pose_function()
    LocalSearch, Redundancy = local_search_struct(), redundancy_struct()
    LaneNumbers = wp.types.vector(lanes, wp.float64)
    LaneJoints = wp.types.matrix((n, lanes), wp.float64)
    one, zero, infinity = wp.float64(1.0), wp.float64(0.0), wp.float64(wp.inf)

    @wp.func
    def random_configuration(chain: Chain, state: wp.uint32):
        """Return a random configuration, and the state of the generator."""
        q = vecm()
        for j in range(n):
            low = chain.sample_lower[j]
            part = wp.float64(wp.static(0.5 - 0.5 * _PART))
            part += wp.float64(wp.static(_PART)) * wp.float64(wp.randf(state))
            q[j] = low + (chain.sample_upper[j] - low) * part
        return q, state

    @wp.func
    def iterated(
        chain: Chain, local: LocalSearch, q_of: LaneJoints, R_t: wp.mat33d, p_t: vec3
    ):  # fmt: skip
        """Return the next configurations, the costs, and 1 for those that solve the pose."""
        _structure = wp.static(structure)
        length = local.length
        next_of = LaneJoints()
        costs = LaneNumbers()
        solved = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            q = vecm()
            for j in range(n):
                q[j] = q_of[j, lane]
            axes, pivots, R, p = forward(chain, q)
            e_p = p_t - p
            E = R_t * wp.transpose(R)
            e_r = wp.float64(0.5) * vec3(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
            sine = wp.length(e_r)
            angle = arctangent(sine, wp.float64(0.5) * (wp.trace(E) - one))
            is_small = sine <= wp.float64(wp.static(_SMALL))
            e_r *= wp.where(is_small, one, angle / wp.where(is_small, one, sine))
            cost = wp.float64(0.5) * (wp.length_sq(e_p) + length * length * angle * angle)
            is_solved = wp.length(e_p) <= local.tolerance and angle <= local.tolerance
            H, g = normal_equations(chain, axes, pivots, p, e_p, e_r, one, length)
            damping = local.damping * cost + local.least_damping
            # The step of ``projected_step``, in fewer operations and without a branch. As a
            # function for both, it costs the kernels of a GPU stack.
            free = vecm()
            for j in range(n):
                pressed = q[j] <= chain.lower[j] and g[j] < zero
                pressed = pressed or (q[j] >= chain.upper[j] and g[j] > zero)
                free[j] = wp.where(pressed, zero, one)
                g[j] *= free[j]
                for k in range(j):
                    H[j, k] *= free[j] * free[k]
            d = solve_all(H, g, damping)
            for j in range(n):
                next_of[j, lane] = wp.clamp(q[j] + d[j], chain.lower[j], chain.upper[j])
            costs[lane] = cost
            solved[lane] = wp.where(is_solved, one, zero)
            lane += 1
        return next_of, costs, solved

    @wp.func
    def value_found(
        chain: Chain, redundancy: Redundancy, local: LocalSearch, problem: int, R_t: wp.mat33d,
        p_t: vec3, seed: wp.array2d(dtype=wp.float64),
    ) -> wp.float64:  # fmt: skip
        """Return the value of a solution, or NaN."""
        _structure = wp.static(structure)
        value = wp.float64(wp.nan)
        # The same for all problems, so that results do not depend on the other poses.
        random = wp.rand_init(local.seed, 0)
        center = vecm()
        q_of = LaneJoints()
        for j in range(n):
            center[j] = wp.clamp(seed[problem, j], chain.lower[j], chain.upper[j])
        marks = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            marks[lane] = infinity
            part = wp.float64(wp.static(1.0 / lanes)) * wp.float64(lane)
            for j in range(n):
                q_of[j, lane] = center[j] + part * (local.starts[j, lane] - center[j])
            lane += 1
        from_seed = bool(True)
        step = int(0)
        while step < wp.static(_STEPS):
            q_of, costs, solved = iterated(chain, local, q_of, R_t, p_t)
            lane = int(0)
            while lane < wp.static(lanes) and step % local.window == 0:
                stalled = solved[lane] == zero and costs[lane] > local.progress * marks[lane]
                marks[lane] = costs[lane]
                if stalled:
                    marks[lane] = infinity
                    from_seed = from_seed and lane > 0
                    start, random = random_configuration(chain, random)
                    for j in range(n):
                        q_of[j, lane] = start[j]
                lane += 1
            # Before the search from the seed has stalled, no other counts.
            counted = wp.where(from_seed, 1, wp.static(lanes))
            nearest = infinity
            lane = int(0)
            while lane < counted:
                if solved[lane] > zero:
                    q = vecm()
                    for j in range(n):
                        q[j] = q_of[j, lane]
                    q = nearest_turns(chain, q, problem, seed, zero)
                    distance = wp.length_sq(q - center)
                    if distance < nearest:
                        nearest = distance
                        value = q[redundancy.index]
                        step = wp.static(_STEPS)
                lane += 1
            step += 1
        return value

    @compiled_kernel(is_for_cpu=True, max_unroll=16)
    def local_values(
        chain: Chain,
        redundancy: Redundancy,
        local: LocalSearch,
        first: int,  # first problem
        count: int,  # number of problems
        n_exist: wp.array(dtype=wp.int32),  # [n], solutions at the values of the seeds
        target: wp.array(dtype=wp.transformd),  # [n], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n, 7]
        bounds: wp.array(dtype=wp.vec2d),  # [n]
        values: wp.array(dtype=wp.float64),  # [n], NaN for poses with a solution
    ):
        _structure = wp.static(structure)
        problem = first + wp.tid()
        more = bool(True)
        while more:
            value = wp.float64(wp.nan)
            if n_exist[problem] == 0:
                pose, valid = unit_pose(problem, target, seed)
                if valid:
                    value = value_found(
                        chain, redundancy, local, problem,
                        wp.quat_to_matrix(wp.transform_get_rotation(pose)),
                        wp.transform_get_translation(pose), seed,
                    )  # fmt: skip
                if wp.isfinite(value):
                    value = wp.clamp(value, bounds[problem][0], bounds[problem][1])
            values[problem] = value
            problem += 1
            more = problem < first + count

    return local_values
