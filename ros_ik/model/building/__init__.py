# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parts of a ModelBuilder: rows and columns, joints, links, shapes, worlds, validation."""
