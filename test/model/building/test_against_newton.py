# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robots built by the same calls in Newton and here have the same arrays."""

from model.building.newton_twins import assert_equal_models
from model.building.newton_twins import dof
from model.building.newton_twins import newton
from model.building.newton_twins import shape_config
from model.building.newton_twins import Twins
import numpy as np
import pytest

from ros_ik.model import JointType

pytestmark = pytest.mark.oracle
# Newton computes these in float32 step by step where a shape has a mass.
MASSES = ('body_mass', 'body_com', 'body_inertia')
# What a pose moves, Newton multiplies in float32.
MOVED = ('joint_X_p', 'shape_transform', 'body_q', 'body_qd', 'joint_q', 'joint_qd')


def pose(rng):
    """Return a random pose, exact in float32."""
    quaternion = rng.normal(size=4)
    values = np.array([*rng.uniform(-1, 1, 3), *quaternion / np.linalg.norm(quaternion)])
    return tuple(float(x) for x in values.astype(np.float32))


def link(twins, rng, label):
    """Return a link of random mass and inertia."""
    factor = rng.normal(size=(3, 3)) * 0.1
    return twins.add_link(
        label=label,
        mass=float(rng.uniform(1, 2)),
        com=tuple(float(x) for x in rng.uniform(-0.1, 0.1, 3).astype(np.float32)),
        inertia=(factor @ factor.T + 0.25 * np.eye(3)).astype(np.float32),
        xform=pose(rng),
    )


