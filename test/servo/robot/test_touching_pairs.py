# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs that touch by design: excluded pairs are judged by coal at Pinocchio's poses."""

from xml.etree import ElementTree

import numpy as np
import pytest
from support.rigs.servo_rig import Rig
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import coal_distance
from support.robots.collision_oracle import CollisionOracle
from support.robots.collision_oracle import PACKAGES
from support.robots.collision_oracle import pin
from support.robots.collision_oracle import urdf_path
from support.robots.robots import PinocchioRobot

from ros_ik.demo.robots import find_robot
from ros_ik.model import GeoType
from ros_ik.model import Model
from ros_ik.model.hulls.fit_cache import FitCache
from ros_ik.node.model_loading import srdf_tool
from ros_ik.servo.robot import touching_pairs as module
from ros_ik.servo.robot.collision_setup import robot_shapes
from ros_ik.servo.robot.touching_pairs import touching_pairs
from ros_ik.settings import read_settings

MARGIN = 0.01
SETTINGS = read_settings({'ee.frame': 'any', 'barriers.self_collision.margin': MARGIN})
# Tolerance of the judge's sampling around 5 %, four standard deviations at 300 samples.
FREE_SHARE, SLACK = 0.05, 0.05
SAMPLES = 300


@pytest.fixture(scope='module')
def tiago():
    """Return the model of TIAGo with its meshes, which has no SRDF, and its primitives."""
    text = find_robot('tiago').urdf_path.read_text()
    model = Model.from_urdf(text, package_paths=PACKAGES, device='cpu')
    with pytest.MonkeyPatch.context() as patch:
        # The first start leaves some of the meshes uncut.
        patch.setattr('ros_ik.servo.robot.shape_fits._CUTTING_TIME', 600.0)
        return model, robot_shapes(model, SETTINGS)


def left_out(model, shapes):
    """Return the excluded pairs of primitives, [n, 2], and flags of those that always touch."""
    pairs = shapes.geometry.self_pairs()
    watched = {tuple(pair) for pair in shapes.pairs.tolist()}
    pairs = np.array([pair for pair in pairs.tolist() if tuple(pair) not in watched])
    found = touching_pairs(
        shapes.geometry, shapes.geometry.self_pairs(), MARGIN, 0.0, FitCache.beside_kernels()
    )
    assert len(pairs) == np.sum(found.always | found.thick)
    always = {tuple(pair) for pair in shapes.geometry.self_pairs()[found.always].tolist()}
    return pairs, np.array([tuple(pair) in always for pair in pairs.tolist()])


