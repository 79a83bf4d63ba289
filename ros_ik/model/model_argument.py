# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check of the model that a function or a class is given."""

from __future__ import annotations

from typing import Any

from ros_ik.errors import ArgumentError
from ros_ik.model.model import Model


def require_model(model: Any) -> Model:
    """Return the model, or raise ArgumentError for an object of another class."""
    if not isinstance(model, Model):
        raise ArgumentError(
            f'model must be a ros_ik Model, got {type(model).__name__}; eval_fk and the like, '
            "IKSolver and IkChain take any object with Newton's joint arrays"
        )
    return model
