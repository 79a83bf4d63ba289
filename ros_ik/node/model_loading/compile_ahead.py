# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels prepared before a description arrives, on two cores.

Reading the sources of the kernels takes half the time of a warm start, so it is done while the
node waits for a description. A servo compiles each kernel at its first use, sequentially on one
core. Kernels that are the same for every robot take most of that time; they are compiled in
advance, half of them by another thread.
"""

from __future__ import annotations

import threading

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_kernels import pair_kernels
from ros_ik.kinematics.forward import forward_kernel
from ros_ik.kinematics.integrate import integrate_kernel
from ros_ik.kinematics.stepping.step_tree import place_links_kernel
from ros_ik.kinematics.stepping.stop_path import place_stops_kernel
from ros_ik.objectives.formulas import STEP_FORMULAS
from ros_ik.servo.step.demand_kernel import demand_kernel
from ros_ik.servo.step.singularity_kernel import singularity_kernel
from ros_ik.settings import Settings
from ros_ik.solvers.differential_ik.checks.stopping_check import stopping_kernels
from ros_ik.solvers.differential_ik.quadratic_program.solve import solve_step_kernel
from ros_ik.solvers.differential_ik.tasks.cost import evaluate_step_kernel


def kernels_ahead(settings: Settings) -> tuple[list[wp.Kernel], list[wp.Kernel]]:
    """Return the kernels of every servo with these settings, in two halves of equal duration."""
    here = [solve_step_kernel(False), evaluate_step_kernel(STEP_FORMULAS)]
    beside = [
        singularity_kernel(),
        demand_kernel(),
        forward_kernel(wp.float64, False),
        integrate_kernel(wp.float64, False),
        place_links_kernel(),
    ]
    if settings.barriers_world_enabled:
        # An obstacle may have any shape. One module contains all kernels for pairs.
        beside.insert(0, pair_kernels(wp.float64, True).distances)
        here += [stopping_kernels(wp.float64).blend, place_stops_kernel(wp.float64)]
    return here, beside


def compile_ahead(settings: Settings, device: str) -> None:
    """Compile or load the kernels of every servo with these settings.

    Call it in the thread that builds servos, because the kernel caches are not thread-safe.

    Args:
        settings: Settings of the servo.
        device: Device of its model.
    """
    here, beside = kernels_ahead(settings)
    # Two threads must not initialise Warp at the same time.
    wp.init()
    thread = threading.Thread(
        target=_load, args=(beside, device), name='compile_ahead', daemon=True
    )
    thread.start()
    _load(here, device)
    # Otherwise a servo would compile the same kernels again.
    thread.join()


def _load(kernels: list[wp.Kernel], device: str) -> None:
    for kernel in kernels:
        try:
            wp.force_load(device, [kernel.module], max_workers=0)
        except Exception:  # noqa: BLE001 what needs the kernel fails with the same reason
            return
