# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The arms of the benchmarks: one serial chain each, as URDF text that every solver gets.

A robot's URDF is reduced to the links and joints between a base and a tip, without other branches,
shapes and mimic joints. Solvers of whole robots and of chains then have the same problem, and no
mesh files are needed.
"""

from dataclasses import dataclass
from dataclasses import replace
import functools
import math

from defusedxml import ElementTree
import numpy as np

from ros_ik.demo.robots import robot_data_path

MOVABLE = ('revolute', 'continuous', 'prismatic')

# Files below example-robot-data's folder `robots`, first link, last link.
_CHAINS = {
    'panda': ('panda_description/urdf/panda.urdf', 'panda_link0', 'panda_hand_tcp'),
    'ur3': ('ur_description/urdf/ur3_robot.urdf', 'base_link', 'tool0'),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', 'base_link', 'tool0'),
    'ur10': ('ur_description/urdf/ur10_robot.urdf', 'base_link', 'tool0'),
    'tiago': ('tiago_description/robots/tiago.urdf', 'torso_fixed_link', 'hand_grasping_frame'),
    'talos_arm': (
        'talos_data/robots/talos_full_v2.urdf',
        'torso_2_link',
        'gripper_left_base_link',
    ),
    'baxter_arm': ('baxter_description/urdf/baxter.urdf', 'torso', 'left_gripper'),
    'jaco2': ('kinova_description/robots/kinova.urdf', 'base', 'j2s6s200_end_effector'),
    'z1': ('z1_description/urdf/z1.urdf', 'link00', 'gripperStator'),
    'talos_leg': ('talos_data/robots/talos_full_v2.urdf', 'base_link', 'left_sole_link'),
    'g1_leg': (
        'g1_description/urdf/g1_29dof_rev_1_0.urdf',
        'pelvis',
        'left_ankle_roll_link',
    ),
    'pr2_arm': ('pr2_description/urdf/pr2.urdf', 'torso_lift_link', 'r_wrist_roll_link'),
}
BENCHMARK_ROBOTS = ('panda', 'ur10', 'iiwa14', 'tiago', 'talos_arm')

# KUKA LBR iiwa 14 R820, from its data sheet: heights of shoulder, elbow, wrist and flange above
# the joint before [m], limits of axes 1 to 7 [deg]. example-robot-data has no iiwa.
_IIWA_LENGTHS = (0.36, 0.42, 0.4, 0.126)
_IIWA_LIMITS = (170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 175.0)


@dataclass(frozen=True)
class Robot:
    """One arm.

    Attributes:
        name: Name in the tables.
        urdf: URDF text of the chain alone.
        tip: Link whose pose is asked for.
        joints: Movable joints from base to tip [dof].
        lower: Lower limits, rad or m, -inf where there is none [dof].
        upper: Upper limits [dof].
    """

    name: str
    urdf: str
    tip: str
    joints: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray

    @property
    def dof(self) -> int:
        """Number of movable joints."""
        return len(self.joints)

    @property
    def sampling_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds to draw configurations from; one turn where a joint has no limits [dof]."""
        return (
            np.where(np.isfinite(self.lower), self.lower, -math.pi),
            np.where(np.isfinite(self.upper), self.upper, math.pi),
        )


@functools.cache
def load_robot(name: str) -> Robot:
    """Return the arm with this name, a key of the chains above or ``iiwa14``."""
    if name == 'iiwa14':
        return robot_from_urdf(name, _iiwa_urdf(), 'link_0', 'flange')
    path, base, tip = _CHAINS[name]
    return robot_from_urdf(name, (robot_data_path() / path).read_text(), base, tip)


def robot_from_urdf(name: str, text: str, base: str, tip: str) -> Robot:
    """Cut the chain from ``base`` to ``tip`` out of a URDF.

    Raises:
        ValueError: ``tip`` does not descend from ``base``.
    """
    root = ElementTree.fromstring(text)
    joints = _chain_joints(root, base, tip)
    kept = {base} | {joint.find('child').get('link') for joint in joints}
    for element in list(root):
        if not (element.tag == 'link' and element.get('name') in kept) and element not in joints:
            root.remove(element)
    _strip(root)
    movable = [joint for joint in joints if joint.get('type') in MOVABLE]
    bounds = np.array([_bounds(joint) for joint in movable])
    urdf = ElementTree.tostring(root, encoding='unicode')
    labels = tuple(joint.get('name') for joint in movable)
    return Robot(name, urdf, tip, labels, bounds[:, 0], bounds[:, 1])


def without_limits(robot: Robot) -> Robot:
    """Return the arm with continuous joints instead of revolute ones."""
    root = ElementTree.fromstring(robot.urdf)
    for joint in root.findall('joint'):
        if joint.get('type') == 'revolute':
            joint.set('type', 'continuous')
    endless = np.full(robot.dof, np.inf)
    return replace(
        robot, urdf=ElementTree.tostring(root, encoding='unicode'), lower=-endless, upper=endless
    )


def _chain_joints(root, base, tip):
    incoming = {joint.find('child').get('link'): joint for joint in root.findall('joint')}
    joints, link = [], tip
    while link != base:
        if link not in incoming:
            raise ValueError(f"link '{tip}' does not descend from '{base}'")
        joints.insert(0, incoming[link])
        link = incoming[link].find('parent').get('link')
    return joints


def _strip(root):
    """Remove shapes, mimic and safety elements, which no solver here needs."""
    for element in root:
        for child in list(element):
            if child.tag in ('visual', 'collision', 'mimic', 'safety_controller', 'calibration'):
                element.remove(child)


def _bounds(joint):
    limit = joint.find('limit')
    if joint.get('type') == 'continuous' or limit is None:
        return -math.inf, math.inf
    return float(limit.get('lower', 0.0)), float(limit.get('upper', 0.0))


def _iiwa_urdf():
    """Return an arm with the iiwa's axes and limits; its masses are placeholders."""
    inertia = ('ixx', 'iyy', 'izz')
    inertial = (
        '<inertial><mass value="3"/><inertia '
        + ' '.join(f'{axis}="0.02"' for axis in inertia)
        + ' ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    links = [f'<link name="link_{k}">{inertial}</link>' for k in range(8)]
    shoulder, elbow, wrist, flange = _IIWA_LENGTHS
    heights = (0.0, shoulder, 0.0, elbow, 0.0, wrist, 0.0)
    joints = []
    for k, (height, limit) in enumerate(zip(heights, _IIWA_LIMITS, strict=True), start=1):
        # Axes 2 and 6 tilt forward about y, the elbow backward, the others turn about z.
        axis = {2: '0 1 0', 4: '0 -1 0', 6: '0 1 0'}.get(k, '0 0 1')
        bound = math.radians(limit)
        joints.append(
            f'<joint name="joint_{k}" type="revolute"><parent link="link_{k - 1}"/>'
            f'<child link="link_{k}"/><origin xyz="0 0 {height}"/><axis xyz="{axis}"/>'
            f'<limit lower="{-bound}" upper="{bound}" velocity="1.5" effort="300"/></joint>'
        )
    joints.append(
        '<joint name="joint_flange" type="fixed"><parent link="link_7"/><child link="flange"/>'
        f'<origin xyz="0 0 {flange}"/></joint>'
    )
    return f'<robot name="iiwa14">{"".join(links)}<link name="flange"/>{"".join(joints)}</robot>'
