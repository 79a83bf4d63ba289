# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times one control step with self-collision against Oink.

Problem: Panda's hand follows a circle of 5 cm as in ``control_step``; the links stay 2 cm apart.
In some variants each link has a sphere: of their 27 pairs the 4 closest have rows, or on our side
all. In another the robot has its own meshes in Oink, and capsules around them on our side. Both
get the same chain and the same pairs of links. `many_rows` adds 42 spheres around the arm as
obstacles and makes a row of every pair, 405 in total; it is compared with half a tick at 1 kHz.
Verified: configurations stay inside position and velocity limits, spheres 2 cm apart less what one
linear step may miss.
"""

import functools
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from benchmarks.harness.job import bound_values
from benchmarks.harness.job import Job
from benchmarks.harness.job import WARM_UP_STEPS
from benchmarks.harness.measure import Runner
from benchmarks.harness.process import Answer
from benchmarks.harness.process import PEER_PYTHON
from benchmarks.harness.process import run_jobs
from benchmarks.harness.robots import robot_from_urdf
from benchmarks.harness.table import call_statistics
from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.harness.verify import Arm
from ros_ik.demo.robots import robot_data_path

PATH, BASE, TIP = 'panda_description/urdf/panda.urdf', 'panda_link0', 'panda_hand_tcp'
# Variant: what the table calls it, and what the peer does.
PROBLEMS = {
    'limits': ('frame + posture + limits', 'limits'),
    'spheres': ('+ self-collision, 27 sphere pairs, 4 closest', 'spheres'),
    'all_spheres': ('+ self-collision, 27 sphere pairs, all; its 4 closest', 'spheres'),
    'box_spheres': ('+ box + self-collision, 27 sphere pairs, 4 closest', 'box_spheres'),
    'meshes': ('+ self-collision, own meshes, 4 closest; ours as capsules', 'meshes'),
}
DT, GAIN, POSTURE_WEIGHT = 0.01, 0.2, 0.03
D_MIN, BOX = 0.02, np.array([0.5, 0.5, 0.03])
# Variant, name in the table, and time of a peer that is a promise: half a tick at 1 kHz [us].
MANY_ROWS, MANY_PROBLEM = 'many_rows', '+ self-collision and 42 obstacles, 405 rows'
HALF_A_TICK = 500.0
N_OBSTACLES, OBSTACLE_RADIUS = 42, 0.05
# Rounding of the solvers, rad or m, and the curvature of a distance over one step.
SLACK, CURVATURE = 1e-6, 1e-3
# Link, centre [m] and radius [m]: larger than the links, so that the circle brings them near.
SPHERES = {
    'panda_link0': ((-0.04, 0.0, 0.06), 0.145),
    'panda_link1': ((0.0, -0.03, -0.08), 0.135),
    'panda_link2': ((0.0, -0.08, 0.03), 0.135),
    'panda_link3': ((0.04, 0.03, -0.06), 0.125),
    'panda_link4': ((-0.05, 0.05, 0.02), 0.125),
    'panda_link5': ((0.0, 0.05, -0.15), 0.125),
    'panda_link6': ((0.05, 0.0, 0.01), 0.115),
    'panda_link7': ((0.01, 0.01, 0.08), 0.105),
    'panda_hand': ((0.0, 0.0, 0.04), 0.125),
}


def measure(runner: Runner, quick: bool) -> list[dict]:
    """Return the rows of every variant."""
    steps = 1000 if quick else 5000
    variants = list(dict.fromkeys(peer for _, peer in PROBLEMS.values()))
    theirs = run(runner, 'benchmarks.peers.step_oink_collision', variants, steps, PEER_PYTHON)
    ours = run(runner, 'benchmarks.ours.step_collision', [*PROBLEMS, MANY_ROWS], steps, None)
    rows = []
    for variant, (problem, peer) in PROBLEMS.items():
        mine, other = _side(variant, ours[variant], our_versions()), _side(peer, theirs[peer], {})
        rows.append(
            row(
                'self_collision', 'panda', problem, steps, 'inside limits', mine,
                'roboplan Oink', other,
            )
        )  # fmt: skip
    many = _side(MANY_ROWS, ours[MANY_ROWS], our_versions())
    rows.append(
        row(
            'self_collision', 'panda', MANY_PROBLEM, steps, 'inside limits', many,
            'half a tick at 1 kHz', Side(HALF_A_TICK),
        )
    )  # fmt: skip
    return rows


@functools.cache
def _chain():
    return robot_from_urdf('panda', (robot_data_path() / PATH).read_text(), BASE, TIP)


@functools.cache
def described(meshes: bool) -> str:
    """Return the chain with its own meshes, or with the spheres, as collision geometry."""
    root = ElementTree.fromstring(_chain().urdf)
    original = ElementTree.parse(robot_data_path() / PATH).getroot()
    own = {link.get('name'): link for link in original.findall('link')}
    for link in root.findall('link'):
        name = link.get('name')
        if meshes:
            for part in own[name].findall('collision'):
                mesh = part.find('geometry/mesh')
                if mesh is not None:
                    inside = mesh.get('filename').split('/panda_description/', 1)[1]
                    mesh.set('filename', str(robot_data_path() / 'panda_description' / inside))
                    link.append(part)
        elif name in SPHERES:
            center, radius = SPHERES[name]
            part = ElementTree.SubElement(link, 'collision')
            xyz = ' '.join(map(str, center))
            ElementTree.SubElement(part, 'origin', xyz=xyz, rpy='0 0 0')
            geometry = ElementTree.SubElement(part, 'geometry')
            ElementTree.SubElement(geometry, 'sphere', radius=str(radius))
    return ElementTree.tostring(root, encoding='unicode')


def link_pairs() -> list[tuple[str, str]]:
    """Return the pairs of links with spheres or meshes that no single joint separates."""
    links = list(SPHERES)
    never = {frozenset(pair) for pair in zip(links, links[1:], strict=False)}
    # The hand is fixed to link 7.
    never.add(frozenset(('panda_link6', 'panda_hand')))
    pairs = [(a, b) for k, a in enumerate(links) for b in links[k + 1 :]]
    return [pair for pair in pairs if frozenset(pair) not in never]


@functools.cache
def obstacles() -> np.ndarray:
    """Return centres of spheres around the arm that leave it 5 cm of room at the start [n, 3]."""
    rng, found = np.random.default_rng(6), []
    at, radii = _sphere_centers(_start()[None])[:, 0], np.array([r for _, r in SPHERES.values()])
    while len(found) < N_OBSTACLES:
        point = rng.uniform([-0.8, -0.8, 0.0], [0.8, 0.8, 1.2])
        gap = np.linalg.norm(at - point, axis=1) - radii - OBSTACLE_RADIUS
        if gap.min() > D_MIN + 0.05:
            found.append(point)
    return np.array(found)


def _start():
    return 0.6 * _chain().lower + 0.4 * _chain().upper


def _targets(steps):
    """Return the poses on the circle [steps, 7]."""
    robot, angle = _chain(), 0.01 * np.arange(steps)
    poses = np.tile(Arm(robot.urdf, TIP, robot.joints).poses(_start()[None])[0], (steps, 1))
    poses[:, 1] += 0.05 * np.sin(angle)
    poses[:, 2] += 0.05 * (1.0 - np.cos(angle))
    return poses


def run(runner, module, variants, steps, python, mode='step', repeats=1):
    """Return the answers of a solver by variant."""
    folder = runner.folder / f'{module.rsplit(".", 1)[1]}-{mode}'
    folder.mkdir(exist_ok=True)
    robot, poses, start = _chain(), _targets(steps + WARM_UP_STEPS), _start()
    np.savez(folder / 'circle.npz', poses=poses, starts=np.tile(start, (len(poses), 1)))
    options = {
        'base': BASE,
        'dt': DT,
        'gain': GAIN,
        'posture': start.tolist(),
        'posture_weight': POSTURE_WEIGHT,
        'velocity_limits': pin.buildModelFromXML(robot.urdf).velocityLimit.tolist(),
        'box_low': (poses[0, :3] - BOX).tolist(),
        'box_high': (poses[0, :3] + BOX).tolist(),
        'd_min': D_MIN,
        'pairs': link_pairs(),
        'obstacles': obstacles().tolist(),
        'obstacle_radius': OBSTACLE_RADIUS,
        'meshes': str(robot_data_path()),
        'cache': str(Path(runner.folder) / 'fits'),
    }
    jobs = [
        Job(
            key=variant,
            mode=mode,
            repeats=repeats,
            variant=variant,
            urdf=described(variant == 'meshes'),
            tip=TIP,
            joints=robot.joints,
            lower=bound_values(robot.lower),
            upper=bound_values(robot.upper),
            problems='circle.npz',
            n=len(poses),
            position_tolerance=0.0,
            rotation_tolerance=0.0,
            options=options,
        )
        for variant in variants
    ]
    answers = run_jobs(module, jobs, folder, 400.0, python=python)
    return {job.key: answers[job.key] for job in jobs}


def _sphere_centers(joint_q):
    """Return the centres of the spheres at each configuration [spheres, n, 3], by Pinocchio."""
    robot, centers = _chain(), []
    for link, (center, _) in SPHERES.items():
        poses = Arm(robot.urdf, link, robot.joints).poses(joint_q)
        centers.append([pin.XYZQUATToSE3(pose).act(np.array(center)) for pose in poses])
    return np.array(centers)


def _least_distances(joint_q, with_obstacles=False):
    """Return the least distance of the pairs of spheres at each configuration."""
    centers = _sphere_centers(joint_q)
    at = dict(zip(SPHERES, centers, strict=True))
    gaps = [
        np.linalg.norm(at[a] - at[b], axis=1) - SPHERES[a][1] - SPHERES[b][1]
        for a, b in link_pairs()
    ]
    if with_obstacles:
        # The first link stands still.
        for (_, radius), center in list(zip(SPHERES.values(), centers, strict=True))[1:]:
            apart = np.linalg.norm(center[:, None] - obstacles(), axis=2)
            gaps.append(apart.min(axis=1) - radius - OBSTACLE_RADIUS)
    return np.min(gaps, axis=0)


def _side(variant: str, answer: Answer, versions: dict) -> Side:
    """Judge the configurations of a run."""
    versions = {**answer.versions, **versions}
    if answer.error:
        return Side(None, versions=versions, error=answer.error)
    robot, q = _chain(), answer.joint_q
    largest = pin.buildModelFromXML(robot.urdf).velocityLimit * DT + SLACK
    good = (np.abs(np.diff(q, axis=0, prepend=q[:1])) <= largest).all(axis=1)
    good &= ((q >= robot.lower - SLACK) & (q <= robot.upper + SLACK)).all(axis=1)
    statistics = call_statistics(answer.seconds)
    statistics['worst'] = 1e6 * float(answer.seconds.max())
    tip = Arm(robot.urdf, TIP, robot.joints).poses(q)[:, :3]
    behind = np.linalg.norm(tip - _targets(len(q) + WARM_UP_STEPS)[WARM_UP_STEPS:, :3], axis=1)
    statistics['behind_mm'] = 1e3 * float(np.median(behind))
    if 'spheres' in variant or variant == MANY_ROWS:
        gap = _least_distances(q, variant == MANY_ROWS)
        statistics['least_mm'] = 1e3 * float(gap.min())
        good &= gap >= D_MIN - CURVATURE
    return Side(statistics['median'], float(good.mean()), statistics, versions)
