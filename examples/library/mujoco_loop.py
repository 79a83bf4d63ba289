# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control loop with a simulator: DifferentialIK computes joint positions, MuJoCo moves the robot.

    pip install mujoco matplotlib
    tools/run python examples/library/mujoco_loop.py mujoco_loop.png
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import mujoco
import numpy as np

from ros_ik import AccelerationLimit
from ros_ik import DifferentialIK
from ros_ik import DifferentialIKSettings
from ros_ik import IKObjectivePose
from ros_ik import Model
from ros_ik import PositionLimit
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.demo.robots import find_robot

PERIOD = 0.01  # s between two steps of the control
STIFFNESS = 400.0  # 1/s^2; the drives are critically damped


def torques(
    world: mujoco.MjModel, data: mujoco.MjData, goal: np.ndarray, speed: np.ndarray
) -> np.ndarray:
    """Return the torques of computed-torque drives, M (k e + d de/dt) + bias [Nm]."""
    damping = 2.0 * np.sqrt(STIFFNESS)
    wanted = STIFFNESS * (goal - data.qpos) + damping * (speed - data.qvel)
    result = np.zeros(world.nv)
    mujoco.mj_mulM(world, data, result, wanted)
    return result + data.qfrc_bias


def simulate(urdf: str, home: dict[str, float], seconds: float) -> np.ndarray:
    """Follow a circle; return time, target and measured place of the tool, [n, 7]."""
    model = Model.from_urdf(urdf, device='cpu')
    solver = DifferentialIK(model, 'base_link:tool0', DifferentialIKSettings(dt=PERIOD))
    world = mujoco.MjModel.from_xml_string(urdf)
    data = mujoco.MjData(world)
    # Both have the joints in the order of the description.
    joint_q = model.neutral_joint_q(home)
    data.qpos[:] = joint_q
    tool = model.body_index('tool0')
    start = solver.body_poses(joint_q)[tool]
    objective = IKObjectivePose(tool, start)
    tasks = [Task(objective, gain=0.5)]
    acceleration = AccelerationLimit(np.full(model.joint_dof_count, 20.0))
    limits = [PositionLimit(), VelocityLimit(), acceleration]
    step, rows = np.zeros(model.joint_dof_count), []
    for time in np.arange(0.0, seconds, PERIOD):
        angle = 2.0 * np.pi * time / 4.0
        target = start + [0, 0.1 * np.sin(angle), 0.1 * (np.cos(angle) - 1.0), 0, 0, 0, 0]
        objective.set_target_pose(0, target)
        solver.solve_ik(joint_q, tasks, limits, (), step, regularization=1e-6)
        joint_q = solver.integrate(joint_q, step)
        acceleration.set_last_displacement(step)
        while data.time < time + PERIOD:
            data.qfrc_applied[:] = torques(world, data, joint_q, step / PERIOD)
            mujoco.mj_step(world, data)
        rows.append([time, *target[:3], *solver.body_poses(data.qpos)[tool, :3]])
    return np.array(rows)


def plot(rows: np.ndarray, path: Path) -> None:
    """Write a picture of the circle and of the error over time."""
    _, (place, error) = plt.subplots(1, 2, figsize=(10, 4), layout='constrained')
    place.plot(rows[:, 2], rows[:, 3], label='target')
    place.plot(rows[:, 5], rows[:, 6], label='tool in MuJoCo')
    place.set(xlabel='y [m]', ylabel='z [m]', aspect='equal')
    place.legend()
    error.plot(rows[:, 0], 1000 * np.linalg.norm(rows[:, 1:4] - rows[:, 4:], axis=1))
    error.set(xlabel='time [s]', ylabel='distance of the tool from its target [mm]')
    plt.savefig(path, dpi=100)


def main() -> None:
    """Simulate two turns and plot them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('picture', type=Path)
    picture = parser.parse_args().picture
    arm = find_robot('six_axis')
    rows = simulate(arm.urdf_path.read_text(), dict(arm.home), seconds=8.0)
    error = np.linalg.norm(rows[100:, 1:4] - rows[100:, 4:], axis=1)
    print(f'at most {1000 * error.max():.1f} mm behind the target')
    plot(rows, picture)


if __name__ == '__main__':
    main()
