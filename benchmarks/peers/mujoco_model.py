# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of the chains to MJCF, for the peers that need it.

MuJoCo reads URDF too, but saves it with six digits, which is too coarse for the tighter tolerance.
Masses are placeholders, because inverse kinematics does not use them.
"""

from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks.harness.job import Job

_TYPES = {'revolute': 'hinge', 'continuous': 'hinge', 'prismatic': 'slide'}
_INERTIAL = {'pos': '0 0 0', 'mass': '1', 'diaginertia': '0.01 0.01 0.01'}


def chain_xml(job: Job) -> str:
    """Return a job's chain as MuJoCo's XML; every link is a body, joints in the job's order."""
    joints = {
        joint.find('child').get('link'): joint
        for joint in ElementTree.fromstring(job.urdf).findall('joint')
    }
    links = [job.tip]
    while links[0] in joints:
        links.insert(0, joints[links[0]].find('parent').get('link'))
    root = ElementTree.Element('mujoco', model='chain')
    ElementTree.SubElement(root, 'compiler', angle='radian', autolimits='true')
    body = ElementTree.SubElement(root, 'worldbody')
    for link in links:
        body = ElementTree.SubElement(body, 'body', name=link)
        ElementTree.SubElement(body, 'inertial', _INERTIAL)
        if link in joints:
            _add_joint(body, joints[link])
    return ElementTree.tostring(root, encoding='unicode')


def _add_joint(body, joint):
    """Place a body at the joint's origin and add the joint."""
    origin, axis, limit = joint.find('origin'), joint.find('axis'), joint.find('limit')
    attributes = {} if origin is None else origin.attrib
    rpy = _numbers(attributes.get('rpy', '0 0 0'))
    quaternion = pin.Quaternion(pin.rpy.rpyToMatrix(rpy)).coeffs()[[3, 0, 1, 2]]
    body.set('pos', attributes.get('xyz', '0 0 0'))
    body.set('quat', _text(quaternion))
    kind = _TYPES.get(joint.get('type'))
    if kind is None:
        return
    direction = '1 0 0' if axis is None else axis.get('xyz')
    element = {'name': joint.get('name'), 'type': kind, 'axis': direction}
    if joint.get('type') != 'continuous':
        element['range'] = f'{limit.get("lower", "0")} {limit.get("upper", "0")}'
    ElementTree.SubElement(body, 'joint', element)


def _numbers(text):
    return np.array([float(word) for word in text.split()])


def _text(values):
    return ' '.join(repr(float(value)) for value in values)


def chain_model(job: Job) -> mujoco.MjModel:
    """Return MuJoCo's model of a job's chain; joints are in the job's order."""
    return mujoco.MjModel.from_xml_string(chain_xml(job))
