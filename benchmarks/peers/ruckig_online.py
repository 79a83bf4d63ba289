# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ruckig's time-optimal motion to joint targets, all joints in step, tick by tick."""

import ruckig

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve


def build(job: Job) -> Solve:
    """Set Ruckig up for the ticks of a job."""
    options, dof = job.options, len(job.joints)
    otg = ruckig.Ruckig(dof, options['dt'])
    given, found = ruckig.InputParameter(dof), ruckig.OutputParameter(dof)
    given.max_velocity = options['velocity']
    given.max_acceleration, given.max_jerk = options['acceleration'], options['jerk']
    given.current_position = options['start']

    def solve(target, start):
        given.target_position = target.tolist()
        result = otg.update(given, found)
        if result not in (ruckig.Result.Working, ruckig.Result.Finished):
            raise RuntimeError(f'an update came to {result.name}')
        found.pass_to_input(given)
        return found.new_position - start

    return solve


if __name__ == '__main__':
    serve(('ruckig',), build)