def robot(rng, twins=None, labels=''):
    """Return a tree with a joint of every type, as one articulation."""
    twins = twins or Twins()
    links = [link(twins, rng, f'{labels}link{k}') for k in range(8)]
    ends = [(-1, 0), (0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    common = [
        {
            'parent': links[parent] if parent >= 0 else -1,
            'child': links[child],
            'label': f'{labels}joint{child}',
            'parent_xform': pose(rng),
            'child_xform': pose(rng),
        }
        for parent, child in ends
    ]
    limits = {
        'limit_lower': -1.5,
        'limit_upper': 0.75,
        'velocity_limit': 2.5,
        'effort_limit': 80.0,
    }
    joints = [
        twins.add_joint_free(**common[0]),
        twins.add_joint_revolute(**common[1], axis=(0.0, 0.0, 2.0), target_q=0.25, **limits),
        twins.add_joint_prismatic(**common[2], axis=1, armature=0.125, friction=0.5, **limits),
        twins.add_joint_ball(**common[3]),
        twins.add_joint_fixed(**common[4]),
        twins.add_joint_d6(
            **common[5],
            linear_axes=[
                dof(axis=(1.0, 0.0, 0.0), limit_lower=0.25, limit_upper=0.75),
                dof(axis=1),
            ],
            angular_axes=[dof(axis=(0.0, 0.0, -1.0), velocity_limit=3.0, target_qd=0.5)],
        ),
        twins.add_joint_distance(**common[6], min_distance=-0.25, max_distance=0.5),
        twins.add_joint_revolute(**common[7], axis=dof(axis=0, **limits), enabled=False),
    ]
    twins.add_articulation(joints, label=f'{labels}robot')
    return twins


def test_every_joint_type():
    ours, theirs = robot(np.random.default_rng(0)).finalize()
    # The coordinates of the free joint follow from poses, which Newton multiplies in float32.
    assert_equal_models(ours, theirs, rounded=('joint_q',))
    assert set(ours.joint_type.numpy()) == {int(kind) for kind in JointType}


def test_arrays_with_gradients():
    ours, theirs = robot(np.random.default_rng(1)).finalize(requires_grad=True)
    assert ours.joint_axis.requires_grad and ours.joint_q.requires_grad
    assert not ours.joint_type.requires_grad
    assert_equal_models(ours, theirs, rounded=('joint_q',))


@pytest.mark.parametrize('spacing', [(0, 0, 0), (2, 0, 0), (2, 3, 0), (2, 3, 4)])
def test_worlds_by_replicate(spacing):
    blueprint = robot(np.random.default_rng(2))
    scene = Twins()
    scene.add_shape_plane(label='floor')
    scene.replicate(blueprint, 5, spacing)
    scene.add_body(label='late', mass=1.0)
    ours, theirs = scene.finalize()
    assert ours.world_count == 5
    assert_equal_models(ours, theirs, rounded=MOVED)


def test_worlds_one_by_one_with_gravity():
    rng = np.random.default_rng(3)
    first, second = robot(rng), robot(rng, labels='other')
    scene = Twins()
    link_of_all = scene.add_link(label='global')
    scene.add_articulation([scene.add_joint_fixed(-1, link_of_all, label='hold')], label='hold')
    scene.begin_world(gravity=(1.0, 2.0, 3.0))
    robot(rng, scene, labels='direct')
    scene.end_world()
    scene.add_world(first, xform=pose(rng), label_prefix='left')
    scene.add_world(second, xform=pose(rng))
    ours, theirs = scene.finalize()
    assert_equal_models(ours, theirs, rounded=MOVED)
    assert ours.body_label[9] == 'left/link0'
    for gravity, world in (((0, 0, -1), 1), ((1, 0, 0), -1), ((0, 1, 0), None)):
        ours.set_gravity(gravity, world)
        theirs.set_gravity(gravity, world)
        np.testing.assert_array_equal(ours.gravity.numpy(), theirs.gravity.numpy())
    each = rng.normal(size=(3, 3))
    ours.set_gravity(each)
    theirs.set_gravity(each)
    np.testing.assert_array_equal(ours.gravity.numpy(), theirs.gravity.numpy())


def test_several_robots_in_one_world():
    rng = np.random.default_rng(4)
    blueprint = robot(rng)
    scene = Twins()
    scene.add_builder(blueprint, xform=pose(rng), label_prefix='left')
    scene.add_builder(blueprint, xform=pose(rng), label_prefix='right')
    scene.replicate(blueprint, 3, separate_worlds=False, xforms=[pose(rng) for _ in range(3)])
    ours, theirs = scene.finalize()
    assert_equal_models(ours, theirs, rounded=MOVED)


def shapes(twins, config):
    """Two arms with shapes of every kind in several groups."""
    mesh = newton.Mesh.create_box(0.5, 0.25, 0.125)
    bodies = [twins.add_link(label=f'b{k}', mass=0.5) for k in range(6)]
    joints = [
        twins.add_joint_revolute(bodies[k - 1] if k else -1, body, axis=2, label=f'j{k}')
        for k, body in enumerate(bodies)
    ]
    twins.add_articulation(joints, label='a')
    place = pose(np.random.default_rng(5))
    twins.add_shape_sphere(bodies[0], radius=0.5, cfg=config(), xform=place)
    twins.add_shape_box(bodies[1], hx=0.5, hy=0.25, hz=0.125, cfg=config(collision_group=2))
    twins.add_shape_capsule(bodies[2], radius=0.25, half_height=0.5, cfg=config(margin=0.0625))
    twins.add_shape_cylinder(
        bodies[3], radius=0.25, half_height=0.5, cfg=config(collision_group=-1)
    )
    twins.add_shape_cone(
        bodies[4], radius=0.25, half_height=0.5, cfg=config(collision_group=-2), xform=place
    )
    twins.add_shape_ellipsoid(bodies[5], rx=0.5, ry=0.25, rz=0.125, cfg=config(collision_group=0))
    twins.add_shape_mesh(bodies[5], mesh=mesh, cfg=config(), scale=(1.0, 2.0, 0.5), xform=place)
    twins.add_shape_sphere(bodies[5], cfg=config(has_shape_collision=False))
    twins.add_shape_sphere(bodies[0], cfg=config(collision_filter_parent=False), label='free')
    twins.add_shape_plane((0.0, 0.6, 0.8, -1.0), label='slope')
    twins.add_ground_plane(label='floor')
    twins.add_shape_collision_filter_pair(6, 0)
    return twins


def test_shapes_groups_and_pairs_without_mass():
    ours, theirs = shapes(Twins(), lambda **s: shape_config(density=0.0, **s)).finalize()
    assert 0 < ours.shape_contact_pair_count < 55
    # The pose of the slope and the radii come out of square roots, in float32 there.
    assert_equal_models(ours, theirs, rounded=('shape_transform', 'shape_collision_radius'))
    assert ours.body_shapes == {body: list(s) for body, s in theirs.body_shapes.items()}
    assert ours.shape_source[6] is theirs.shape_source[6]


@pytest.mark.parametrize('wall', [None, 0.03125])
def test_mass_of_shapes(wall):
    def config(**settings):
        settings.pop('margin', None)
        return shape_config(density=250.0, is_solid=wall is None, margin=wall or 0.0, **settings)

    twins = Twins()
    for add, sizes in (
        ('sphere', {'radius': 0.5}),
        ('box', {'hx': 0.5, 'hy': 0.25, 'hz': 0.125}),
        ('capsule', {'radius': 0.25, 'half_height': 0.5}),
        ('cylinder', {'radius': 0.25, 'half_height': 0.5}),
        ('cone', {'radius': 0.25, 'half_height': 0.5}),
        ('ellipsoid', {'rx': 0.5, 'ry': 0.25, 'rz': 0.125}),
    ):
        body = twins.add_body(label=add, mass=2.0, inertia=np.eye(3) * 0.25)
        place = pose(np.random.default_rng(6))
        getattr(twins, f'add_shape_{add}')(body, **sizes, cfg=config(), xform=place)
    locked = twins.add_body(label='locked', mass=1.0, lock_inertia=True)
    twins.add_shape_sphere(locked, cfg=config())
    if wall is None:
        twins.add_shape_mesh(
            twins.add_body(label='mesh'), mesh=newton.Mesh.create_box(0.5, 0.25, 0.125),
            cfg=config(), scale=(1.0, -2.0, 0.5), xform=place,
        )  # fmt: skip
    ours, theirs = twins.finalize()
    rounded = (*MASSES, 'shape_transform', 'shape_collision_radius')
    assert_equal_models(ours, theirs, rounded=rounded)
    assert ours.body_mass.numpy()[0] > 2.0


def test_shapes_in_many_worlds():
    blueprint = shapes(Twins(), lambda **s: shape_config(density=0.0, **s))
    small = Twins()
    small.add_shape_sphere(small.add_body(label='ball', mass=1.0), cfg=shape_config(density=0.0))
    scene = Twins()
    scene.add_shape_box(-1, cfg=shape_config(collision_group=-3), label='table')
    scene.replicate(blueprint, 3, (4, 0, 0))
    scene.replicate(small, 2)
    scene.replicate(blueprint, 1)
    scene.add_ground_plane(label='ground')
    ours, theirs = scene.finalize()
    assert_equal_models(ours, theirs, rounded=(*MOVED, 'shape_collision_radius'))


def test_mimics():
    twins = robot(np.random.default_rng(7))
    twins.add_constraint_mimic(2, 1, 0.25, -2.0, label='m')
    twins.add_constraint_mimic(7, 1, enabled=False)
    scene = Twins()
    scene.replicate(twins, 3)
    ours, theirs = scene.finalize()
    assert_equal_models(ours, theirs, rounded=('joint_q',))
    assert ours.constraint_mimic_label == theirs.constraint_mimic_label
    assert ours.mimic_driver == {2: (1, 0.25, -2.0), 10: (9, 0.25, -2.0), 18: (17, 0.25, -2.0)}


def test_mimics_by_joint():
    twins = robot(np.random.default_rng(7))
    twins.set_joint_mimic(2, 1, coeffs=(0.25, -2.0))
    twins.set_joint_mimic(7, 1)
    twins.set_joint_mimic(7, None)
    ours, theirs = twins.finalize()
    for name in ('joint_mimic_joint', 'joint_mimic_coeffs'):
        here, there = getattr(ours, name), getattr(theirs, name)
        assert here.dtype == there.dtype
        np.testing.assert_array_equal(here.numpy(), there.numpy())


def test_numbers_of_enums():
    from ros_ik.model import BodyFlags
    from ros_ik.model import GeoType
    from ros_ik.model import Model
    from ros_ik.model import ShapeFlags

    for ours, theirs in (
        (BodyFlags, newton.BodyFlags),
        (GeoType, newton.GeoType),
        (ShapeFlags, newton.ShapeFlags),
        (Model.AttributeAssignment, newton.Model.AttributeAssignment),
        (Model.AttributeFrequency, newton.Model.AttributeFrequency),
    ):
        for member in ours:
            # Newton has retired equality constraints; the document that we follow has them.
            if member.name != 'EQUALITY_CONSTRAINT':
                assert theirs[member.name] == member, member


def test_frequencies_of_fields():
    ours, theirs = robot(np.random.default_rng(8)).finalize()
    compared = 0
    for name, frequency in ours.attribute_frequency.items():
        if name in theirs.attribute_frequency:
            assert theirs.get_attribute_frequency(name) == frequency, name
            compared += 1
    assert compared > 40
