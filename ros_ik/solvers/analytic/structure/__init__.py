# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Structure of an arm: its family of closed form, joints that are completed, general arms."""
