# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Self-collision barriers: rows, permitted steps, refused arguments."""

import gc

from barriers.collision_rig import Bench
from barriers.collision_rig import robot
from barriers.collision_rig import scattered
import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.barriers import always_close
from ros_ik.barriers import never_close
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers.pair_sampling import sample_pair_distances
from ros_ik.demo.robots import robot_data_path
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.collision_geometry import link_pairs
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

# Rounding of a distance in float64 with GJK's tolerance.
ROUNDING = 1e-7


@pytest.fixture(scope='module')
def spheres():
    """Spheres on the links of Panda's arm, with the 27 pairs that can collide."""
    model = robot('panda')
    links = [f'panda_link{k}' for k in range(8)] + ['panda_hand']
    centers = np.random.default_rng(0).uniform(-0.06, 0.06, (9, 3))
    radii = [0.1, 0.08, 0.08, 0.08, 0.08, 0.09, 0.07, 0.06, 0.1]
    geometry = CollisionGeometry.from_spheres(model, links, centers, radii)
    assert len(geometry.self_pairs()) == 27
    return geometry


def distances(geometry, pairs, joint_q):
    return sample_pair_distances(geometry, pairs, joint_q)


@pytest.mark.parametrize('d_max', (0.1, 0.6))
def test_rows_are_those_of_the_closest_pairs(spheres, d_max):
    model, n = spheres.model, 20
    rng = np.random.default_rng(1)
    joint_q = model.random_joint_q(n, rng)
    pairs = rng.permutation(spheres.self_pairs())
    exact = distances(spheres, pairs, joint_q)
    every = SelfCollisionBarrier(spheres, pairs=pairs, n_collision_pairs=None, d_max=None)
    closest = SelfCollisionBarrier(spheres, pairs=pairs, n_collision_pairs=5, d_max=d_max)
    bench = Bench(model, n)
    values, jacobian = bench.evaluate(closest, joint_q)
    expected = np.sort(np.minimum(exact, d_max), axis=1)[:, :5] - 0.02
    np.testing.assert_allclose(values, expected, atol=1e-12)
    # Each row is the Jacobian of its pair, or zero if the pair is inactive.
    _, slopes = bench.evaluate(every, joint_q)
    order = np.argsort(exact, axis=1)[:, :5]
    measured = [tuple(pair) for pair in every._measurement.pairs]
    row = [measured.index(tuple(pair)) for pair in pairs]
    off = values > d_max - 0.02 - 1e-12
    assert np.any(off) == (d_max == 0.1) and not np.all(off)
    for k in range(n):
        wanted = slopes[k, np.array(row)[order[k]]]
        wanted[off[k]] = 0.0
        np.testing.assert_allclose(jacobian[k], wanted, atol=1e-12)


def test_closest_pairs_of_hulls_along_a_path():
    """Directions from the last configuration save searches and do not change the result."""
    model = robot('panda')
    geometry = CollisionGeometry.from_model(model)
    rng = np.random.default_rng(6)
    ends = model.random_joint_q(4, rng)
    path = np.concatenate([
        a + t * (b - a) for a, b in zip(ends, ends[1:], strict=False)
        for t in np.linspace(0.0, 1.0, 15)[None, :, None]
    ])  # fmt: skip
    pairs = geometry.self_pairs()
    exact = np.sort(distances(geometry, pairs, path), axis=1)[:, :4]
    barrier = SelfCollisionBarrier(geometry, pairs=pairs, n_collision_pairs=4, d_max=0.3)
    bench = Bench(model, 1)
    found = np.array([bench.evaluate(barrier, q[None])[0][0] for q in path]) + 0.02
    apart = exact > 1e-6
    assert apart.mean() > 0.6
    np.testing.assert_allclose(found[apart], np.minimum(exact, 0.3)[apart], atol=1e-6)
    # Depths come from a search that starts at another direction and may end elsewhere.
    assert np.abs(found - np.minimum(exact, 0.3))[~apart].max(initial=0.0) < 0.02


