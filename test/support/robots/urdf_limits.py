# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limits and mimic joints as a description states them, by the parser of the standard library.

A Panda of which a joint has a velocity limit of 0 is here, too.
"""

import dataclasses
import functools
import math
import xml.etree.ElementTree as ElementTree

import numpy as np

from ros_ik.demo.robots import find_robot
from ros_ik.model import Model

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


def variable_matrix(text, model, group):
    """Return the displacements of degrees of freedom in one of each variable of a group.

    The model and the group give the order of rows [joint_dof_count] and columns [n_variables],
    and the URDF the numbers. A joint that mimics one which is missing moves by itself.
    """
    joints = {joint.get('name'): joint for joint in ElementTree.fromstring(text).findall('joint')}
    mimics = {
        name: (mimic.get('joint'), float(mimic.get('multiplier', '1')))
        for name, joint in joints.items()
        if (mimic := joint.find('mimic')) is not None and mimic.get('joint') in joints
    }
    starts, columns = model.joint_qd_start.numpy(), group.variable_dof.tolist()
    matrix = np.zeros((model.joint_dof_count, len(columns)))
    for joint, name in enumerate(model.joint_label):
        factor = 1.0
        while name in mimics:
            name, part = mimics[name]
            factor *= part
        first = starts[model.joint_index(name)]
        for k in range(starts[joint + 1] - starts[joint]):
            if first + k in columns:
                matrix[starts[joint] + k, columns.index(first + k)] = factor
    return matrix


def still_text(still):
    """Return the description of a Panda of which a joint cannot move."""
    tree = ElementTree.fromstring(find_robot('panda').urdf_path.read_text())
    (joint,) = (joint for joint in tree.findall('joint') if joint.get('name') == still)
    joint.find('limit').set('velocity', '0')
    return ElementTree.tostring(tree, encoding='unicode')


@functools.cache
def still_model(still):
    """Return the model of a Panda of which a joint cannot move."""
    return Model.from_urdf(still_text(still), device='cpu')
