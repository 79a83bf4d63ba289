# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times one control step of DifferentialIK on several robots.

Problem: the deepest link follows a circle of 5 cm with gain 0.2, a posture with weight 0.03,
position and velocity limits, dt 10 ms; with a box barrier where the row says so. Each step solves
from the configuration the last one reached. Verified: every step has a success status.
Run: make bench
"""

from importlib import metadata
import json
import platform
import time

import numpy as np

from ros_ik.barriers import PositionBarrier
from ros_ik.demo.robots import robot_data_path
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task

ROBOTS = {
    'panda': ('panda_description/urdf/panda.urdf', 'panda_link0:panda_hand_tcp'),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', 'base_link:ee_link'),
    'talos': ('talos_data/robots/talos_full_v2.urdf', 'base_link:arm_left_7_link'),
}
STEPS = 5000
POSTURE_WEIGHT = 0.03
GAIN = 0.2


def middle(model):
    """A configuration well inside the limits."""
    low, high, _, _ = model.limits64()
    q = model.neutral_joint_q()
    bounded = np.isfinite(low) & np.isfinite(high)
    if model.joint_coord_count == model.joint_dof_count:
        q[bounded] = (0.6 * low + 0.4 * high)[bounded]
    return model.apply_mimic(q)


def time_ours(model, chain, *, barrier):
    """Return the times of the steps [us]."""
    solver = DifferentialIK(model, chain)
    joint_q = middle(model)
    tip = model.body_index(chain.split(':')[1])
    start = solver.body_poses(joint_q)[tip]
    objective = IKObjectivePose(tip, start)
    posture = IKObjectiveJointPosition(model, joint_q)
    tasks = [Task(objective, gain=GAIN), Task(posture, weight=POSTURE_WEIGHT)]
    limits = [PositionLimit(), VelocityLimit()]
    corner = np.array([0.5, 0.5, 0.03])
    box = PositionBarrier(tip, start[:3] - corner, start[:3] + corner, safe_displacement_gain=0.0)
    barriers = [box] if barrier else []
    step, times = np.zeros(model.joint_dof_count), []
    target = start.copy()
    for k in range(STEPS + 100):
        target[:3] = start[:3] + 0.05 * np.array([0.0, np.sin(0.01 * k), 1.0 - np.cos(0.01 * k)])
        begin = time.perf_counter_ns()
        objective.set_target_pose(0, target)
        status = solver.solve_ik(joint_q, tasks, limits, barriers, step)
        times.append((time.perf_counter_ns() - begin) / 1e3)
        if not status.ok:
            raise RuntimeError(f'step {k} came to {status.name}')
        joint_q = solver.integrate(joint_q, step)
    return np.array(times[100:])


def main():
    """Print the table, then the same as JSON."""
    rows = []
    for robot, (urdf, chain) in ROBOTS.items():
        model = Model.from_urdf((robot_data_path() / urdf).read_text(), device='cpu')
        for barrier in (False, True):
            times = time_ours(model, chain, barrier=barrier)
            rows.append({
                'benchmark': 'control_step', 'robot': robot, 'n': STEPS, 'unit': 'us',
                'device': 'cpu',
                'problem': 'frame + posture + limits' + (' + box' if barrier else ''),
                'p50': round(float(np.median(times)), 1),
                'p99': round(float(np.percentile(times, 99)), 1),
                'worst': round(float(times.max()), 1),
                'machine': platform.processor() or platform.machine(),
                'versions': {'warp-lang': metadata.version('warp-lang')},
            })  # fmt: skip
    print(f'{"robot":8} {"problem":34} {"p50 us":>8} {"p99 us":>8} {"worst us":>9}')
    for row in rows:
        print(
            f'{row["robot"]:8} {row["problem"]:34} {row["p50"]:8} {row["p99"]:8} {row["worst"]:9}'
        )
    print(json.dumps(rows))


if __name__ == '__main__':
    main()