def configurations(model, seed):
    """Return independent configurations; in half of them, joints are at their limits."""
    rng = np.random.default_rng(seed)
    q = model.random_joint_q(SAMPLES, rng)
    lower, upper = model.limits64()[:2]
    starts, dofs = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
    for joint in range(model.joint_count):
        if starts[joint + 1] - starts[joint] == 1 == dofs[joint + 1] - dofs[joint]:
            for row in range(SAMPLES // 2):
                end = rng.choice([lower[dofs[joint]], upper[dofs[joint]], np.nan])
                if np.isfinite(end):
                    q[row, starts[joint]] = end
    return model.apply_mimic(q)


def coal_primitive(geometry, row):
    """Return a primitive in coal, with a radius to subtract from distances."""
    kind, size, radius = (getattr(geometry, name)[row] for name in ('kind', 'size', 'radius'))
    if kind == GeoType.CAPSULE:
        return coal.Capsule(radius, 2.0 * size[2]), 0.0
    if kind == GeoType.SPHERE:
        return coal.Sphere(radius), 0.0
    if kind == GeoType.BOX:
        return coal.Box(*(2.0 * size)), radius
    assert kind == GeoType.CYLINDER, kind
    return coal.Cylinder(size[0], 2.0 * size[2]), radius


def transform(pose):
    rotation = pin.Quaternion(*pose[[6, 3, 4, 5]]).toRotationMatrix()
    return coal.Transform3s(rotation, pose[:3])


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
def test_what_is_left_out_always_touches_or_never_does(tiago):
    model, shapes = tiago
    geometry = shapes.geometry
    pairs, always = left_out(model, shapes)
    assert always.sum() > 20 and (~always).sum() > 20
    robot = PinocchioRobot(find_robot('tiago').urdf_path.read_text(), model)
    rows = np.unique(pairs[always])
    solids = {k: (*coal_primitive(geometry, k), transform(geometry.pose[k])) for k in rows}
    oracle = CollisionOracle('tiago', model)
    free = np.zeros(int(always.sum()))
    thick = np.unique(np.sort(geometry.shape[pairs[~always]], axis=1), axis=0)
    for count, q in enumerate(configurations(model, seed=77)):
        assert oracle.distances(q, thick).min() > 0.0
        # The share is one of random configurations, not of those at limits.
        if count < SAMPLES // 2:
            continue
        poses = robot.poses(q)
        placed = {}
        for k, (solid, radius, inside) in solids.items():
            position, rotation = poses[model.body_label[geometry.body[k]]]
            placed[k] = solid, coal.Transform3s(rotation, position) * inside, radius
        for k, (a, b) in enumerate(pairs[always].tolist()):
            (one, at, more), (two, to, beside) = placed[a], placed[b]
            if coal_distance(one, at, two, to)[0] - more - beside >= MARGIN:
                # Or their shapes are near, by any of their primitives.
                both = np.sort(geometry.shape[[a, b]])[None]
                free[k] += oracle.distances(q, both)[0] >= MARGIN
    assert np.max(free) / (SAMPLES - SAMPLES // 2) <= FREE_SHARE + SLACK


def test_a_robot_whose_fits_touch_reaches_its_targets(tiago):
    rig = Rig.shared('tiago', model=tiago[0], barriers__world__enabled=False, control_rate=50.0)
    targets = [rig.reachable(seed, 0.4) for seed in range(3)]
    for target in targets:
        rig.aim(target)
        rig.tick(seconds=6.0)
        # 43 to 166 mm where pairs of the torso and the arm are watched that cannot meet.
        assert np.linalg.norm(rig.pose()[:3] - target[:3]) < 1e-3


def test_pairs_that_can_meet_from_free_configurations_stay_watched(tiago):
    _, shapes = tiago
    labels = shapes.geometry.model.body_label
    body = shapes.geometry.body
    watched = {frozenset((labels[body[a]], labels[body[b]])) for a, b in shapes.pairs.tolist()}
    for pair in (
        # The elbow folds onto them; at zero the first joint is in the column.
        ('torso_fixed_column_link', 'arm_1_link'),
        ('torso_lift_link', 'arm_4_link'),
        ('base_link', 'wrist_ft_link'),
        ('head_2_link', 'hand_palm_link'),
        ('hand_thumb_flex_2_link', 'hand_index_flex_3_link'),
    ):
        assert frozenset(pair) in watched, pair


BALL = '<collision><origin xyz="{}"/><geometry><sphere radius="{}"/></geometry></collision>'


def chain(*balls, names='abcd'):
    """Return an arm of links 0.3 m apart, each with a ball (place, radius)."""
    links = [
        f'<link name="{name}">{BALL.format(*ball)}</link>'
        for name, ball in zip(names, balls, strict=True)
    ]
    joints = [
        f'<joint name="j{k}" type="revolute"><parent link="{names[k]}"/>'
        f'<child link="{names[k + 1]}"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-2.9" upper="2.9" velocity="1" effort="1"/></joint>'
        for k in range(len(balls) - 1)
    ]
    return f'<robot name="r">{"".join(links + joints)}</robot>'


def shapes_of(text, srdf=None, **values):
    model = Model.from_urdf(text, srdf=srdf, device='cpu')
    return model, robot_shapes(model, read_settings({'ee.frame': 'any', **values}))


def test_each_kind_of_pair():
    # The second ball is at the joint to the third link, the last one reaches back to the first.
    text = chain(('0 0 0', 0.05), ('0.3 0 0', 0.08), ('0 0 0', 0.02), ('0 0 0', 0.05))
    model, shapes = shapes_of(text)
    assert not shapes.near and len(shapes.pairs) == 3  # a-c, a-d, b-d
    # A ball about the joint: the link beyond it is inside it wherever the joints are.
    text = chain(('0.3 0 0', 0.4), ('0 0 0', 0.05), ('0 0 0', 0.05), ('0 0 0', 0.05))
    model, shapes = shapes_of(text)
    assert shapes.near == (('a', 'c'),)
    assert {(model.body_label[a], model.body_label[b]) for a, b in shapes.geometry.body[
        shapes.pairs]} == {('a', 'd'), ('b', 'd')}  # fmt: skip
    _, watched = shapes_of(text, **{'collision.exclude_touching_pairs': False})
    assert not watched.near and len(watched.pairs) == 3


@pytest.mark.parametrize(('radius', 'share', 'often'), [(0.55, 0.66, True), (0.3, 0.26, False)])
def test_pairs_that_often_hold_the_robot_are_named(radius, share, often):
    text = chain(('0 0 0', radius), ('0 0 0', 0.02), ('0.25 0 0', 0.02), ('0 0 0', 0.02))
    _, shapes = shapes_of(text)
    first, second = np.random.default_rng(5).uniform(-2.9, 2.9, (2, 100_000))
    to = 0.3 + 0.3 * np.exp(1j * first) + 0.25 * np.exp(1j * (first + second))
    assert np.mean(np.abs(to) < radius + 0.02 + MARGIN) == pytest.approx(share, abs=0.05)
    assert (('a', 'c') in shapes.often) == often and not shapes.near
    assert ('b', 'd') not in shapes.often


def test_the_outcome_is_cached_and_a_damaged_one_is_replaced(tmp_path, monkeypatch):
    text = chain(('0.3 0 0', 0.4), ('0 0 0', 0.05), ('0 0 0', 0.05), ('0 0 0', 0.05))
    _, shapes = shapes_of(text)
    geometry, pairs = shapes.geometry, shapes.geometry.self_pairs()
    cache = FitCache(tmp_path)
    first = touching_pairs(geometry, pairs, MARGIN, 0.0, cache)
    (file,) = tmp_path.glob('pairs-*.npz')

    def refuse(*_):
        raise AssertionError('sampled again')

    with monkeypatch.context() as patch:
        patch.setattr(module, 'always_close', refuse)
        again = touching_pairs(geometry, pairs, MARGIN, 0.0, cache)
        np.testing.assert_array_equal(again.always, first.always)
        np.testing.assert_array_equal(again.thick, first.thick)
        # Another margin, padding or geometry is another key of the cache.
        for other in (
            lambda: touching_pairs(geometry, pairs, 0.02, 0.0, cache),
            lambda: touching_pairs(geometry, pairs, MARGIN, 0.01, cache),
            lambda: touching_pairs(geometry, pairs[:-1], MARGIN, 0.0, cache),
        ):
            with pytest.raises(AssertionError, match='sampled again'):
                other()
    for damage in (b'', b'nothing', file.read_bytes()[:50]):
        file.write_bytes(damage)
        anew = touching_pairs(geometry, pairs, MARGIN, 0.0, cache)
        np.testing.assert_array_equal(anew.always, first.always)


def test_the_tool_writes_lines_that_an_srdf_takes(tmp_path, capsys):
    names = ('a&"<', 'b', 'c', 'd')
    quoted = ('a&amp;&quot;&lt;', *names[1:])
    text = chain(('0.3 0 0', 0.4), ('0 0 0', 0.05), ('0 0 0', 0.05), ('0 0 0', 0.05), names=quoted)
    path = tmp_path / 'robot.urdf'
    path.write_text(text)
    assert srdf_tool.main([str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = [ElementTree.fromstring(line) for line in lines]
    assert {element.tag for element in found} == {'disable_collisions'}
    assert {(e.get('link1'), e.get('link2'), e.get('reason')) for e in found} == {
        (names[0], 'b', 'Adjacent'),
        ('b', 'c', 'Adjacent'),
        ('c', 'd', 'Adjacent'),
        (names[0], 'c', 'Always'),
    }
    srdf = f'<robot name="r">{"".join(lines)}</robot>'
    model, shapes = shapes_of(text, srdf)
    assert not shapes.near and len(shapes.pairs) == 2
    (tmp_path / 'robot.srdf').write_text(srdf)
    assert srdf_tool.main([str(path), '--srdf', str(tmp_path / 'robot.srdf')]) == 0
    assert capsys.readouterr().out.strip() == ''
    assert srdf_tool.main([str(tmp_path / 'gone.urdf')]) == 1
    assert 'gone.urdf' in capsys.readouterr().err
    path.write_text('<robot')
    assert srdf_tool.main([str(path)]) == 1
    assert urdf_path('panda').is_file() and 'malformed' in capsys.readouterr().err
