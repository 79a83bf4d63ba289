# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The shortest stop of a tool that joint accelerations permit, as a linear program.

Near the place where it begins the tool moves by J dq. With dq_0 the step before, over the steps
dq_1 .. dq_n:

    min max_k (sum_i<=k J_y dq_i),    |dq_k - dq_(k-1)| <= a dt^2,    J_rest dq_k = 0

in which J_rest are the other axes: the tool stays on its line and keeps its orientation.
"""

import numpy as np
from scipy.optimize import linprog
import scipy.sparse as sparse

from ros_ik.servo.motion.pose_math import pose_difference


def jacobian(rig, q, h=1e-6):
    """Return the derivative of a rig's pose by its controlled joints [6, joints]."""
    pose, columns = rig.pose(q), []
    for coord in rig.robot.coords:
        moved = q.copy()
        moved[coord] += h
        columns.append(np.concatenate(pose_difference(rig.pose(moved), pose)) / h)
    return np.array(columns).T


def least_stop(jacobian, velocity, acceleration, dt, axis=1, seconds=0.12):
    """Return the least stopping distance of a tool along an axis [m].

    Args:
        jacobian: Jacobian of the tool [6, joints].
        velocity: Joint velocities before [joints].
        acceleration: Acceleration limits of the joints [joints].
        dt: Period of the ticks [s].
        axis: The axis; the tool stays where it is on all others.
        seconds: Time in which it has to have stopped [s].
    """
    joints, ticks = len(velocity), round(seconds / dt)
    count = joints * ticks
    change = sparse.eye(count) - sparse.eye(count, k=-joints)
    first = np.zeros(count)
    first[:joints] = velocity * dt
    room = np.tile(acceleration * dt * dt, ticks)
    ways = sparse.kron(np.tril(np.ones((ticks, ticks))), jacobian[axis][None])
    zero, one = np.zeros((count, 1)), -np.ones((ticks, 1))
    others = sparse.kron(sparse.eye(ticks), np.delete(jacobian, axis, 0))
    found = linprog(
        np.eye(1, count + 1, count)[0],
        A_ub=sparse.vstack([
            sparse.hstack([change, zero]), sparse.hstack([-change, zero]),
            sparse.hstack([ways, one]),
        ]),
        b_ub=np.concatenate([room + first, room - first, np.zeros(ticks)]),
        A_eq=sparse.hstack([others, np.zeros((others.shape[0], 1))]),
        b_eq=np.zeros(others.shape[0]),
        bounds=(None, None),
    )  # fmt: skip
    assert found.status == 0, found.message
    return found.x[-1]


def least_stop_off_the_line(jacobian, velocity, acceleration, dt, axis=1):
    """Return the stopping distance along an axis if the tool may go anywhere else [m].

    Each tick brakes by all that the joints together can, sum_i |J_yi| a_i.

    Args:
        jacobian: Jacobian of the tool [6, joints].
        velocity: Joint velocities before [joints].
        acceleration: Acceleration limits of the joints [joints].
        dt: Period of the ticks [s].
        axis: The axis.
    """
    change = np.abs(jacobian[axis]) @ acceleration * dt * dt
    step, distance = jacobian[axis] @ velocity * dt - change, 0.0
    while step > 0.0:
        distance, step = distance + step, step - change
    return distance
