# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of the built-in objectives: numbers on the device, records, kernels of a formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.copies import WithoutDeepCopies
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.objectives.base.arguments import checked_weight
from ros_ik.objectives.base.formula import AnyFormula
from ros_ik.objectives.base.formula import JointFormula
from ros_ik.objectives.base.formula_kernels import jacobian_kernel
from ros_ik.objectives.base.formula_kernels import joint_kernels
from ros_ik.objectives.base.formula_kernels import residual_kernel
from ros_ik.objectives.base.parameter import Parameter
from ros_ik.objectives.base.record import Record
from ros_ik.objectives.interface.objective import IKObjective

if TYPE_CHECKING:
    from ros_ik.model import Model


class BuiltinObjective(WithoutDeepCopies, ReadOnce, IKObjective):
    """Base of the built-in objectives, each with a formula in float32 and float64.

    The residual kernel has a backward pass if the residual array requires gradients, as when a
    tape records the launch.

    Attributes:
        n_problems: Number of targets; a single target applies to every problem.
    """

    has_record = True
    serves_any_rows = True
    # Number of attributes set, over all built-in objectives: a quick test that nothing changed.
    changes: ClassVar[int] = 0
    # Degrees of freedom that a formula of links depends on, and their signs, see Record.
    _chain_dof: wp.array
    _chain_sign: wp.array

    def __init__(self, weights: np.ndarray) -> None:
        """Create the objective with weights as its only parameter.

        Args:
            weights: Factor on each residual, shape [residual_dim].
        """
        super().__init__()
        self._parameters: list[Parameter] = []
        self._problem_idx: dict[int, wp.array] = {}
        self._structs: dict[type, tuple[int, Any]] = {}
        self._changes = 0
        self._weights = self._parameter('weight', weights[None], len(weights))
        self.n_problems = 1

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute or property, and count the change."""
        if name in ('target_poses', 'target_positions') and callable(getattr(self, name, None)):
            self._replace_targets(value)  # the method of this name returns them
            return
        super().__setattr__(name, value)
        if not isinstance(getattr(type(self), name, None), property):
            BuiltinObjective.changes += 1

    @property
    def formula(self) -> AnyFormula:
        """Residuals and columns of the Jacobian, as Warp functions."""
        raise NotImplementedError

    def residual_dim(self) -> int:
        """Return the number of residuals per problem."""
        return int(self._weights.array.shape[1])

    @property
    def weight(self) -> np.ndarray:
        """Factors on the residuals, shape [residual_dim]; may be set to one or as many."""
        return read_only(self._weights.read()[0])

    @weight.setter
    def weight(self, value: float | Sequence[float]) -> None:
        self._weights.write(checked_weight('weight', value, self.residual_dim())[None])

    def supports_analytic(self) -> bool:
        """Return True."""
        return True

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Copy targets and weights to ``device``."""
        super().bind_device(device)
        for parameter in self._parameters:
            parameter.bind(device)

    def _parameter(self, name: str, values: Any, width: int, **options: Any) -> Parameter:
        """Create a parameter that :meth:`bind_device` copies to the device."""
        parameter = Parameter(name, values, width, **options)
        self._parameters.append(parameter)
        return parameter

    def _set_targets(self, name: str, values: Any, width: int) -> None:
        """Set the targets, one row for all problems or one for each."""
        self._targets = self._parameter(name, values, width)
        self.n_problems = len(self._targets)

    def _replace_targets(self, values: Any) -> None:
        """Replace the targets by another array or other numbers, with the same number of rows."""
        self._targets = self._replace(self._targets, values)

    def _replace(self, known: Parameter, values: Any) -> Parameter:
        """Return the replacement of a parameter, with the same number of rows and float type."""
        made = Parameter(known.name, values, known.array.shape[1], count=len(known))
        if self.device is not None:
            made.bind(self.device)
        self._parameters[self._parameters.index(known)] = made
        self._changes += 1  # solvers compare it before they replay a graph
        return made

    def _problems(self, problem_idx: wp.array | None, rows: int) -> wp.array | None:
        """Check and store the problem of each row of a batch.

        The Jacobian methods have no such argument. They use the problems of the last batch of the
        same size.
        """
        if problem_idx is None:
            if 1 < self.n_problems < rows:
                raise ArgumentError(
                    f'{type(self).__name__} has {self.n_problems} targets for a batch of {rows} '
                    'rows; give problem_idx, one target, or one for each row'
                )
            self._problem_idx.pop(rows, None)
        else:
            self._problem_idx[rows] = problem_idx
        return problem_idx

    def _fill(self, parameters: Any, scalar: type) -> None:
        """Fill the formula's ``Parameters`` struct of one floating-point type."""
        raise NotImplementedError

    def _links(self) -> frozenset[int] | None:
        """Return the links whose poses the formula reads; None for all."""
        names = ('link_index', 'reference_link_index')
        return frozenset(getattr(self, name) for name in names if hasattr(self, name))

    def _filled(self, scalar: type) -> Any:
        """Return the current parameters of the formula."""
        changes, parameters = self._structs.get(scalar, (-1, None))
        if changes != BuiltinObjective.changes:
            parameters = self.formula.functions(scalar).Parameters()
            self._fill(parameters, scalar)
            self._structs[scalar] = BuiltinObjective.changes, parameters
        return parameters

    def record(self) -> Record:
        """Return the record; see :meth:`IKObjective.record`."""
        formula, source = self.formula, self._filled(wp.float64)
        if isinstance(formula, JointFormula):
            blocks = self.residual_dim()
            numbers = np.arange(blocks), np.ones(blocks)
            dofs, signs = (wp.array(n, dtype=wp.int32, device=self.device) for n in numbers)
        else:
            blocks = self.residual_dim() // formula.rows
            dofs, signs = self._chain_dof, self._chain_sign
        return Record(
            formula,
            source,
            wp.array([source], dtype=source._cls, device=self.device),
            self._weights.array,
            self.n_problems,
            blocks,
            wp.array(np.arange(len(dofs)), dtype=wp.int32, device=self.device),
            dofs,
            signs,
            self._links(),
        )

    def compute_residuals(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: Model,
        residuals: wp.array,
        start_idx: int,
        problem_idx: wp.array | None = None,
    ) -> None:
        """Write the residuals; see :meth:`IKObjective.compute_residuals`."""
        formula, scalar, rows = self.formula, residuals.dtype, joint_q.shape[0]
        if isinstance(formula, JointFormula):
            kernel = joint_kernels(formula, scalar, residuals.requires_grad).residuals
            blocks, where = self.residual_dim(), joint_q
        else:
            kernel = residual_kernel(formula, scalar, residuals.requires_grad)
            blocks, where = self.residual_dim() // formula.rows, body_q
        launch(
            kernel,
            dim=(rows, blocks),
            inputs=[
                self._filled(scalar), self._weights.array, self.n_problems, where,
                self._problems(problem_idx, rows), start_idx,
            ],
            outputs=[residuals],
            device=residuals.device,
        )  # fmt: skip

    def compute_jacobian_autodiff(
        self, tape: wp.Tape, model: Model, jacobian: wp.array, start_idx: int, dq_dof: wp.array
    ) -> None:
        """Write dr/dq from a tape; a diagonal Jacobian needs only one backward pass."""
        if isinstance(self.formula, JointFormula):
            self._tape_reader.diagonal(tape, jacobian, start_idx, dq_dof)
        else:
            super().compute_jacobian_autodiff(tape, model, jacobian, start_idx, dq_dof)

    def compute_jacobian_analytic(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: Model,
        jacobian: wp.array,
        joint_S_s: wp.array,
        start_idx: int,
    ) -> None:
        """Write the Jacobian; see :meth:`IKObjective.compute_jacobian_analytic`."""
        formula, scalar, rows = self.formula, jacobian.dtype, joint_q.shape[0]
        inputs = [self._filled(scalar), self._weights.array, self.n_problems]
        if isinstance(formula, JointFormula):
            kernel, blocks = joint_kernels(formula, scalar, False).jacobian, self.residual_dim()
            inputs.append(joint_q)
        else:
            kernel = jacobian_kernel(formula, scalar)
            blocks = self.residual_dim() // formula.rows
            inputs += [self._chain_dof, self._chain_sign, body_q, joint_S_s]
        launch(
            kernel,
            dim=(rows, blocks),
            inputs=[*inputs, self._problem_idx.get(rows), start_idx],
            outputs=[jacobian],
            device=jacobian.device,
        )


class PositionTargetObjective(BuiltinObjective):
    """Base of the objectives whose targets are positions."""

    def __init__(self, target_positions: Any, weights: np.ndarray) -> None:
        """Set targets and weights.

        Args:
            target_positions: Targets [m]: numbers of shape [3] or [n_problems, 3], or a Warp array
                [n_problems] of vec3, which is read in place.
            weights: Factor on each residual, shape [residual_dim].
        """
        super().__init__(weights)
        self._set_targets('target_positions', target_positions, 3)

    @property
    def target_positions(self) -> wp.array:
        """Targets on the device, read by the next solve.

        This is the Warp array that was given, or else an array of shape [n_problems, 3].
        """
        return self._targets.given

    @target_positions.setter
    def target_positions(self, values: Any) -> None:
        self._replace_targets(values)

    def set_target_position(self, problem_idx: int, new_position: Any) -> None:
        """Change one target, shape [3]; a solve reports non-finite values."""
        self._targets.write_row(problem_idx, new_position)

    def set_target_positions(self, new_positions: Any) -> None:
        """Copy every target, into the given array if the constructor got a Warp array.

        Later changes of the argument have no effect. To have another array read in place, assign
        it to ``target_positions``.
        """
        self._targets.write(new_positions)
