# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Slow kernels compiled beside the others, so that the first start keeps two cores busy.

A servo compiles each kernel when it first runs it, one after the other on one core. The solution
of the step comes last, and the distances of convex shapes come late; they are the same for every
robot and take a third of the time.
"""

from __future__ import annotations

import threading

import warp as wp

from ros_ik.kinematics.pair_distance import pair_distance_kernels
from ros_ik.settings import Settings
from ros_ik.solvers.step.solve import solve_step_kernel


def compile_ahead(settings: Settings, device: str) -> threading.Thread:
    """Begin to compile, or to load, what a servo needs last; return the thread that does it.

    Args:
        settings: Settings of the servo.
        device: Device of its model.
    """
    # Made here: the caches of these functions are not meant for two threads. In the order in which
    # the servo needs them, so that it finds each one done: two threads may compile one twice.
    kernels = [solve_step_kernel()]
    if settings.barriers_world_enabled and settings.barriers_max_obstacles:
        # An obstacle may have any shape.
        kernels.insert(0, pair_distance_kernels(wp.float64, True).closest)
    modules = [kernel.module for kernel in kernels]
    thread = threading.Thread(
        target=_load, args=(modules, device), name='compile_ahead', daemon=True
    )
    thread.start()
    return thread


def _load(modules: list, device: str) -> None:
    for module in modules:
        try:
            wp.force_load(device, [module], max_workers=0)
        except Exception:  # noqa: BLE001 what needs the kernel fails with the same reason
            return
