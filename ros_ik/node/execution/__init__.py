# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Programs and threads: start, end, executor, schedules, priorities, errors in callbacks."""
