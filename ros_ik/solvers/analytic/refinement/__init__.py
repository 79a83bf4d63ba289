# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Refinement of candidates: polishing on the chain as it is, and their verification."""
