# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""All parameters of the node: schema, checked values, and generated documents."""

from ros_ik.settings.parameter import Parameter
from ros_ik.settings.parameter import SettingsError
from ros_ik.settings.reading import expand_parameters
from ros_ik.settings.reading import read_settings
from ros_ik.settings.schema import SCHEMA
from ros_ik.settings.values import BarrierSettings
from ros_ik.settings.values import JointLimitSettings
from ros_ik.settings.values import OutputSettings
from ros_ik.settings.values import Settings
from ros_ik.settings.values import TaskSettings

__all__ = [
    'SCHEMA',
    'BarrierSettings',
    'JointLimitSettings',
    'OutputSettings',
    'Parameter',
    'Settings',
    'SettingsError',
    'TaskSettings',
    'expand_parameters',
    'read_settings',
]
