# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal control: command builder, solver and result."""

from ros_ik.solvers.optimal_control.commands.command import CommandHeaderBuilder
from ros_ik.solvers.optimal_control.commands.command import OptimalControlCommandBuilder
from ros_ik.solvers.optimal_control.commands.settings import OptimalControlSettings
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.least_cost.search import StopReason
from ros_ik.solvers.optimal_control.result import OptimalControlFeedback
from ros_ik.solvers.optimal_control.result import OptimalControlResult
from ros_ik.solvers.optimal_control.solver import OptimalControl

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
