# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Models that cannot be built are refused, and the error names the fault."""
# A table of calls, one line each.
# ruff: noqa: E501

import numpy as np
import pytest
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model import GeoType
from ros_ik.model import JointType
from ros_ik.model import ModelBuilder
from ros_ik.model.builder import DofData

Config = ModelBuilder.JointDofConfig
Shape = ModelBuilder.ShapeConfig
NAN = float('nan')
POSE = (0, 0, 0, 0, 0, 0, 1)


def two_links():
    """Return a builder with links a and b, a on the world by the joint 'base'."""
    builder = ModelBuilder()
    a, _ = builder.add_link('a', mass=1.0), builder.add_link('b')
    builder.add_joint_fixed(-1, a, label='base')
    return builder


# Calls on that builder, and the words of the error.
REFUSED = {
    'negative mass': (lambda b: b.add_link('c', mass=-1.0), "link 'c' mass.*-1"),
    'nan mass': (lambda b: b.add_link('c', mass=NAN), "link 'c' mass.*nan"),
    'infinite mass': (lambda b: b.add_link('c', mass=np.inf), "link 'c' mass.*inf"),
    'nan com': (lambda b: b.add_link('c', com=(0, NAN, 0)), "link 'c' com.*finite"),
    'short com': (lambda b: b.add_link('c', com=(0, 1)), r"link 'c' com.*\[3\]"),
    'nan inertia': (lambda b: b.add_link('c', inertia=np.eye(3) * NAN), "link 'c' inertia"),
    'no inertia': (lambda b: b.add_link('c', inertia='heavy'), "link 'c' inertia.*numbers"),
    'nan pose of a link': (lambda b: b.add_link('c', xform=(*POSE[:6], NAN)), "link 'c' xform"),
    'no rotation': (lambda b: b.add_link('c', xform=(0,) * 7), "link 'c' xform.*norm of the quaternion"),
    'parent': (lambda b: b.add_joint_fixed(5, 1, label='j'), "parent of joint 'j'.*5"),
    'parent below the world': (lambda b: b.add_joint_fixed(-2, 1, label='j'), "parent of joint 'j'"),
    'child': (lambda b: b.add_joint_fixed(0, 2, label='j'), "child of joint 'j'.*2"),
    'child is the world': (lambda b: b.add_joint_fixed(0, -1, label='j'), "child of joint 'j'"),
    'child is no index': (lambda b: b.add_joint_fixed(0, 'b', label='j'), "child of joint 'j'.*'b'"),
    'itself': (lambda b: b.add_joint_fixed(1, 1, label='j'), "joint 'j'.*itself"),
    'zero axis': (lambda b: b.add_joint_revolute(0, 1, axis=(0, 0, 0), label='j'), "joint 'j' axis 0.*zero length"),
    'nan axis': (lambda b: b.add_joint_prismatic(0, 1, axis=(0, NAN, 0), label='j'), "joint 'j' axis 0.*finite"),
    'letter of an axis': (lambda b: b.add_joint_prismatic(0, 1, axis='w', label='j'), "joint 'j' axis 0.*'w'"),
    'number of an axis': (lambda b: b.add_joint_prismatic(0, 1, axis=3, label='j'), "joint 'j' axis 0.*3"),
    'limits': (lambda b: b.add_joint_revolute(0, 1, limit_lower=2, limit_upper=1, label='j'), "joint 'j'.*2 lies above.*1"),
    'limits of ours': (lambda b: b.add_joint_revolute(0, 1, dof=DofData((1, 0, 0), 2, 1), label='j'), "joint 'j'.*2 lies above"),
    'limits twice': (lambda b: b.add_joint_revolute(0, 1, axis=Config(), limit_lower=2, label='j'), "joint 'j'.*limit_lower"),
    'limits beyond everything': (lambda b: b.add_joint_revolute(0, 1, limit_lower=1e11, label='j'), "joint 'j'.*nothing"),
    'text limit': (lambda b: b.add_joint_revolute(0, 1, limit_lower='a', label='j'), "joint 'j'.*lower limit.*'a'"),
    'text velocity': (lambda b: b.add_joint_revolute(0, 1, velocity_limit='a', label='j'), "joint 'j'.*velocity.*'a'"),
    'text target': (lambda b: b.add_joint_revolute(0, 1, target_q='a', label='j'), "joint 'j'.*target_q.*'a'"),
    'text armature': (lambda b: b.add_joint_ball(0, 1, armature='a'), "armature.*'a'"),
    'text mass': (lambda b: b.add_link('c', mass='a'), "link 'c' mass.*'a'"),
    'text distance': (lambda b: b.add_joint_distance(0, 1, max_distance='a', label='j'), "joint 'j' max_distance.*'a'"),
    'nan limit': (lambda b: b.add_joint_revolute(0, 1, limit_lower=NAN, label='j'), "joint 'j'.*lower.*nan"),
    'velocity limit': (lambda b: b.add_joint_revolute(0, 1, velocity_limit=-1, label='j'), "joint 'j'.*velocity.*-1"),
    'effort limit': (lambda b: b.add_joint_revolute(0, 1, effort_limit=NAN, label='j'), "joint 'j'.*effort.*nan"),
    'target': (lambda b: b.add_joint_revolute(0, 1, target_q=np.inf, label='j'), "joint 'j'.*target_q.*inf"),
    'limits in d6': (lambda b: b.add_joint_d6(0, 1, linear_axes=[Config(), Config(axis=1, limit_lower=1, limit_upper=0)], label='j'), "joint 'j' axis 1.*lies above"),
    'four axes': (lambda b: b.add_joint_d6(0, 1, angular_axes=[Config()] * 4, label='j'), "joint 'j'.*three"),
    'axes of a ball': (lambda b: b.add_joint(JointType.BALL, 0, 1, angular_axes=[Config()], label='j'), "joint 'j'.*BALL"),
    'no axis': (lambda b: b.add_joint(JointType.REVOLUTE, 0, 1, label='j'), "joint 'j'.*REVOLUTE"),
    'distances': (lambda b: b.add_joint_distance(0, 1, min_distance=2, max_distance=1, label='j'), "joint 'j'.*min_distance"),
    'pose of a joint': (lambda b: b.add_joint_fixed(0, 1, parent_xform=(NAN, *POSE[1:]), label='j'), "joint 'j' parent_xform.*finite"),
    'rotation of a joint': (lambda b: b.add_joint_fixed(0, 1, child_xform=(*POSE[:6], 2), label='j'), "joint 'j' child_xform.*norm of the quaternion"),
    'free without child': (lambda b: b.add_joint_free(), 'add_joint_free'),
    'free with two children': (lambda b: b.add_joint_free(0, child=1), 'add_joint_free'),
    'mimic of nothing': (lambda b: b.add_constraint_mimic(0, 3), 'mimic joint1.*3'),
    'mimic by a fixed joint': (lambda b: b.add_constraint_mimic(0, 0), "mimic joint0 'base'.*FIXED"),
    'mimic by no joint': (lambda b: b.set_joint_mimic(4, None), 'mimic joint.*4'),
    'body of a shape': (lambda b: b.add_shape_sphere(2, label='s'), "body of shape 's'.*2"),
    'pose of a shape': (lambda b: b.add_shape_sphere(0, xform=(0, 0, NAN, 0, 0, 0, 1), label='s'), "shape 's' xform"),
    'size of a shape': (lambda b: b.add_shape_box(0, hx=-1, label='s'), "shape 's' scale.*negative"),
    'nan size': (lambda b: b.add_shape_sphere(0, radius=NAN, label='s'), "shape 's' scale.*finite"),
    'density': (lambda b: b.add_shape_sphere(0, cfg=Shape(density=-1), label='s'), "shape 's' density.*-1"),
    'wall': (lambda b: b.add_shape_sphere(0, cfg=Shape(is_solid=False, margin=2), label='s'), "shape 's'.*thicker"),
    'mesh without vertices': (lambda b: b.add_shape_mesh(0, mesh=object(), label='s'), "shape 's'.*vertices"),
    'normal': (lambda b: b.add_shape_plane((0, 0, 0, 1)), 'plane.*zero length'),
    'pair': (lambda b: b.add_shape_collision_filter_pair(0, 1), 'shape_a'),
    'empty articulation': (lambda b: b.add_articulation([], label='r'), "articulation 'r'"),
    'articulation of nothing': (lambda b: b.add_articulation([1], label='r'), "joint of articulation 'r'"),
    'joint in two': (lambda b: (b.add_articulation([0], label='r'), b.add_articulation([0], label='s')), "articulation 's'.*'base'.*'r'"),
    'order of joints': (lambda b: b.add_articulation([b.add_joint_fixed(0, 1), 0], label='r'), "articulation 'r'.*ascend"),
    'end without begin': (lambda b: b.end_world(), 'end_world'),
    'world in a world': (lambda b: (b.begin_world(), b.begin_world()), 'begin_world.*world 0'),
    'replicate in a world': (lambda b: (b.begin_world(), b.replicate(two_links(), 2)), 'replicate.*world 0'),
    'no count': (lambda b: b.replicate(two_links()), 'copy_count'),
    'negative count': (lambda b: b.replicate(two_links(), -1), 'copy_count'),
    'prefixes': (lambda b: b.replicate(two_links(), 2, label_prefixes=['x']), 'label_prefixes.*2.*1'),
    'pose of a copy': (lambda b: b.add_builder(two_links(), xform=(NAN, *POSE[1:])), r'xforms\[0\]'),
    'spacing': (lambda b: b.replicate(two_links(), 2, (1, 2)), 'spacing'),
    'gravity': (lambda b: b.begin_world(gravity=(0, 0, NAN)), 'gravity'),
    'body of another world': (lambda b: (b.begin_world(), b.add_joint_fixed(-1, 1, label='j')), "child of joint 'j'.*'b'.*world -1"),
    'shape on a body of another world': (lambda b: (b.begin_world(), b.add_shape_sphere(1, label='s')), "shape 's'.*'b'.*world -1"),
    'joint of another world': (lambda b: (b.begin_world(), b.add_articulation([0], label='r')), "articulation 'r'.*'base'.*world -1"),
    'open world': (lambda b: (b.begin_world(), b.finalize('cpu')), 'world 0 has not ended'),
    'two incoming joints': (lambda b: (b.add_joint_ball(-1, 0, label='again'), b.finalize('cpu')), "body 'a'.*'base'.*'again'"),
    'pair of no shape': (lambda b: (b.shape_collision_filter_pairs.append((0, 9)), b.finalize('cpu')), r'\(0, 9\)'),
}  # fmt: skip


