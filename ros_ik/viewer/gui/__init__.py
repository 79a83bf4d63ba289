# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Panels of the page: inputs, plots, status, and the requests of users."""
