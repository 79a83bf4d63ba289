# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's model of a job of control steps: the chain, or a whole robot with several tips."""

from xml.etree import ElementTree

import mujoco

from benchmarks.harness.job import Job
from benchmarks.peers.mujoco_model import chain_model

_COMPILER = {
    'fusestatic': 'false',  # the tips may be fixed links
    'balanceinertia': 'true',
    'boundmass': '0.01',
    'boundinertia': '0.0001',
}


def step_model(job: Job) -> mujoco.MjModel:
    """Return the model of a job; a whole robot goes through MuJoCo's own reader of URDF."""
    if len(job.options['tips']) == 1:
        return chain_model(job)
    root = ElementTree.fromstring(job.urdf)
    extension = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(extension, 'compiler', _COMPILER)
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding='unicode'))