def test_rows_without_a_pair_ask_for_nothing(spheres):
    joint_q = spheres.model.neutral_joint_q()[None]
    pairs = spheres.self_pairs()[:2]
    barrier = SelfCollisionBarrier(spheres, pairs=pairs, n_collision_pairs=4, d_max=None)
    values, jacobian = Bench(spheres.model, 1).evaluate(barrier, joint_q)
    assert np.all(np.isfinite(values)) and np.all(values[0, 2:] > 100.0)
    assert np.all(jacobian[0, 2:] == 0.0) and np.any(jacobian[0, :2] != 0.0)


def test_only_pairs_that_the_group_moves_take_a_row(spheres):
    model = spheres.model
    bench = Bench(model, 1, group=['panda_joint7'])
    barrier = SelfCollisionBarrier(spheres, pairs=spheres.self_pairs(), n_collision_pairs=None)
    bench.evaluate(barrier, model.neutral_joint_q()[None])
    moved = {model.body_index('panda_link7'), model.body_index('panda_hand')}
    for pair in barrier._measurement.pairs:
        assert len(moved & set(spheres.body[pair])) == 1


def test_names_of_the_closest_pairs(spheres):
    model, joint_q = spheres.model, spheres.model.random_joint_q(1, np.random.default_rng(4))
    pairs = spheres.self_pairs()
    barrier = SelfCollisionBarrier(spheres, pairs=pairs, n_collision_pairs=2, d_max=None)
    Bench(model, 1).evaluate(barrier, joint_q)
    first = spheres.body[pairs[np.argmin(distances(spheres, pairs, joint_q)[0])]]
    assert set(barrier.closest_pairs()[0][0]) == {model.body_label[k] for k in first}


def test_spheres_about_one_point_part_along_the_freest_axis():
    """Their distance has no gradient: the row is that of a direction in which they can part."""
    model = robot('panda')
    at = Bench(model, 1)
    joint_q = model.neutral_joint_q()[None]
    at.place(joint_q)
    tip = model.body_index('panda_hand')
    center = at.state.body_q.numpy()[0, tip, :3]
    geometry = CollisionGeometry.from_spheres(
        model, [tip, 'panda_link0'], [np.zeros(3), center], [0.05, 0.05]
    )
    barrier = SelfCollisionBarrier(geometry, pairs=[(0, 1)], d_min=0.0)
    values, jacobian = at.evaluate(barrier, joint_q)
    assert values[0, 0] == pytest.approx(-0.1, abs=1e-12)
    assert np.linalg.norm(jacobian) > 0.5
    step = 1e-3 * jacobian[0] / np.linalg.norm(jacobian)
    after, _ = at.evaluate(barrier, at.step(joint_q, step))
    assert after[0, 0] > values[0, 0] + 1e-4


@pytest.mark.parametrize('crossing', (True, False))
def test_capsules_whose_axes_cross_have_a_direction(crossing):
    model = robot('panda')
    bench, joint_q = Bench(model, 1), model.neutral_joint_q()[None]
    bench.place(joint_q)
    tip = model.body_index('panda_hand')
    pose = bench.state.body_q.numpy()[0, tip]
    x, y = np.array([0.2, 0.0, 0.0]), np.array([0.0, 0.2, 0.0])
    ends = np.array([[-x, x], [pose[:3] - y, pose[:3] + y]])
    if not crossing:
        turned = bench.state.body_q.numpy()[0, tip]
        q = turned[3:]
        along = x + 2.0 * np.cross(q[:3], np.cross(q[:3], x) + q[3] * x)
        ends[1] = [pose[:3] - along, pose[:3] + along]
    geometry = CollisionGeometry.from_capsules(
        model, np.array([tip, model.body_index('panda_link0')]), ends, np.array([0.04, 0.04])
    )
    barrier = SelfCollisionBarrier(geometry, pairs=[(0, 1)], d_min=0.0)
    values, jacobian = bench.evaluate(barrier, joint_q)
    assert values[0, 0] == pytest.approx(-0.08, abs=1e-9)
    assert np.linalg.norm(jacobian) > 0.1
    step = 1e-3 * jacobian[0] / np.linalg.norm(jacobian)
    after, _ = bench.evaluate(barrier, bench.step(joint_q, step))
    assert after[0, 0] > values[0, 0] + 1e-4


