# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The servo in a loop with a robot that has mass: drives, delay and noise, moved by MuJoCo.

    pip install mujoco
    tools/run python examples/library/robot_with_mass.py --robot panda --rate 100

No ROS and no clock: a run is the same each time, and faster than the robot.
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Callable
import dataclasses
from xml.etree import ElementTree

import mujoco
import numpy as np

from ros_ik.demo.robots import find_robot
from ros_ik.demo.trajectory_rules import NANOSECONDS
from ros_ik.demo.trajectory_rules import Trajectory
from ros_ik.demo.trajectory_rules import TrajectoryPoint
from ros_ik.demo.trajectory_sampler import TrajectorySampler
from ros_ik.model import Model
from ros_ik.servo import Command
from ros_ik.servo import ControllerReference
from ros_ik.servo import Measurement
from ros_ik.servo import Servo
from ros_ik.servo import ServoOutput
from ros_ik.servo import TargetReader
from ros_ik.settings import read_settings

STEP = 0.001  # s, of the simulation and of the controller
DELAY = 0.008  # s from the node to the controller
NOISE = 1e-4  # rad, standard deviation of what encoders say
STATE_PERIOD = 0.02  # s between two messages of the controller about its reference
HORIZON = 0.1  # s, outputs.default.command_horizon


