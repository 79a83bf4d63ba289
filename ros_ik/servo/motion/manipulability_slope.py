# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Gradient of the manipulability of a serial chain with respect to its joints.

    d log m / dq_i = tr((J J^T)^-1 dJ/dq_i J^T),    m = sqrt(det(J J^T))

With (f_j, t_j) the rows of J^T (J J^T)^-1, l_j, omega_j the linear and angular columns of J, and
their derivatives as in :mod:`ros_ik.objectives.manipulability`, for joints in their order,

    = omega_i . sum over j > i of (l_j x f_j + omega_j x t_j)
    + l_i . sum over j <= i of f_j x omega_j

The logarithm does not depend on the units of the rows.
"""

from __future__ import annotations

import numpy as np

from ros_ik.model.conventions.poses import cross

# Regularisation of J J^T, as a fraction of its trace, for singular configurations.
_REGULAR = 1e-9


def manipulability_slope(
    linear: np.ndarray, angular: np.ndarray, rows: np.ndarray
) -> np.ndarray | None:
    """Return d log m / dq [n], or None if there are fewer joints than rows.

    Args:
        linear: Linear velocity of the point per joint [n, 3].
        angular: Angular velocity per joint [n, 3].
        rows: Mask of the rows of the Jacobian, linear first, bool [6].
    """
    count = len(linear)
    if count < np.count_nonzero(rows):
        return None
    J = np.concatenate([linear, angular], axis=1)[:, rows]
    gram = J.T @ J
    gram[np.diag_indices_from(gram)] += _REGULAR * np.trace(gram)
    share = np.zeros((count, 6))
    share[:, rows] = J @ np.linalg.inv(gram)
    force, torque = share[:, :3], share[:, 3:]
    moments = cross(linear, force) + cross(angular, torque)
    later = moments.sum(axis=0) - np.cumsum(moments, axis=0)
    until = np.cumsum(cross(force, angular), axis=0)
    slope: np.ndarray = (angular * later + linear * until).sum(axis=1)
    return slope
