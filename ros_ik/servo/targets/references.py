# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""References of one tick, and the coordinates that its step moves."""

from __future__ import annotations

import numpy as np

from ros_ik.servo.interface.target import JointVelocityTarget
from ros_ik.servo.motion.approach import joint_step
from ros_ik.servo.step.step_solver import StepSolver
from ros_ik.servo.targets.secondary_motion import SecondaryMotion
from ros_ik.servo.targets.target_selection import TargetSelection
from ros_ik.servo.targets.tracking import TargetKind


def set_references(
    solver: StepSolver,
    targets: TargetSelection,
    secondary: SecondaryMotion,
    joint_q: np.ndarray,
    last_step: np.ndarray,
) -> float:
    """Set the references of this tick.

    Args:
        solver: Solver of the step, which receives the references.
        targets: Active targets.
        secondary: Motion that the targets leave open.
        joint_q: Commanded coordinates [joint_coord_count].
        last_step: Previous step [joint_dof_count].

    Returns:
        Distance by which the step is to approach the targets [m plus rad].
    """
    if targets.choice.joints:
        return set_joint_references(solver, targets, secondary.posture, joint_q, last_step)
    poses = solver.commanded_state.at(joint_q)
    steps = last_step, solver.limits.step_before_last
    return set_place_references(solver, targets, secondary.target(joint_q, steps, poses), poses)


def set_place_references(
    solver: StepSolver, targets: TargetSelection, posture: np.ndarray, poses: np.ndarray
) -> float:
    """Set the reference poses of frames and the reference of the centre of mass.

    Args:
        solver: Solver of the step, which receives the references.
        targets: Active targets.
        posture: Preferred coordinates of the joints [joint_coord_count].
        poses: Link poses at the commanded configuration [body_count, 7].

    Returns:
        Distance by which the step is to approach the targets [m plus rad].
    """
    solver.set_joints(posture)
    wanted, singularity = 0.0, solver.commanded_state.singularity
    for index, tracker in enumerate(targets.trackers):
        if tracker.target_kind is not TargetKind.NONE:
            pose, length = tracker.reference(poses, targets.now, singularity.frames[index])
            solver.set_pose(index, pose)
            wanted += length
    if targets.choice.center:
        limits_along = singularity.demand.center.limits_of_point
        position, length = targets.center.reference(poses, limits_along)
        solver.set_center(position)
        wanted += length
    return wanted


def set_joint_references(
    solver: StepSolver,
    targets: TargetSelection,
    posture: np.ndarray,
    joint_q: np.ndarray,
    last_step: np.ndarray,
) -> float:
    """Set the reference positions of joints, for position or velocity targets.

    Args:
        solver: Solver of the step, which receives the references.
        targets: Active targets.
        posture: Preferred coordinates of joints without a target [joint_coord_count].
        joint_q: Commanded coordinates [joint_coord_count].
        last_step: Previous step [joint_dof_count].

    Returns:
        Distance by which the step is to approach the targets [rad or m, summed].
    """
    robot, settings = solver.robot, solver.settings
    coords, dofs = robot.coords, robot.group.variable_dof
    speed, q = robot.scaled_velocity(settings)[dofs], joint_q[coords]
    target = posture.copy()

    def towards(displacement: np.ndarray, pace: np.ndarray) -> np.ndarray:
        if solver.limits.has_jerk_limits:
            return solver.limits.jerk_limited_steps(joint_q, last_step, displacement, pace)
        step = joint_step(displacement, speed, solver.limits.acceleration, settings.period)
        return np.where(np.isnan(displacement), pace, step)

    if isinstance(targets.joints, JointVelocityTarget):
        velocities = targets.joints.velocities
        step = targets.jog.step(q, velocities, speed, solver.limits.acceleration, towards) - q
        has_target = np.isfinite(step)
    else:
        assert targets.joints is not None, 'no joint target'
        acceleration = solver.limits.acceleration
        targets.aim.update(targets.joints, targets.now, acceleration, settings.period)
        displacement = targets.joint_displacement(q)
        has_target = np.isfinite(displacement)
        # The posture holds the other joints; they brake in time for it, as for a target.
        displacement = np.where(has_target, displacement, posture[coords] - q)
        step = towards(displacement, np.full_like(displacement, np.nan))
    commanded = np.isfinite(step)
    target[coords[commanded]] = (q + step)[commanded]
    solver.set_joints(target)
    return float(np.sum(np.abs(step[has_target])))
