# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of barriers for joints whose accelerations build up slowly.

A row J y >= d may ask for a change of the step that such joints cannot make in one step. They
would make it too late, go too far, and swing. So y is not the step x itself, but the step that the
change from the previous step l leads to if it goes on for a time tau, the lead:

    y = l + (x - l) / s,    s = dt / (dt + tau)

With h' = J x / dt and d = -dt g h this is h' + tau h'' >= -g h, a barrier of second order (Nguyen
and Sreenath, "Exponential control barrier functions for enforcing high relative-degree
safety-critical constraints", ACC 2016). The row of x is J x >= s d + (1 - s) J l. Gains g count as
at most 1 / (4 tau): with larger ones, h passes the boundary before it comes to rest.
"""

from collections.abc import Sequence
import functools
import math
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.stepping.variable_steps import variable_steps_function
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct


@no_type_check
@functools.cache
def step_lead_struct() -> Any:
    """Return the Warp struct of the previous steps and of the boxes of y."""

    @wp.struct
    class StepLead:
        share: wp.float64  # s, 1 without a lead
        largest_gain: wp.float64  # [1/s]
        last: wp.array2d(dtype=wp.float64)  # [n, variables], l
        lower: wp.array2d(dtype=wp.float64)  # [n, variables], box of y
        upper: wp.array2d(dtype=wp.float64)  # [n, variables]

    return StepLead


def share_of_change(lead: float, dt: float) -> float:
    """Return s for a lead [s] and the duration of a step [s]."""
    return dt / (dt + lead)


def bounds_with_lead(bounds: np.ndarray, steady: np.ndarray, lead: float, dt: float) -> np.ndarray:
    """Return the least changes s d + (1 - s) J l of values in a step.

    Args:
        bounds: Bounds d, shape [rows].
        steady: Changes J l of the values in the previous step, shape [rows].
        lead: The lead [s].
        dt: Duration of a step [s].
    """
    share = share_of_change(lead, dt)
    return share * bounds + (1.0 - share) * steady


def largest_gain(lead: float) -> float:
    """Return the gain [1/s] up to which h comes to rest without a swing, for a lead [s]."""
    return 0.25 / lead if lead > 0.0 else math.inf


def gains_with_lead(barriers: Sequence[Barrier], lead: float) -> list[float]:
    """Return the gains of barriers as they count with a lead [s], in 1/s."""
    return [min(barrier.gain, largest_gain(lead)) for barrier in barriers]


def make_step_lead(n: int, variables: int, time: float, dt: float, device: wp.DeviceLike) -> Any:
    """Allocate the previous steps of ``n`` robots.

    Args:
        n: Number of robots; 0 if their previous steps are unknown.
        variables: Number of variables.
        time: The lead [s].
        dt: Duration of a step [s].
        device: Device of the arrays.
    """
    lead = step_lead_struct()()
    lead.share, lead.largest_gain = share_of_change(time, dt), largest_gain(time)
    for name in ('last', 'lower', 'upper'):
        setattr(lead, name, batch_zeros((n, variables), wp.float64, device))
    return lead


@no_type_check
@functools.cache
def lead_functions() -> SimpleNamespace:
    """Build the kernel and the function of the lead, float64.

    - ``place_lead(last_step, dof, variable, factor, lower, upper, lead)``: kernel that writes the
      previous step of the variables, and the box of y.
    - ``leads_to(i, j, step, lead)``: y of a variable for a step x.
    - ``lead_row(i, row, lead, program)``: convert the bound of a row of y to that of x.
    """
    Program, Lead = step_program_struct(), step_lead_struct()
    write_variable_steps = variable_steps_function()
    zero, one = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0))

    @wp.func
    def leads_to(i: int, j: int, step: wp.float64, lead: Lead) -> wp.float64:
        last = lead.last[i, j]
        return last + (step - last) / lead.share

    @compiled_kernel()
    def place_lead(
        last_step: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        dof: wp.array(dtype=wp.int32),  # [moving]
        variable: wp.array(dtype=wp.int32),  # [moving]
        factor: wp.array(dtype=wp.float64),  # [moving]
        lower: wp.array2d(dtype=wp.float64),  # [n, variables], box of the step
        upper: wp.array2d(dtype=wp.float64),  # [n, variables]
        lead: Lead,
    ):
        i = wp.tid()
        write_variable_steps(i, last_step, dof, variable, factor, lead.last)
        for j in range(lead.last.shape[1]):
            lead.lower[i, j] = leads_to(i, j, lower[i, j], lead)
            lead.upper[i, j] = leads_to(i, j, upper[i, j], lead)

    @wp.func
    def lead_row(i: int, row: int, lead: Lead, program: Program):
        if lead.share < one and wp.isfinite(program.d[i, row]):
            steady = zero
            for j in range(program.order.shape[0]):
                steady += program.J[i, row, j] * lead.last[i, j]
            program.d[i, row] = lead.share * program.d[i, row] + (one - lead.share) * steady

    return SimpleNamespace(place_lead=place_lead, leads_to=leads_to, lead_row=lead_row)
