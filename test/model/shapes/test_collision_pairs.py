# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of shapes of robot descriptions: neighbours, SRDF, and Pinocchio's list of the same."""

import itertools
import re

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import IDS
from support.robots.robots import load
from support.robots.robots import pin

from ros_ik.errors import ModelError
from ros_ik.model import JointType
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.readers.srdf import parse_srdf
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.collision_geometry import rigid_parts


def link_pairs(model):
    """Pairs of links with shapes that may collide, in alphabetical order."""
    body, label = model.shape_body.numpy(), model.body_label
    pairs = model.shape_contact_pairs.numpy().reshape(-1, 2)
    return {tuple(sorted((label[body[a]], label[body[b]]))) for a, b in pairs.tolist()}


def pinocchio_shapes(path):
    """Return Pinocchio's model of a robot, and its shapes with all pairs of them."""
    model = pin.buildModelFromUrdf(str(path))
    # Pairs do not depend on what meshes contain, which takes long to read.
    text = re.sub(r'<mesh\b[^>]*?(/>|>.*?</mesh>)', '<sphere radius="1"/>', path.read_text())
    shapes = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION)
    shapes.addAllCollisionPairs()
    return model, shapes


def pinocchio_pairs(model, shapes):
    """Return the pairs of Pinocchio: those on different joints but neighbours."""
    parents = list(model.parents)
    joints = [shape.parentJoint for shape in shapes.geometryObjects]
    links = [model.frames[shape.parentFrame].name for shape in shapes.geometryObjects]
    pairs = set()
    for pair in shapes.collisionPairs:
        first, second = pair.first, pair.second
        a, b = joints[first], joints[second]
        if parents[a] != b and parents[b] != a:
            pairs.add(tuple(sorted((links[first], links[second]))))
    return pairs


def semantic_text(path):
    """Return the SRDF of a robot, '' if it has none."""
    file = path.parent.parent / 'srdf' / f'{path.stem}.srdf'
    return file.read_text() if file.is_file() else ''


@pytest.mark.oracle
@pytest.mark.parametrize('path', ALL_URDFS, ids=IDS)
def test_pairs_of_robots_equal_pinocchios(path):
    model, shapes = pinocchio_shapes(path)
    assert link_pairs(load(path)) == pinocchio_pairs(model, shapes)
    text = semantic_text(path)
    if text:
        described = Model.from_urdf(path.read_text(), srdf=text, device='cpu')
        pin.removeCollisionPairsFromXML(model, shapes, text)
        assert link_pairs(described) == pinocchio_pairs(model, shapes)


def test_some_robots_have_pairs_that_their_srdf_excludes():
    texts = filter(None, map(semantic_text, ALL_URDFS))
    assert sum(bool(parse_srdf(text).disabled_pairs) for text in texts) > 5


LINK = '<link name="{}"><collision><geometry><sphere radius="1"/></geometry></collision></link>'
JOINT = (
    '<joint name="{0}{1}" type="{2}"><parent link="{0}"/><child link="{1}"/>'
    '<axis xyz="0 0 1"/></joint>'
)
# a moves b, on which c is fixed, which moves d; e is fixed to a.
CHAIN = (
    '<robot name="r">'
    + ''.join(LINK.format(name) for name in 'abcde')
    + JOINT.format('a', 'b', 'continuous')
    + JOINT.format('b', 'c', 'fixed')
    + JOINT.format('c', 'd', 'continuous')
    + JOINT.format('a', 'e', 'fixed')
    + '</robot>'
)


def pairs_with(srdf):
    """Return the pairs of that chain under an SRDF."""
    text = f'<robot name="r">{srdf}</robot>' if srdf is not None else None
    model = Model.from_urdf(CHAIN, srdf=text, device='cpu')
    assert len(model.shape_collision_filter_pairs) + model.shape_contact_pair_count == 10
    return {''.join(pair) for pair in link_pairs(model)}


def test_links_that_fixed_joints_hold_together_are_one_neighbour():
    assert pairs_with(None) == {'ad', 'de'}


def test_two_links_at_a_joint_are_one_pair():
    links = ''.join(LINK.format(name) for name in 'ab')
    text = f'<robot name="r">{links}{JOINT.format("a", "b", "continuous")}</robot>'
    assert Model.from_urdf(text, device='cpu').shape_collision_filter_pairs == {(0, 1)}


