# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Options of add_urdf: the oracle is the same call to Newton, compared link by link."""

import warnings

from model.building.newton_twins import newton
import numpy as np
import pytest
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS
from support.solvers.ik_problems import newton_poses
from support.solvers.ik_problems import to_warp
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.kinematics import eval_com
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_mass_matrix
from ros_ik.model import JointType
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model import ShapeFlags

URDF = """
<robot name="crane">
  <link name="foot"><inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0"/>
    </inertial><collision><geometry><box size="1 0.5 0.1"/></geometry></collision></link>
  <link name="base">
    <inertial><mass value="3"/><origin xyz="0.1 0 0.2"/>
      <inertia ixx="0.3" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
    <collision><origin xyz="0 0.1 0"/><geometry><cylinder radius="0.1" length="0.4"/></geometry>
    </collision>
  </link>
  <link name="mast"><inertial><mass value="2"/><origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/>
      <inertia ixx="0.2" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><capsule radius="0.05" length="0.6" height="0.6"/></geometry></collision>
  </link>
  <link name="boom"><inertial><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.6 0.1 0.1"/></geometry></collision></link>
  <link name="camera"><inertial><mass value="0.5"/><origin xyz="0.01 0.02 0.03"/>
      <inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin rpy="0.3 0 0"/><geometry><box size="0.1 0.1 0.2"/></geometry></visual></link>
  <link name="hook"><inertial><mass value="0.2"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="twin"/>
  <joint name="hold" type="fixed"><parent link="foot"/><child link="base"/>
    <origin xyz="0.1 0.2 0.3" rpy="0 0 0.5"/></joint>
  <joint name="turn" type="revolute"><parent link="base"/><child link="mast"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.4"/><limit lower="-2" upper="2" velocity="1" effort="9"/></joint>
  <joint name="slide" type="prismatic"><parent link="mast"/><child link="boom"/>
    <axis xyz="1 0 0"/><origin xyz="0 0.1 0.5" rpy="0 0.3 0"/>
    <limit lower="-0.4" upper="0.5" velocity="0.7" effort="9"/></joint>
  <joint name="mount" type="fixed"><parent link="boom"/><child link="camera"/>
    <origin xyz="0.3 0 0.1" rpy="0.2 0.1 0"/></joint>
  <joint name="lift" type="prismatic"><parent link="camera"/><child link="hook"/>
    <axis xyz="0 0 1"/><origin xyz="0 0 -0.2"/>
    <limit lower="-1" upper="1" velocity="2" effort="9"/></joint>
  <joint name="twist" type="revolute"><parent link="foot"/><child link="twin"/>
    <axis xyz="0 1 0"/><mimic joint="slide" multiplier="0.5" offset="0.1"/>
    <limit lower="-2" upper="2" velocity="1" effort="9"/></joint>
</robot>"""
XFORM = [0.5, -0.3, 0.2, *(np.array([0.1, 0.2, 0.3, 0.9]) / np.linalg.norm([0.1, 0.2, 0.3, 0.9]))]


def short(label):
    """Newton puts the robot's name before each label."""
    return label.split('/', 1)[-1]


def twins(carrier=False, base_axis=None, **options):
    """Our model and Newton's of the same description, on a joint about an axis if one is given."""
    models = []
    for library in (ModelBuilder, newton.ModelBuilder):
        builder = library()
        if base_axis is not None:
            dof = library.JointDofConfig(axis=base_axis)
            kind = newton.JointType.REVOLUTE
            options['base_joint'] = {
                'joint_type': kind, 'angular_axes': [dof], 'label': 'root_joint'
            }  # fmt: skip
        if carrier:
            body = builder.add_link(label='carrier', mass=1.0)
            builder.add_articulation(
                [builder.add_joint_revolute(-1, body, axis=(0.0, 1.0, 0.0), label='carry')]
            )
            options['parent_body'] = body
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            builder.add_urdf(URDF, **options)
            models.append(builder.finalize('cpu', skip_validation_inertia=True))
    return models


def coordinates(ours, theirs, n=6):
    """Return the same random configurations for both, joint by joint."""
    rng = np.random.default_rng(8)
    mine = ours.random_joint_q(n, rng)
    other = np.tile(theirs.joint_q.numpy().astype(float), (n, 1))
    names = [short(label) for label in theirs.joint_label]
    for joint, label in enumerate(ours.joint_label):
        starts = ours.joint_q_start.numpy()
        count = starts[joint + 1] - starts[joint]
        there = names.index(label) if label in names else 0
        if count == 0 or (label not in names and not label.endswith('root_joint')):
            continue
        first = theirs.joint_q_start.numpy()[there]
        other[:, first : first + count] = mine[:, starts[joint] : starts[joint + 1]]
    return mine, other.astype(np.float32)


