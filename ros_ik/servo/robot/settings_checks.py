# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of settings against the joints and the mass of a robot."""

from __future__ import annotations

import numpy as np

from ros_ik.kinematics.dynamics.center_of_mass import has_mass
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError


def check_output_joints(output: str, joints: tuple[str, ...], coord_of: dict[str, int]) -> None:
    """Check that the joints of an output are different ones with one degree of freedom.

    Args:
        output: Name of the output.
        joints: Names of its joints.
        coord_of: Coordinate of each joint with one degree of freedom, by name.

    Raises:
        SettingsError: Another joint, or one that is named twice.
    """
    for index, name in enumerate(joints):
        if name not in coord_of:
            raise SettingsError(
                f'outputs.{output}.joints',
                f'the model has no joint {name!r} with one degree of freedom',
            )
        if name in joints[:index]:
            raise SettingsError(f'outputs.{output}.joints', f'{name!r} is named twice')


def check_per_joint(settings: Settings, group: JointGroup) -> None:
    """Check the arrays that have one entry per controlled joint, or per joint that is named.

    Raises:
        SettingsError: An array of another length, or a joint that is repeated or not controlled.
    """
    for index, name in enumerate(settings.posture_joints):
        if name not in group.joint_names or name in settings.posture_joints[:index]:
            raise SettingsError(
                'posture.joints',
                f'expected different controlled joints of {", ".join(group.joint_names)}, got '
                f'{name!r}',
            )
    every, count = group.joint_names, group.n_variables
    drawn = settings.posture_joints or every
    for name, values, lengths, joints in (
        ('posture.positions', settings.posture_positions, (0, len(drawn)), drawn),
        ('limits.position_margin', settings.limits_position_margin, (1, count), every),
        ('following_error.max', settings.following_error_max, (0, 1, count), every),
    ):
        if len(values) not in lengths:
            permitted, names = ' or '.join(map(str, lengths)), ', '.join(joints)
            raise SettingsError(
                name, f'expected {permitted} entries (one per controlled joint: {names}), got '
                f'{len(values)}',
            )  # fmt: skip


def check_strict_jerk(settings: Settings, group: JointGroup, jerk: np.ndarray) -> None:
    """Check that every controlled joint has a jerk limit if these are strict.

    Args:
        settings: The settings.
        group: The controlled joints.
        jerk: Jerk limits [joint_dof_count].

    Raises:
        SettingsError: A controlled joint has none.
    """
    if settings.limits_jerk != 'strict':
        return
    for name, limit in zip(group.joint_names, jerk[group.variable_dof], strict=True):
        if not np.isfinite(limit):
            raise SettingsError(
                'limits.jerk',
                f'strict needs a jerk limit of every controlled joint, and {name!r} has none: '
                f'set joint_limits.{name}.has_jerk_limits and max_jerk',
            )


def check_center(settings: Settings, model: Model) -> None:
    """Check that the model has mass if ``com.weight`` is above 0.

    Raises:
        SettingsError: ``com.weight`` above 0 for a model without mass.
    """
    if settings.com_weight > 0.0 and not has_mass(model):
        raise SettingsError('com.weight', 'expected 0, as no link of the robot has a mass')


def check_one_level(settings: Settings) -> None:
    """Check that one task and a centre of mass with a weight have the same priority.

    Raises:
        SettingsError: They have not.
    """
    (task,) = settings.tasks
    if settings.com_weight > 0.0 and task.priority > 1:
        raise SettingsError(
            f'{task.name}.priority',
            f'expected 1, that of the centre of mass, got {task.priority}: to have another one, '
            'start with it, or with com.weight above 0',
        )
