# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel that measures the mobility of a frame: singular values and directions.

    sigma = least singular value of W J / max(W)

J is the Jacobian of a frame over the joints of its chain, in the axes of its reference link,
linear rows first, W the weights of the task. A revolute joint with axis a through the point p
moves a frame at x by a x (x - p) and rotates it by a; a prismatic one moves it by a. sigma is
1/sqrt of the largest eigenvalue of (J J^T + eps)^-1, by power iteration. Rows without weight are
replaced by those of the identity. With its singular vectors u (of the frame) and w (of the
joints),

    d sigma / dq . w = u^T W dJ/dt w,    dJ/dt at the velocities w

which is the acceleration of the frame at constant joint velocities w.

A joint at a position limit does not move farther. An arm may be far from a singularity with it,
and at one without it. So the kernel also measures

    sigma_f = sqrt of the least eigenvalue of J S J^T + eps,    S_kk = x^2 (3 - 2 x)

x is the distance of joint k from its nearer position limit, as a part of _LIMIT_ZONE, at most 1.
(Joints are weighted by their distance from limits in: Chan and Dubey, A Weighted Least-Norm
Solution Based Scheme for Avoiding Joint Limits for Redundant Robots, 1995.) sigma_f is at most
sigma, and varies continuously with the configuration.
"""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.objectives.jacobian.gram import gram_functions

# Added to the squared singular values. A sigma below its square root is indistinguishable from
# zero.
_MIN_SQUARE = 1e-10
_POWER_STEPS = 6
# Distance from a position limit below which a joint counts less for sigma_f [rad or m].
_LIMIT_ZONE = 0.05
# Number of results per frame: sigma, sigma_f, d sigma / dq . w, the largest acceleration along w,
# and u.
FOUND = 10


@no_type_check
@functools.cache
def singularity_kernel() -> wp.Kernel:
    """Build the kernel, float64."""
    types, gram = spatial_functions(wp.float64), gram_functions(6)
    vec3, transform = types.vec3, types.transform
    matrix, vector, inverse = gram.matrix, gram.vector, gram.inverse
    least_square, power_steps = wp.constant(_MIN_SQUARE), wp.constant(_POWER_STEPS)
    longest = wp.constant(_LIMIT_ZONE)

    @wp.func
    def joint_motion(
        pose: transform, back: wp.quatd, frame: vec3, axis: vec3, point: vec3, slides: int
    ):
        """Return angular and linear motion of the frame per joint, and the arm to the frame."""
        angular = wp.quat_rotate(back, wp.transform_vector(pose, axis))
        arm = wp.quat_rotate(back, frame - wp.transform_point(pose, point))
        linear = wp.cross(angular, arm)
        if slides != 0:
            linear = angular
            angular = vec3()
        return angular, linear, arm

    @wp.func
    def weighted(
        weight: wp.array2d(dtype=wp.float64), task: int, linear: vec3, angular: vec3
    ) -> vector:
        row = vector()
        for a in range(3):
            row[a] = weight[task, a] * linear[a]
            row[3 + a] = weight[task, 3 + a] * angular[a]
        return row

    @wp.func
    def least_eigenvector(A: matrix):
        """Return a unit eigenvector of the least eigenvalue of A, and its inverse square."""
        M = inverse(A)
        M = M * M  # two steps at a time
        worst = int(0)
        for row in range(1, 6):
            if M[row, row] > M[worst, worst]:
                worst = row
        direction = vector()
        direction[worst] = wp.float64(1.0)
        length = wp.float64(1.0)
        for _step in range(power_steps):
            direction = M * direction
            length = wp.length(direction)
            direction = direction / length
        return direction, length

    @wp.func
    def part_of_room(q: wp.float64, low: wp.float64, high: wp.float64) -> wp.float64:
        """Return S_kk of a joint at q."""
        room = wp.min(q - low, high - q) / wp.float64(longest)
        x = wp.clamp(room, wp.float64(0.0), wp.float64(1.0))
        return x * x * (wp.float64(3.0) - wp.float64(2.0) * x)

    @compiled_kernel(registers=196)
    def least_singular_values(
        joint_q: wp.array(dtype=wp.float64),  # [joint_coord_count]
        body_q: wp.array(dtype=transform),  # [body_count]
        task_link: wp.array2d(dtype=wp.int32),  # [n_tasks, 2], frame and reference
        offset: wp.array(dtype=vec3),  # [n_tasks], of the frame in its link
        weight: wp.array2d(dtype=wp.float64),  # [n_tasks, 6]
        chain_start: wp.array(dtype=wp.int32),  # [n_tasks + 1]
        child: wp.array(dtype=wp.int32),  # [chains]
        axis: wp.array(dtype=vec3),  # [chains], in the child
        point: wp.array(dtype=vec3),  # [chains], on the axis, in the child
        slides: wp.array(dtype=wp.int32),  # [chains]
        acceleration: wp.array(dtype=wp.float64),  # [chains], limits
        coord: wp.array(dtype=wp.int32),  # [chains]
        position: wp.array2d(dtype=wp.float64),  # [2, chains], limits, lower ones first
        # out
        found: wp.array2d(dtype=wp.float64),  # [n_tasks, FOUND]
        column: wp.array(dtype=vector),  # [chains], weighted motion of the frame with the joint
    ):
        task = wp.tid()
        frame = wp.transform_point(body_q[task_link[task, 0]], offset[task])
        back = wp.quat_inverse(wp.transform_get_rotation(body_q[task_link[task, 1]]))
        A = matrix()
        for row in range(6):
            A[row, row] = wp.float64(least_square)
            if weight[task, row] == wp.float64(0.0):
                A[row, row] = wp.float64(1.0)
        least_part = wp.float64(1.0)
        for k in range(chain_start[task], chain_start[task + 1]):
            angular, linear, _arm = joint_motion(
                body_q[child[k]], back, frame, axis[k], point[k], slides[k]
            )
            column[k] = weighted(weight, task, linear, angular)
            A += wp.outer(column[k], column[k])
            part = part_of_room(joint_q[coord[k]], position[0, k], position[1, k])
            least_part = wp.min(least_part, part)
        direction, length = least_eigenvector(A)
        found[task, 0] = wp.pow(length, wp.float64(-0.25))
        found[task, 1] = found[task, 0]
        if least_part < wp.float64(1.0):
            for k in range(chain_start[task], chain_start[task + 1]):
                part = part_of_room(joint_q[coord[k]], position[0, k], position[1, k])
                A -= (wp.float64(1.0) - part) * wp.outer(column[k], column[k])
            _direction, square = least_eigenvector(A)
            found[task, 1] = wp.pow(square, wp.float64(-0.25))
        for row in range(6):
            found[task, 4 + row] = direction[row]

        # sigma w, and the acceleration of the frame at these velocities, from the base outwards.
        squared = wp.float64(0.0)
        largest = wp.float64(wp.inf)
        speed, speed_change = vec3(), vec3()
        rate, rate_change = vec3(), vec3()
        for k in range(chain_start[task], chain_start[task + 1]):
            angular, linear, arm = joint_motion(
                body_q[child[k]], back, frame, axis[k], point[k], slides[k]
            )
            turning = wp.cross(rate, angular)
            change = wp.cross(turning, arm) - wp.cross(angular, speed - wp.cross(rate, arm))
            if slides[k] != 0:
                change = wp.cross(rate, linear)
            w = wp.dot(direction, column[k])
            squared += w * w
            if w != wp.float64(0.0):
                largest = wp.min(largest, acceleration[k] / wp.abs(w))
            speed_change += w * change
            rate_change += w * turning
            speed += w * linear
            rate += w * angular
        speed_change += wp.cross(rate, speed)
        found[task, 2] = wp.float64(0.0)
        found[task, 3] = largest
        if squared > wp.float64(least_square):
            change_of_lost = wp.dot(direction, weighted(weight, task, speed_change, rate_change))
            found[task, 2] = change_of_lost / squared
            found[task, 3] = largest * wp.sqrt(squared)

    return least_singular_values
