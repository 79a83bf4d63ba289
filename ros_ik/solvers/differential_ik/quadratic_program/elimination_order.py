# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Elimination order of the variables of a step, from the tips to the root."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.solvers.least_squares.envelope import dense_elimination
from ros_ik.solvers.least_squares.envelope import Elimination
from ros_ik.solvers.least_squares.envelope import elimination
from ros_ik.solvers.least_squares.envelope import previous_dofs


def step_elimination(state: StepState, tasks: Sequence[np.ndarray], is_dense: bool) -> Elimination:
    """Return an order that keeps limbs apart which no task couples.

    Args:
        state: The model and the group.
        tasks: Variables that each task couples; a posture couples none.
        is_dense: True if any variable may be coupled to any other.
    """
    n = state.group.n_variables
    if is_dense:
        return dense_elimination(n)
    coupled = np.eye(n, dtype=bool)
    for variables in tasks:
        coupled[np.ix_(variables, variables)] = True
    return elimination(coupled, _parent_variables(state))


def _parent_variables(state: StepState) -> np.ndarray:
    """Return the next variable towards the root for each variable, -1 for none."""
    variable_of, previous = state.group.dof_variable, previous_dofs(state.model)
    parents = np.full(state.group.n_variables, -1)
    for variable, dof in enumerate(state.group.variable_dof):
        above = previous[dof]
        while above >= 0 and variable_of[above] < 0:
            above = previous[above]
        if above >= 0 and variable_of[above] != variable:
            parents[variable] = variable_of[above]
    return parents
