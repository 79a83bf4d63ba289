# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The path chosen among all branches is the shortest one."""

import heapq
import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import robot_with_meshes
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text
import warp as wp

from ros_ik import all_solutions
from ros_ik import ChainIK
from ros_ik import Model
from ros_ik import solve_path
from ros_ik import SolveStatus
from ros_ik.kinematics import eval_fk
from ros_ik.model import ModelBuilder
from ros_ik.solvers.path import layered_graph
from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.path.smoothing import smoothed

SEVEN_JOINTS = [('panda', 'panda_hand_tcp'), ('xarm7', 'link_eef')]


def robot(name):
    """Return the model of the URDF with this file name."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path)


def circle(model, link, joint_q, n=40, radius=0.1):
    """Return poses on a horizontal circle that begins where the link is."""
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], body_q)
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    poses = np.tile(body_q[0, model.body_index(link)], (n, 1))
    poses[:, 0] += radius * (np.cos(angle) - 1.0)
    poses[:, 1] += radius * np.sin(angle)
    return poses


def line(first, last, n):
    """Return poses on a line, in which the hand points down."""
    poses = np.zeros((n, 7))
    poses[:, :3], poses[:, 3] = np.linspace(first, last, n), 1.0
    return poses


def motion(joint_q):
    """Return the sum of the distances between configurations."""
    return float(np.sum(np.linalg.norm(np.diff(joint_q, axis=0), axis=1)))


def dijkstra(layers, longest):
    """Return the number of layers that a path passes, and its least motion."""
    queue = [(0.0, 0, k) for k in range(len(layers[0]))]
    done, best = set(), {}
    while queue:
        cost, layer, row = heapq.heappop(queue)
        if (layer, row) in done:
            continue
        done.add((layer, row))
        best.setdefault(layer, cost)
        if layer + 1 < len(layers):
            ways = layers[layer + 1] - layers[layer][row]
            near = np.flatnonzero(np.max(np.abs(ways), axis=1) <= longest)
            for other in near:
                heapq.heappush(queue, (cost + np.linalg.norm(ways[other]), layer + 1, int(other)))
    return max(best) + 1, best[max(best)]


@pytest.mark.parametrize('longest', [0.3, 0.1])
def test_a_path_of_six_joints_is_the_shortest_through_every_solution_and_turn(longest):
    model = robot('ur5_robot')
    rng = np.random.default_rng(5)
    broken = whole = 0
    for start in model.random_joint_q(5, rng):
        poses = circle(model, 'tool0', start, n=30)
        path = solve_path(model, 'tool0', poses, max_joint_step=longest)
        found = all_solutions(model, 'tool0', poses, max_solutions=600, all_turns=True)
        layers = [found.joint_q[k, : found.n_found[k]] for k in range(len(poses))]
        count, least = dijkstra(list(itertools.takewhile(len, layers)), longest)
        assert round(path.fraction * len(poses)) == count
        assert motion(path.joint_q[:count]) == pytest.approx(least, rel=1e-6)
        whole += count == len(poses)
        broken += count < len(poses)
    assert whole >= 2 and broken >= 2


@pytest.mark.parametrize('most', [7, 100, 1000])
def test_of_many_turns_the_nearest_are_those_at_which_paths_start(most, monkeypatch):
    monkeypatch.setattr(layered_graph, 'MAX_STARTS', most)
    rng = np.random.default_rng(most)
    lower, upper = np.array([-9.0, -20.0, -1.0]), np.array([12.0, 8.0, 7.0])
    chain = SimpleNamespace(lower=lower, upper=upper, slides=[False, False, False])
    graph = layered_graph.LayeredGraph(chain, 0.3, lambda before, after: None, None)
    for near in rng.uniform(lower, upper, (10, 3)):
        joint_q = rng.uniform(-1.0, 3.0, (8, 3))
        found, origin = graph.all_turns(joint_q, near)
        turns = 2.0 * np.pi * np.array(list(itertools.product(range(-5, 6), repeat=3)))
        every = (joint_q[:, None] + turns).reshape(-1, 3)
        every = every[np.all((every >= lower) & (every <= upper), axis=1)]
        wanted = np.sort(np.linalg.norm(every - near, axis=1))[:most]
        assert np.allclose(np.sort(np.linalg.norm(found - near, axis=1)), wanted)
        turned = (found - joint_q[origin]) / (2.0 * np.pi)
        assert np.allclose(turned, np.rint(turned), rtol=0.0, atol=1e-9)
    assert len(every) > most or most == 1000


@pytest.mark.parametrize('limit', either([1e9], [50.0, 1e6, 1e9]))
def test_a_path_within_very_wide_limits_is_no_longer(limit):
    wide = re.sub('(lower|upper)="(-?)[^"]*"', rf'\1="\g<2>{limit:.1f}"', urdf_text('ur5_robot'))
    model, usual = Model.from_urdf(wide, device='cpu'), robot('ur5_robot')
    q = np.array([0.3, -0.8, 1.2, -0.5, 0.9, 0.2]) + np.linspace(0.0, 0.5, 20)[:, None]
    body_q = np.zeros((20, usual.body_count, 7))
    eval_fk(usual, q, body_q)
    poses = body_q[:, usual.body_index('tool0')]
    path, other = (solve_path(each, 'tool0', poses) for each in (model, usual))
    assert model.limits64()[1][0] == limit and path.fraction == other.fraction == 1.0
    assert motion(path.joint_q) == pytest.approx(motion(other.joint_q), rel=1e-6)


@pytest.mark.parametrize(('name', 'link'), SEVEN_JOINTS)
def test_a_path_of_seven_joints_gets_as_far_as_the_search_with_less_motion(name, link):
    model, oracle = robot(name), PinocchioRobot(urdf_text(name), robot(name))
    rng = np.random.default_rng(2)
    shorter = further = 0
    for k, start in enumerate(model.random_joint_q(6, rng)):
        poses = circle(model, link, start)
        # In the short form with and without a start in turn.
        for given in either((None, start)[k % 2 :][:1], (None, start)):
            best = solve_path(model, link, poses, given, method='closed_form')
            walked = solve_path(model, link, poses, given, method='search')
            assert best.fraction >= walked.fraction
            count, others = (round(p.fraction * len(poses)) for p in (best, walked))
            further += count > others
            if count == others:
                # Smoothing makes a path even, which costs it a little length at most.
                assert motion(best.joint_q[:count]) <= 1.01 * motion(walked.joint_q[:count])
                shorter += motion(best.joint_q[:count]) < 0.97 * motion(walked.joint_q[:count])
            assert np.max(np.abs(np.diff(best.joint_q[:count], axis=0)), initial=0.0) <= 0.3
            lower, upper = model.limits64()[:2]
            assert np.all((best.joint_q >= lower - 1e-9) & (best.joint_q <= upper + 1e-9))
            for q, pose in zip(best.joint_q[:count], poses, strict=False):
                assert np.linalg.norm(oracle.pose(q, link)[0] - pose[:3]) < 1.001e-4
            if given is not None and count:
                np.testing.assert_allclose(best.joint_q[0], start, atol=0.02)
    assert shorter + further >= 1


def test_a_path_goes_through_a_wrist_that_is_straight():
    """At the singular pose one solution stands for a whole curve of them."""
    model = robot('ur5_robot')
    middle = np.array([0.3, -1.2, 1.4, -0.6, 0.0, 0.4])
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, middle[None], body_q)
    centre = body_q[0, model.body_index('tool0')]
    poses = np.tile(centre, (21, 1))
    # Joints one to four move the tool in the plane of the arm and leave the wrist straight.
    rows = np.tile(middle, (21, 1))
    rows[:, 1] += np.linspace(-0.3, 0.3, 21)
    rows[:, 4] = 0.02 * np.linspace(-1.0, 1.0, 21)
    bodies = np.zeros((21, model.body_count, 7))
    eval_fk(model, rows, bodies)
    poses = bodies[:, model.body_index('tool0')]
    path = solve_path(model, 'tool0', poses, rows[0], method='closed_form')
    assert path.fraction == 1.0 and path.breaks == ()
    assert np.max(np.abs(path.joint_q[[0, -1]] - rows[[0, -1]])) < 0.05


def test_poses_out_of_reach_in_the_middle_break_the_path_and_it_goes_on():
    model = robot('ur5_robot')
    there = np.linspace(0.5, 1.1, 30)
    poses = np.zeros((60, 7))
    poses[:, 0], poses[:, 2] = np.concatenate([there, there[::-1]]), 0.3
    poses[:, 3] = 1.0
    path = solve_path(model, 'tool0', poses, method='closed_form')
    reached = path.status == SolveStatus.CONVERGED
    assert 10 <= np.argmin(reached) == path.breaks[0] < 30 and reached[-10:].all()
    assert path.fraction == path.breaks[0] / 60
    assert set(np.flatnonzero(~reached)) <= set(path.breaks)
    # Back inside, at most the first pose is a break: the arm comes from its best configuration.
    assert len(path.breaks) <= np.sum(~reached) + 1
    assert np.all(np.isfinite(path.joint_q))


def test_behind_poses_out_of_reach_no_step_is_too_long_without_a_break():
    """The path goes on from the configuration of least error at a pose out of reach."""
    model, link, went_on = robot('panda'), 'panda_hand_tcp', 0
    body_q = np.zeros((13, model.body_count, 7))
    eval_fk(model, model.random_joint_q(21, np.random.default_rng(0))[8:], body_q)
    # Those left out go on as little as most of these.
    chosen = either([0, 4, 5], range(13))
    for inside in body_q[chosen, model.body_index(link)]:
        outside = 1.5 * inside[:3] / np.linalg.norm(inside[:3])
        poses = np.tile(inside, (30, 1))
        poses[:, :3] = np.linspace(outside, inside[:3], 30)
        path = solve_path(model, link, poses, max_joint_step=0.15, method='closed_form')
        steps = np.max(np.abs(np.diff(path.joint_q, axis=0)), axis=1)
        joined = np.setdiff1d(np.arange(1, 30), path.breaks)
        assert np.all(steps[joined - 1] <= 0.15)
        reached = path.status == SolveStatus.CONVERGED
        went_on += np.any(reached[joined] & ~reached[joined - 1])
    assert went_on


def test_the_first_configuration_of_a_path_is_checked_too():
    """Smoothing moves it; the motion from it is checked from its second part on."""
    builder = ModelBuilder()
    builder.add_urdf(urdf_text('panda'))
    hand, wall = (
        builder.add_shape_sphere(body, xform=place, radius=0.05)
        for body, place in (
            (builder.body_label.index('panda_hand'), wp.transform_identity()),
            (-1, wp.transform((0.4, 0.0, 0.5), wp.quat_identity())),
        )
    )
    model = builder.finalize('cpu')
    poses = line((0.4, 0.0, 0.5), (0.4, 0.3, 0.5), n=3)
    path = solve_path(model, 'panda_hand', poses, max_joint_step=np.inf).joint_q
    check = MotionCheck(model, np.array([[hand, wall]]), np.zeros(1))
    assert check.is_free_along(path).tolist() == [False, False, True]
    assert check.is_free_along(path[::-1]).tolist() == [True, True, False]
    assert check.is_free_along(path[1:]).tolist() == [True, True]


@pytest.mark.oracle
@pytest.mark.parametrize(('name', 'link'), [('panda', 'panda_hand_tcp'), ('ur5_robot', 'tool0')])
@pytest.mark.filterwarnings('ignore:You passed package dir')
def test_a_path_is_free_of_collision_and_gets_as_far_as_the_search(name, link):
    model, oracle = robot_with_meshes(name), collision_oracle(name)
    rng = np.random.default_rng(3)
    collided, pairs = 0, ChainIK(model, link, check_collisions=True).collision_pairs
    wanted = either(1, 3)
    # The short form begins with the first that collides.
    free = either({'panda': 18, 'ur5_robot': 3}[name], 0)
    for start in model.random_joint_q(60, rng)[free:]:
        poses = circle(model, link, start, n=12, radius=0.05)
        blind = solve_path(model, link, poses, start, method='closed_form')
        count = round(blind.fraction * len(poses))
        if all(oracle.distances(q, pairs).min() > 0.0 for q in blind.joint_q[:count]):
            continue
        collided += 1
        for given in (None, start):
            best, walked = (
                solve_path(model, link, poses, given, check_collisions=True, method=method)
                for method in ('closed_form', 'search')
            )
            assert best.fraction >= walked.fraction
            count = round(best.fraction * len(poses))
            assert not count or oracle.distances(best.joint_q[0], pairs).min() >= -1e-6
            for before, after in itertools.pairwise(best.joint_q[:count]):
                # The next motion begins where this one ends.
                for q in before + np.linspace(0.25, 1.0, 4)[:, None] * (after - before):
                    # Mesh files hold float32: coordinates of up to a metre.
                    assert oracle.distances(q, pairs).min() >= -1e-6
        if collided == wanted:
            break
    assert collided == wanted


def test_smoothing_finds_the_even_way_between_fixed_ends():
    """On a plane of free motion the smoothest way is the straight one."""
    rng = np.random.default_rng(0)
    straight = np.linspace(0.0, 1.0, 12)
    path = np.column_stack([rng.uniform(-0.1, 0.1, 12) + straight, straight])
    path[[0, -1], 0] = 0.0, 1.0
    solved = np.ones(12, dtype=bool)
    even = smoothed(
        path,
        lambda rows: np.tile([1.0, 0.0], (len(rows), 1)),
        lambda rows: (rows.copy(), solved),
        lambda rows: solved,
        is_start_fixed=True,
    )
    # The far end is free: its column follows the start, because no target pulls it.
    np.testing.assert_allclose(even[:, 0], 0.0, atol=1e-3)
    np.testing.assert_array_equal(even[:, 1], path[:, 1])
    wall = lambda rows: rows[:, 0] >= 0.05 * straight  # noqa: E731
    beside = smoothed(
        path,
        lambda rows: np.tile([1.0, 0.0], (len(rows), 1)),
        lambda rows: (rows.copy(), solved),
        wall,
        is_start_fixed=True,
    )
    was_inside = wall(path)
    assert np.all(wall(beside)[was_inside])


@pytest.mark.oracle
@pytest.mark.parametrize(
    ('method', 'name', 'link'),
    [
        (method, *arm)
        for method, arm in in_turn(
            ['closed_form', 'search'], [('ur5_robot', 'tool0'), ('panda', 'panda_hand_tcp')]
        )
    ],
)
@pytest.mark.filterwarnings('ignore:You passed package dir')
def test_a_start_in_collision_is_named(name, link, method):
    model, oracle = robot_with_meshes(name), collision_oracle(name)
    pairs = ChainIK(model, link, check_collisions=True).collision_pairs
    links = np.array(model.body_label)[model.shape_body.numpy()[pairs]]
    counts = {True: 0, False: 0}
    for start in model.random_joint_q(60, np.random.default_rng(3)):
        distances = oracle.distances(start, pairs)
        # Mesh files hold float32: what is nearer than that is not judged.
        if counts[distances.min() < 0.0] == 2 or abs(distances.min()) < 1e-4:
            continue
        counts[distances.min() < 0.0] += 1
        poses = circle(model, link, start, n=3, radius=0.01)
        path = solve_path(model, link, poses, start, check_collisions=True, method=method)
        if distances.min() > 0.0:
            assert path.start_pair == ('', '')
        else:
            assert path.start_pair in {tuple(pair) for pair in links[distances < 1e-4]}
        assert solve_path(model, link, poses, start, method=method).start_pair == ('', '')
        assert solve_path(
            model, link, poses, check_collisions=True, method=method
        ).start_pair == ('', '')
    assert counts == {True: 2, False: 2}
