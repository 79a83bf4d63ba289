# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limits of joints as a description states them, read by the parser of the standard library."""

import dataclasses
import math
import xml.etree.ElementTree as ElementTree

import numpy as np

# docs/parameters.md: a joint without an acceleration limit gains its velocity limit in this time.
_RISE_TIME = 0.2


@dataclasses.dataclass(frozen=True)
class UrdfLimits:
    """Limits of some joints, each [n]; rad or m, s."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def urdf_limits(text, joints):
    """Return the limits of joints in a URDF."""
    found = {joint.get('name'): joint for joint in ElementTree.fromstring(text).findall('joint')}
    rows = []
    for name in joints:
        limit, unbounded = found[name].find('limit'), found[name].get('type') == 'continuous'
        lower = -math.inf if unbounded else float(limit.get('lower', 0.0))
        upper = math.inf if unbounded else float(limit.get('upper', 0.0))
        rows.append((lower, upper, float(limit.get('velocity'))))
    lower, upper, velocity = np.array(rows).T
    return UrdfLimits(lower, upper, velocity, velocity / _RISE_TIME)
