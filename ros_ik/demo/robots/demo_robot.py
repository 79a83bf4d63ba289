# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The robot of a demonstration: its model, its controlled chain, and its start."""

from __future__ import annotations

import dataclasses
from xml.etree import ElementTree

import numpy as np

from ros_ik.demo.robots.chain import choose_chain
from ros_ik.demo.robots.robot_files import find_robot
from ros_ik.demo.robots.robot_files import RobotFiles
from ros_ik.kinematics.link_poses import link_poses
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik.model.readers.description import read_description

# Topic of the trajectories from the node to the mock robot.
COMMAND_TOPIC = 'ros_ik/joint_trajectory'


@dataclasses.dataclass(frozen=True, eq=False)
class DemoRobot:
    """A robot and the chain of it that the demo moves.

    Attributes:
        files: Its files.
        text: Its description.
        model: Its model, on the CPU.
        chain: The chain, in the format of the node's parameter joint_group.
        tip_link: Last link of the chain.
        group: The controlled joints.
        home: Initial coordinates [joint_coord_count].
    """

    files: RobotFiles
    text: str
    model: Model
    chain: str
    tip_link: str
    group: JointGroup
    home: np.ndarray

    @classmethod
    def load(cls, robot: str) -> DemoRobot:
        """Load a robot by its name or by the path of its URDF or xacro file.

        Raises:
            ArgumentError: Neither a known name nor a file, or a robot without movable joints.
            ModelError: The description is malformed.
        """
        files = find_robot(robot)
        text = read_description(files.urdf_path)
        model = Model.from_urdf(text, device='cpu')
        base, tip = (files.base_link, files.tip_link) if files.tip_link else choose_chain(model)
        chain = f'{base}:{tip}'
        group = model.joint_group(chain)
        home = home_configuration(model, group, dict(files.home))
        return cls(files, text, model, chain, tip, group, home)

    def semantic_model(self) -> Model:
        """Return a model, on the CPU, that has the joint groups of the SRDF too."""
        path = self.files.srdf_path
        return Model.from_urdf(
            self.text, srdf=read_description(path) if path else None, device='cpu'
        )

    @property
    def uses_orientation(self) -> bool:
        """True if the chain has enough joints to control the orientation too."""
        return bool(self.group.n_variables >= 6)

    @property
    def keeps_own_links_apart(self) -> bool:
        """True if touching links are known, or no shape is a fit around a mesh.

        Fits around meshes are thicker than the meshes. Without an SRDF they would block reachable
        targets.
        """
        if self.files.srdf_path is not None:
            return True
        return not self.collision_meshes

    @property
    def collision_meshes(self) -> list[str]:
        """URIs of the meshes among the collision shapes."""
        found = ElementTree.fromstring(self.text).iterfind('.//collision//mesh')
        return [mesh.get('filename', '') for mesh in found]

    @property
    def tip(self) -> int:
        """Index of the last link of the chain."""
        return self.model.body_index(self.tip_link)

    @property
    def coords(self) -> np.ndarray:
        """Coordinates of the controlled joints, int [n_variables]."""
        return self.model.joint_q_start.numpy()[list(self.group.joint_indices)]

    def tip_poses(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the poses of the tip [n, 7] at coordinates [n, joint_coord_count]."""
        return link_poses(self.model, joint_q)[:, self.tip]

    def named(self, joint_q: np.ndarray) -> dict[str, float]:
        """Return the positions of the controlled joints by name."""
        return dict(zip(self.group.joint_names, joint_q[self.coords].tolist(), strict=True))

    def node_parameters(self) -> dict[str, object]:
        """Return the parameters with which the node moves the chain."""
        parameters: dict[str, object] = {'joint_group': self.chain, 'ee.frame': self.tip_link}
        if not self.uses_orientation:
            parameters['ee.orientation_weight'] = 0.0
        return parameters

    def mock_parameters(self) -> dict[str, object]:
        """Return the parameters of a mock robot that starts at home."""
        return {
            'command_topic': COMMAND_TOPIC,
            'controller_joints': list(self.group.joint_names),
            'initial_positions.names': list(self.group.joint_names),
            'initial_positions.values': self.home[self.coords].tolist(),
        }


def home_configuration(model: Model, group: JointGroup, given: dict[str, float]) -> np.ndarray:
    """Return the start: the given joints, others at zero or well inside their limits.

    Args:
        model: The robot.
        group: The controlled joints; where nothing is given they start in the middle third.
        given: Positions [rad or m] by joint name.
    """
    joint_q = model.neutral_joint_q()
    starts = model.joint_q_start.numpy()
    lower, upper = driver_limits(model)
    if not given:
        for joint, dof in zip(group.joint_indices, group.variable_dof, strict=False):
            low, high = max(lower[dof], -np.pi), min(upper[dof], np.pi)
            third = (high - low) / 3.0
            # Bent, because a stretched chain is singular.
            joint_q[starts[joint]] = np.clip(0.4, low + third, high - third)
    for name, value in given.items():
        joint_q[starts[model.joint_index(name)]] = value
    return model.apply_mimic(joint_q)