@pytest.mark.parametrize('name', REFUSED)
def test_refused_by_name(name):
    call, message = REFUSED[name]
    with pytest.raises(ArgumentError, match=f'(?s){message}'):
        call(two_links())


def test_loops_are_refused():
    builder = ModelBuilder()
    a, b, c = (builder.add_link(name) for name in 'abc')
    for parent, child in ((a, b), (b, c), (c, a)):
        builder.add_joint_ball(parent, child)
    with pytest.raises(ArgumentError, match="loop of joints.*'a', 'b', 'c'"):
        builder.finalize('cpu')


def test_articulations_that_a_joint_connects_are_refused():
    builder = two_links()
    builder.add_articulation([0], label='first')
    builder.add_articulation([builder.add_joint_ball(0, 1, label='bridge')], label='second')
    with pytest.raises(ArgumentError, match="joint 'bridge'.*'second'.*body 'a'.*'first'"):
        builder.finalize('cpu')


def test_global_elements_between_worlds_are_refused():
    scene = ModelBuilder()
    scene.add_world(two_links())
    scene.add_link('between')
    scene.add_world(two_links())
    with pytest.raises(ArgumentError, match="body 'between' of world -1"):
        scene.finalize('cpu')


def test_mimics_that_make_no_sense_are_refused():
    builder = two_links()
    b = 1
    first = builder.add_joint_revolute(0, b, label='first')
    second = builder.add_joint_revolute(b, builder.add_link('c'), label='second')
    with pytest.raises(ArgumentError, match="mimic of joint 'first': coef1"):
        builder.add_constraint_mimic(first, second, 0.0, NAN)
    builder.add_constraint_mimic(first, second)
    builder.add_constraint_mimic(second, first)
    with pytest.raises(ArgumentError, match='follows itself'):
        builder.finalize('cpu')
    builder.begin_world()
    with pytest.raises(ArgumentError, match="mimic joint0 'first' is in world -1"):
        builder.add_constraint_mimic(first, second)


