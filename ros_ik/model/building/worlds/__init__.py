# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Articulations and worlds of a builder: copies of others in it, checks of the whole."""
