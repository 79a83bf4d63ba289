# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that check pairs of shapes in many configurations."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.collision.distance.convex_cores import collision_structs
from ros_ik.kinematics.collision.distance.gjk import shape_distance_function
from ros_ik.kinematics.forward import place_links_function
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import tree_struct


@no_type_check
@functools.cache
def _place_shapes_function(scalar: type) -> wp.Function:
    """Build ``place_shapes(tree, shapes, row, joint_q, body_q, shape_q) -> finite``."""
    transform = spatial_functions(scalar).transform
    place_links = place_links_function(scalar)
    Tree, Shapes = tree_struct(scalar), collision_structs(scalar).Shapes

    @wp.func
    def place_shapes(
        tree: Tree,
        shapes: Shapes,
        row: int,
        joint_q: wp.array2d(dtype=scalar),
        body_q: wp.array2d(dtype=transform),
        shape_q: wp.array2d(dtype=transform),
    ) -> bool:
        for k in range(joint_q.shape[1]):
            if not wp.isfinite(joint_q[row, k]):
                return False
        place_links(tree, row, joint_q, body_q)
        for shape in range(shapes.kind.shape[0]):
            pose = shapes.pose[shape]
            if shapes.body[shape] >= 0:
                pose = body_q[row, shapes.body[shape]] * pose
            shape_q[row, shape] = pose
        return True

    return place_shapes


@no_type_check
@functools.cache
def collision_kernels(scalar: type) -> SimpleNamespace:
    """Build the kernels.

    ``check`` finds whether any pair is within its margin, ``least`` the least distance, and
    ``place`` the poses of the shapes, each with a thread per configuration. From these poses,
    ``pairs`` computes the distance of each pair, with a thread per pair and configuration.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    types = spatial_functions(scalar)
    vec3, transform = types.vec3, types.transform
    Tree, Shapes = tree_struct(scalar), collision_structs(scalar).Shapes
    place_shapes = _place_shapes_function(scalar)
    shape_distance = shape_distance_function(scalar)

    @wp.func
    def bound_gap(shapes: Shapes, a: int, b: int, pose_a: transform, pose_b: transform) -> scalar:
        """Return the distance of the bounding spheres."""
        apart = wp.transform_get_translation(pose_a) - wp.transform_get_translation(pose_b)
        return wp.length(apart) - shapes.bound[a] - shapes.bound[b]

    @compiled_kernel(registers=255)
    def check_collisions(
        tree: Tree,
        shapes: Shapes,
        pairs: wp.array(dtype=wp.vec2i),  # [n_pairs]
        margins: wp.array(dtype=scalar),  # [n_pairs]
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        body_q: wp.array2d(dtype=transform),  # [n, body_count], work space
        shape_q: wp.array2d(dtype=transform),  # [n, n_shapes], work space
        collides: wp.array(dtype=wp.int32),  # [n]
    ):
        row = wp.tid()
        found = int(0)
        if pairs.shape[0] > 0:
            if not place_shapes(tree, shapes, row, joint_q, body_q, shape_q):
                found = 1
        for k in range(pairs.shape[0]):
            if found == 0:
                a = pairs[k][0]
                b = pairs[k][1]
                pose_a = shape_q[row, a]
                pose_b = shape_q[row, b]
                margin = margins[k]
                if not bound_gap(shapes, a, b, pose_a, pose_b) > margin:
                    near = shape_distance(shapes, a, b, pose_a, pose_b, margin, margin)
                    if not near.lower > margin:
                        found = 1
        collides[row] = found

    @compiled_kernel(registers=255)
    def least_distances(
        tree: Tree,
        shapes: Shapes,
        pairs: wp.array(dtype=wp.vec2i),  # [n_pairs]
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        body_q: wp.array2d(dtype=transform),  # [n, body_count], work space
        shape_q: wp.array2d(dtype=transform),  # [n, n_shapes], work space
        distance: wp.array(dtype=scalar),  # [n]
        pair: wp.array(dtype=wp.int32),  # [n]
    ):
        row = wp.tid()
        least = scalar(wp.inf)
        found = int(-1)
        finite = bool(True)
        if pairs.shape[0] > 0:
            finite = place_shapes(tree, shapes, row, joint_q, body_q, shape_q)
        if finite:
            for k in range(pairs.shape[0]):
                a = pairs[k][0]
                b = pairs[k][1]
                pose_a = shape_q[row, a]
                pose_b = shape_q[row, b]
                if not bound_gap(shapes, a, b, pose_a, pose_b) > least:
                    near = shape_distance(shapes, a, b, pose_a, pose_b, scalar(-wp.inf), least)
                    if near.distance < least:
                        least = near.distance
                        found = k
        else:
            least = -least
        distance[row] = least
        pair[row] = found

    @compiled_kernel()
    def place_all_shapes(
        tree: Tree,
        shapes: Shapes,
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        body_q: wp.array2d(dtype=transform),  # [n, body_count]
        shape_q: wp.array2d(dtype=transform),  # [n, n_shapes]
    ):
        place_shapes(tree, shapes, wp.tid(), joint_q, body_q, shape_q)

    @compiled_kernel(registers=255)
    def pair_distances(
        shapes: Shapes,
        pairs: wp.array(dtype=wp.vec2i),  # [n_pairs]
        shape_q: wp.array2d(dtype=transform),  # [n, n_shapes]
        distance: wp.array2d(dtype=scalar),  # [n, n_pairs]
        points: wp.array3d(dtype=vec3),  # [n, n_pairs, 2]
    ):
        row, k = wp.tid()
        a = pairs[k][0]
        b = pairs[k][1]
        near = shape_distance(
            shapes, a, b, shape_q[row, a], shape_q[row, b], scalar(-wp.inf), scalar(wp.inf)
        )
        distance[row, k] = near.distance
        points[row, k, 0] = near.point_a
        points[row, k, 1] = near.point_b

    return SimpleNamespace(
        check=check_collisions,
        least=least_distances,
        place=place_all_shapes,
        pairs=pair_distances,
    )
