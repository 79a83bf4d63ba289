# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs that touch by design: excluded pairs are judged by coal, by the meshes as they are."""

import functools
import itertools
from xml.etree import ElementTree

import numpy as np
import pytest
from support.rigs.planning_rig import make_planner
from support.rigs.servo_rig import Rig
from support.robots.collision_oracle import MeshOracle
from support.robots.collision_oracle import PACKAGES
from support.robots.collision_oracle import urdf_path

from ros_ik.barriers.pair_sampling import sample_pair_distances
from ros_ik.demo.robots import find_robot
from ros_ik.model import Model
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.hulls.fit_cache import FitCache
from ros_ik.node.model_loading import srdf_tool
from ros_ik.planning import check_trajectory
from ros_ik.planning import Point
from ros_ik.servo.robot import touching_pairs as module
from ros_ik.servo.robot.collision_setup import robot_shapes
from ros_ik.servo.robot.shape_fits import ShapeFits
from ros_ik.servo.robot.srdf_lines import srdf_lines
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


def primitives(shapes):
    """Return the primitives of a robot without the hulls, and all their pairs."""
    geometry = shapes.geometry.select(np.arange(len(shapes.geometry) - shapes.hulls))
    return geometry, geometry.self_pairs()


def judged(geometry, pairs, margin=MARGIN, padding=0.0, cache=None):
    """Return how pairs of primitives touch."""
    fits = ShapeFits(geometry.model)
    return touching_pairs(
        geometry, pairs, margin, padding, fits, cache or FitCache.beside_kernels()
    )


