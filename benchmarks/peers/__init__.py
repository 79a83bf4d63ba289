# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The solvers we compare with, one file each, run in a process of its own.

Every file here is ``python -m benchmarks.peers.<name> <folder>`` in the environment of
``requirements/bench.txt``; ``benchmarks/harness/job.py`` says what the folder holds.
"""
