# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Refinement of candidates on the exact chain, and verification of solutions."""
