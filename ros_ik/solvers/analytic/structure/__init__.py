# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Structure of an arm: family of its closed form, completion to six joints, general arms."""
