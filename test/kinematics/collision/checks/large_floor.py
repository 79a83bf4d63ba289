# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances of a 1 cm tetrahedron from a floor of 100 m, also with fused products.

GPUs fuse a product and a sum into one rounding; so does a CPU where the compiler is told to. Run
as a program with the name of a type, it prints the errors of kernels that were compiled so.
"""

import json
import sys
from types import SimpleNamespace

import numpy as np
import warp as wp

from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.kinematics.runtime.shared_compilation import share_compilations
from ros_ik.model import ModelBuilder
from ros_ik.model.conventions.rotations import matrix_from_quaternion

CORNERS = 0.005 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
HALF_WIDTH, HALF_HEIGHT, N = 50.0, 0.5, 3000


def distance_errors(scalar):
    """Return the largest distance that is too short and the largest that is too long [m]."""
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    for name in ('tetrahedron', 'floor'):
        builder.add_joint_free(builder.add_link(name, mass=1.0, inertia=np.eye(3)))
    faces = np.array([0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2])
    mesh = SimpleNamespace(vertices=CORNERS, indices=faces)
    builder.add_shape_convex_hull(0, mesh=mesh)
    builder.add_shape_box(1, hx=HALF_WIDTH, hy=HALF_WIDTH, hz=HALF_HEIGHT)
    model = builder.finalize('cpu')
    rng = np.random.default_rng(0)
    joint_q = model.random_joint_q(N, rng)
    joint_q[:, :2] = rng.uniform(-0.8 * HALF_WIDTH, 0.8 * HALF_WIDTH, (N, 2))
    joint_q[:, 2] = HALF_HEIGHT + 0.009 + 10 ** rng.uniform(-3, 0, N)
    joint_q[:, 7:] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    lowest = [
        (CORNERS @ matrix_from_quaternion(row[3:7]).T)[:, 2].min() + row[2] for row in joint_q
    ]
    checker = CollisionChecker(model, N, pairs=[(0, 1)], scalar=scalar)
    error = checker.pair_distances(joint_q)[0][:, 0] - (np.array(lowest) - HALF_HEIGHT)
    return float(-error.min()), float(error.max())


if __name__ == '__main__':
    wp.config.quiet = True
    share_compilations()
    wp.config.optimization_level = 1
    wp.config.cpu_compiler_flags = f'{wp.config.cpu_compiler_flags} -ffp-contract=fast'
    print(json.dumps(distance_errors(getattr(wp, sys.argv[1]))))
