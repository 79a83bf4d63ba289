# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tables of a builder: columns, rows, custom attributes, pairs that may touch."""