class Drive:
    """Steps towards random configurations under position and velocity limits."""

    def __init__(self, barrier, group=''):
        model = barrier.scene.model
        self.barrier, self.model = barrier, model
        self.diff = DifferentialIK(model, group)
        self.posture = IKObjectiveJointPosition(model, model.neutral_joint_q())
        self.tasks = [Task(self.posture, gain=0.5)]
        self.limits = [PositionLimit(), VelocityLimit()]

    def run(self, joint_q, rng, targets, steps):
        """Return h of the closest pair at every configuration of the path."""
        model, step = self.model, np.zeros(self.model.joint_dof_count)
        found = [self.diff.barrier_values(joint_q, [self.barrier]).min()]
        for _ in range(targets):
            self.posture.set_target_positions(model.random_joint_q(1, rng)[0])
            for _ in range(steps):
                status = self.diff.solve_ik(joint_q, self.tasks, self.limits, [self.barrier], step)
                assert status.ok
                self.diff.enforce_barriers(joint_q, [self.barrier], step)
                joint_q = self.diff.integrate(joint_q, step)
                found.append(self.diff.barrier_values(joint_q, [self.barrier]).min())
        return np.array(found)


def free_start(geometry, pairs, d_min, rng):
    """Return a configuration at which all pairs are apart."""
    joint_q = geometry.model.random_joint_q(400, rng)
    joint_q[0] = geometry.model.neutral_joint_q()
    apart = distances(geometry, pairs, joint_q).min(axis=1)
    assert apart.max() > d_min
    return joint_q[np.argmax(apart)]


def usual_pairs(geometry):
    """Return the pairs that are apart at the neutral configuration."""
    pairs = geometry.self_pairs()
    neutral = geometry.model.neutral_joint_q()[None]
    return pairs[distances(geometry, pairs, neutral)[0] > 0.03]


@pytest.mark.parametrize('name', ('panda', 'baxter', 'talos_full_v2'))
def test_drives_keep_the_distance(name):
    """Each step is checked at its end, so h stays above zero apart from rounding."""
    rng, model = np.random.default_rng(3), robot(name)
    geometry = CollisionGeometry.from_model(model)
    barrier = SelfCollisionBarrier(
        geometry, pairs=usual_pairs(geometry), n_collision_pairs=8, gain=5.0
    )
    start = free_start(geometry, barrier.pairs, barrier.d_min, rng)
    found = Drive(barrier).run(start, rng, targets=6, steps=60)
    assert found[0] > 0.0
    assert found.min() > -ROUNDING
    assert found.min() < 0.1, 'the barrier was never near'


def test_steps_alone_keep_the_distance_to_second_order(spheres):
    """Without the check a step may miss by the curvature: |dq|^2 / 2 times about 1 m."""
    rng = np.random.default_rng(5)
    barrier = SelfCollisionBarrier(spheres, n_collision_pairs=8, gain=10.0, d_max=0.3)
    drive = Drive(barrier)
    drive.diff.enforce_barriers = lambda *arguments: None
    start = free_start(spheres, barrier.pairs, barrier.d_min, rng)
    found = drive.run(start, rng, targets=6, steps=80)
    # Panda's joints move 0.026 rad a step at most, several at once.
    assert -2e-3 < found.min() < 0.01


@pytest.mark.parametrize('name', ('panda', 'baxter'))
def test_violations_never_grow(name):
    """At each start a few pairs are below the margin: spheres and capsules, or own shapes."""
    rng, model = np.random.default_rng(8), robot(name)
    own = CollisionGeometry.from_model(model)
    geometry = scattered(model, 4) if name == 'panda' else own
    pairs = usual_pairs(geometry)
    joint_q = model.random_joint_q(600, rng)
    exact = distances(geometry, pairs, joint_q)
    few = (exact < 0.02).sum(axis=1) <= 2
    tried = joint_q[few & (exact.min(axis=1) < 0.0) & (exact.min(axis=1) > -0.08)][:6]
    assert len(tried) == 6
    barrier = SelfCollisionBarrier(geometry, pairs=pairs, n_collision_pairs=12, gain=5.0)
    drive, better = Drive(barrier), 0
    for start in tried:
        found = drive.run(start, rng, targets=1, steps=40)
        # While h < 0 no step makes it smaller.
        shrinks = np.diff(found)[found[:-1] < 0.0]
        assert shrinks.min(initial=0.0) > -ROUNDING
        better += found[-1] > 0.5 * found[0]
    assert better >= 3


