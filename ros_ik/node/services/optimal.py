# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of requests and answers of ``~/solve_optimal``."""

from __future__ import annotations

from array import array
from typing import Any

from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.node.control.command_messages import duration
from ros_ik.node.transport.pose_messages import pose_numbers
from ros_ik.planning import Budget
from ros_ik.planning import CenterOfMassCost
from ros_ik.planning import JointCost
from ros_ik.planning import OptimalAnswer
from ros_ik.planning import OptimalRequest
from ros_ik.planning import Planner
from ros_ik.planning import PoseCost
from ros_ik.planning import solve_optimal
from ros_ik.servo.barriers.watched_joints import unknown_sentence
from ros_ik_interfaces.srv import SolveOptimal


def answer_solve_optimal(planner: Planner, request: Any, budget: Budget) -> SolveOptimal.Response:
    """Answer ``~/solve_optimal``; raise :class:`RequestError` with the reason."""
    answer = solve_optimal(planner, _read(request), budget)
    result = answer.result
    costs = result.feedback
    response = SolveOptimal.Response(
        success=not answer.fault,
        message=answer.fault
        or '; '.join(
            filter(
                None,
                (
                    unknown_sentence(answer.unknown_joints),
                    *result.relaxed, *result.violated_targets, *result.unreachable_targets,
                ),
            )
        ),
        complete=answer.complete,
        unmeasured_links=list(answer.unmeasured_links),
        reason=int(SolveOptimal.Response.FAILED if answer.fault else result.reason),
        total_cost=costs.total_cost,
        cartesian_costs=array('d', costs.cartesian_costs),
        center_of_mass_cost=costs.center_of_mass_cost,
        joint_costs=array('d', costs.joint_position_costs),
    )
    if not answer.fault:
        response.trajectory = _trajectory(answer)
    return response


def refusal(reason: str) -> SolveOptimal.Response:
    """Return the response of a refused request."""
    return SolveOptimal.Response(
        success=False, message=reason, reason=SolveOptimal.Response.FAILED
    )


def _read(request: Any) -> OptimalRequest:
    """Convert a request message."""
    center = request.center_of_mass
    return OptimalRequest(
        poses=[
            PoseCost(
                cost.reference_link,
                cost.link,
                pose_numbers(cost.target),
                cost.translation_weight,
                cost.rotation_weight,
            )
            for cost in request.cartesian_costs
        ],
        joints=[JointCost(cost.joint, cost.target, cost.weight) for cost in request.joint_costs],
        center_of_mass=CenterOfMassCost(
            request.center_of_mass_reference,
            (center.x, center.y, center.z),
            request.center_of_mass_weight,
        )
        if request.use_center_of_mass
        else None,
        velocity_limit_scaling=request.velocity_limit_scaling,
        acceleration_limit_scaling=request.acceleration_limit_scaling,
        error_scaling=request.error_scaling,
        stop_cost=request.stop_cost,
        min_delta_cost=request.min_delta_cost,
        patience=request.patience,
        control_hold_time=request.control_hold_time,
        start_names=request.start.name,
        start_positions=request.start.position,
        start_velocities=request.start.velocity,
    )


def _trajectory(answer: OptimalAnswer) -> JointTrajectory:
    """Return the motion; positions and velocities suffice, as cubics connect the points."""
    return JointTrajectory(
        joint_names=list(answer.joint_names),
        points=[
            JointTrajectoryPoint(
                positions=array('d', positions.tobytes()),
                velocities=array('d', velocities.tobytes()),
                time_from_start=duration(time),
            )
            for time, positions, velocities in zip(
                answer.times.tolist(), answer.positions, answer.velocities, strict=True
            )
        ],
    )
