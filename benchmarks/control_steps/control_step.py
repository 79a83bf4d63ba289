# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times one control step of DifferentialIK beside Oink, pink and mink.

Problem: the tip follows a circle of 5 cm with gain 0.2, a posture with weight 0.03, position and
velocity limits, dt 10 ms; with a box barrier where the row says so. Each step solves from the
configuration the last one reached. Ours takes the whole robot and a group of its joints; the
peers get the chain alone. A whole humanoid has four tips: its hands follow the circle, its feet
stay. Verified: configurations stay inside position and velocity limits; how far the first tip is
behind the circle and at most outside the box stands in the rows.
"""

import functools

import numpy as np
import pinocchio as pin

from benchmarks.harness.job import bound_values
from benchmarks.harness.job import Job
from benchmarks.harness.job import WARM_UP_STEPS
from benchmarks.harness.measure import Runner
from benchmarks.harness.process import Answer
from benchmarks.harness.process import PEER_PYTHON
from benchmarks.harness.process import run_jobs
from benchmarks.harness.robots import Robot
from benchmarks.harness.robots import robot_from_urdf
from benchmarks.harness.table import call_statistics
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.harness.verify import Arm
from benchmarks.harness.whole_body import whole_robot
from ros_ik.demo.robots import robot_data_path

ROBOTS = {
    'panda': ('panda_description/urdf/panda.urdf', 'panda_link0', 'panda_hand_tcp'),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', 'base_link', 'ee_link'),
    'talos': ('talos_data/robots/talos_full_v2.urdf', 'base_link', 'arm_left_7_link'),
    'talos_whole': (
        'talos_data/robots/talos_reduced.urdf',
        'base_link',
        'arm_left_7_link,arm_right_7_link,leg_left_6_link,leg_right_6_link',
    ),
}
PEERS = (
    ('roboplan Oink', 'step_oink', ('limits', 'box')),
    ('pink, daqp', 'step_pink', ('limits', 'box')),
    ('mink, daqp', 'step_mink', ('limits',)),
)
PROBLEMS = {'limits': 'posture + limits', 'box': 'posture + limits + box'}
DT, GAIN, POSTURE_WEIGHT = 0.01, 0.2, 0.03
# Half the box around the start: the circle leaves it at the top, so the barrier is at work.
BOX = np.array([0.5, 0.5, 0.03])
# Rounding of the solvers, rad or m.
SLACK = 1e-6


def measure(runner: Runner, quick: bool) -> list[dict]:
    """Return the rows of every robot, problem and peer."""
    steps = 1000 if quick else 5000
    answers = {}
    for name, module, variants in PEERS:
        keys = [(robot, variant) for robot in ROBOTS for variant in variants]
        found = _run(runner, f'benchmarks.peers.{module}', keys, steps, PEER_PYTHON)
        answers |= {(name, *key): answer for key, answer in found.items()}
    keys = [(robot, variant) for robot in ROBOTS for variant in PROBLEMS]
    ours = _run(runner, 'benchmarks.ours.step', keys, steps, None)
    rows = []
    for name, robot, variant in answers:
        mine = _side(robot, variant, ours[robot, variant], our_versions())
        peer = _side(robot, variant, answers[name, robot, variant], {})
        frames = {1: 'frame', 4: '4 frames'}[len(_tips(robot))]
        problem, limits = f'{frames} + {PROBLEMS[variant]}', 'inside limits'
        rows.append(row('control_step', robot, problem, steps, limits, mine, name, peer))
    order = list(ROBOTS)
    return sorted(rows, key=lambda entry: (order.index(entry['robot']), entry['problem']))


@functools.cache
def _chain(name: str) -> Robot:
    path, base, tip = ROBOTS[name]
    text = (robot_data_path() / path).read_text()
    return whole_robot(name, text) if ',' in tip else robot_from_urdf(name, text, base, tip)


def _tips(name):
    """Return the links with target poses."""
    return ROBOTS[name][2].split(',')


def _start(name):
    """Return a configuration of the chain well inside its limits."""
    robot = _chain(name)
    return 0.6 * robot.lower + 0.4 * robot.upper


def _targets(name, steps):
    """Return the poses on the circle [steps, 7], or of several tips [steps, tips, 7]."""
    robot, angle = _chain(name), 0.01 * np.arange(steps)
    poses = np.empty((steps, len(_tips(name)), 7))
    for k, tip in enumerate(_tips(name)):
        poses[:, k] = Arm(robot.urdf, tip, robot.joints).poses(_start(name)[None])[0]
        if k < 2:
            poses[:, k, 1] += 0.05 * np.sin(angle)
            poses[:, k, 2] += 0.05 * (1.0 - np.cos(angle))
    return poses if len(_tips(name)) > 1 else poses[:, 0]


def _run(runner, module, keys, steps, python):
    folder = runner.folder / module.rsplit('.', 1)[1]
    folder.mkdir(exist_ok=True)
    jobs = {}
    for robot, variant in keys:
        chain, poses = _chain(robot), _targets(robot, steps + WARM_UP_STEPS)
        start = _start(robot)
        np.savez(folder / f'{robot}.npz', poses=poses, starts=np.tile(start, (len(poses), 1)))
        jobs[robot, variant] = Job(
            key=f'{robot}-{variant}',
            mode='step',
            variant=variant,
            urdf=chain.urdf,
            tip=_tips(robot)[0],
            joints=chain.joints,
            lower=bound_values(chain.lower),
            upper=bound_values(chain.upper),
            problems=f'{robot}.npz',
            n=len(poses),
            position_tolerance=0.0,
            rotation_tolerance=0.0,
            options=_options(robot, start, poses[0]),
        )
    answers = run_jobs(module, list(jobs.values()), folder, 200.0, python=python)
    return {key: answers[job.key] for key, job in jobs.items()}


def _options(robot, start, pose):
    path, base, _ = ROBOTS[robot]
    pose = np.atleast_2d(pose)[0]
    return {
        'base': base,
        'tips': _tips(robot),
        'path': path,
        'dt': DT,
        'gain': GAIN,
        'posture': start.tolist(),
        'posture_weight': POSTURE_WEIGHT,
        'velocity_limits': _velocity_limits(robot).tolist(),
        'box_low': (pose[:3] - BOX).tolist(),
        'box_high': (pose[:3] + BOX).tolist(),
    }


def _velocity_limits(name):
    return pin.buildModelFromXML(_chain(name).urdf).velocityLimit


def _side(name: str, variant: str, answer: Answer, versions: dict) -> Side:
    """Evaluate the configurations of a run."""
    versions = {**answer.versions, **versions}
    if answer.error:
        return Side(None, versions=versions, error=answer.error)
    robot, q = _chain(name), answer.joint_q
    targets = _targets(name, len(q) + WARM_UP_STEPS).reshape(len(q) + WARM_UP_STEPS, -1)
    tip = Arm(robot.urdf, _tips(name)[0], robot.joints).poses(q)[:, :3]
    largest = _velocity_limits(name) * DT + SLACK
    slow = (np.abs(np.diff(q, axis=0, prepend=q[:1])) <= largest).all(axis=1)
    inside = ((q >= robot.lower - SLACK) & (q <= robot.upper + SLACK)).all(axis=1)
    statistics = call_statistics(answer.seconds)
    statistics['worst'] = 1e6 * float(answer.seconds.max())
    behind = np.linalg.norm(tip - targets[WARM_UP_STEPS:, :3], axis=1)
    statistics['behind_mm'] = 1e3 * float(np.median(behind))
    if variant == 'box':
        outside = np.abs(tip - targets[0, :3]) - BOX
        statistics['outside_mm'] = 1e3 * max(0.0, float(outside.max()))
    success = float((slow & inside).mean())
    return Side(statistics['median'], success, statistics, versions)
