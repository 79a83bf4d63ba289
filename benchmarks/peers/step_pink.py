# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step of pink, daqp; variants ``limits`` and ``box``, with a box barrier."""

import numpy as np
import pink
from pink.barriers import PositionBarrier
from pink.limits import ConfigurationLimit
from pink.limits import VelocityLimit
import pinocchio as pin

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.harness.verify import Arm


def build(job: Job) -> Solve:
    """Set pink up for steps."""
    options, arm = job.options, Arm(job.urdf, job.tip, job.joints)
    frames = [pink.FrameTask(tip, 1.0, 1.0, gain=options['gain']) for tip in options['tips']]
    posture = pink.PostureTask(cost=options['posture_weight'])
    posture.set_target(np.array(options['posture']))
    limits = [ConfigurationLimit(arm.model, 1.0), VelocityLimit(arm.model)]
    configuration = pink.Configuration(arm.model, arm.data, np.array(options['posture']))
    dt, barriers = options['dt'], []
    if job.variant == 'box':
        low, high = np.array(options['box_low']), np.array(options['box_high'])
        gain = np.ones(6)
        barriers.append(PositionBarrier(job.tip, p_min=low, p_max=high, gain=gain))

    def solve(targets, start):
        configuration.update(start)
        for frame, target in zip(frames, targets, strict=True):
            frame.set_target(target)
        velocity = pink.solve_ik(
            configuration,
            [*frames, posture],
            dt,
            solver='daqp',
            limits=limits,
            barriers=barriers,
            safety_break=False,
        )
        return velocity * dt

    solve.convert = lambda poses: [pin.XYZQUATToSE3(pose) for pose in np.atleast_2d(poses)]
    return solve


if __name__ == '__main__':
    serve(('pin-pink', 'pin', 'daqp'), build)
