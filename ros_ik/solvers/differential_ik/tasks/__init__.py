# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tasks of a step: objectives with weights and priorities, and the cost of all tasks."""
