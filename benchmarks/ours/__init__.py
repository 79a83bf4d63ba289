# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Our own solvers, each run in a process like those of the peers."""
