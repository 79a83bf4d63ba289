# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Whole robots of the benchmarks of control steps, as URDF text that every solver gets."""

from defusedxml import ElementTree
import pinocchio as pin

from benchmarks.harness.robots import Robot

_SHAPES = ('visual', 'collision', 'safety_controller', 'calibration', 'mimic')


def whole_robot(name: str, text: str) -> Robot:
    """Return a robot without shapes, its columns in Pinocchio's order; mimic joints are fixed.

    Args:
        name: Name in the tables.
        text: URDF, its movable joints revolute or prismatic.
    """
    root = ElementTree.fromstring(text)
    for element in [child for child in root if child.tag not in ('link', 'joint')]:
        root.remove(element)
    for joint in root.findall('joint'):
        if joint.find('mimic') is not None:
            joint.set('type', 'fixed')
    for element in root:
        for child in [child for child in element if child.tag in _SHAPES]:
            element.remove(child)
    urdf = ElementTree.tostring(root, encoding='unicode')
    model = pin.buildModelFromXML(urdf)
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    return Robot(name, urdf, '', tuple(model.names)[1:], low, high)
