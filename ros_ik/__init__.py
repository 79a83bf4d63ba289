# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics within limits and barriers, on a GPU or a CPU, without ROS.

``ros_ik.node`` is the ROS node.
"""

from typing import TYPE_CHECKING

from ros_ik.lazy_names import lazy_names

if TYPE_CHECKING:
    from ros_ik.barriers import Barrier
    from ros_ik.barriers import BodyPairBarrier
    from ros_ik.barriers import CollisionScene
    from ros_ik.barriers import LinkFunctionBarrier
    from ros_ik.barriers import PositionBarrier
    from ros_ik.barriers import SelfCollisionBarrier
    from ros_ik.barriers import WorldCollisionBarrier
    from ros_ik.errors import ArgumentError
    from ros_ik.errors import ModelError
    from ros_ik.errors import RosIkError
    from ros_ik.kinematics import CollisionChecker
    from ros_ik.kinematics import eval_bias_force
    from ros_ik.kinematics import eval_com
    from ros_ik.kinematics import eval_fk
    from ros_ik.kinematics import eval_jacobian
    from ros_ik.kinematics import eval_mass_matrix
    from ros_ik.kinematics import link_dofs
    from ros_ik.limits import AccelerationLimit
    from ros_ik.limits import JerkLimit
    from ros_ik.limits import JointFunctionLimit
    from ros_ik.limits import MotionLimit
    from ros_ik.limits import PositionLimit
    from ros_ik.limits import VelocityLimit
    from ros_ik.model import JointGroup
    from ros_ik.model import JointType
    from ros_ik.model import Model
    from ros_ik.model import ModelBuilder
    from ros_ik.model.shapes.collision_geometry import CollisionGeometry
    from ros_ik.model.shapes.collision_primitive import CollisionShape
    from ros_ik.model.shapes.primitive_fit import fit_capsules
    from ros_ik.model.shapes.primitive_fit import fit_spheres
    from ros_ik.objectives import IKJacobianType
    from ros_ik.objectives import IKObjective
    from ros_ik.objectives import IKObjectiveCenterOfMass
    from ros_ik.objectives import IKObjectiveJointLimit
    from ros_ik.objectives import IKObjectiveJointPosition
    from ros_ik.objectives import IKObjectiveLinkFunction
    from ros_ik.objectives import IKObjectiveLookAt
    from ros_ik.objectives import IKObjectiveManipulability
    from ros_ik.objectives import IKObjectivePose
    from ros_ik.objectives import IKObjectivePosition
    from ros_ik.objectives import IKObjectiveRotation
    from ros_ik.objectives import IKObjectiveSelfDistance
    from ros_ik.solvers import all_solutions
    from ros_ik.solvers import AllSolutions
    from ros_ik.solvers import ChainIK
    from ros_ik.solvers import ChainIKResult
    from ros_ik.solvers import ChainIKSettings
    from ros_ik.solvers import ChainLink
    from ros_ik.solvers import closed_form
    from ros_ik.solvers import ClosedForm
    from ros_ik.solvers import ClosedFormFamily
    from ros_ik.solvers import ClosedFormIK
    from ros_ik.solvers import ClosedFormSettings
    from ros_ik.solvers import CommandHeaderBuilder
    from ros_ik.solvers import DifferentialIK
    from ros_ik.solvers import DifferentialIKSettings
    from ros_ik.solvers import DlsSolver
    from ros_ik.solvers import EnforceMode
    from ros_ik.solvers import GaussNewtonSolver
    from ros_ik.solvers import GoalSetResult
    from ros_ik.solvers import IkChain
    from ros_ik.solvers import IkChainError
    from ros_ik.solvers import IKOptimizer
    from ros_ik.solvers import IKOptimizerLBFGS
    from ros_ik.solvers import IKOptimizerLM
    from ros_ik.solvers import IKSampler
    from ros_ik.solvers import IKSolver
    from ros_ik.solvers import inverse_kinematics
    from ros_ik.solvers import JointState
    from ros_ik.solvers import OptimalControl
    from ros_ik.solvers import OptimalControlCommand
    from ros_ik.solvers import OptimalControlCommandBuilder
    from ros_ik.solvers import OptimalControlFeedback
    from ros_ik.solvers import OptimalControlResult
    from ros_ik.solvers import OptimalControlSettings
    from ros_ik.solvers import PathResult
    from ros_ik.solvers import redundant_intervals
    from ros_ik.solvers import RedundantClosedFormIK
    from ros_ik.solvers import rollout
    from ros_ik.solvers import RolloutResult
    from ros_ik.solvers import solve_path
    from ros_ik.solvers import SolveStatus
    from ros_ik.solvers import StopReason
    from ros_ik.solvers import StructureTolerances
    from ros_ik.solvers import Task
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)

__all__ = [
    'AccelerationLimit',
    'AllSolutions',
    'ArgumentError',
    'Barrier',
    'BodyPairBarrier',
    'ChainIK',
    'ChainIKResult',
    'ChainIKSettings',
    'ChainLink',
    'ClosedForm',
    'ClosedFormFamily',
    'ClosedFormIK',
    'ClosedFormSettings',
    'CollisionChecker',
    'CollisionGeometry',
    'CollisionScene',
    'CollisionShape',
    'CommandHeaderBuilder',
    'DifferentialIK',
    'DifferentialIKSettings',
    'DlsSolver',
    'EnforceMode',
    'GaussNewtonSolver',
    'GoalSetResult',
    'IKJacobianType',
    'IKObjective',
    'IKObjectiveCenterOfMass',
    'IKObjectiveJointLimit',
    'IKObjectiveJointPosition',
    'IKObjectiveLinkFunction',
    'IKObjectiveLookAt',
    'IKObjectiveManipulability',
    'IKObjectivePose',
    'IKObjectivePosition',
    'IKObjectiveRotation',
    'IKObjectiveSelfDistance',
    'IKOptimizer',
    'IKOptimizerLBFGS',
    'IKOptimizerLM',
    'IKSampler',
    'IKSolver',
    'IkChain',
    'IkChainError',
    'JerkLimit',
    'JointFunctionLimit',
    'JointGroup',
    'JointState',
    'JointType',
    'LinkFunctionBarrier',
    'Model',
    'ModelBuilder',
    'ModelError',
    'MotionLimit',
    'OptimalControl',
    'OptimalControlCommand',
    'OptimalControlCommandBuilder',
    'OptimalControlFeedback',
    'OptimalControlResult',
    'OptimalControlSettings',
    'PathResult',
    'PositionBarrier',
    'PositionLimit',
    'RedundantClosedFormIK',
    'RolloutResult',
    'RosIkError',
    'SelfCollisionBarrier',
    'SolveStatus',
    'StopReason',
    'StructureTolerances',
    'Task',
    'VelocityLimit',
    'WorldCollisionBarrier',
    'all_solutions',
    'closed_form',
    'eval_bias_force',
    'eval_com',
    'eval_fk',
    'eval_jacobian',
    'eval_mass_matrix',
    'fit_capsules',
    'fit_spheres',
    'inverse_kinematics',
    'link_dofs',
    'redundant_intervals',
    'rollout',
    'solve_path',
]
