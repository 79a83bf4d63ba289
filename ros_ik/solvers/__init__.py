# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solvers for inverse kinematics, joint paths, quadratic programs, control steps and motions."""

from typing import TYPE_CHECKING

from ros_ik.lazy_names import lazy_names

if TYPE_CHECKING:
    from ros_ik.solvers.analytic.batch import all_solutions
    from ros_ik.solvers.analytic.intervals import redundant_intervals
    from ros_ik.solvers.analytic.redundant import RedundantClosedFormIK
    from ros_ik.solvers.analytic.result import AllSolutions
    from ros_ik.solvers.analytic.result import ClosedFormSettings
    from ros_ik.solvers.analytic.solver import ClosedFormIK
    from ros_ik.solvers.analytic.structure.form import closed_form
    from ros_ik.solvers.analytic.structure.form import ClosedForm
    from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily
    from ros_ik.solvers.analytic.structure.structure import StructureTolerances
    from ros_ik.solvers.batch_ik.base.enums import IKOptimizer
    from ros_ik.solvers.batch_ik.base.enums import IKSampler
    from ros_ik.solvers.batch_ik.optimizers.lbfgs import IKOptimizerLBFGS
    from ros_ik.solvers.batch_ik.optimizers.lm import IKOptimizerLM
    from ros_ik.solvers.batch_ik.solver import IKSolver
    from ros_ik.solvers.chain.ik_chain import ChainLink
    from ros_ik.solvers.chain.ik_chain import IkChain
    from ros_ik.solvers.chain.ik_chain import JointState
    from ros_ik.solvers.chain.ik_chain_path import IkChainError
    from ros_ik.solvers.chain.solvers import DlsSolver
    from ros_ik.solvers.chain.solvers import GaussNewtonSolver
    from ros_ik.solvers.differential_ik.checks.enforce_mode import EnforceMode
    from ros_ik.solvers.differential_ik.rollout import rollout
    from ros_ik.solvers.differential_ik.rollout import RolloutResult
    from ros_ik.solvers.differential_ik.solver import DifferentialIK
    from ros_ik.solvers.differential_ik.solver import DifferentialIKSettings
    from ros_ik.solvers.differential_ik.tasks.task import Task
    from ros_ik.solvers.optimal_control import CommandHeaderBuilder
    from ros_ik.solvers.optimal_control import OptimalControl
    from ros_ik.solvers.optimal_control import OptimalControlCommand
    from ros_ik.solvers.optimal_control import OptimalControlCommandBuilder
    from ros_ik.solvers.optimal_control import OptimalControlFeedback
    from ros_ik.solvers.optimal_control import OptimalControlResult
    from ros_ik.solvers.optimal_control import OptimalControlSettings
    from ros_ik.solvers.optimal_control import StopReason
    from ros_ik.solvers.path.problem import PathResult
    from ros_ik.solvers.path.solver import solve_path
    from ros_ik.solvers.pose_batches.batch import inverse_kinematics
    from ros_ik.solvers.pose_ik.interface.result import ChainIKResult
    from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
    from ros_ik.solvers.pose_ik.interface.result import GoalSetResult
    from ros_ik.solvers.pose_ik.solver import ChainIK
    from ros_ik.solvers.qp.dense_qp import DenseQP
    from ros_ik.solvers.status import SolveStatus
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)

__all__ = [
    'AllSolutions',
    'ChainIK',
    'ChainIKResult',
    'ChainIKSettings',
    'ChainLink',
    'ClosedForm',
    'ClosedFormFamily',
    'ClosedFormIK',
    'ClosedFormSettings',
    'CommandHeaderBuilder',
    'DenseQP',
    'DifferentialIK',
    'DifferentialIKSettings',
    'DlsSolver',
    'EnforceMode',
    'GaussNewtonSolver',
    'GoalSetResult',
    'IKOptimizer',
    'IKOptimizerLBFGS',
    'IKOptimizerLM',
    'IKSampler',
    'IKSolver',
    'IkChain',
    'IkChainError',
    'JointState',
    'OptimalControl',
    'OptimalControlCommand',
    'OptimalControlCommandBuilder',
    'OptimalControlFeedback',
    'OptimalControlResult',
    'OptimalControlSettings',
    'PathResult',
    'RedundantClosedFormIK',
    'RolloutResult',
    'SolveStatus',
    'StopReason',
    'StructureTolerances',
    'Task',
    'all_solutions',
    'closed_form',
    'inverse_kinematics',
    'redundant_intervals',
    'rollout',
    'solve_path',
]
