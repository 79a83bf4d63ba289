# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Adapter that gives a ``newton.Model`` the names, limits and mimic joints of our :class:`Model`.

Chains need the names of links, limits in float64 and the drivers of mimic joints. Our model has
them; any other object with Newton's arrays is wrapped in a :class:`NamedModel`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.newton.newton_model import dof_limits
from ros_ik.kinematics.newton.newton_model import mimic_constraints
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.model.building.joints.configuration_space import resolve_mimics
from ros_ik.model.conventions.labels import LabelIndex
from ros_ik.numbers import real_array


def named_model(model: Any) -> Any:
    """Return our own model unchanged, and any other object with Newton's arrays wrapped.

    Raises:
        ArgumentError: It has no joint arrays.
    """
    checked_model(model)
    return model if hasattr(model, 'mimic_driver') else NamedModel(model)


class NamedModel:
    """Wrapper of a model; all other attributes are those of the model.

    Attributes:
        body_label: Names of the links; made from the index if the model has none.
        joint_label: Names of the joints, likewise.
        mimic_driver: Driver, offset and factor of each mimic joint. The driver is not a mimic
            joint itself.
    """

    def __init__(self, model: Any) -> None:
        """Read names and mimic joints.

        Args:
            model: Any object with Newton's joint arrays.

        Raises:
            ArgumentError: A mimic joint or driver with more than one coordinate, or a cycle of
                mimic joints.
        """
        self._model = model
        self.body_label = _labels(model, 'body', model.body_count)
        self.joint_label = _labels(model, 'joint', model.joint_count)
        self.mimic_driver = resolve_mimics(mimic_constraints(model))  # type: ignore[arg-type]
        self._bodies = LabelIndex('link', self.body_label, [-1] * len(self.body_label))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the model."""
        return getattr(self._model, name)

    def body_index(self, name: str) -> int:
        """Return the index of a link, by its full name or the part after the last slash.

        Raises:
            ArgumentError: No link has the name (the error lists the closest names), or several.
        """
        short = [body for body, label in enumerate(self.body_label) if _ends_in(label, name)]
        if name not in self.body_label and len(short) == 1:
            return short[0]
        if name not in self.body_label and short:
            labels = ', '.join(repr(self.body_label[body]) for body in short[:5])
            raise ArgumentError(f'several links are called {name!r}: {labels}')
        return self._bodies.find(name, None)

    def limits64(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return position limits, and infinite velocity and effort limits, [joint_dof_count]."""
        lower, upper = (limit.astype(np.float64) for limit in dof_limits(self._model))
        return lower, upper, np.full_like(lower, np.inf), np.full_like(lower, np.inf)

    def apply_mimic(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the coordinates with those of mimic joints computed from their drivers.

        Args:
            joint_q: Coordinates, shape [.., joint_coord_count].
        """
        start = self._model.joint_q_start.numpy()
        result = real_array('joint_q', joint_q)
        for follower, (driver, coef0, coef1) in self.mimic_driver.items():
            result[..., start[follower]] = coef0 + coef1 * result[..., start[driver]]
        return result


def _labels(model: Any, element: str, count: int) -> list[str]:
    """Return the labels of a model's elements, made from the index if it has none."""
    found = getattr(model, f'{element}_label', None)
    return [f'{element}_{k}' for k in range(count)] if found is None else list(found)


def _ends_in(label: str, name: str) -> bool:
    return label.rsplit('/', 1)[-1] == name