@pytest.mark.parametrize('order', itertools.permutations(range(3)))
def test_rigid_parts_do_not_depend_on_the_order_of_joints(order):
    """The links b, c and d are one part, whichever of its joints comes first."""
    joints = [
        JOINT.format('a', 'b', 'continuous'), JOINT.format('b', 'c', 'fixed'),
        JOINT.format('c', 'd', 'fixed'),
    ]  # fmt: skip
    links = ''.join(f'<link name="{name}"/>' for name in 'abcd')
    builder = ModelBuilder()
    text = ''.join(joints[k] for k in order)
    builder.add_urdf(text=f'<robot name="r">{links}{text}</robot>', joint_ordering=None)
    model = builder.finalize('cpu')
    a, b, c, d = (model.body_index(name) for name in 'abcd')
    part = rigid_parts(model)
    assert part[a] == part[-1] == model.body_count and part[b] == part[c] == part[d] == b
    spheres = CollisionGeometry.from_spheres(model, list('abcd'), np.zeros((4, 3)), 0.1)
    assert not len(spheres.self_pairs())


def test_fitted_shapes_of_two_robots_in_a_world_make_the_pairs_of_their_shapes():
    """Links next to a base had never been checked against the base of another robot."""
    builder = ModelBuilder()
    for _ in range(2):
        builder.add_urdf(text=CHAIN)
    model = builder.finalize('cpu')
    links = list(range(model.body_count))
    spheres = CollisionGeometry.from_spheres(model, links, np.zeros((len(links), 3)), 0.1)
    bodies = model.shape_body.numpy()[model.shape_contact_pairs.numpy().reshape(-1, 2)]
    expected = {tuple(sorted(pair)) for pair in bodies.tolist()}
    found = spheres.body[spheres.self_pairs()]
    assert {tuple(sorted(pair)) for pair in found.tolist()} == expected
    half = model.body_count // 2
    assert all((a, b) in expected for a in range(half) for b in range(half, model.body_count))


@pytest.mark.parametrize(
    'srdf, expected',
    [
        ('<disable_collisions link1="d" link2="a" reason="Never"/>', {'de'}),
        ('<disable_collisions link1="d" link2="gone"/>', {'ad', 'de'}),
        # A pair without a link is checked.
        ('<disable_collisions link1="d"/><disable_default_collisions/>', {'ad', 'de'}),
        ('<enable_collisions link1="b" link2="a"/>', {'ab', 'ad', 'de'}),
        ('<disable_default_collisions link="d"/>', set()),
        (
            '<disable_default_collisions link="d"/><enable_collisions link1="d" link2="e"/>',
            {'de'},
        ),
    ],
)
def test_what_an_srdf_says(srdf, expected):
    assert pairs_with(srdf) == expected


def test_a_pair_to_check_without_a_link_is_refused():
    """Without it, two links could touch."""
    with pytest.raises(ModelError, match='enable_collisions'):
        parse_srdf('<robot name="r"><enable_collisions link1="a"/></robot>')


def test_visual_shapes_never_collide():
    text = CHAIN.replace('<collision>', '<visual>').replace('</collision>', '</visual>')
    model = Model.from_urdf(text, device='cpu')
    assert model.shape_count == 5 and model.shape_contact_pair_count == 0
    assert not model.shape_collision_filter_pairs


def test_joints_to_the_world_let_shapes_collide_unless_fixed():
    for kind, expected in ((JointType.BALL, 1), (JointType.FIXED, 0)):
        builder = ModelBuilder()
        link = builder.add_link('a')
        builder.add_joint(kind, -1, link)
        builder.add_ground_plane()
        builder.add_shape_sphere(link)
        assert builder.finalize('cpu').shape_contact_pair_count == expected


def test_collisions_of_neighbours_may_be_asked_for():
    builder = ModelBuilder()
    a, b = builder.add_link('a'), builder.add_link('b')
    builder.add_shape_sphere(a)
    builder.add_joint_fixed(-1, a)
    builder.add_joint_ball(a, b, collision_filter_parent=False)
    builder.add_shape_sphere(b)
    model = builder.finalize('cpu')
    np.testing.assert_array_equal(model.shape_contact_pairs.numpy(), [[0, 1]])
