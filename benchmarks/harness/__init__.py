# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Problems, processes of solvers, judgement of answers, and tables of results."""
