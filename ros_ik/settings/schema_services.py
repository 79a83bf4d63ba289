# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The part of the schema for planners' requests: how much they may ask for, and at whose cost."""

from __future__ import annotations

from ros_ik.settings.parameter import Parameter

SERVICES = (
    Parameter(
        'services.max_poses', 'int', 100_000,
        'Bound on a request: poses times max_solutions of ~/solve_ik, poses of ~/solve_fk, points '
        'and checks of ~/check_trajectory. Larger ones are refused. It bounds the memory, about '
        '2 kB for each, times the requests that wait.',
        minimum=1, maximum=10_000_000, read_only=True,
    ),
    Parameter(
        'services.timeout', 'double', 30.0,
        'Longest time for a request, with the time that it waits; also where it gives none.',
        unit='s', minimum=0.0, exclusive_minimum=True, maximum=3600.0, read_only=True,
    ),
    Parameter(
        'services.max_waiting', 'int', 4,
        'Requests that wait while one is answered; more are refused at once.',
        minimum=0, maximum=100, read_only=True,
    ),
    Parameter(
        'services.threads', 'int', 0,
        'Threads that share a request of ~/solve_ik; 0 is one less than the processor has cores.',
        minimum=0, maximum=1024, read_only=True,
    ),
    Parameter(
        'services.nice', 'int', 10,
        'Niceness of the process that answers requests. The default lets every other process go '
        'first, the control loop above all, and still leaves it a tenth of a busy core.',
        minimum=0, maximum=19, read_only=True,
    ),
)  # fmt: skip
