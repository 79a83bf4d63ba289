# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A control step with self-collision, see ``benchmarks/control_steps/self_collision.py``."""

import numpy as np
import warp as wp

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from ros_ik.barriers import always_close
from ros_ik.barriers import CollisionScene
from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers import WorldCollisionBarrier
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.model.shapes.primitive_fit import fit_capsules
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task

# Variants in which every pair is a row.
_ALL_PAIRS = ('all_spheres', 'many_rows')


def _pairs(geometry, names):
    """Return the pairs of primitives of pairs of links."""
    labels = [geometry.model.body_label[body] for body in geometry.body]
    wanted = {frozenset(pair) for pair in names}
    first, second = np.triu_indices(len(labels), 1)
    keep = [
        frozenset((labels[a], labels[b])) in wanted for a, b in zip(first, second, strict=True)
    ]
    return np.stack([first, second], axis=1)[keep]


def _obstacles(model, options):
    """Return the barrier of the obstacles, with a row for each pair, however far."""
    centers = options['obstacles']
    scene = CollisionScene(
        CollisionGeometry.from_model(model), max_obstacles=len(centers), max_attached=0
    )
    for k, center in enumerate(centers):
        shape = CollisionShape.sphere(options['obstacle_radius'])
        scene.add_obstacle(f'obstacle {k}', shape, [*center, 0, 0, 0, 1])
    return WorldCollisionBarrier(
        scene, n_collision_pairs=None, d_min=options['d_min'], d_max=None,
        safe_displacement_gain=0.0,
    )  # fmt: skip


def build(job: Job) -> Solve:
    """Set the solver up for steps."""
    options = job.options
    model = Model.from_urdf(job.urdf, package_paths=[options['meshes']], device='cpu')
    solver = DifferentialIK(model, f'{options["base"]}:{job.tip}')
    tip, start = model.body_index(job.tip), np.array(options['posture'])
    target = wp.array(solver.body_poses(start)[tip][None], dtype=wp.transformd, device='cpu')
    view = target.numpy()[0]
    objective = IKObjectivePose(tip, target, exact_jacobian=False)
    posture = IKObjectiveJointPosition(model, start)
    tasks = [
        Task(objective, gain=options['gain']),
        Task(posture, weight=options['posture_weight']),
    ]
    limits, barriers = [PositionLimit(), VelocityLimit()], []
    if 'box' in job.variant:
        low, high = np.array(options['box_low']), np.array(options['box_high'])
        barriers.append(PositionBarrier(tip, low, high, safe_displacement_gain=0.0))
    if job.variant == 'many_rows':
        barriers.append(_obstacles(model, options))
    if job.variant != 'limits':
        geometry = CollisionGeometry.from_model(model)
        if job.variant == 'meshes':
            geometry = fit_capsules(model, cache_dir=options['cache'])
        pairs = _pairs(geometry, options['pairs'])
        barriers.append(
            SelfCollisionBarrier(
                geometry,
                # Capsules of neighbours but one may overlap by design.
                pairs=pairs[~always_close(geometry, pairs, options['d_min'])],
                n_collision_pairs=None if job.variant in _ALL_PAIRS else 4,
                d_min=options['d_min'],
                safe_displacement_gain=0.0,
            )
        )
    step = np.zeros(model.joint_dof_count)

    def solve(pose, joint_q):
        view[...] = pose
        status = solver.solve_ik(joint_q, tasks, limits, barriers, step)
        if not status.ok:
            raise RuntimeError(f'a step came to {status.name}')
        return step

    return solve


if __name__ == '__main__':
    serve(('warp-lang',), build)
