# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every keyword that newton.ModelBuilder takes is taken here, with the same default or meaning."""

import dataclasses
import inspect
import warnings

from model.building.newton_twins import newton
import numpy as np
import pytest
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model import ShapeFlags

pytestmark = pytest.mark.oracle

# Methods of Newton for simulation, and importers of other formats, which are not here.
ABSENT = {
    'add_actuator', 'add_attachment_particle_body', 'add_body_variants', 'add_cloth_grid',
    'add_cloth_mesh', 'add_custom_values_batch', 'add_deformable_visual_mesh', 'add_edge',
    'add_edges', 'add_joint_rod', 'add_mjcf', 'add_muscle', 'add_particle', 'add_particle_grid',
    'add_particles', 'add_rod', 'add_shape_gaussian', 'add_shape_heightfield', 'add_site',
    'add_soft_grid', 'add_soft_mesh', 'add_spring', 'add_tendon', 'add_tetrahedron',
    'add_triangle', 'add_triangles', 'add_usd', 'approximate_meshes', 'collapse_fixed_joints',
    'color', 'get_custom_frequency_keys', 'plot_articulation', 'request_contact_attributes',
    'request_state_attributes', 'set_coloring', 'validate_joint_ordering',
}  # fmt: skip
METHODS = sorted(
    name
    for name, _ in inspect.getmembers(newton.ModelBuilder, inspect.isfunction)
    if not name.startswith('_') and name not in ABSENT
)
URDF = """<robot name="r"><link name="base"/><link name="arm"/>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
# Values of arguments without a default.
REQUIRED = {
    'label': 'l', 'name': 'heat', 'type': newton.GeoType.BOX, 'joint_type': newton.JointType.FIXED,
    'reference_joint': 0, 'joint0': 1, 'joint1': 0, 'source': URDF, 'shape_a': 0, 'shape_b': 1,
    'parent': 0, 'child': 2, 'joints': [2], 'body': 0, 'joint': 1, 'copy_count': 2,
    'device': 'cpu', 'frequency': 0, 'dof': None,
}  # fmt: skip
# Other values than the default, where the default has no effect.
SPECIAL = {
    'world_count': 2, 'base_joint': {'joint_type': newton.JointType.FIXED}, 'floating': True,
    'label_prefixes': ['a'], 'xforms': [None], 'mesh': None, 'dtype': wp.float32,
}  # fmt: skip


def builder_with(bodies=3):
    """Three links on two revolute joints and two shapes; the third link is loose."""
    builder = ModelBuilder()
    links = [builder.add_link(mass=1.0) for _ in range(bodies)]
    builder.add_joint_revolute(-1, links[0])
    builder.add_joint_revolute(links[0], links[1])
    for link in links[:2]:
        builder.add_shape_sphere(link)
    return builder


def test_no_method_is_missing_unnoticed():
    assert ABSENT.isdisjoint(vars(ModelBuilder))
    missing = [name for name in METHODS if not hasattr(ModelBuilder, name)]
    assert missing == []


@pytest.mark.parametrize('name', METHODS)
def test_every_keyword_is_taken(name):
    theirs = inspect.signature(getattr(newton.ModelBuilder, name)).parameters
    named = [p for p in theirs.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)][1:]
    needed = {p.name: REQUIRED.get(p.name) for p in named if p.default is p.empty}
    if 'builder' in needed:
        needed['builder'] = builder_with(1 + 2)
    if 'joints' in needed:
        needed['joints'] = [0, 1]
    # A test of 'unexpected keyword' alone: other tests check the effects of the values.
    for parameter in named:
        value = SPECIAL.get(parameter.name, parameter.default)
        arguments = dict(needed)
        if value is not parameter.empty:
            arguments[parameter.name] = value
        try:
            getattr(builder_with(), name)(**arguments)
        except TypeError as error:
            assert 'unexpected' not in str(error), error
            assert 'positional' not in str(error), error
        except (AttributeError, ValueError):
            pass


@pytest.mark.parametrize('name', METHODS)
def test_defaults_that_are_spelled_out_are_newtons(name):
    """Ours may be None, or the same under another type; 'mesh' has none here."""
    ours = inspect.signature(getattr(ModelBuilder, name)).parameters
    for parameter in inspect.signature(getattr(newton.ModelBuilder, name)).parameters.values():
        if parameter.name not in ours or parameter.name == 'mesh':
            continue
        mine = ours[parameter.name].default
        if (name, parameter.name) == ('add_link', 'com'):
            assert mine == (0.0, 0.0, 0.0)  # Newton's value for None
        elif mine is not None and parameter.default is not parameter.empty:
            assert mine == parameter.default, parameter.name


def test_the_settings_of_joints_and_shapes_have_newtons_names():
    for ours, theirs in (
        (ModelBuilder.JointDofConfig, newton.ModelBuilder.JointDofConfig),
        (ModelBuilder.ShapeConfig, newton.ModelBuilder.ShapeConfig),
    ):
        names = set(inspect.signature(theirs).parameters)
        assert names <= {field.name for field in dataclasses.fields(ours)}
    assert {f.name: int(f) for f in ShapeFlags}.items() <= {
        f.name: int(f) for f in newton.ShapeFlags
    }.items()


def test_actuation_is_accepted_and_changes_nothing():
    gains = {
        'target_ke': 100.0, 'target_kd': 5.0, 'limit_ke': 1e3, 'limit_kd': 10.0, 'damping': 0.1,
        'stiffness': 0.2, 'rest_q': 0.3, 'actuator_mode': newton.JointTargetMode.POSITION,
    }  # fmt: skip
    models = []
    for given in ({}, gains):
        builder = ModelBuilder()
        links = [builder.add_link(mass=1.0) for _ in range(4)]
        builder.add_joint_revolute(-1, links[0], limit_lower=-1.0, limit_upper=2.0, **given)
        axis = ModelBuilder.JointDofConfig(axis=(0, 1, 0), limit_lower=-0.5, **given)
        builder.add_joint_prismatic(links[0], links[1], axis=axis)
        ball = {name: gains[name] for name in ('damping', 'stiffness', 'actuator_mode')}
        builder.add_joint_ball(links[1], links[2], **(ball if given else {}))
        builder.add_joint_d6(links[2], links[3], angular_axes=[axis])
        models.append(builder.finalize('cpu', skip_all_validations=bool(given)))
    for name in ('joint_limit_lower', 'joint_limit_upper', 'joint_target_q', 'joint_axis'):
        np.testing.assert_array_equal(*(getattr(model, name).numpy() for model in models))


def test_older_names_and_defaults_of_joint_targets():
    twins = ModelBuilder(), newton.ModelBuilder()
    models = []
    for builder in twins:
        builder.default_joint_cfg.limit_lower = -0.25
        builder.default_joint_cfg.armature = 0.5
        links = [builder.add_link(mass=1.0) for _ in range(3)]
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            joints = [
                builder.add_joint_revolute(-1, links[0], target_pos=0.5, target_vel=0.1),
                builder.add_joint_prismatic(links[0], links[1], limit_lower=-0.5),
                builder.add_joint_ball(links[1], links[2], friction=0.2),
            ]
        builder.add_articulation(joints)
        models.append(builder.finalize('cpu', skip_validation_inertia=True))
    for name in (
        'joint_target_q', 'joint_target_qd', 'joint_limit_lower', 'joint_armature',
        'joint_friction', 'joint_axis',
    ):  # fmt: skip
        np.testing.assert_allclose(
            *(getattr(model, name).numpy() for model in models), atol=1e-7, err_msg=name
        )


@pytest.mark.parametrize('up', ['X', 'Y', 'Z'])
def test_up_is_where_newton_has_it(up):
    models = []
    for library in (ModelBuilder, newton.ModelBuilder):
        builder = library(newton.Axis[up])
        builder.add_ground_plane(height=0.3)
        body = builder.add_link(mass=1.0)
        builder.add_articulation([builder.add_joint_revolute(-1, body)])
        builder.add_shape_box(body, as_site=True, color=(1.0, 0.0, 0.0), opacity=0.5)
        models.append(builder.finalize('cpu', skip_validation_inertia=True))
    ours, theirs = models
    assert ours.shape_label[0] == theirs.shape_label[0] == 'ground_plane'
    np.testing.assert_allclose(ours.gravity.numpy()[0], theirs.gravity.numpy()[0], atol=1e-6)
    np.testing.assert_array_equal(ours.shape_flags.numpy(), theirs.shape_flags.numpy())
    np.testing.assert_array_equal(
        ours.shape_collision_group.numpy(), theirs.shape_collision_group.numpy()
    )
    mine, other = (model.shape_transform.numpy()[0] for model in models)
    np.testing.assert_allclose(mine[:3], other[:3], atol=1e-6)
    assert abs(mine[3:] @ other[3:]) == pytest.approx(1.0, abs=1e-6)
    assert ours.body_mass.numpy()[0] == pytest.approx(1.0)  # a site weighs nothing


def test_an_unknown_name_is_refused_by_the_method_that_was_called():
    builder = builder_with()
    for name, arguments in (
        ('add_joint_revolute', (1, 2)), ('add_joint_fixed', (1, 2)), ('add_joint_ball', (1, 2)),
        ('add_joint_free', (2,)), ('add_joint_d6', (1, 2)), ('add_joint_distance', (1, 2)),
        ('add_shape_box', (0,)), ('add_shape_plane', ()), ('add_urdf', (URDF,)),
        ('finalize', ('cpu',)),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=rf'{name}\(\) got an unexpected keyword .*lable'):
            getattr(builder, name)(*arguments, lable='x')
    with pytest.raises(TypeError, match="did you mean 'label'"):
        builder.add_joint_fixed(1, 2, lable='x')
    with pytest.raises(ArgumentError, match='barrel_radius'):
        builder.add_shape_cylinder(0, barrel_radius=0.1)


def test_devices_that_do_not_exist_are_named():
    for device in ('gpu', 'cuda:77', 3.5):
        with pytest.raises(ArgumentError, match="device must be one of 'cpu'"):
            Model.from_urdf(URDF, device=device)
        with pytest.raises(ArgumentError, match="device must be one of 'cpu'"):
            builder_with().finalize(device)
