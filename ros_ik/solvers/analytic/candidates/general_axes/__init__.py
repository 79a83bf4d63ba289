# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Candidates of six general axes, by the elimination of Raghavan and Roth."""
