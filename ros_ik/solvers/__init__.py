# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solvers: inverse kinematics of poses and paths, the batched quadratic program, control steps."""

from ros_ik.solvers.chain_ik import ChainIK
from ros_ik.solvers.chain_ik import ChainIKResult
from ros_ik.solvers.chain_ik import ChainIKSettings
from ros_ik.solvers.dense_qp import DenseQP
from ros_ik.solvers.differential_ik import DifferentialIK
from ros_ik.solvers.differential_ik import DifferentialIKSettings
from ros_ik.solvers.inverse_kinematics import inverse_kinematics
from ros_ik.solvers.path_ik import PathResult
from ros_ik.solvers.path_ik import solve_path
from ros_ik.solvers.status import SolveStatus
from ros_ik.solvers.task import Task

__all__ = [
    'ChainIK',
    'ChainIKResult',
    'ChainIKSettings',
    'DenseQP',
    'DifferentialIK',
    'DifferentialIKSettings',
    'PathResult',
    'SolveStatus',
    'Task',
    'inverse_kinematics',
    'solve_path',
]
