# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A Panda on a device: its shapes, reachable poses, and a batch of control steps."""

import functools

import numpy as np

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path
from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task

# Without Pinocchio, which the robots of the other tests need.
PANDA = 'panda_description/urdf/panda.urdf'
UR5 = 'ur_description/urdf/ur5_robot.urdf'
TIP = 'panda_hand_tcp'
DT = 0.01


@functools.cache
def panda(device):
    """Return the model on a device."""
    return Model.from_urdf(robot_data_path() / PANDA, device=device)


@functools.cache
def panda_with_shapes(device):
    """Return the model with its meshes, and without the pairs of links that its SRDF excludes."""
    arm = find_robot('panda')
    return Model.from_urdf(
        arm.urdf_path, arm.srdf_path, [robot_data_path().parents[1]], device=device
    )


@functools.cache
def six_axes(device):
    """Return a UR5 on a device."""
    return Model.from_urdf(robot_data_path() / UR5, device=device)


def configurations(model, n, seed=0):
    """Return random configurations [n, joint_coord_count]."""
    return model.random_joint_q(n, np.random.default_rng(seed))


def reachable_poses(robot, link, n, seed=0):
    """Return poses of a link at random configurations, computed on the CPU, [n, 7].

    Args:
        robot: A function of the device, such as :func:`panda`.
        link: Name of the link.
        n: How many.
        seed: Of the configurations.
    """
    here = robot('cpu')
    body_q = np.zeros((n, here.body_count, 7))
    eval_fk(here, configurations(here, n, seed), body_q)
    return body_q[:, here.body_index(link)].copy()


def spheres(model):
    """Return a sphere on each link of the arm."""
    links = [f'panda_link{k}' for k in range(8)] + ['panda_hand']
    centers = np.random.default_rng(1).uniform(-0.05, 0.05, (len(links), 3))
    return CollisionGeometry.from_spheres(model, links, centers, 0.07)


def control_steps(model, objectives, limits=(), barriers=(), n=200):
    """Take one step of n robots towards objectives, and evaluate it.

    Returns:
        Arrays by name: the status, the step, the configuration and the link poses after it, the
        errors of the objectives before it.
    """
    joint_q = configurations(model, n)
    solver = DifferentialIK(model, n_robots=n)
    tasks = [Task(objective, gain=0.3) for objective in objectives]
    step = np.zeros((n, model.joint_dof_count))
    status = solver.solve_ik(joint_q, tasks, list(limits), list(barriers), step, 1e-3)
    after = solver.integrate(joint_q, step)
    found = {
        'status': status, 'step': step, 'joint_q': after, 'body_poses': solver.body_poses(after),
    }  # fmt: skip
    for k, errors in enumerate(solver.task_errors(joint_q, tasks)):
        found[f'errors {k}'] = errors
    if barriers:
        found['barrier values'] = solver.barrier_values(joint_q, barriers)
    return found