def test_always_and_never_close(spheres):
    pairs = spheres.self_pairs()
    joint_q = spheres.model.random_joint_q(500, np.random.default_rng(11))
    exact = distances(spheres, pairs, joint_q)
    limit = np.median(exact)
    always, never = always_close(spheres, pairs, limit), never_close(spheres, pairs, 0.0)
    assert np.all((exact < limit).mean(axis=0)[always] > 0.9)
    assert np.any(always) and not np.all(always)
    assert np.all(exact[:, never] > 0.0) and np.any(never) and not np.all(never)


def test_pairs_that_are_close_by_design_are_dropped():
    geometry = CollisionGeometry.from_model(robot('baxter'))
    barrier = SelfCollisionBarrier(geometry)
    assert len(barrier.dropped_pairs) and len(barrier.pairs)
    assert len(barrier.pairs) + len(barrier.dropped_pairs) == len(geometry.self_pairs())


def test_batch_equals_single_robots(spheres):
    model, n = spheres.model, 8
    joint_q = model.random_joint_q(n, np.random.default_rng(2))

    def steps(count, rows):
        barrier = SelfCollisionBarrier(spheres, n_collision_pairs=4, d_max=None)
        diff = DifferentialIK(model, n_robots=count)
        posture = IKObjectiveJointPosition(model, model.neutral_joint_q())
        tasks, out = [Task(posture, gain=0.5)], np.zeros((count, model.joint_dof_count))
        status = diff.solve_ik(rows, tasks, [VelocityLimit()], [barrier], out)
        return out, status

    together, statuses = steps(n, joint_q)
    assert np.sum(statuses == SolveStatus.CONVERGED) > n // 2
    for k in range(n):
        alone, status = steps(1, joint_q[k : k + 1])
        np.testing.assert_allclose(together[k], alone[0], atol=1e-9)
        assert statuses[k] == status[0]


def test_large_batch_that_is_stepped_in_parts(spheres):
    """With more robots than one part holds, results are in order for any number of threads."""
    model, n = spheres.model, 1100
    joint_q = model.random_joint_q(n, np.random.default_rng(9))
    posture = IKObjectiveJointPosition(model, model.neutral_joint_q())
    tasks, out = [Task(posture, gain=0.5)], np.zeros((n, model.joint_dof_count))
    diff = DifferentialIK(model, n_robots=n)
    barrier = SelfCollisionBarrier(spheres, n_collision_pairs=3)
    diff.solve_ik(joint_q, tasks, [VelocityLimit()], [barrier], out)
    alone = DifferentialIK(model)
    own = SelfCollisionBarrier(spheres, n_collision_pairs=3)
    single = [Task(IKObjectiveJointPosition(model, model.neutral_joint_q()), gain=0.5)]
    limit, step = VelocityLimit(), np.zeros(model.joint_dof_count)
    for k in (0, 1, 511, 512, 1023, 1024, n - 1):
        alone.solve_ik(joint_q[k], single, [limit], [own], step)
        np.testing.assert_allclose(out[k], step, atol=1e-9)


@pytest.mark.parametrize(('n', 'count'), [(1, 30), (1100, 12)])
def test_a_problem_that_is_dropped_leaves_no_memory_of_its_barriers(spheres, n, count):
    """Work spaces end with the link poses after whose addresses they are named."""
    model = spheres.model
    posture = IKObjectiveJointPosition(model, model.neutral_joint_q())
    acceleration = AccelerationLimit(np.full(model.joint_dof_count, 50.0))
    limits = [VelocityLimit(), acceleration]
    barrier = SelfCollisionBarrier(spheres, n_collision_pairs=3)
    barrier.ranks_rows, barrier.recovery_speed = True, 0.1
    diff = DifferentialIK(model, n_robots=n)
    joint_q, arrays = model.random_joint_q(n, np.random.default_rng(9)), []
    for _ in range(count):
        out = np.zeros((n, model.joint_dof_count))
        diff.solve_ik(joint_q, [Task(posture, gain=0.5)], limits, [barrier], out)
        gc.collect()
        arrays.append(sum(type(one) is wp.array for one in gc.get_objects()))
    assert arrays[-1] == arrays[8]  # eight problems are kept


