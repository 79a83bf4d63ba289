# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""roboplan's SimpleIk: damped least squares with saturated limits and random restarts, C++.

Variants: ``default``, its own search settings; ``restarts``, 20 restarts and full steps with time
enough for them, which reaches every pose. Both stop at the problem's tolerances.
"""

import numpy as np
import pinocchio as pin
from roboplan.core import CartesianConfiguration
from roboplan.core import JointConfiguration
from roboplan.core import loadUrdfSceneDescriptionFromXml
from roboplan.core import Scene
from roboplan.simple_ik import SimpleIk
from roboplan.simple_ik import SimpleIkOptions

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve

_RESTARTS = {'max_restarts': 20, 'step_size': 1.0, 'max_time': 0.1}
# Difference between the linear part of the logarithm, which it measures, and the distance.
_MARGIN = 0.99


def scene(job: Job) -> Scene:
    """Load the chain with a group ``arm`` of all its joints."""
    loaded = Scene(job.key, loadUrdfSceneDescriptionFromXml(job.urdf))
    joints = ''.join(f'<joint name="{name}"/>' for name in job.joints)
    name = job.urdf.split('name="', 1)[1].split('"', 1)[0]
    loaded.importSrdf(f'<robot name="{name}"><group name="arm">{joints}</group></robot>')
    return loaded


def build(job: Job) -> Solve:
    """Set SimpleIk up for a job of single problems."""
    options = SimpleIkOptions(
        group_name='arm',
        check_collisions=False,
        max_linear_error_norm=_MARGIN * job.position_tolerance,
        max_angular_error_norm=_MARGIN * job.rotation_tolerance,
        **(_RESTARTS if job.variant == 'restarts' else {}),
    )
    solver = SimpleIk(scene(job), options)
    solver.setRngSeed(1)
    names = list(job.joints)
    base = job.options['base']

    def solve(pose, start):
        matrix = np.asfortranarray(pin.XYZQUATToSE3(pose).homogeneous)
        solution = JointConfiguration(names, start)
        goal = CartesianConfiguration(base, job.tip, matrix)
        solver.solveIk(goal, JointConfiguration(names, start), solution)
        return solution.positions

    return solve


if __name__ == '__main__':
    serve(('roboplan',), build)
