# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks that run other solvers beside ours on the same poses; start with ``make bench``.

``kinematics``, ``control_steps``, ``motion`` and ``node`` each hold the benchmarks of a subject.
``ours`` and ``peers`` hold the solvers under test, ``harness`` what runs and judges them, ``gpu``
the kernels compiled for a GPU, and the benchmarks of a card.
"""
