# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robot, models, solvers and budget that requests of planners share."""
