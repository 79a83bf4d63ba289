# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Files: XML, SRDF, meshes, and the folders they lie in."""
