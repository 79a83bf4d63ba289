# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Services for planners, without ROS: kinematics of batches, checks of trajectories."""

from typing import TYPE_CHECKING

from ros_ik.lazy_names import lazy_names

if TYPE_CHECKING:
    from ros_ik.planning.context.budget import Budget
    from ros_ik.planning.context.budget import RequestError
    from ros_ik.planning.context.budget import UnmeasuredError
    from ros_ik.planning.context.planner import Planner
    from ros_ik.planning.optimal import OptimalAnswer
    from ros_ik.planning.optimal import solve_optimal
    from ros_ik.planning.optimal_request import CenterOfMassCost
    from ros_ik.planning.optimal_request import JointCost
    from ros_ik.planning.optimal_request import OptimalRequest
    from ros_ik.planning.optimal_request import PoseCost
    from ros_ik.planning.poses.forward import solve_fk
    from ros_ik.planning.poses.ik_request import IkAnswer
    from ros_ik.planning.poses.ik_request import IkRequest
    from ros_ik.planning.poses.ik_request import PoseCode
    from ros_ik.planning.poses.inverse import solve_ik
    from ros_ik.planning.poses.reconfiguration import reconfigure
    from ros_ik.planning.poses.reconfiguration_answer import Reconfiguration
    from ros_ik.planning.trajectories.spline import Point
    from ros_ik.planning.trajectories.spline_limits import Violation
    from ros_ik.planning.trajectories.trajectory import check_trajectory
    from ros_ik.planning.trajectories.trajectory import TrajectoryReport
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)

__all__ = [
    'Budget',
    'CenterOfMassCost',
    'IkAnswer',
    'IkRequest',
    'JointCost',
    'OptimalAnswer',
    'OptimalRequest',
    'Planner',
    'Point',
    'PoseCode',
    'PoseCost',
    'Reconfiguration',
    'RequestError',
    'TrajectoryReport',
    'UnmeasuredError',
    'Violation',
    'check_trajectory',
    'reconfigure',
    'solve_fk',
    'solve_ik',
    'solve_optimal',
]
