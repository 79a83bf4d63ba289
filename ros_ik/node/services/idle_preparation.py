# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Preparation of ``~/solve_optimal`` in the pauses between requests.

Its kernels take seconds to compile, once per machine. They are not needed for the first answers of
the other services. So they are loaded one at a time while no request waits, and a request that
comes meanwhile waits for one of them at most.
"""

from __future__ import annotations

from collections.abc import Callable
import functools

import warp as wp

from ros_ik.objectives.base.formula_kernels import jacobian_kernel
from ros_ik.objectives.base.formula_kernels import residual_kernel
from ros_ik.objectives.formulas import POSE
from ros_ik.planning import OptimalRequest
from ros_ik.planning import Planner
from ros_ik.planning import PoseCost
from ros_ik.planning import solve_fk
from ros_ik.planning.optimal_request import make_command
from ros_ik.solvers.optimal_control.least_cost.kernels import search_kernels
from ros_ik.solvers.qp.dense_qp_kernel import qp_kernel

# Distance of the target of the command that is solved in advance [m].
_AWAY = 0.02


def idle_steps() -> list[Callable[[Planner], None]]:
    """Return the steps of the preparation, each for a new planner and in this order."""
    kernels = [
        qp_kernel(wp.float64),
        residual_kernel(POSE, wp.float64, False),
        jacobian_kernel(POSE, wp.float64),
        *vars(search_kernels(wp.float64)).values(),
    ]
    return [*(functools.partial(_load, kernel) for kernel in kernels), _solve]


def _load(kernel: wp.Kernel, planner: Planner) -> None:
    """Compile or load a kernel."""
    wp.force_load(planner.model.device, [kernel.module], max_workers=0)


def _solve(planner: Planner) -> None:
    """Solve the command of a pose near the present one, which records the graphs of a request."""
    names, coords = planner.robot.group.joint_names, planner.robot.coords
    link = planner.model.body_label[planner.task_frames()[0].link]
    pose = solve_fk(planner, names, planner.joint_q[None, coords], [link])[0, 0]
    pose[2] += _AWAY
    command = make_command(planner, OptimalRequest(poses=[PoseCost('', link, pose, 1.0, 1.0)]))
    planner.optimal.solve(command, planner.joint_q)