def test_a_refused_call_leaves_the_builder_usable():
    builder = two_links()
    for call, _ in list(REFUSED.values())[:40]:
        with pytest.raises(ArgumentError):
            call(builder)
    builder.add_joint_revolute(0, 1)
    model = builder.finalize('cpu')
    assert (model.body_count, model.joint_count, model.joint_dof_count) == (2, 2, 1)
    assert (model.joint_coord_count, model.shape_count) == (1, 0)


def test_gravity_of_a_model():
    model = two_links().finalize('cpu')
    for gravity, world in (((0, NAN, 0), None), ((0, 0), None), ((0, 0, 1), 1), (np.eye(3), None)):
        with pytest.raises(ArgumentError, match='gravity|world'):
            model.set_gravity(gravity, world)
    np.testing.assert_allclose(model.gravity.numpy(), [[0, 0, -9.81]])


def test_warp_values_are_accepted():
    builder = ModelBuilder()
    turn = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), 1.0)
    link = builder.add_link(
        'a', mass=1.0, com=wp.vec3(1.0, 2.0, 3.0), inertia=wp.mat33(np.eye(3)),
        xform=wp.transform(wp.vec3(1.0, 2.0, 3.0), turn),
    )  # fmt: skip
    builder.add_joint_free(link, parent_xform=wp.transform(wp.vec3(0.0, 0.0, 1.0), turn))
    builder.add_shape(link, GeoType.BOX, scale=wp.vec3(1.0, 1.0, 1.0))
    model = builder.finalize('cpu')
    np.testing.assert_allclose(model.body_q.numpy()[0, :3], [1, 2, 3])
    assert model.body_mass.numpy()[0] == 8001.0
