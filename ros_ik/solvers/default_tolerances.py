# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Default tolerances of poses: of searches, of whole motions and of requests of planners."""

# Largest distance [m] and angle [rad] of a solution.
POSITION_TOLERANCE = 1e-3
ROTATION_TOLERANCE = 1e-2