def assert_same_poses(ours, theirs):
    """Every link that both have is at the same place, and both have the same links."""
    links = [short(label) for label in theirs.body_label]
    assert sorted(links) == sorted(ours.body_label)
    mine, other = coordinates(ours, theirs)
    body_q = np.zeros((len(mine), ours.body_count, 7))
    eval_fk(ours, mine, body_q)
    for link, label in enumerate(ours.body_label):
        expected = newton_poses(theirs, other, links.index(label))
        # Newton computes in float32.
        np.testing.assert_allclose(body_q[:, link, :3], expected[:, :3], atol=2e-6, err_msg=label)
        dot = np.abs(np.sum(body_q[:, link, 3:] * expected[:, 3:], axis=1))
        np.testing.assert_allclose(dot, 1.0, atol=2e-6, err_msg=label)


def assert_same_links(ours, theirs, names):
    """Arrays of links and joints agree by label."""
    for name in names:
        labels = 'joint_label' if name.startswith('joint') else 'body_label'
        there = [short(label) for label in getattr(theirs, labels)]
        mine, other = getattr(ours, name).numpy(), getattr(theirs, name).numpy()
        if len(mine) != len(getattr(ours, labels)):  # of degrees of freedom
            for joint, label in enumerate(ours.joint_label):
                if label in ('turn', 'slide', 'lift', 'twist'):
                    a = ours.joint_qd_start.numpy()[joint]
                    b = theirs.joint_qd_start.numpy()[there.index(label)]
                    np.testing.assert_allclose(mine[a], other[b], rtol=1e-6, err_msg=label)
            continue
        order = [there.index(label) for label in getattr(ours, labels)]
        np.testing.assert_allclose(mine, other[order], rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.oracle
@pytest.mark.parametrize(
    'options',
    [
        {},
        {'scale': 2.5},
        {'xform': XFORM},
        {'floating': False, 'xform': XFORM, 'scale': 0.5},
        {'up_axis': newton.Axis.Y, 'xform': XFORM},
        {'collapse_fixed_joints': True},
        {'collapse_fixed_joints': True, 'xform': XFORM, 'scale': 2.0},
        {'carrier': True, 'xform': XFORM},
        {'carrier': True, 'base_axis': (0.0, 0.6, 0.8), 'xform': XFORM},
        {'base_axis': (1.0, 0.0, 0.0), 'xform': XFORM},
        {'base_axis': (1.0, 0.0, 0.0), 'xform': XFORM, 'override_root_xform': True},
        {'joint_ordering': 'bfs'},
        {'joint_ordering': None, 'bodies_follow_joint_ordering': False},
        {'override_root_xform': True, 'xform': XFORM},
    ],
    ids=lambda options: '-'.join(options) or 'plain',
)  # fmt: skip
def test_links_are_where_newton_has_them(options):
    ours, theirs = twins(**options)
    assert_same_poses(ours, theirs)
    assert_same_links(ours, theirs, ['body_mass', 'body_com'])
    names = ['joint_limit_lower', 'joint_limit_upper', 'joint_velocity_limit']
    assert_same_links(ours, theirs, names)
    if not options.get('collapse_fixed_joints'):  # Newton adds inertias about other points
        assert_same_links(ours, theirs, ['body_inertia'])
    assert ours.articulation_count == theirs.articulation_count
    twist, slide = ours.joint_index('twist'), ours.joint_index('slide')
    there = [short(label) for label in theirs.joint_label]
    assert ours.mimic_driver[twist][0] == slide
    np.testing.assert_allclose(
        ours.mimic_driver[twist][1:],
        theirs.joint_mimic_coeffs.numpy()[there.index('twist')],
        rtol=1e-6,
    )
    if 'joint_ordering' in options:
        ordered = [label for label in ours.joint_label if label != 'root_joint']
        assert ordered == [label for label in there if label != 'fixed_base']
    if 'bodies_follow_joint_ordering' in options:
        assert ours.body_label == [short(label) for label in theirs.body_label]


@pytest.mark.oracle
@pytest.mark.parametrize(
    'options',
    [
        {'scale': 2.0}, {'up_axis': newton.Axis.X}, {'parse_visuals_as_colliders': True},
        {'hide_visuals': True}, {'enable_self_collisions': False},
        {'collapse_fixed_joints': True, 'xform': XFORM},
    ],
    ids=lambda options: '-'.join(options),
)  # fmt: skip
def test_shapes_are_what_newton_has(options):
    ours, theirs = twins(**options)
    q = np.zeros((1, ours.joint_coord_count))
    body_q = np.zeros((1, ours.body_count, 7))
    eval_fk(ours, q, body_q)

    def placed(model, where):
        """Kind, size and place of shapes, in an order of their own."""
        rows = []
        for shape in range(model.shape_count):
            pose = model.shape_transform.numpy()[shape]
            body = model.shape_body.numpy()[shape]
            pose = pose if body < 0 else _compose(where[short(model.body_label[body])], pose)
            flags = int(model.shape_flags.numpy()[shape])
            collides = bool(flags & ShapeFlags.COLLIDE_SHAPES)
            drawn = bool(flags & ShapeFlags.VISIBLE) if not collides else None
            key = (int(model.shape_type.numpy()[shape]), collides, drawn)
            size = model.shape_scale.numpy()[shape]
            rows.append((key, tuple(np.round(size, 4)), pose))
        return sorted(rows, key=lambda row: (str(row[0]), row[1]))

    where = dict(zip(ours.body_label, body_q[0], strict=True))
    for (kind, size, mine), (other_kind, other_size, other) in zip(
        placed(ours, where), placed(theirs, where), strict=True
    ):
        assert kind == other_kind
        used = 2 if kind[0] in (newton.GeoType.CAPSULE, newton.GeoType.CYLINDER) else 3
        used = 1 if kind[0] == newton.GeoType.SPHERE else used
        np.testing.assert_allclose(size[:used], other_size[:used], atol=1e-4)
        np.testing.assert_allclose(mine[:3], other[:3], atol=2e-6)
        assert abs(mine[3:] @ other[3:]) == pytest.approx(1.0, abs=2e-6)
    if options.get('enable_self_collisions') is False:
        assert ours.shape_contact_pair_count == 0


def _compose(first, second):
    """Return first * second by Warp, shape [7]."""
    return np.array(wp.transform(*first) * wp.transform(*second))


@pytest.mark.parametrize('path', SOME_URDFS, ids=SOME_IDS)
def test_merged_links_move_and_weigh_as_before(path):
    """The whole robot: inertia matrix, centre of mass and poses of the links that remain."""
    whole = Model.from_urdf(path.read_text(), device='cpu', floating=True)
    builder = ModelBuilder()
    builder.add_urdf(path.read_text(), floating=True, collapse_fixed_joints=True)
    merged = builder.finalize('cpu')
    kinds = whole.joint_type.numpy()
    assert merged.body_count == whole.body_count - np.sum(kinds == JointType.FIXED)
    assert not np.any(merged.joint_type.numpy() == JointType.FIXED)
    q = whole.random_joint_q(3, np.random.default_rng(0))
    results = []
    for model in (whole, merged):
        body_q, com = np.zeros((3, model.body_count, 7)), np.zeros((3, 3))
        eval_fk(model, q, body_q)
        matrix = np.zeros((3, model.joint_dof_count, model.joint_dof_count))
        eval_mass_matrix(model, q, matrix)
        if model.body_mass64.sum() > 0.0:
            eval_com(model, q, com)
        results.append((body_q, matrix, com))
    kept = [whole.body_index(label) for label in merged.body_label]
    np.testing.assert_allclose(results[0][0][:, kept], results[1][0], atol=1e-9)
    for before, after in zip(results[0][1:], results[1][1:], strict=True):
        np.testing.assert_allclose(before, after, atol=1e-9 * max(1.0, np.abs(before).max()))


def test_a_massless_root_is_merged_with_what_is_fixed_to_it():
    ours, theirs = twins(floating=True, collapse_massless_fixed_root=True)
    assert sorted(ours.body_label) == sorted(short(label) for label in theirs.body_label)
    assert 'base' not in ours.body_label and 'camera' in ours.body_label
    foot = ours.body_index('foot')
    assert ours.body_mass.numpy()[foot] == pytest.approx(3.0)


def test_masses_of_shapes_in_the_place_of_those_described():
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 500.0
    builder.add_urdf(URDF, ignore_inertial_definitions=True)
    mass = dict(zip(builder.body_label, builder.body_mass, strict=True))
    assert mass['foot'] == pytest.approx(500.0 * 1.0 * 0.5 * 0.1)
    assert mass['base'] == pytest.approx(500.0 * np.pi * 0.01 * 0.4)
    assert mass['camera'] == 0.0
    ours, theirs = twins(ignore_inertial_definitions=True)
    assert_same_links(ours, theirs, ['body_mass', 'body_com', 'body_inertia'])


def test_a_description_comes_as_text_or_as_a_file(tmp_path):
    package = tmp_path / 'crane'
    (package / 'urdf').mkdir(parents=True)
    (package / 'meshes').mkdir()
    (package / 'meshes/hook.stl').write_bytes(b'solid x')
    mesh = '<collision><geometry><mesh filename="{}"/></geometry></collision></link>'
    names = 'package://crane/meshes/hook.stl', '../meshes/hook.stl', 'hook.stl'
    text = URDF.replace('<link name="twin"/>', '<link name="twin">' + mesh.format(names[0]))
    path = package / 'urdf/crane.urdf'
    path.write_text(text)
    for source in (path, str(path), path.as_uri()):
        builder = ModelBuilder()
        builder.add_urdf(source)
        assert builder.shape_source[-1].path == package / 'meshes/hook.stl'
        assert 'hook' in builder.body_label
    builder = ModelBuilder()
    builder.add_urdf('package://crane/urdf/crane.urdf', package_dirs=[tmp_path])
    assert builder.body_count == 7
    builder = ModelBuilder()
    builder.add_urdf(text=text)
    assert builder.shape_source[-1].path is None
    assert Model.from_urdf(path, device='cpu').body_count == 7
    # A string is text: robot_description may come from anywhere.
    with pytest.raises(ModelError, match='looks like a path: read the file'):
        Model.from_urdf(str(path), device='cpu')
    with pytest.raises(ModelError, match='neither XML nor the path of a file'):
        ModelBuilder().add_urdf(str(tmp_path / 'missing.urdf'))
    with pytest.raises(ModelError, match='expected XML or the path of a file, got int'):
        ModelBuilder().add_urdf(3)


def test_options_that_do_not_go_together_are_named():
    def carried():
        builder = ModelBuilder()
        bodies = [builder.add_link() for _ in range(2)]
        for body in bodies:
            builder.add_articulation([builder.add_joint_revolute(-1, body)])
        return builder

    base = {'joint_type': JointType.FREE}
    for options, message in (
        ({'floating': True, 'base_joint': base}, 'base_joint: give it or floating'),
        ({'base_joint': {**base, 'parent': 0}}, 'base_joint must not hold parent'),
        ({'parent_body': 7}, r'parent_body: expected an index in \[-1, 2\)'),
        ({'parent_body': 0}, 'must belong to the articulation that was added last'),
        ({'parent_body': 1, 'floating': True}, 'floating'),
        ({'override_root_xform': True}, 'override_root_xform needs xform'),
        ({'scale': 0.0}, 'scale'),
        ({'scale': -1.0}, 'scale'),
        ({'scale': float('nan')}, 'scale'),
        ({'up_axis': 'w'}, 'up_axis'),
        ({'joint_ordering': 'best'}, 'joint_ordering'),
        ({'text': URDF}, 'source'),
    ):
        with pytest.raises(ArgumentError, match=message):
            carried().add_urdf(URDF, **options)
    with pytest.raises(ArgumentError, match='source'):
        carried().add_urdf()


def test_a_robot_carried_by_another_is_part_of_it():
    builder = ModelBuilder()
    body = builder.add_link(label='carrier', mass=1.0)
    builder.add_articulation([builder.add_joint_revolute(-1, body)])
    builder.add_shape_box(body)
    builder.add_urdf(URDF, parent_body=body, collapse_fixed_joints=True)
    model = builder.finalize('cpu')
    assert model.articulation_count == 1
    assert model.joint_articulation.numpy().tolist() == [0] * model.joint_count
    root = model.body_index('foot')
    shapes = [shape for shape in model.body_shapes[root] if model.shape_flags.numpy()[shape] & 2]
    box = model.body_shapes[body][0]
    assert all((box, shape) in model.shape_collision_filter_pairs for shape in shapes)
    group = model.joint_group('carrier:hook')
    q = to_warp(np.zeros((1, model.joint_coord_count)))
    assert group.n_variables == 3 and q.shape[1] == 5
