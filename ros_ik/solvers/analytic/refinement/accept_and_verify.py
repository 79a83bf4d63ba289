# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that makes solutions of candidates which need no polishing and verifies them, on a CPU.

In the usual case the candidates of a pose are its solutions. A single forward kinematics shows
that they need no polishing, are regular and are correct. It goes through the joints of the model,
with the functions that :mod:`ros_ik.solvers.analytic.refinement.verify` uses.

The kernel lists all other poses. :mod:`ros_ik.solvers.analytic.refinement.refine` solves these in
a later launch, and another one verifies them.
"""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.kinematics.spatial import sincos_function
from ros_ik.solvers.analytic.refinement.distinct_branches import distinct_branch_functions
from ros_ik.solvers.analytic.refinement.polish import polish_functions
from ros_ik.solvers.analytic.refinement.regular_by_wrist import regular_by_wrist_function
from ros_ik.solvers.pose_ik.kernels.kernel import unit_pose_function
from ros_ik.solvers.pose_ik.kernels.placement import configuration_functions
from ros_ik.solvers.pose_ik.kernels.placement import placement_struct
from ros_ik.solvers.pose_ik.kernels.tool_errors import tool_error_functions
from ros_ik.solvers.status import SolveStatus


@no_type_check
@functools.cache
def accept_and_verify_kernel(n: int, lanes: int, wrist: tuple[int, ...] | None) -> wp.Kernel:
    """Build the kernel for n revolute joints and whole poses; one thread solves all problems.

    The path of the placement must consist of the joints of the chain, in their order.

    Args:
        n: Number of joints.
        lanes: Number of candidates that are examined together; a pose with more is listed.
        wrist: Three of six joints, whose axes are seldom in a plane; None for any joints.
    """
    kind = n, False, False
    structure = zlib.crc32(repr((n, lanes, wrist)).encode()) & 0x7FFFFFFF
    polishing = polish_functions(*kind)
    fine_errors, is_regular = polishing.fine_errors, polishing.is_regular
    regular_by_wrist = None if wrist is None else regular_by_wrist_function(wrist)
    vecm, matn3 = polishing.vecm, polishing.matn3
    Chain, Refinement = polishing.Chain, polishing.Refinement
    branching = distinct_branch_functions(*kind, False, lanes)
    next_group, turned_group = branching.next_group, branching.turned_group
    ordered_group = branching.ordered_group
    LaneNumbers, LaneAngles = branching.LaneNumbers, branching.LaneAngles
    errors = tool_error_functions(lanes)
    turned_pose, whole_error, z_axis = errors.turned_pose, errors.whole_error, errors.z_axis
    write_others = configuration_functions().write_others
    Rows = row_list_functions().Rows
    unit_pose = unit_pose_function()
    sincos = sincos_function(wp.float64)
    Placement = placement_struct()
    Columns = wp.types.vector(n, wp.int32)

    @wp.func
    def examine_by_model(
        chain: Chain, refinement: Refinement, placement: Placement, target: wp.transformd,
        turned: LaneAngles,
    ):  # fmt: skip
        """Examine candidates through the joints of the model, all together.

        Returns:
            1 for each that needs no polishing and that is far from singular, and their distances
            and angles to the pose.
        """
        _structure = wp.static(structure)
        fine = LaneNumbers()
        safe = LaneNumbers()
        distances = LaneNumbers()
        angles = LaneNumbers()
        lane = int(0)
        while lane < wp.static(lanes):
            position = wp.vec3d()
            q = wp.quat_identity(dtype=wp.float64)
            axes = matn3()
            pivots = matn3()
            for j in range(n):
                half = sincos(wp.float64(0.5) * turned[j, lane])
                position, q = turned_pose(position, q, placement.before[j], half)
                axis = z_axis(q)
                for k in range(3):
                    axes[j, k] = axis[k]
                    pivots[j, k] = position[k]
            position += wp.quat_rotate(q, wp.transform_get_translation(placement.tool))
            q = q * wp.transform_get_rotation(placement.tool)
            distance, angle = whole_error(position, q, target)
            near, close = fine_errors(refinement)
            is_good = distance <= near and angle <= close
            # The rotation counts only with free rotations.
            if wp.static(wrist is None):
                is_safe = is_regular(chain, refinement, axes, pivots, wp.mat33d(), position)
            else:
                is_safe = regular_by_wrist(chain, refinement, axes, pivots, position)
            fine[lane] = wp.where(is_good, wp.float64(1.0), wp.float64(0.0))
            safe[lane] = wp.where(is_safe, wp.float64(1.0), wp.float64(0.0))
            distances[lane] = distance
            angles[lane] = angle
            lane += 1
        return fine, safe, distances, angles

    @wp.func
    def accepted(
        chain: Chain, refinement: Refinement, placement: Placement, columns: Columns, problem: int,
        target: wp.array(dtype=wp.transformd), seed: wp.array2d(dtype=wp.float64),
        candidates: wp.array3d(dtype=wp.float64), misses: wp.array2d(dtype=wp.float64),
        joint_q: wp.array2d(dtype=wp.float64), position_error: wp.array2d(dtype=wp.float64),
        rotation_error: wp.array2d(dtype=wp.float64),
    ) -> int:  # fmt: skip
        """Write the solutions of a pose in the usual case; return their number, else 0."""
        _structure = wp.static(structure)
        pose, valid = unit_pose(problem, target, seed)
        if not valid:
            return 0
        starts, _slots, taken, slot = next_group(
            problem, 0, refinement.slack, candidates, misses
        )
        if taken == 0 or slot < candidates.shape[1]:
            return 0
        turned, far, off_of, distance_of = turned_group(chain, refinement, problem, seed, starts)
        fine, safe, distances, angles = examine_by_model(
            chain, refinement, placement, pose, turned
        )
        _branches, _beyond, count, place = ordered_group(
            chain, refinement, taken, turned, far, fine, safe, off_of, distance_of
        )
        room = position_error.shape[1]
        start = problem * room
        written = wp.min(count, room)
        first = vecm()
        first_distance = wp.float64(0.0)
        first_angle = wp.float64(0.0)
        lane = int(0)
        while count > 0 and lane < taken:
            at = int(place[lane])
            if at < written:
                row = joint_q[start + at]
                for j in range(n):
                    row[columns[j]] = turned[j, lane]
                write_others(placement, start + at, joint_q)
                position_error[problem, at] = distances[lane]
                rotation_error[problem, at] = angles[lane]
                if at == 0:
                    for j in range(n):
                        first[j] = turned[j, lane]
                    first_distance = distances[lane]
                    first_angle = angles[lane]
            lane += 1
        # Unused entries repeat the first solution.
        entry = int(written)
        while count > 0 and entry < room:
            position_error[problem, entry] = first_distance
            rotation_error[problem, entry] = first_angle
            row = joint_q[start + entry]
            for j in range(n):
                row[columns[j]] = first[j]
            write_others(placement, start + entry, joint_q)
            entry += 1
        return count

    # Loops over the joints unroll.
    @compiled_kernel(is_for_cpu=True, max_unroll=16)
    def accept_and_verify(
        chain: Chain,
        refinement: Refinement,
        placement: Placement,
        target: wp.array(dtype=wp.transformd),  # [n_problems], of the tool in the world
        seed: wp.array2d(dtype=wp.float64),  # [n_problems, n]
        candidates: wp.array3d(dtype=wp.float64),  # [n_problems, room, n]
        misses: wp.array2d(dtype=wp.float64),  # [n_problems, room]
        left: Rows,  # problems that need more than this, written
        directions: wp.array3d(dtype=wp.float64),  # [n_problems, max_solutions, n]
        singular: wp.array2d(dtype=wp.bool),  # [n_problems, max_solutions]
        n_exist: wp.array(dtype=wp.int32),  # [n_problems], solutions inside the limits
        joint_q: wp.array2d(dtype=wp.float64),  # [n_problems * max_solutions, coordinates]
        position_error: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        rotation_error: wp.array2d(dtype=wp.float64),  # [n_problems, max_solutions]
        n_found: wp.array(dtype=wp.int32),  # [n_problems], solutions in joint_q
        status: wp.array(dtype=wp.int32),  # [n_problems]
    ):
        _structure = wp.static(structure)
        problem = wp.tid()
        # Read once, because the compiler assumes that writing a configuration changes them.
        columns = Columns()
        for j in range(n):
            # Addresses of an index are faster to compute if it cannot be negative.
            columns[j] = wp.max(placement.coordinate[j], 0)
        n_left = int(0)
        more = bool(True)
        while more:
            count = accepted(
                chain, refinement, placement, columns, problem, target, seed, candidates, misses,
                joint_q, position_error, rotation_error,
            )  # fmt: skip
            if count == 0:
                left.row[n_left] = problem
                n_left += 1
            else:
                for entry in range(singular.shape[1]):
                    # Directions are zero for regular solutions.
                    if singular[problem, entry]:
                        singular[problem, entry] = False
                        for j in range(n):
                            directions[problem, entry, j] = wp.float64(0.0)
                n_exist[problem] = count
                n_found[problem] = wp.min(count, singular.shape[1])
                status[problem] = wp.static(int(SolveStatus.CONVERGED))
            problem += 1
            more = problem < target.shape[0]
        left.ends[left.row.shape[0] - 1] = n_left

    return accept_and_verify
