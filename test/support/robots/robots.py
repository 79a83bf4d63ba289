# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every robot of example-robot-data, and the same robots in Pinocchio."""

import functools
from pathlib import Path

import numpy as np
import pytest
from support.long_forms import either

from ros_ik.demo.robots import robot_data_path
from ros_ik.model import JointType
from ros_ik.model import Model

pin = pytest.importorskip('pinocchio', reason='pinocchio, the oracle, is not installed')

# A file with only a comment, generated from an unused macro.
_NOT_A_ROBOT = {'ur3.urdf'}
# One robot of each kind: arms of six and seven joints, mimic and sliding joints, wheels, legs,
# hands, two arms, a hundred joints, none.
_OF_EACH_KIND = (
    'allegro_left_hand',
    'anymal-kinova',
    'baxter',
    'double_pendulum_continuous',
    'g1_29dof_with_hand_rev_1_0',
    'kinova',
    'panda',
    'pr2',
    'quadrotor_base',
    'romeo',
    'talos_reduced',
    'tiago_dual',
    'ur5_robot',
)


def all_urdfs():
    """Return every URDF of example-robot-data, sorted."""
    found = sorted(robot_data_path().rglob('*.urdf'))
    return [path for path in found if path.name not in _NOT_A_ROBOT]


ALL_URDFS = all_urdfs()
IDS = [f'{path.parent.parent.name}/{path.stem}' for path in ALL_URDFS]
# For tests of what does not depend much on the robot.
SOME_URDFS = either([path for path in ALL_URDFS if path.stem in _OF_EACH_KIND], ALL_URDFS)
SOME_IDS = [IDS[ALL_URDFS.index(path)] for path in SOME_URDFS]


@functools.cache
def urdf_text(name):
    """Return the text of the URDF with this file name (without suffix)."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return path.read_text()


@functools.cache
def load(path, floating=False):
    """Return our model of a URDF file on the CPU."""
    return Model.from_urdf(Path(path).read_text(), device='cpu', floating=floating)


class PinocchioRobot:
    """The same robot in Pinocchio, with configurations translated by joint name."""

    def __init__(self, text, model, floating=False):
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        self.pin = pin.buildModelFromXML(text, *root)
        self.data = self.pin.createData()
        self.model = model
        self.root = model.joint_label[0]
        self._starts, self._dofs = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
        kinds = model.joint_type.numpy()
        # Index pairs (theirs, ours): of coordinates that are the same and of angles on the circle;
        # of columns that are the same. Others are translated joint by joint.
        same, circular, columns = [], [], []
        self._planar, self._turning = [], []
        for joint, k in self.joint_pairs():
            if joint.nq == joint.nv + 1 and joint.nv == 1:
                circular.append((joint.idx_q, self._starts[k]))
            elif joint.shortname() == 'JointModelPlanar':
                self._planar.append((joint, k))
            else:
                same += [(joint.idx_q + n, self._starts[k] + n) for n in range(joint.nq)]
            if kinds[k] in (JointType.FREE, JointType.D6):
                self._turning.append((joint, k, kinds[k] == JointType.FREE))
            else:
                columns += [(joint.idx_v + n, self._dofs[k] + n) for n in range(joint.nv)]
        self._same, self._circular, self._columns = (
            np.array(pairs, dtype=int).reshape(-1, 2).T for pairs in (same, circular, columns)
        )

    def joint_pairs(self):
        """Yield (Pinocchio joint, our joint) of every movable joint."""
        for k in range(1, self.pin.njoints):
            name = self.pin.names[k]
            ours = self.model.joint_index(self.root if name == 'root_joint' else name)
            yield self.pin.joints[k], ours

    def configuration(self, joint_q):
        """Translate our coordinates [joint_coord_count] into Pinocchio's."""
        q, joint_q = pin.neutral(self.pin), np.asarray(joint_q)
        theirs, ours = self._same
        q[theirs] = joint_q[ours]
        theirs, ours = self._circular
        q[theirs], q[theirs + 1] = np.cos(joint_q[ours]), np.sin(joint_q[ours])
        for joint, k in self._planar:
            x, y, angle = joint_q[self._starts[k] : self._starts[k + 1]]
            q[joint.idx_q : joint.idx_q + 4] = x, y, np.cos(angle), np.sin(angle)
        return q

    def poses(self, joint_q):
        """Return link poses, {name: (position, rotation matrix)}."""
        pin.framesForwardKinematics(self.pin, self.data, self.configuration(joint_q))
        return {
            frame.name: (pose.translation.copy(), pose.rotation.copy())
            for frame, pose in zip(self.pin.frames, self.data.oMf, strict=True)
            if frame.type == pin.FrameType.BODY
        }

    def pose(self, joint_q, link):
        """Return the position and the rotation matrix of one link."""
        frame = self.pin.getFrameId(link, pin.FrameType.BODY)
        pin.forwardKinematics(self.pin, self.data, self.configuration(joint_q))
        pose = pin.updateFramePlacement(self.pin, self.data, frame)
        return pose.translation.copy(), pose.rotation.copy()

    def jacobian(self, joint_q, link):
        """Return the Jacobian of a link's origin in world axes over our degrees of freedom."""
        q = self.configuration(joint_q)
        frame = self.pin.getFrameId(link, pin.FrameType.BODY)
        theirs = pin.computeFrameJacobian(self.pin, self.data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        ours = np.zeros((6, self.model.joint_dof_count))
        same, own = self._columns
        ours[:, own] = theirs[:, same]
        for joint, k, is_free in self._turning:
            columns = theirs[:, joint.idx_v : joint.idx_v + joint.nv]
            if is_free:
                columns = columns @ _body_from_anchor_velocity(self, joint_q, k)
            else:
                # A planar joint's sliding velocities: ours in its fixed axes, theirs turning.
                angle = joint_q[self._starts[k] + 2]
                turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
                columns = columns @ np.block([[turn, np.zeros((2, 1))], [np.zeros((1, 2)), 1.0]])
            ours[:, self._dofs[k] : self._dofs[k + 1]] = columns
        return ours


def _body_from_anchor_velocity(robot, joint_q, joint):
    """Map (slide, turn about the anchor) in anchor axes to Pinocchio's velocity in the body."""
    start = robot.model.joint_q_start.numpy()[joint]
    position = joint_q[start : start + 3]
    rotation = pin.Quaternion(joint_q[start + 3 : start + 7]).toRotationMatrix()
    cross = pin.skew(position)
    return np.block([[rotation.T, -rotation.T @ cross], [np.zeros((3, 3)), rotation.T]])
