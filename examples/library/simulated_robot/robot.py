# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Position drives with delay and noise, behind the rules of joint_trajectory_controller."""

from __future__ import annotations

import collections
from xml.etree import ElementTree

import mujoco
import numpy as np

from ros_ik.demo.controller.trajectory_rules import NANOSECONDS
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_sampler import TrajectorySampler

STEP = 0.001  # s, of the simulation and of the controller
DELAY = 0.008  # s from the node to the controller
NOISE = 1e-4  # rad, standard deviation of the encoder noise


class RobotWithMass:
    """Position drives with gravity compensation, behind joint_trajectory_controller's rules.

    torque = K (setpoint - q) - D qd + bias(q, qd), with the bias of the robot without its payload.
    Arrays are in the order of ``joints``.

    Attributes:
        joints: Names of the joints that move.
        data: State of the simulation.
        setpoint: Current setpoint of the drives [rad].
        speed: Velocity of the setpoint [rad/s].
        sag: Offset of the encoders from the setpoint of the drives [rad].
        torque: Torques of the drives [Nm].
        effort: Maximum torques [Nm].
        push: Force on the tool [N], three numbers.
    """

    def __init__(
        self,
        urdf: str,
        tip: str,
        joints: tuple[str, ...],
        home: dict[str, float],
        bandwidth: float = 20.0,
        payload: float = 0.0,
        delay: float = DELAY,
        seed: int = 0,
    ) -> None:
        """Hold the home position.

        Args:
            urdf: Description of the robot; its meshes are ignored.
            tip: Link that carries the payload.
            joints: Joints that move; the others are fixed.
            home: Position by joint; 0 if missing.
            bandwidth: Bandwidth of the drives [Hz].
            payload: Mass at the tip that the drives do not compensate [kg].
            delay: Time from the node to the controller [s].
            seed: Seed of the noise.
        """
        self.joints = joints
        text = _without_shapes(urdf, joints)
        self.world = mujoco.MjModel.from_xml_string(text)
        self._known, self._expected = self.world, mujoco.MjData(self.world)
        if payload:
            self.world = mujoco.MjModel.from_xml_string(text)
        for world in {id(w): w for w in (self.world, self._known)}.values():
            world.opt.timestep = STEP
        self._tip = mujoco.mj_name2id(self.world, mujoco.mjtObj.mjOBJ_BODY, tip)
        self.data = mujoco.MjData(self.world)
        if payload:
            self.world.body_mass[self._tip] += payload
            mujoco.mj_setConst(self.world, self.data)
        # MuJoCo has the joints in the order of the tree.
        self._place = np.array([self.world.joint(name).qposadr[0] for name in joints])
        start = np.array([home.get(name, 0.0) for name in joints])
        self.data.qpos[self._place] = start
        self.effort = _efforts(urdf, joints)
        inertia = np.zeros((self.world.nv, self.world.nv))
        mujoco.mj_forward(self._known, self._set_known(start, np.zeros_like(start)))
        mujoco.mj_fullM(self._known, self._expected, inertia)
        natural = 2.0 * np.pi * bandwidth
        self.stiffness = np.diag(inertia)[self._place] * natural**2
        self.damping = 2.0 * np.diag(inertia)[self._place] * natural
        self.push = np.zeros(3)
        self.setpoint = start.copy()
        self.speed, self.torque, self.sag = np.zeros((3, len(joints)))
        self._sampler = TrajectorySampler(joints, start)
        self._sent: collections.deque[tuple[float, Trajectory]] = collections.deque()
        self._delay = delay
        self._random = np.random.default_rng(seed)
        self.settle()

    @property
    def positions(self) -> np.ndarray:
        """Positions of the joints [rad]."""
        return self.data.qpos[self._place].copy()

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of the joints [rad/s]."""
        return self.data.qvel[self._place].copy()

    def read(self) -> np.ndarray:
        """Return the encoder positions [rad]."""
        return self.positions - self.sag + NOISE * self._random.standard_normal(len(self.joints))

    def send(self, trajectory: Trajectory) -> None:
        """Send a trajectory to the controller."""
        self._sent.append((self.data.time + self._delay, trajectory))

    def hold(self, positions: np.ndarray) -> None:
        """Set the setpoint of the controller at once, as after its activation."""
        self._sampler = TrajectorySampler(self.joints, positions)
        self.setpoint = positions.copy()

    def settle(self, seconds: float = 1.0) -> None:
        """Let the robot come to rest at its setpoint."""
        for _ in range(round(seconds / STEP)):
            self.advance()

    def advance(self) -> None:
        """Simulate one step."""
        data = self.data
        now = round(data.time * NANOSECONDS)
        while self._sent and self._sent[0][0] <= data.time + 1e-9:
            self._sampler.start(self._sent.popleft()[1], now)
        self.setpoint, self.speed, _ = self._sampler.sample(now + round(STEP * NANOSECONDS))
        q, v = self.positions, self.velocities
        wanted = self.stiffness * (self.setpoint - q) - self.damping * v + self._bias(q, v)
        self.torque = np.clip(wanted, -self.effort, self.effort)
        data.qfrc_applied[self._place] = self.torque
        data.xfrc_applied[self._tip, :3] = self.push
        mujoco.mj_step(self.world, data)

    def _bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return gravity and velocity torques in the model of the drives."""
        data = self._set_known(q, v)
        mujoco.mj_fwdPosition(self._known, data)
        mujoco.mj_fwdVelocity(self._known, data)
        return data.qfrc_bias[self._place]

    def _set_known(self, q: np.ndarray, v: np.ndarray) -> mujoco.MjData:
        self._expected.qpos[self._place] = q
        self._expected.qvel[self._place] = v
        return self._expected


def _without_shapes(urdf: str, joints: tuple[str, ...]) -> str:
    """Return a description with masses and the given joints only, for MuJoCo."""
    root = ElementTree.fromstring(urdf)
    for link in root.findall('link'):
        for shape in (*link.findall('visual'), *link.findall('collision')):
            link.remove(shape)
    for joint in root.findall('joint'):
        if joint.get('name') not in joints:
            joint.set('type', 'fixed')
            for part in (*joint.findall('mimic'), *joint.findall('limit')):
                joint.remove(part)
    extension = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(
        extension, 'compiler',
        fusestatic='false', balanceinertia='true', boundmass='1e-4', boundinertia='1e-6',
    )  # fmt: skip
    return ElementTree.tostring(root, encoding='unicode')


def _efforts(urdf: str, joints: tuple[str, ...]) -> np.ndarray:
    """Return the largest torques of some joints [Nm]."""
    limits = {
        joint.get('name'): joint.find('limit')
        for joint in ElementTree.fromstring(urdf).findall('joint')
    }
    return np.array([float(limits[name].get('effort')) for name in joints])