SRDF = """<robot name="panda">
<disable_collisions link1="panda_link0" link2="panda_link5" reason="Never"/>
<disable_collisions link1="panda_link7" link2="panda_link3" reason="Never"/>
</robot>"""


def test_pairs_of_links_that_the_srdf_disables(spheres):
    folders = [robot_data_path().parents[1]]
    model = Model.from_urdf(urdf_text('panda'), srdf=SRDF, package_paths=folders, device='cpu')
    geometry = CollisionGeometry.from_spheres(
        model, [int(body) for body in spheres.body], spheres.pose[:, :3], spheres.radius
    )
    labels = model.body_label
    found = {frozenset((labels[a], labels[b])) for a, b in geometry.body[geometry.self_pairs()]}
    every = {frozenset((labels[a], labels[b])) for a, b in spheres.body[spheres.self_pairs()]}
    disabled = {
        frozenset(('panda_link0', 'panda_link5')), frozenset(('panda_link3', 'panda_link7')),
    }  # fmt: skip
    assert found == every - disabled and len(found) == 25
    # The model's own shapes follow the same rules.
    own = CollisionGeometry.from_model(model)
    pairs = {frozenset((labels[a], labels[b])) for a, b in own.body[own.self_pairs()]}
    assert not pairs & disabled


def test_shapes_that_nothing_would_watch_are_an_error():
    model = Model.from_urdf(urdf_text('panda'), device='cpu')
    with pytest.raises(ArgumentError, match="panda_link0/collision_0'.*package_paths"):
        SelfCollisionBarrier(model)
    geometry = CollisionGeometry.from_model(model, allow_missing=True)
    assert 'panda_link0/collision_0' in geometry.ignored


def test_neighbours_and_rigid_parts_never_meet(spheres):
    """Link 8 and the hand are fixed to link 7, whose joint hangs on link 6."""
    allowed, index = link_pairs(spheres.model), spheres.model.body_index
    for a, b, may in (
        ('panda_link1', 'panda_link2', False), ('panda_hand', 'panda_link7', False),
        ('panda_hand', 'panda_link6', False), ('panda_link8', 'panda_link7', False),
        ('panda_hand', 'panda_link5', True), ('panda_link0', 'panda_link2', True),
    ):  # fmt: skip
        assert allowed[index(a), index(b)] == allowed[index(b), index(a)] == may
    # The base is fixed in the world.
    assert not allowed[-1, index('panda_link0')] and allowed[-1, index('panda_link2')]


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        ({'d_min': -0.01}, 'd_min'),
        ({'d_min': np.nan}, 'd_min'),
        ({'d_min': 0.3}, 'd_max'),
        ({'d_max': 0.02}, 'd_max'),
        ({'d_max': np.inf}, 'd_max'),
        ({'n_collision_pairs': 0}, 'n_collision_pairs'),
        ({'n_collision_pairs': 1.5}, 'n_collision_pairs'),
        ({'gain': 0.0}, 'gain'),
        ({'margin': -1.0}, 'margin'),
        ({'pairs': [(0, 9)]}, 'primitives in'),
        ({'pairs': [(0, 0)]}, 'two links'),
        ({'pairs': [(0, 3), (3, 0)]}, 'once'),
        ({'pairs': [0, 1]}, 'shape'),
        ({'pairs': np.zeros((0, 2), dtype=int)}, 'no pair'),
    ],
)
def test_bad_arguments(spheres, arguments, text):
    with pytest.raises(ArgumentError, match=text):
        SelfCollisionBarrier(spheres, **arguments)


def test_unknown_link_and_bad_spheres():
    model = robot('panda')
    with pytest.raises(ArgumentError, match='panda_link99'):
        CollisionGeometry.from_spheres(model, ['panda_link99'], [np.zeros(3)], 0.1)
    with pytest.raises(ArgumentError, match='radii'):
        CollisionGeometry.from_spheres(model, ['panda_link1'], [np.zeros(3)], -0.1)
    with pytest.raises(ArgumentError, match='centers'):
        CollisionGeometry.from_spheres(model, ['panda_link1'], [np.full(3, np.nan)], 0.1)
    with pytest.raises(ArgumentError, match='link'):
        CollisionGeometry.from_spheres(model, [model.body_count], [np.zeros(3)], 0.1)


