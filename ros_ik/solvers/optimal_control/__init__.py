# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The weighted optimal-control command: its builder, its solver, what comes of it."""

from ros_ik.solvers.optimal_control.command import CommandHeaderBuilder
from ros_ik.solvers.optimal_control.command import OptimalControlCommandBuilder
from ros_ik.solvers.optimal_control.result import OptimalControlFeedback
from ros_ik.solvers.optimal_control.result import OptimalControlResult
from ros_ik.solvers.optimal_control.search import StopReason
from ros_ik.solvers.optimal_control.settings import OptimalControlSettings
from ros_ik.solvers.optimal_control.solver import OptimalControl
from ros_ik.solvers.optimal_control.targets import OptimalControlCommand

__all__ = [
    'CommandHeaderBuilder',
    'OptimalControl',
    'OptimalControlCommand',
    'OptimalControlCommandBuilder',
    'OptimalControlFeedback',
    'OptimalControlResult',
    'OptimalControlSettings',
    'StopReason',
]
