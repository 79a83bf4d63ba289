# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step of roboplan's Oink with self-collision, the 4 closest pairs.

Its weights are the squares of ours.
"""

import numpy as np
import pinocchio as pin
from roboplan.core import CartesianConfiguration
from roboplan.core import loadUrdfSceneDescriptionFromXml
from roboplan.core import Scene
from roboplan.optimal_ik import ConfigurationTask
from roboplan.optimal_ik import FrameTask
from roboplan.optimal_ik import FrameTaskOptions
from roboplan.optimal_ik import Oink
from roboplan.optimal_ik import PositionBarrier
from roboplan.optimal_ik import PositionLimit
from roboplan.optimal_ik import SelfCollisionBarrier
from roboplan.optimal_ik import SelfCollisionBarrierOptions
from roboplan.optimal_ik import VelocityLimit

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve


def collision_scene(job: Job) -> Scene:
    """Load the chain with its shapes; all pairs of links but those of the job are disabled."""
    paths = [job.options['meshes']]
    loaded = Scene(job.key, loadUrdfSceneDescriptionFromXml(job.urdf, paths))
    links = sorted({link for pair in job.options['pairs'] for link in pair})
    wanted = {frozenset(pair) for pair in job.options['pairs']}
    disabled = ''.join(
        f'<disable_collisions link1="{a}" link2="{b}" reason="Never"/>'
        for k, a in enumerate(links)
        for b in links[k + 1 :]
        if frozenset((a, b)) not in wanted
    )
    joints = ''.join(f'<joint name="{name}"/>' for name in job.joints)
    name = job.urdf.split('name="', 1)[1].split('"', 1)[0]
    group = f'<group name="arm">{joints}</group>'
    loaded.importSrdf(f'<robot name="{name}">{group}{disabled}</robot>')
    return loaded


def build(job: Job) -> Solve:
    """Set Oink up for steps."""
    options, loaded = job.options, collision_scene(job)
    oink = Oink(loaded, 'arm')
    posture = np.array(options['posture'])
    goal = CartesianConfiguration(options['base'], job.tip, np.asfortranarray(np.eye(4)))
    frame = FrameTask(oink, loaded, goal, FrameTaskOptions(task_gain=options['gain']))
    weights = np.full(len(posture), options['posture_weight'] ** 2)
    tasks = [frame, ConfigurationTask(oink, posture, weights)]
    speeds, dt = np.array(options['velocity_limits']), options['dt']
    limits, barriers = [PositionLimit(oink), VelocityLimit(oink, dt, speeds)], []
    if 'box' in job.variant:
        low, high = np.array(options['box_low']), np.array(options['box_high'])
        barriers.append(
            PositionBarrier(oink, loaded, job.tip, low, high, dt, safe_displacement_gain=0.0)
        )
    if job.variant != 'limits':
        settings = SelfCollisionBarrierOptions(
            n_collision_pairs=4, d_min=options['d_min'], safe_displacement_gain=0.0
        )
        barriers.append(SelfCollisionBarrier(oink, loaded, dt, settings))
    step = np.zeros(len(posture))

    def solve(target, start):
        frame.setTargetFrameTransform(target if target.ndim == 2 else solve.convert(target))
        oink.solveIk(start, tasks, limits, barriers, step)
        return step

    solve.convert = lambda pose: np.asfortranarray(pin.XYZQUATToSE3(pose).homogeneous)
    return solve


if __name__ == '__main__':
    serve(('roboplan',), build)
