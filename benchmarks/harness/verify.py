# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Judges every solver's answers with Pinocchio's forward kinematics in float64.

An answer counts when it is finite, inside the joint limits, and its link is within the tolerance
of the pose. No solver's own word for success is taken, ours included.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

# Rounding of a limit to float32 moves it by less.
LIMIT_SLACK = 1e-6


@dataclass(frozen=True)
class Errors:
    """Quality of answers, one entry per problem.

    Attributes:
        position: Distance from the pose's position [m], [n]; inf where the answer is not finite.
        rotation: Angle to the pose's orientation [rad], [n].
        twist: Position difference and rotation vector in world axes, [n, 6].
        inside: True if the answer is finite and inside the joint limits, [n].
    """

    position: np.ndarray
    rotation: np.ndarray
    twist: np.ndarray
    inside: np.ndarray

    def success(self, position_tolerance: float, rotation_tolerance: float) -> np.ndarray:
        """Return which answers are within both tolerances and inside the limits [n]."""
        close = (self.position <= position_tolerance) & (self.rotation <= rotation_tolerance)
        return close & self.inside

    def success_each_component(self, tolerance: float) -> np.ndarray:
        """Return which answers have every component of the twist within ``tolerance`` [n]."""
        return np.all(np.abs(self.twist) <= tolerance, axis=1) & self.inside


class Arm:
    """Pinocchio's model of one chain.

    Args:
        urdf: URDF text of a serial chain.
        tip: Link whose pose is computed.
        joints: Movable joints in the order of the configurations' columns.
    """

    def __init__(self, urdf: str, tip: str, joints):
        self.model = pin.buildModelFromXML(urdf)
        self.data = self.model.createData()
        self.frame = self.model.getFrameId(tip, pin.FrameType.BODY)
        self._joints = [self.model.joints[self.model.getJointId(str(name))] for name in joints]

    def configuration(self, angles: np.ndarray) -> np.ndarray:
        """Translate joint angles [dof] to Pinocchio's coordinates: cos, sin of endless joints."""
        q = np.empty(self.model.nq)
        for joint, value in zip(self._joints, angles, strict=True):
            if joint.nq == 1:
                q[joint.idx_q] = value
            else:
                q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        return q

    def pose(self, angles: np.ndarray) -> pin.SE3:
        """Return the pose of the tip at joint angles [dof]."""
        pin.forwardKinematics(self.model, self.data, self.configuration(angles))
        return pin.updateFramePlacement(self.model, self.data, self.frame)

    def poses(self, angles: np.ndarray) -> np.ndarray:
        """Return the poses of the tip at [n, dof] as [n, 7], x y z qx qy qz qw."""
        return np.array([pin.SE3ToXYZQUAT(self.pose(row)) for row in angles])


def judge(arm: Arm, lower, upper, poses: np.ndarray, joint_q: np.ndarray) -> Errors:
    """Measure answers.

    Args:
        arm: Chain the problems are about.
        lower: Lower limits [dof].
        upper: Upper limits [dof].
        poses: Poses asked for, [n, 7].
        joint_q: Answers, rad or m, [n, dof].
    """
    n = len(poses)
    joint_q = np.asarray(joint_q, dtype=np.float64)
    finite = np.isfinite(joint_q).all(axis=1)
    twist = np.full((n, 6), np.inf)
    for k in np.flatnonzero(finite):
        target, reached = pin.XYZQUATToSE3(poses[k]), arm.pose(joint_q[k])
        twist[k, :3] = target.translation - reached.translation
        twist[k, 3:] = pin.log3(target.rotation @ reached.rotation.T)
    inside = ((joint_q >= lower - LIMIT_SLACK) & (joint_q <= upper + LIMIT_SLACK)).all(axis=1)
    position = np.linalg.norm(twist[:, :3], axis=1)
    return Errors(position, np.linalg.norm(twist[:, 3:], axis=1), twist, inside & finite)