def test_geometry_of_another_model():
    geometry = CollisionGeometry.from_model(robot('ur5_robot'))
    with pytest.raises(ArgumentError, match='another model'):
        barrier = SelfCollisionBarrier(geometry, pairs=geometry.self_pairs())
        Bench(robot('panda'), 1).evaluate(barrier, robot('panda').neutral_joint_q()[None])


@pytest.mark.parametrize('lead', (0.0, 0.3))
def test_steps_with_ranked_rows_are_those_with_all_rows(lead):
    model, rng = robot('panda'), np.random.default_rng(7)
    dofs, period = model.joint_dof_count, 0.01
    links = [f'panda_link{k}' for k in range(8)] + ['panda_hand']
    balls = CollisionGeometry.from_spheres(model, links, np.zeros((9, 3)), 0.06)
    pairs = balls.self_pairs()
    pairs = pairs[~always_close(balls, pairs, 0.02)]
    ranked, every = (
        SelfCollisionBarrier(
            balls, pairs=pairs, n_collision_pairs=rows, gain=1.0, safe_displacement_gain=0.0
        )
        for rows in (len(pairs), None)
    )
    ranked.ranks_rows = True
    limits = [VelocityLimit(), AccelerationLimit(np.full(dofs, 50.0))]
    settings = DifferentialIKSettings(dt=period, barrier_lead=lead)
    solver = DifferentialIK(model, 'panda_link0:panda_hand', settings)
    target = IKObjectiveJointPosition(model, model.neutral_joint_q())
    joint_q = model.random_joint_q(1000, rng)
    apart = distances(balls, pairs, joint_q).min(axis=1) > 0.03
    tasks, held = [Task(target)], 0
    for q in joint_q[apart][:600]:
        last = period * rng.uniform(-0.3, 0.3, dofs)
        limits[1].set_last_displacement(last)
        target.set_target_positions(model.random_joint_q(1, rng)[0])
        steps = np.zeros((3, dofs))
        for barriers, step in zip(([ranked], [], [every]), steps, strict=True):
            status = solver.solve_ik(q, tasks, limits, barriers, step)
        # A relaxation depends on all rows, also on those that are left out.
        if status is SolveStatus.CONVERGED:
            np.testing.assert_allclose(steps[0], steps[2], atol=1e-12)
            held += np.abs(steps[1] - steps[2]).max() > 1e-6
    assert held > 10


def test_a_violated_pair_takes_no_row_from_another():
    model, rng = robot('panda'), np.random.default_rng(8)
    q = model.neutral_joint_q()
    q[:7] = [0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8]
    links = [model.body_index(link) for link in ('panda_link4', 'panda_hand')]
    poses = np.zeros((1, model.body_count, 7))
    eval_fk(model, q[None], poses)
    # 5 mm below the distance of 20 mm, and 2 mm above it.
    beside = poses[0, links, :3] + [[-0.135, 0.0, 0.0], [0.142, 0.0, 0.0]]
    centers = np.vstack([np.zeros((2, 3)), beside])
    balls = CollisionGeometry.from_spheres(model, [*links, -1, -1], centers, 0.06)
    # The violated pair comes first, so its row is the first that is free.
    ranked, every = (
        SelfCollisionBarrier(
            balls, pairs=[[0, 2], [1, 3]], n_collision_pairs=rows, safe_displacement_gain=0.0
        )
        for rows in (1, None)
    )
    ranked.ranks_rows = True
    solver = DifferentialIK(model, 'panda_link0:panda_hand', DifferentialIKSettings(dt=0.01))
    target, held = IKObjectiveJointPosition(model, q), 0
    steps = np.zeros((2, model.joint_dof_count))
    for _ in range(30):
        target.set_target_positions(model.random_joint_q(1, rng)[0])
        for barrier, step in zip((ranked, every), steps, strict=True):
            status = solver.solve_ik(q, [Task(target)], [VelocityLimit()], [barrier], step)
        if status is SolveStatus.CONVERGED:
            np.testing.assert_allclose(steps[0], steps[1], atol=1e-12)
            held += 1
    assert held > 5
