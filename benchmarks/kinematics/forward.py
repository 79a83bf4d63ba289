# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Times forward kinematics, motion subspace and frame Jacobian of several robots.

Problem: random configurations inside the limits, the Jacobian of the last link. A batch of one is
the case of the control loop, with a captured graph. The time of a kernel is measured by launching
it many times in one graph. Verified: link positions of every batch equal those of the float64
kernel to 1e-5 m.
"""

from importlib import metadata
import time

import numpy as np
import pinocchio as pin
import warp as wp

from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from ros_ik.demo.robots import robot_data_path
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.jacobian import launch_frame_jacobian
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.model import Model

ROBOTS = {
    'panda': 'panda_description/urdf/panda.urdf',
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'talos': 'talos_data/robots/talos_full_v2.urdf',
}
ROWS = (1, 1000)
LAUNCHES = 200
REPEATS = 30


def time_graph(launch, device):
    """Return the median time of one launch inside a captured graph of many [us]."""
    launch()
    with wp.ScopedCapture(device) as capture:
        for _ in range(LAUNCHES):
            launch()
    times = []
    for _ in range(REPEATS):
        wp.synchronize_device(device)
        start = time.perf_counter()
        wp.capture_launch(capture.graph)
        wp.synchronize_device(device)
        times.append(time.perf_counter() - start)
    return float(np.median(times) / LAUNCHES * 1e6)


def largest_error(model, joint_q, body_q):
    """Return the largest distance of link positions from the float64 kernel's [m]."""
    exact = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, exact)
    return float(np.abs(exact[..., :3] - body_q.numpy()[..., :3]).max())


def time_robot(model, scalar, rows):
    """Return the times of the kernels [us] for one batch."""
    types = spatial_functions(scalar)
    device = model.device
    tree = kinematic_tree(model, scalar)
    configurations = model.random_joint_q(rows, np.random.default_rng(0))
    link = model.body_count - 1
    joint_q = wp.array(configurations, dtype=scalar, device=device)
    body_q = wp.zeros((rows, model.body_count), dtype=types.transform, device=device)
    joint_S_s = wp.zeros((rows, model.joint_dof_count), dtype=types.twist, device=device)
    jacobian = wp.zeros((rows, 6, model.joint_dof_count), dtype=scalar, device=device)
    chain = wp.array(link_dofs(model, link), dtype=wp.int32, device=device)
    launches = {
        'forward_us': lambda: launch_forward_kinematics(tree, joint_q, body_q),
        'subspace_us': lambda: launch_motion_subspace(tree, joint_q, body_q, joint_S_s),
        'jacobian_us': lambda: launch_frame_jacobian(body_q, joint_S_s, link, chain, jacobian),
    }
    times = {name: round(time_graph(launch, device), 2) for name, launch in launches.items()}
    error = largest_error(model, configurations, body_q)
    if error > 1e-5:
        raise RuntimeError(f'link positions are {error} m off')
    return {**times, 'max_error_m': error}


def time_pinocchio(text, calls=2000):
    """Return Pinocchio's times of a call from Python [us]: forward kinematics, frame Jacobian."""
    model = pin.buildModelFromXML(text)
    data, q = model.createData(), pin.randomConfiguration(model)
    frame, axes = model.nframes - 1, pin.LOCAL_WORLD_ALIGNED
    pin.computeJointJacobians(model, data, q)
    work = {
        'forward_us': lambda: pin.framesForwardKinematics(model, data, q),
        'jacobian_us': lambda: pin.getFrameJacobian(model, data, frame, axes),
    }
    times = {}
    for name, call in work.items():
        spent = []
        for _ in range(calls):
            start = time.perf_counter_ns()
            call()
            spent.append(time.perf_counter_ns() - start)
        times[name] = float(np.median(spent)) / 1e3
    return times


PARTS = {
    'forward_us': 'forward kinematics',
    'subspace_us': 'motion subspace',
    'jacobian_us': 'frame Jacobian',
}


def measure(_runner, quick):
    """Return the rows: kernels in a captured graph beside Pinocchio called from Python."""
    rows = []
    for name, path in ROBOTS.items():
        text = (robot_data_path() / path).read_text()
        model = Model.from_urdf(text, device='cpu')
        peer = time_pinocchio(text)
        for count in (1,) if quick else ROWS:
            ours = time_robot(model, wp.float32, count)
            for part, label in PARTS.items():
                mine = Side(ours[part], versions=our_versions())
                alone = count == 1 and part in peer
                theirs = Side(peer[part] if alone else None, versions=_PIN if alone else {})
                shown = 'Pinocchio, called from Python' if alone else ''
                rows.append(row('kinematics', name, label, count, '1e-05 m', mine, shown, theirs))
    return rows


_PIN = {'pin': metadata.version('pin')}
