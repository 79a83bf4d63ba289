# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a builder: axes, mimic joints, the configurations they span."""
