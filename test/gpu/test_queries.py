# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics, dynamics and collision queries on a GPU against the CPU."""

from gpu.agreement import assert_agree
from gpu.agreement import DEVICE
from gpu.agreement import on_gpu
from gpu.panda import configurations
from gpu.panda import panda
from gpu.panda import panda_with_shapes
from gpu.panda import TIP
import numpy as np
import pytest
import warp as wp

from ros_ik.kinematics import CollisionChecker
from ros_ik.kinematics import eval_bias_force
from ros_ik.kinematics import eval_com
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.kinematics import eval_mass_matrix

pytestmark = on_gpu
N = 300


def poses(model, joint_q):
    """Return the poses of the links."""
    out = np.zeros((N, model.body_count, 7))
    eval_fk(model, joint_q, out)
    return {'body_q': out}


def jacobian(model, joint_q):
    """Return the Jacobian of the tool."""
    out = np.zeros((N, 6, model.joint_dof_count))
    eval_jacobian(model, joint_q, model.body_index(TIP), out)
    return {'jacobian': out}


def center_of_mass(model, joint_q):
    """Return the centre of mass and its Jacobian."""
    com, slope = np.zeros((N, 3)), np.zeros((N, 3, model.joint_dof_count))
    eval_com(model, joint_q, com, slope)
    return {'com': com, 'jacobian': slope}


def mass_matrix(model, joint_q):
    """Return the inertia matrix over the joints."""
    out = np.zeros((N, model.joint_dof_count, model.joint_dof_count))
    eval_mass_matrix(model, joint_q, out)
    return {'inertia': out}


def bias_force(model, joint_q):
    """Return the bias force at random velocities."""
    speeds = np.random.default_rng(3).normal(size=(N, model.joint_dof_count))
    out = np.zeros_like(speeds)
    eval_bias_force(model, joint_q, speeds, out)
    return {'bias': out}


def collisions(model, joint_q):
    """Return the flags of configurations in collision, and all distances."""
    checker = CollisionChecker(panda_with_shapes(str(model.device)), N, scalar=wp.float64)
    least, _ = checker.distances(joint_q)
    every, _ = checker.pair_distances(joint_q)
    return {'colliding': checker.check(joint_q), 'least': least, 'every': every}


QUERIES = {
    'eval_fk': poses,
    'eval_jacobian': jacobian,
    'eval_com': center_of_mass,
    'eval_mass_matrix': mass_matrix,
    'eval_bias_force': bias_force,
    'CollisionChecker': collisions,
}


@pytest.mark.parametrize('name', QUERIES)
def test_queries(name):
    here, there = (
        QUERIES[name](panda(device), configurations(panda(device), N))
        for device in ('cpu', DEVICE)
    )
    assert_agree(there, here, rtol=1e-9, atol=1e-9)
    assert all(np.ptp(value.astype(float)) > 0 for value in here.values())
