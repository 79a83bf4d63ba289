# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint limits: those of the model, tightened by the parameters ``joint_limits``."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.limits.default_acceleration import default_acceleration
from ros_ik.model import Model
from ros_ik.model.building.joints.mimic_range import limits_in_force
from ros_ik.model.building.joints.mimic_range import limits_without_effect
from ros_ik.settings import JointLimitSettings
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError
from ros_ik.settings.dotted_sections import dotted_section_message
from ros_ik.settings.dotted_sections import find_dotted_section


@dataclasses.dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of each degree of freedom, [joint_dof_count]; inf where there is none.

    Attributes:
        lower: Lower position limits [rad or m].
        upper: Upper position limits [rad or m].
        velocity: Velocity limits [rad/s or m/s].
        acceleration: Acceleration limits [rad/s^2 or m/s^2], none of them inf.
        jerk: Jerk limits [rad/s^3 or m/s^3].
    """

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray


def resolve_joint_limits(model: Model, settings: Settings) -> JointLimits:
    """Return the limits of a model, tightened.

    A mimic joint has no position limits if those of the model exclude every position of its
    driver.

    Raises:
        SettingsError: A joint that the model lacks, a limit looser than the model's, or limits
            that leave a joint with a mimic joint no position.
    """
    (lower, upper), velocity = limits_in_force(model), model.limits64()[2]
    starts = model.joint_qd_start.numpy()
    jerk, given = np.full_like(velocity, np.inf), np.full_like(velocity, np.nan)
    for limit in settings.joint_limits:
        try:
            index = model.joint_index(limit.joint)
        except ArgumentError as error:
            section = find_dotted_section(limit.joint, model.joint_label)
            hint = f'. {dotted_section_message(section, "max_velocity")}' if section else ''
            raise SettingsError(
                f'joint_limits.{limit.joint}.max_velocity', f'{error}{hint}'
            ) from error
        for dof in range(starts[index], starts[index + 1]):
            _tighten(limit, 'max_velocity', velocity, dof, -1.0)
            _tighten(limit, 'min_position', lower, dof, 1.0)
            _tighten(limit, 'max_position', upper, dof, -1.0)
            if limit.max_acceleration is not None:
                given[dof] = limit.max_acceleration
            if limit.max_jerk is not None:
                jerk[dof] = limit.max_jerk
    _check_mimic_joints(model, settings, lower, upper)
    acceleration = np.where(np.isnan(given), default_acceleration(velocity), given)
    return JointLimits(lower, upper, velocity, acceleration, jerk)


def _check_mimic_joints(
    model: Model, settings: Settings, lower: np.ndarray, upper: np.ndarray
) -> None:
    """Raise SettingsError if tightened limits leave the driver of a mimic joint no position."""
    starts = model.joint_qd_start.numpy()
    given = [limit.joint for limit in settings.joint_limits]
    for dof in limits_without_effect(model, lower, upper):
        follower = int(np.searchsorted(starts, dof, side='right')) - 1
        names = [model.joint_label[k] for k in (follower, model.mimic_driver[follower][0])]
        tightened = next((name for name in names if name in given), names[0])
        raise SettingsError(
            f'joint_limits.{tightened}.min_position',
            f'the limits of joint {names[1]!r} and of its mimic joint {names[0]!r} leave it no '
            'position',
        )


def _tighten(
    limit: JointLimitSettings, name: str, values: np.ndarray, dof: int, inwards: float
) -> None:
    """Replace a limit of the model, which must not be tighter.

    Args:
        limit: The limits of a joint.
        name: Name of the limit.
        values: Limits of the model, changed in place.
        dof: Index of the degree of freedom.
        inwards: 1 if a larger value is tighter, -1 if a smaller one is.
    """
    value = getattr(limit, name)
    if value is None:
        return
    if inwards * (value - values[dof]) < 0.0:
        raise SettingsError(
            f'joint_limits.{limit.joint}.{name}',
            f"{value:g} is looser than the model's {values[dof]:g}",
        )
    values[dof] = value
