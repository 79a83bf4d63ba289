# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of the optimizers: choices, checks of arguments, seeds, recorded launches."""