class RobotWithMass:
    """Position drives with gravity compensation, behind joint_trajectory_controller's rules.

    torque = K (setpoint - q) - D qd + bias(q, qd), with the bias of the robot without its payload.
    Arrays are in the order of ``joints``.

    Attributes:
        joints: Names of the joints that move.
        data: State of the simulation.
        setpoint: Position that the drives hold now [rad].
        speed: Its velocity [rad/s].
        sag: What encoders lack to where the drives hold the joints [rad].
        torque: What the drives apply [Nm].
        effort: What they can apply [Nm].
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
            urdf: Description of the robot; its meshes are left out.
            tip: Link that carries the payload.
            joints: Joints that move; the others are fixed.
            home: Position by joint; 0 where it is not named.
            bandwidth: Bandwidth of the drives [Hz].
            payload: Mass at the tip that the drives do not know [kg].
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
        # MuJoCo numbers the joints in the order of the tree.
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
        """Where the joints are [rad]."""
        return self.data.qpos[self._place].copy()

    @property
    def velocities(self) -> np.ndarray:
        """How fast they are [rad/s]."""
        return self.data.qvel[self._place].copy()

    def read(self) -> np.ndarray:
        """Return what encoders say [rad]."""
        return self.positions - self.sag + NOISE * self._random.standard_normal(len(self.joints))

    def send(self, trajectory: Trajectory) -> None:
        """Send a trajectory to the controller."""
        self._sent.append((self.data.time + self._delay, trajectory))

    def hold(self, positions: np.ndarray) -> None:
        """Let the controller hold positions at once, as one does that was activated there."""
        self._sampler = TrajectorySampler(self.joints, positions)
        self.setpoint = positions.copy()

    def settle(self, seconds: float = 1.0) -> None:
        """Let the robot come to rest where its controller holds it."""
        for _ in range(round(seconds / STEP)):
            self.advance()

    def advance(self) -> None:
        """Move on by a step of the simulation."""
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
        """Return what gravity and speed take, as the drives know it."""
        data = self._set_known(q, v)
        mujoco.mj_fwdPosition(self._known, data)
        mujoco.mj_fwdVelocity(self._known, data)
        return data.qfrc_bias[self._place]

    def _set_known(self, q: np.ndarray, v: np.ndarray) -> mujoco.MjData:
        self._expected.qpos[self._place] = q
        self._expected.qvel[self._place] = v
        return self._expected


def _without_shapes(urdf: str, joints: tuple[str, ...]) -> str:
    """Return a description with masses and some joints only, for MuJoCo."""
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


@dataclasses.dataclass
class Record:
    """What was recorded at each step of the simulation, [n] or [n, joints]."""

    time: list = dataclasses.field(default_factory=list)
    setpoint: list = dataclasses.field(default_factory=list)
    position: list = dataclasses.field(default_factory=list)
    velocity: list = dataclasses.field(default_factory=list)
    torque: list = dataclasses.field(default_factory=list)
    frame: list = dataclasses.field(default_factory=list)
    target: list = dataclasses.field(default_factory=list)


class ServoLoop:
    """A servo and such a robot.

    Attributes:
        servo: The servo.
        robot: The robot.
        reader: What makes targets.
        command: What the servo is asked for.
        now: Present time [s].
        outputs: What the servo has put out, tick by tick.
    """

    def __init__(
        self,
        name: str,
        rate: float,
        bandwidth: float = 20.0,
        payload: float = 0.0,
        publish_velocities: bool = False,
        delay: float = DELAY,
        seed: int = 0,
        active: bool = True,
        tells_reference: bool = False,
        **values: object,
    ) -> None:
        """Build both.

        Args:
            name: A robot of the demo.
            rate: Rate of the loop [Hz].
            bandwidth: Bandwidth of the drives [Hz].
            payload: Mass at the tip that the drives do not know [kg].
            publish_velocities: Whether trajectories have velocities.
            delay: Time from the node to the controller [s].
            seed: Seed of the noise.
            active: Whether the servo is active from the start.
            tells_reference: Whether the controller publishes its reference.
            values: More parameters, with __ for a dot.
        """
        files = find_robot(name)
        self._base, self._tip = files.base_link, files.tip_link
        urdf = files.urdf_path.read_text()
        model = Model.from_urdf(urdf, device='cpu')
        given = {'ee.frame': files.tip_link, 'base_frame': files.base_link, 'control_rate': rate}
        given.update({key.replace('__', '.'): value for key, value in values.items()})
        self.servo = Servo(model, read_settings(given))
        self.period = 1.0 / rate
        self._with_velocities = publish_velocities
        resolved = self.servo.robot
        self.coords, self.dofs = resolved.coords, resolved.group.variable_dof
        self.robot = RobotWithMass(
            urdf, files.tip_link, tuple(resolved.group.joint_names), dict(files.home),
            bandwidth, payload, delay, seed,
        )  # fmt: skip
        self.reader = TargetReader(resolved)
        self.command = Command(active=active, poses=(None,), twists=(None,))
        self._q = model.neutral_joint_q()
        for joint, position in files.home.items():
            self._q[resolved.coord_of[joint]] = position
        self._q = model.apply_mimic(self._q)
        self._tells_reference = tells_reference
        self._reference: ControllerReference | None = None
        self._begin = self.robot.data.time
        self.outputs: list[ServoOutput] = []
        self.record = Record()
        self._ticks = 0

    @property
    def now(self) -> float:
        """Present time [s]."""
        return self._ticks * self.period

    def change(self, **fields: object) -> None:
        """Change the command."""
        self.command = dataclasses.replace(self.command, **fields)

    def frame(self) -> np.ndarray:
        """Return where the tool is, x y z [m] qx qy qz qw in the base."""
        robot = self.robot
        data, base = robot.data, robot.world.body(self._base).id
        turn, tool, place = np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(turn, data.xquat[base])
        mujoco.mju_mulQuat(tool, turn, data.body(self._tip).xquat)
        mujoco.mju_rotVecQuat(place, data.body(self._tip).xpos - data.xpos[base], turn)
        return np.concatenate([place, tool[[1, 2, 3, 0]]])

    def run(
        self,
        seconds: float,
        target: Callable[[float], np.ndarray] | None = None,
        twist: tuple[float, float, float] | None = None,
        push: Callable[[float], np.ndarray] | None = None,
    ) -> None:
        """Let both run.

        Args:
            seconds: For how long.
            target: Pose [7] to stream, by the time since the start of this run [s].
            twist: Velocity to stream [m/s].
            push: Force on the tool [N], by the same time.
        """
        steps = round(self.period / STEP)
        for tick in range(round(seconds / self.period)):
            since = tick * self.period
            pose = None if target is None else target(since)
            if pose is not None:
                self.change(poses=(self.reader.pose(0, '', pose[:3], pose[3:], self.now),))
            if twist is not None:
                found = self.reader.twist(0, '', twist, (0.0, 0.0, 0.0), self.now)
                self.change(twists=(found,))
            self._tick()
            for k in range(steps):
                self.robot.push = np.zeros(3) if push is None else push(since + k * STEP)
                self.robot.advance()
                self._note(pose)

    def peaks(self, since: float = 0.0) -> tuple[float, float, float]:
        """Return how hard the robot was driven from a time [s] of the record on.

        Returns:
            Largest speed of what the drives are to hold, as a part of the velocity limits; largest
            torque, as a part of what the drives can; largest change of a torque [Nm/s].
        """
        first = round(since / STEP)
        setpoint = np.array(self.record.setpoint[first:])
        torque = np.array(self.record.torque[first:])
        speed = np.abs(np.diff(setpoint, axis=0)) / STEP / self.servo.robot.velocity[self.dofs]
        rate = np.abs(np.diff(torque, axis=0)) / STEP
        return (
            float(speed.max()),
            float((np.abs(torque) / self.robot.effort).max()),
            float(rate.max()),
        )

    def _tick(self) -> None:
        q = self._q.copy()
        q[self.coords] = self.robot.read()
        if self._tells_reference and self._ticks % max(round(STATE_PERIOD / self.period), 1) == 0:
            heard = np.full(len(self.coords), self.now)
            self._reference = ControllerReference(self.robot.setpoint, self.robot.speed, heard)
        measurement = Measurement(q, np.full(len(q), self.now), lambda: self._reference)
        output = self.servo.step(self.now, measurement, self.command)
        self.outputs.append(output)
        self._ticks += 1
        if output.publish:
            self.robot.send(self._trajectory(output))

    def _trajectory(self, output: ServoOutput) -> Trajectory:
        """Return what the node publishes: the command, what follows it, and the end at rest."""
        places, speeds = [output.joint_q], [output.joint_qd]
        if output.ahead is not None:
            places, speeds = [*places, *output.ahead], [*speeds, *output.ahead_qd]
        points = [
            self._point((k + 1) * self.period, q, v)
            for k, (q, v) in enumerate(zip(places, speeds, strict=True))
        ]
        end = self._point(max(HORIZON, (len(points) + 1) * self.period), places[-1], None)
        return Trajectory(self.robot.joints, (*points, end))

    def _point(self, time: float, q: np.ndarray, v: np.ndarray | None) -> TrajectoryPoint:
        velocities = ()
        if self._with_velocities:
            velocities = np.zeros(len(self.coords)) if v is None else v[self.dofs]
        return TrajectoryPoint(round(time * NANOSECONDS), q[self.coords], velocities)

    def _note(self, pose: np.ndarray | None) -> None:
        record, robot = self.record, self.robot
        record.time.append(robot.data.time - self._begin)
        record.setpoint.append(robot.setpoint)
        record.position.append(robot.positions)
        record.velocity.append(robot.velocities)
        record.torque.append(robot.torque)
        record.frame.append(self.frame())
        record.target.append(np.full(7, np.nan) if pose is None else pose)


def eight(time: float) -> np.ndarray:
    """Return displacements [m] on a figure of eight of 0.2 by 0.1 m, at up to 0.28 m/s."""
    angle = time * time if time < 1.0 else 2.0 * time - 1.0  # it speeds up in a second
    return np.array([0.0, 0.1 * np.sin(angle), 0.05 * np.sin(2.0 * angle)])


def main() -> None:
    """Follow a figure of eight and print how that went."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--rate', type=float, default=100.0, help='of the loop [Hz]')
    parser.add_argument('--payload', type=float, default=0.0, help='that no drive knows [kg]')
    parser.add_argument('--bandwidth', type=float, default=20.0, help='of the drives [Hz]')
    args = parser.parse_args()
    loop = ServoLoop(args.robot, args.rate, args.bandwidth, args.payload, tells_reference=True)
    loop.run(0.2)
    home = loop.frame()
    loop.run(6.0, lambda time: home + [*eight(time), 0.0, 0.0, 0.0, 0.0])
    way = np.array(loop.record.frame)[-5000:, :3] - np.array(loop.record.target)[-5000:, :3]
    print(f'the tool is {1e3 * np.linalg.norm(way, axis=1).mean():.1f} mm behind its target')
    speed, torque, rate = loop.peaks()
    print(f'at most {100 * torque:.0f} % of torque, {rate / 1e3:.1f} kNm/s, {speed:.2f} of speed')


if __name__ == '__main__':
    main()
