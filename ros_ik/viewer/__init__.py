# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The viewer: a page in the browser that shows a running node and moves its targets."""
