# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays, buffers and kernels of a call: checks of arguments, compilation."""
