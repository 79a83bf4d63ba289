# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments, arrays and kernels: checks, exchange with other libraries, compilation."""