def left_out(shapes):
    """Return the pairs of primitives that always touch, and those that never meet, [n, 2]."""
    geometry, pairs = primitives(shapes)
    found = judged(geometry, pairs)
    checked = shapes.pairs[np.all(shapes.pairs < len(geometry), axis=1)]
    np.testing.assert_array_equal(checked, pairs[~found.excluded])
    return pairs[found.always], pairs[found.thick]


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


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
def test_what_is_left_out_always_touches_or_never_does(tiago):
    model, shapes = tiago
    always, thick = (
        np.unique(np.sort(shapes.geometry.shape[pairs], axis=1), axis=0)
        for pairs in left_out(shapes)
    )
    assert len(always) > 20 and len(thick) > 20
    oracle = MeshOracle('tiago', model)
    touch = np.zeros(len(always))
    for count, q in enumerate(configurations(model, seed=77)):
        assert not oracle.touch(q, thick).any()
        # The share is one of random configurations, not of those at limits.
        if count >= SAMPLES // 2:
            touch += oracle.distances(q, always) <= 0.0
    assert np.min(touch) / (SAMPLES - SAMPLES // 2) >= 1.0 - FREE_SHARE - SLACK


def test_a_robot_whose_fits_touch_reaches_its_targets(tiago):
    rig = Rig.shared('tiago', model=tiago[0], barriers__world__enabled=False, control_rate=50.0)
    targets = [rig.reachable(seed, 0.4) for seed in range(3)]
    for target in targets:
        rig.aim(target)
        rig.tick(seconds=6.0)
        # 43 to 166 mm where pairs of the torso and the arm are watched that cannot meet.
        assert np.linalg.norm(rig.pose()[:3] - target[:3]) < 1e-3


@functools.cache
def without_srdf(name):
    """Return a robot with its meshes, without an SRDF: model, shapes and coal's view of both."""
    text = urdf_path(name).read_text()
    model = Model.from_urdf(text, package_paths=PACKAGES, device='cpu')
    return model, robot_shapes(model, SETTINGS), MeshOracle(name, model)


def shapes_of_links(model, *links):
    """Return the pairs of colliding shapes of two links, [n, 2]."""
    colliding = model.shape_flags.numpy() & int(ShapeFlags.COLLIDE_SHAPES) != 0
    bodies = [model.body_index(link) for link in links]
    of_link = [np.flatnonzero(colliding & (model.shape_body.numpy() == body)) for body in bodies]
    return np.array(list(itertools.product(*of_link)))


# Links whose fits are always near, while their meshes meet at some configurations only.
MEETING = (
    ('ur5_robot', 'forearm_link', 'wrist_2_link'),
    ('talos_reduced', 'base_link', 'leg_left_3_link'),
    ('talos_reduced', 'arm_left_5_link', 'wrist_left_ft_link'),
    ('b1-z1', 'trunk', 'FL_thigh'),
)


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
@pytest.mark.parametrize(('name', 'first', 'second'), MEETING)
def test_links_that_meet_at_some_configurations_are_watched(name, first, second):
    model, shapes, oracle = without_srdf(name)
    both = shapes_of_links(model, first, second)
    body = shapes.geometry.body[shapes.pairs]
    links = sorted(map(model.body_index, (first, second)))
    watched = np.all(np.sort(body, axis=1) == links, axis=1)
    assert frozenset((first, second)) in map(frozenset, shapes.tight)
    q = np.vstack([model.neutral_joint_q(), configurations(model, seed=5)])
    distance = sample_pair_distances(shapes.geometry, shapes.pairs[watched], q).min(axis=1)
    meets = np.array([oracle.touch(one, both).any() for one in q])
    assert 5 < meets.sum() < len(q) / 2
    assert np.all(distance[meets] <= 0.0)
    assert distance[0] > 0.0


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
@pytest.mark.parametrize('name', ('ur5_robot', 'talos_reduced', 'b1-z1'))
def test_links_in_a_line_always_touch(name):
    model, shapes, oracle = without_srdf(name)
    lines = map(ElementTree.fromstring, srdf_lines(model, shapes))
    named = [(e.get('link1'), e.get('link2')) for e in lines if e.get('reason') == 'Always']
    assert bool(named) == (name != 'ur5_robot')
    q = configurations(model, seed=6)[SAMPLES // 2 :]
    for pair in named:
        both = shapes_of_links(model, *pair)
        touch = [oracle.touch(one, both).any() for one in q]
        assert np.mean(touch) >= 1.0 - FREE_SHARE - SLACK, pair


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
def test_a_robot_does_not_fold_into_a_link_that_its_fits_always_touch():
    model, _, oracle = without_srdf('ur5_robot')
    both = shapes_of_links(model, 'forearm_link', 'wrist_2_link')
    home = {'shoulder_lift_joint': -1.2, 'elbow_joint': 1.2, 'wrist_1_joint': -1.0}
    rig = Rig('ur5', model=model, home=home, control_rate=100.0)
    # It folds as far as the meshes allow, and reports the distance of the hulls.
    rig.aim_joints(wrist_1_joint=1.5)
    rig.tick(seconds=4.0)
    assert oracle.distances(rig.q, both).min() > 0.0
    assert rig.q[rig.robot.coord_of['wrist_1_joint']] > 0.2
    out, shapes = rig.outputs[-1], rig.robot.shapes
    assert set(out.limiting_pair) == {'forearm_link', 'wrist_2_link'}
    distance = sample_pair_distances(shapes.geometry, shapes.pairs, rig.q[None])[0]
    is_hull = np.any(shapes.pairs >= len(shapes.geometry) - shapes.hulls, axis=1)
    assert out.barrier_distance == pytest.approx(distance[is_hull].item(), abs=1e-4)
    # Obstacles meet the fits alone, and the hulls have no margin.
    scene, first_hull = rig.servo._solver.scene, len(shapes.geometry) - shapes.hulls
    rig.set(barriers__self_collision__margin=0.03)
    rig.tick()
    more = scene.rows.radius[: len(shapes.geometry)] - shapes.geometry.radius
    np.testing.assert_allclose(more[:first_hull], 0.015)
    np.testing.assert_array_equal(more[first_hull:], 0.0)
    assert scene.meeting_rows == range(first_hull)
    rig.set(barriers__self_collision__margin=MARGIN)
    rig.aim_joints(wrist_1_joint=-1.0)
    rig.tick(seconds=4.0)
    assert rig.q[rig.robot.coord_of['wrist_1_joint']] == pytest.approx(-1.0, abs=1e-3)


def test_a_trajectory_has_the_distance_of_hulls_without_a_margin():
    ignored = ['base_link:upper_arm_link']
    planner = make_planner('ur5', package_paths=PACKAGES, collision__ignore_pairs=ignored)
    joint_q, coord_of = planner.model.neutral_joint_q(), planner.robot.coord_of
    for joint, position in {
        'shoulder_lift_joint': -1.2, 'elbow_joint': 1.2, 'wrist_1_joint': 0.3
    }.items():  # fmt: skip
        joint_q[coord_of[joint]] = position
    names = list(coord_of)
    place = np.array([joint_q[coord_of[name]] for name in names])
    shapes = planner.robot.shapes
    distance = sample_pair_distances(shapes.geometry, shapes.pairs, joint_q[None])[0]
    nearest = int(np.argmin(distance - shapes.margins(MARGIN)))
    assert shapes.margins(MARGIN)[nearest] == 0.0
    report = check_trajectory(planner, names, [Point(0.0, place)])
    assert report.violation is None
    assert set(report.closest_pair) == {'forearm_link', 'wrist_2_link'}
    assert report.minimum_values[0] == pytest.approx(distance[nearest], abs=1e-9)


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
    geometry, pairs = primitives(shapes)
    cache = FitCache(tmp_path)
    first = judged(geometry, pairs, cache=cache)
    (file,) = tmp_path.glob('pairs-*.npz')

    def refuse(*_):
        raise AssertionError('sampled again')

    with monkeypatch.context() as patch:
        patch.setattr(module, 'always_close', refuse)
        again = judged(geometry, pairs, cache=cache)
        np.testing.assert_array_equal(again.always, first.always)
        np.testing.assert_array_equal(again.thick, first.thick)
        # Another margin, padding or geometry is another key of the cache.
        for other in (
            lambda: judged(geometry, pairs, margin=0.02, cache=cache),
            lambda: judged(geometry, pairs, padding=0.01, cache=cache),
            lambda: judged(geometry, pairs[:-1], cache=cache),
        ):
            with pytest.raises(AssertionError, match='sampled again'):
                other()
    for damage in (b'', b'nothing', file.read_bytes()[:50]):
        file.write_bytes(damage)
        repaired = judged(geometry, pairs, cache=cache)
        np.testing.assert_array_equal(repaired.always, first.always)


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
