# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Step 4,096 robots at once, as reinforcement learning does: actions are motions of the hands.

    pip install mujoco
    tools/run python examples/library/many_robots.py

A policy (random here) selects a motion of each hand. One call of DifferentialIK computes joint
steps within the limits for all robots, and MuJoCo simulates them with position drives. The arrays
are Warp arrays on the device of the solver; those of PyTorch or JAX work too.
"""

import argparse
import os
import time

import mujoco
from mujoco import rollout
import numpy as np
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import DifferentialIKSettings
from ros_ik import IKObjectivePosition
from ros_ik import Model
from ros_ik import PositionLimit
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.demo.robots import find_robot

PERIOD, SUBSTEPS = 0.02, 5  # time of an action [s], steps of the simulation in it
REACH = 0.01  # largest requested motion of a hand along an axis [m]


def simulated(urdf: str) -> mujoco.MjModel:
    """Return a robot with a position drive on each joint and weightless links."""
    spec = mujoco.MjSpec.from_string(urdf)
    spec.option.timestep = PERIOD / SUBSTEPS
    for body in spec.bodies:
        body.gravcomp = 1.0
    for joint in spec.joints:
        drive = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        drive.set_to_position(kp=2000.0, dampratio=1.0)
    return spec.compile()


def main() -> None:
    """Step the robots, and print the rates and the motion of the hands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robots', type=int, default=4096)
    parser.add_argument('--steps', type=int, default=20)
    parser.add_argument('--device', default='cpu')
    options = parser.parse_args()
    arm, n = find_robot('six_axis'), options.robots
    model = Model.from_urdf(arm.urdf_path, device=options.device)
    hand, rng = model.body_index('tool0'), np.random.default_rng(0)
    joint_q = np.tile(model.neutral_joint_q(arm.home), (n, 1))

    solver = DifferentialIK(model, settings=DifferentialIKSettings(dt=PERIOD), n_robots=n)
    places = solver.body_poses(joint_q)[:, hand, :3]
    objective = IKObjectivePosition(hand, wp.vec3(0.0, 0.0, 0.0), places)
    tasks, limits = [Task(objective, gain=1.0)], [PositionLimit(), VelocityLimit()]
    wanted = wp.array(joint_q, dtype=wp.float64, device=model.device)
    step = wp.zeros((n, model.joint_dof_count), dtype=wp.float64, device=model.device)

    world = simulated(arm.urdf_path.read_text())
    worker = [mujoco.MjData(world) for _ in range(os.cpu_count() or 1)]
    state = np.zeros((n, mujoco.mj_stateSize(world, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1 : 1 + world.nq] = joint_q  # after the time

    start, spent = places.copy(), {'IK': 0.0, 'simulation': 0.0}
    with rollout.Rollout(nthread=len(worker)) as simulation:
        for k in range(options.steps + 1):
            action = rng.uniform(-REACH, REACH, (n, 3))
            begin = time.perf_counter()
            objective.set_target_positions(solver.body_poses(wanted)[:, hand, :3] + action)
            solver.solve_ik(wanted, tasks, limits, (), step, 1e-6, xp=wp)
            wanted = solver.integrate(wanted, step, xp=wp)
            between = time.perf_counter()
            control = np.repeat(wanted.numpy()[:, None], SUBSTEPS, axis=1)
            states, _ = simulation.rollout(world, worker, state, control)
            state = states[:, -1].copy()
            if k:  # the first one records launches
                spent['IK'] += between - begin
                spent['simulation'] += time.perf_counter() - between

    reached = solver.body_poses(state[:, 1 : 1 + world.nq].copy())[:, hand, :3]
    behind = np.linalg.norm(reached - solver.body_poses(wanted)[:, hand, :3], axis=1)
    total = n * options.steps
    for name, seconds in spent.items():
        print(f'{name}: {total / seconds:.0f} robots a second')
    way = 100.0 * np.mean(np.linalg.norm(reached - start, axis=1))
    print(f'{n} hands went {way:.1f} cm on average, at most {1000 * np.max(behind):.1f} mm behind')


if __name__ == '__main__':
    main()
