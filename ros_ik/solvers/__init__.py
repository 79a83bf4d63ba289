# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solvers: the batched quadratic program and differential inverse kinematics on top of it."""

from ros_ik.solvers.dense_qp import DenseQP
from ros_ik.solvers.differential_ik import DifferentialIK
from ros_ik.solvers.differential_ik import DifferentialIKSettings
from ros_ik.solvers.status import SolveStatus
from ros_ik.solvers.task import Task

__all__ = ['DenseQP', 'DifferentialIK', 'DifferentialIKSettings', 'SolveStatus', 'Task']
