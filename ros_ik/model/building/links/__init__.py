# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Links of a builder and the shapes on them."""
