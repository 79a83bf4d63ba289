# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The part of the schema on how targets are followed."""

from __future__ import annotations

from ros_ik.settings.parameter import Parameter

MOTION: tuple[Parameter, ...] = ()
