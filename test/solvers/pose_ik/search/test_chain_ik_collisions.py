# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""With check_collisions no solution collides, by Pinocchio and coal."""

import warnings

import numpy as np
import pytest
from support.long_forms import either
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import robot_with_meshes
from support.robots.robots import pin
from support.robots.robots import urdf_text
from support.solvers.piston import BALL
from support.solvers.piston import END
from support.solvers.piston import piston
from support.solvers.solution_order import assert_sorted_and_distinct
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.collision.checks.collisions import always_colliding_pairs
from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.solvers import ChainIK
from ros_ik.solvers import inverse_kinematics
from ros_ik.solvers import solve_path
from ros_ik.solvers import SolveStatus

ROBOTS = {
    'panda': ('panda_hand_tcp', None),
    'ur5_robot': ('tool0', None),
    'tiago': ('arm_tool_link', None),
    'talos_full_v2': ('gripper_left_base_link', 'torso_2_link:gripper_left_base_link'),
}
# Number of poses of each robot.
N = either(24, 40)
# Mesh files hold float32: coordinates of up to a metre.
TOLERANCE = 1e-6

pytestmark = [
    pytest.mark.filterwarnings('ignore:You passed package dir'),
    # TALOS, neutral, has its right hand in its thigh.
    pytest.mark.filterwarnings('ignore:arm_right_7_link and leg_right_3_link.* at joint_q'),
]


def setting(name):
    """Return model, link and options of an arm."""
    model = robot_with_meshes(name)
    link, chain = ROBOTS[name]
    return model, link, {} if chain is None else {'joint_group': model.joint_group(chain)}


def configurations(solver, n, *, free, seed=0):
    """Return random configurations of a chain, the other joints as they are held."""
    model, rng = solver.model, np.random.default_rng(seed)
    tried = either(1000, 2000)  # of Panda's, one in 25 collides
    joint_q = np.tile(solver.problem.locked_joint_q, (tried, 1))
    columns = solver.chain.coordinates
    joint_q[:, columns] = model.random_joint_q(tried, rng)[:, columns]
    joint_q = model.apply_mimic(joint_q)
    checker = CollisionChecker(model, tried, pairs=solver.collision_pairs, scalar=wp.float64)
    return joint_q[checker.check(joint_q) != free][:n]


def poses_of(model, link, joint_q):
    """Return the poses of a link, [n, 7]."""
    body_q = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    return body_q[:, model.body_index(link)].copy()


def least_distances(name, solver, joint_q):
    """Return coal's least distance of each configuration over the pairs that are checked."""
    oracle = collision_oracle(name)
    return np.array([oracle.distances(q, solver.collision_pairs).min() for q in joint_q])


def assert_at_poses(name, link, joint_q, poses):
    """Assert by Pinocchio that a link is at poses, inside the default tolerances."""
    robot = collision_oracle(name).robot
    for q, pose in zip(joint_q, poses, strict=True):
        p, R = robot.pose(q, link)
        target = pin.Quaternion(pose[3:]).toRotationMatrix()
        assert np.linalg.norm(p - pose[:3]) <= 1e-3 + 1e-9
        assert np.linalg.norm(pin.log3(target @ R.T)) <= 1e-2 + 1e-9


@pytest.mark.oracle
@pytest.mark.parametrize('name', ROBOTS)
def test_solutions_of_robots_do_not_collide(name):
    model, link, options = setting(name)
    n = N
    solver = ChainIK(model, link, n, check_collisions=True, **options)
    joint_q = configurations(solver, n, free=True)
    poses, seeds = poses_of(model, link, joint_q), configurations(solver, n, free=False)
    result = solver.solve(poses, seeds)
    # Each pose comes from a configuration without collision, so a solution exists.
    assert np.all(result.status == SolveStatus.CONVERGED) and np.all(result.n_found == 1)
    assert_at_poses(name, link, result.joint_q, poses)
    assert np.all(result.position_error <= 1e-3) and np.all(result.rotation_error <= 1e-2)
    assert least_distances(name, solver, result.joint_q).min() >= -TOLERANCE
    lower, upper = model.limits64()[:2]
    moved = solver.chain.coordinates
    assert np.all(result.joint_q[:, moved] >= lower[_dofs(model, moved)])
    assert np.all(result.joint_q[:, moved] <= upper[_dofs(model, moved)])
    np.testing.assert_allclose(result.joint_q, model.apply_mimic(result.joint_q), atol=1e-12)


def _dofs(model, coordinates):
    """Return the degrees of freedom of coordinates of joints that have one."""
    joints = [list(model.joint_q_start.numpy()).index(k) for k in coordinates]
    return model.joint_qd_start.numpy()[joints]


@pytest.mark.oracle
@pytest.mark.parametrize('name', ROBOTS)
def test_without_the_check_some_collide(name):
    model, link, options = setting(name)
    solver = ChainIK(model, link, N, check_collisions=True, **options)
    joint_q = configurations(solver, N, free=False)
    poses = poses_of(model, link, joint_q)
    plain = ChainIK(model, link, N, **options).solve(poses, joint_q)
    np.testing.assert_array_equal(plain.joint_q[:, solver.chain.coordinates],
                                  joint_q[:, solver.chain.coordinates])  # fmt: skip
    theirs = least_distances(name, solver, plain.joint_q)
    # Ours takes hulls that are a little larger.
    assert np.mean(theirs <= 0.0) > 0.7 and theirs.max() <= 0.005
    checked = solver.solve(poses, joint_q)
    free = checked.status == SolveStatus.CONVERGED
    assert np.all(free | (checked.status == SolveStatus.IN_COLLISION))
    assert np.any(free)
    assert least_distances(name, solver, checked.joint_q[free]).min() >= -TOLERANCE
    # Poses in collision return the solution nearest to the seed: here the seed itself.
    stuck = ~free
    np.testing.assert_array_equal(checked.joint_q[stuck], plain.joint_q[stuck])
    np.testing.assert_array_equal(checked.position_error[stuck], plain.position_error[stuck])
    assert np.all(checked.n_found[stuck] == 0) and np.all(checked.n_found[free] == 1)


def two_links(*obstacles):
    """Return an arm of two links of 1 m in the plane, a ball at its elbow, among balls.

    The pose (1.2, 0) has two solutions, elbow at (0.6, 0.8) and at (0.6, -0.8).
    """
    balls = ''.join(
        f'<collision><origin xyz="{x} {y} 0"/><geometry><sphere radius="{r}"/></geometry>'
        '</collision>'
        for x, y, r in obstacles
    )
    joint = '<limit lower="-3" upper="3" velocity="1" effort="1"/><axis xyz="0 0 1"/>'
    text = f"""<robot name="two_links">
      <link name="base">{balls}</link><link name="upper"/><link name="tip"/>
      <link name="lower"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
      <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>{joint}
      </joint>
      <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
        <origin xyz="1 0 0"/>{joint}</joint>
      <joint name="hand" type="fixed"><parent link="lower"/><child link="tip"/>
        <origin xyz="1 0 0"/></joint>
    </robot>"""
    return Model.from_urdf(text, device='cpu')


AHEAD = np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
FREE_ROTATION = {'position_tolerance': 1e-6, 'rotation_tolerance': np.inf}
UP, DOWN = np.arccos(0.6), -np.arccos(0.6)


def solve_ahead(model, seed=(0.9, -1.8), **options):
    """Solve the pose in front, from near the solution with the elbow up."""
    return inverse_kinematics(
        model, 'tip', AHEAD, seed, **FREE_ROTATION, check_collisions=True, **options
    )


def test_the_branch_that_collides_is_left():
    blocked = two_links((0.6, 0.8, 0.05), (3.0, 0.0, 0.05))
    result = solve_ahead(blocked)
    assert result.status[0] == SolveStatus.CONVERGED and result.n_found[0] == 1
    np.testing.assert_allclose(result.joint_q[0], [DOWN, -2 * DOWN], atol=1e-4)
    # Without anything in the way it is the branch of the seed.
    clear = solve_ahead(two_links((3.0, 0.0, 0.05)))
    np.testing.assert_allclose(clear.joint_q[0], [UP, -2 * UP], atol=1e-4)


def test_of_several_solutions_those_out_of_collision_are_returned():
    blocked = two_links((0.6, 0.8, 0.05), (3.0, 0.0, 0.05))
    result = solve_ahead(blocked, n_solutions=2)
    assert result.status[0] == SolveStatus.CONVERGED and result.n_found[0] == 1
    # The only solution is repeated.
    np.testing.assert_array_equal(result.joint_q[0, 0], result.joint_q[0, 1])
    np.testing.assert_allclose(result.joint_q[0, 0], [DOWN, -2 * DOWN], atol=1e-4)
    assert np.all(result.position_error <= 1e-6)
    both = solve_ahead(two_links((3.0, 0.0, 0.05)), n_solutions=2)
    assert both.n_found[0] == 2
    np.testing.assert_allclose(both.joint_q[0, :, 0], [UP, DOWN], atol=1e-4)


@pytest.mark.parametrize('n_solutions', [1, 3])
def test_a_pose_all_of_whose_solutions_collide_says_so(n_solutions):
    model = two_links((0.6, 0.8, 0.05), (0.6, -0.8, 0.05))
    result = solve_ahead(model, n_solutions=n_solutions)
    assert result.status[0] == SolveStatus.IN_COLLISION and result.n_found[0] == 0
    assert 'collision' in SolveStatus(result.status[0]).message
    assert not SolveStatus(result.status[0]).ok
    joint_q = result.joint_q.reshape(n_solutions, 2)
    np.testing.assert_allclose(joint_q, np.tile([UP, -2 * UP], (n_solutions, 1)), atol=1e-4)
    assert np.all(result.position_error <= 1e-6)


def test_solutions_keep_the_margin():
    # The gap at the elbow that is up is 0.2 - 0.05 - 0.1 = 0.05 m.
    model = two_links((0.6, 1.0, 0.05), (3.0, 0.0, 0.05))
    near = solve_ahead(model, collision_margin=0.0499)
    np.testing.assert_allclose(near.joint_q[0], [UP, -2 * UP], atol=1e-4)
    far = solve_ahead(model, collision_margin=0.0501)
    np.testing.assert_allclose(far.joint_q[0], [DOWN, -2 * DOWN], atol=1e-4)


@pytest.mark.oracle
def test_shapes_of_robots_keep_the_margin_but_those_that_never_do():
    model, link, _ = setting('tiago')
    margin = 0.03
    solver = ChainIK(model, link, 40, check_collisions=True, collision_margin=margin)
    joint_q = configurations(solver, 40, free=True)
    result = solver.solve(poses_of(model, link, joint_q))
    free = result.status == SolveStatus.CONVERGED
    assert np.sum(free) >= 30
    always = always_colliding_pairs(model, margin=margin).tolist()
    assert 0 < len(always) < len(solver.collision_pairs)
    held = np.array([pair in always for pair in solver.collision_pairs.tolist()])
    oracle = collision_oracle('tiago')
    for q in result.joint_q[free][:15]:
        distance = oracle.distances(q, solver.collision_pairs)
        assert distance.min() >= -TOLERANCE
        assert distance[~held].min() >= margin - TOLERANCE


def piston_poses(model, n=200):
    """Return random configurations of a piston and the poses of its tip."""
    joint_q = model.random_joint_q(n, 3)
    body_q = np.zeros((n, model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    return joint_q, body_q[:, model.body_index('tip')]


@pytest.mark.parametrize('method', ('search', 'auto'))
def test_a_pair_that_collides_at_nearly_all_configurations_is_checked(method):
    model = piston(0.51)
    joint_q, poses = piston_poses(model)
    free = joint_q[:, 1] > 0.51 + BALL
    assert 0 < free.sum() < 0.05 * len(free)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        found = inverse_kinematics(
            model, 'tip', poses, position_tolerance=1e-5, check_collisions=True, method=method
        )
    np.testing.assert_array_equal(found.status == SolveStatus.CONVERGED, free)
    np.testing.assert_array_equal(found.status == SolveStatus.IN_COLLISION, ~free)


def test_the_margin_is_kept_by_a_pair_that_is_closer_at_nearly_all_configurations():
    model = piston(0.3)
    joint_q, poses = piston_poses(model)
    margin = END - 0.3 - BALL - 0.015
    found = inverse_kinematics(model, 'tip', poses, check_collisions=True, collision_margin=margin)
    free = joint_q[:, 1] > 0.3 + BALL + margin
    assert 0 < free.sum() < 0.05 * len(free)
    np.testing.assert_array_equal(found.status == SolveStatus.CONVERGED, free)


def test_a_path_breaks_where_a_pair_collides_that_nearly_always_does():
    model = piston(0.51)
    poses = np.zeros((5, 7))
    poses[:, 0], poses[:, 6] = (0.62, 0.615, 0.611, 0.6, 0.59), 1.0
    path = solve_path(model, 'tip', poses, start=np.array([0.0, 0.62]), check_collisions=True)
    assert path.fraction == 0.6


def test_shapes_that_always_collide_are_left_out_with_one_warning():
    model = piston(0.6)
    _, poses = piston_poses(model)
    pair = np.argwhere(model.shape_body.numpy() >= 0).ravel()
    with pytest.warns(UserWarning, match='base and tip collide at all of 1001 configurations'):
        found = inverse_kinematics(model, 'tip', poses, check_collisions=True)
    assert np.all(found.status == SolveStatus.CONVERGED)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        ChainIK(model, 'tip', 3, check_collisions=True)
    found = inverse_kinematics(model, 'tip', poses, check_collisions=True, collision_pairs=[pair])
    assert np.all(found.status == SolveStatus.IN_COLLISION)


@pytest.mark.oracle
def test_several_solutions_are_distinct_sorted_verified_and_out_of_collision():
    model, link, _ = setting('ur5_robot')
    solver = ChainIK(model, link, 12, check_collisions=True, n_solutions=5)
    joint_q = configurations(solver, 12, free=True, seed=3)
    poses, seeds = poses_of(model, link, joint_q), configurations(solver, 12, free=False)
    result = solver.solve(poses, seeds)
    assert np.all(result.status == SolveStatus.CONVERGED) and np.all(result.n_found == 5)
    plain = ChainIK(model, link, 12, n_solutions=5).solve(poses, seeds)
    assert np.any(least_distances('ur5_robot', solver, plain.joint_q.reshape(-1, 6)) <= 0.0)
    for k in range(12):
        assert_at_poses('ur5_robot', link, result.joint_q[k], np.tile(poses[k], (5, 1)))
        assert least_distances('ur5_robot', solver, result.joint_q[k]).min() >= -TOLERANCE
        assert_sorted_and_distinct(result.joint_q[k], seeds[k])


def test_a_path_through_seeds_stays_out_of_collision():
    model, link, _ = setting('tiago')
    solver = ChainIK(model, link, 1, check_collisions=True)
    start, goal = configurations(solver, 2, free=True)
    ends = poses_of(model, link, np.array([start, goal]))
    checker = CollisionChecker(model, 1, pairs=solver.collision_pairs, scalar=wp.float64)
    joint_q = start
    for t in np.linspace(0.0, 1.0, 20):
        pose = (1.0 - t) * ends[0] + t * ends[1]
        pose[3:] /= np.linalg.norm(pose[3:])
        result = solver.solve(pose[None], joint_q[None])
        if t == 0.0:
            # A seed that is at the pose and free is the answer.
            np.testing.assert_allclose(result.joint_q[0], start, atol=1e-12)
        collides = checker.check(result.joint_q)[0]
        assert collides == (result.status[0] == SolveStatus.IN_COLLISION)
        joint_q = result.joint_q[0].copy()


def test_other_statuses_stay_as_they_are():
    model, link, _ = setting('panda')
    solver = ChainIK(model, link, 4, check_collisions=True)
    colliding = configurations(solver, 4, free=False)
    poses = poses_of(model, link, colliding)
    poses[1, 0] = np.nan
    poses[2, :3] = 3.0
    result = solver.solve(poses, colliding)
    plain = ChainIK(model, link, 4).solve(poses, colliding)
    assert result.status[1] == SolveStatus.NON_FINITE_INPUT and result.n_found[1] == 0
    assert result.status[2] in (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
    np.testing.assert_array_equal(result.joint_q[1:3], plain.joint_q[1:3])
    np.testing.assert_array_equal(result.status[1:3], plain.status[1:3])
    assert np.all(np.isfinite(result.joint_q))


def test_batches_threads_and_blocks_give_solutions_of_the_same_kind(monkeypatch):
    model, link, _ = setting('tiago')
    n = 300
    # So that poses in collision continue in small blocks.
    monkeypatch.setattr('ros_ik.solvers.pose_ik.search.collisions._MAX_CANDIDATES', 33 * 20)
    solvers = [
        ChainIK(model, link, n, check_collisions=True, n_threads=threads) for threads in (1, 3)
    ]
    joint_q = configurations(solvers[0], n, free=True)
    poses = poses_of(model, link, joint_q)
    checker = CollisionChecker(model, n, pairs=solvers[0].collision_pairs, scalar=wp.float64)
    answers = []
    for solver in solvers:
        result = solver.solve(poses).copy()
        assert np.all(result.status == SolveStatus.CONVERGED)
        assert not np.any(checker.check(result.joint_q))
        again = solver.solve(poses)
        np.testing.assert_array_equal(again.joint_q, result.joint_q)
        answers.append(result)
    np.testing.assert_array_equal(answers[0].joint_q, answers[1].joint_q)
    lanes = ChainIK(model, link, 20, check_collisions=True, n_lanes=4).solve(poses[:20])
    assert np.all(lanes.status == SolveStatus.CONVERGED)
    assert not np.any(checker.check(lanes.joint_q))


def test_memory_stays_bounded():
    model, link, _ = setting('ur5_robot')
    plain = ChainIK(model, link, 3000)
    checked = ChainIK(model, link, 3000, check_collisions=True)
    assert checked.bytes_per_problem() <= plain.bytes_per_problem() + 8
    small = ChainIK(model, link, 1000, check_collisions=True)
    sizes = [s._collision_retries._rounds[0].n_problems for s in (small, checked)]
    assert sizes[0] == sizes[1] < 1000
    assert checked._checker.checker.n == small._checker.checker.n


def test_pairs_that_the_chain_does_not_move_are_not_checked_at_each_solution():
    model, link, options = setting('talos_full_v2')
    solver = ChainIK(model, link, 1, check_collisions=True, **options)
    checked = set(map(tuple, solver.collision_pairs.tolist()))
    everything = CollisionChecker(model, 10, scalar=wp.float64)
    others = np.array([p for p in everything.pairs.tolist() if tuple(p) not in checked])
    assert len(others) > 100 and len(checked) > 100
    rest = CollisionChecker(model, 10, pairs=others, scalar=wp.float64)
    distance, _ = rest.pair_distances(configurations(solver, 10, free=True))
    assert np.ptp(distance, axis=0).max() <= 1e-9


def test_what_held_joints_bring_into_collision_is_told_and_passed_over():
    model, link, options = setting('talos_full_v2')
    with pytest.warns(UserWarning, match='arm_right_7_link and leg_right_3_link.* at joint_q'):
        ChainIK(model, link, 1, check_collisions=True, **options)
    raised = model.neutral_joint_q()
    raised[model.joint_q_start.numpy()[model.joint_index('arm_right_2_joint')]] = -1.0
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        ChainIK(model, link, 1, check_collisions=True, joint_q=raised, **options)


def test_given_pairs_are_checked_as_they_are():
    model = two_links((0.6, 0.8, 0.05), (0.6, -0.8, 0.05))
    labels = model.shape_label
    up, down = (labels.index(f'base/collision_{k}') for k in (0, 1))
    elbow = labels.index('lower/collision_0')
    one = solve_ahead(model, collision_pairs=[(up, elbow)])
    assert one.status[0] == SolveStatus.CONVERGED
    np.testing.assert_allclose(one.joint_q[0], [DOWN, -2 * DOWN], atol=1e-4)
    none = solve_ahead(model, collision_pairs=np.zeros((0, 2), dtype=int))
    np.testing.assert_allclose(none.joint_q[0], [UP, -2 * UP], atol=1e-4)
    both = solve_ahead(model, collision_pairs=[(up, elbow), (elbow, down)])
    assert both.status[0] == SolveStatus.IN_COLLISION
    # Collisions of links that the chain does not move are in every solution.
    talos, link, options = setting('talos_full_v2')
    everything = CollisionChecker(talos, 1, scalar=wp.float64)
    neutral = talos.neutral_joint_q()
    distance = everything.pair_distances(neutral[None])[0][0]
    names = [[side[0] for side in everything.pair_names(k)] for k in range(len(distance))]
    stuck = [k for k, d in enumerate(distance) if d <= 0.0 and 'arm_right_7_link' in names[k]]
    pose = poses_of(talos, link, neutral[None])
    result = inverse_kinematics(
        talos, link, pose, check_collisions=True, collision_pairs=everything.pairs[stuck],
        **options,
    )  # fmt: skip
    assert result.status[0] == SolveStatus.IN_COLLISION


def test_shapes_that_were_not_read_are_refused():
    # Without the package paths the meshes of a description are not found.
    model = load_without_meshes('panda')
    pose = np.array([0.4, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match='panda_link0/collision_0.*package_paths'):
        inverse_kinematics(model, 'panda_hand_tcp', pose, check_collisions=True)
    # Pairs of shapes with a size can be requested.
    fingers = [k for k, label in enumerate(model.shape_label) if 'finger/collision_3' in label]
    opened = model.neutral_joint_q()
    opened[-2:] = 0.04
    result = inverse_kinematics(
        model, 'panda_hand_tcp', pose, joint_q=opened, check_collisions=True,
        collision_pairs=[fingers],
    )  # fmt: skip
    assert result.status[0] == SolveStatus.CONVERGED


def load_without_meshes(name):
    """Return the model of a description whose mesh files are not looked for."""
    return Model.from_urdf(urdf_text(name), device='cpu')


def test_a_broken_mesh_file_is_named(tmp_path):
    (tmp_path / 'broken.stl').write_bytes(b'not a mesh')
    text = """<robot name="r"><link name="a">
      <collision><geometry><mesh filename="broken.stl"/></geometry></collision></link>
      <link name="b"/><link name="c"><collision><geometry><sphere radius="0.1"/></geometry>
      </collision></link>
      <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
      <joint name="k" type="continuous"><parent link="b"/><child link="c"/></joint></robot>"""
    model = Model.from_urdf(text, package_paths=[tmp_path], device='cpu')
    pose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert inverse_kinematics(model, 'c', pose).status[0] == SolveStatus.CONVERGED
    with pytest.raises(ModelError, match=r'broken\.stl.*no vertices'):
        inverse_kinematics(model, 'c', pose, check_collisions=True)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'collision_margin': -0.1}, 'collision_margin: expected a finite number >= 0, got -0.1'),
        ({'collision_margin': np.nan}, 'collision_margin'),
        ({'collision_pairs': [(0, 99)]}, 'collision_pairs must name shapes'),
        ({'collision_pairs': [0, 1]}, 'collision_pairs must be integers'),
        ({'collision_pairs': [(0.5, 1.0)]}, 'collision_pairs must be integers'),
        ({'collision_pairs': [(0, 1)]}, 'collision_pairs must join shapes of two bodies'),
        ({'joint_q': np.zeros(3)}, r'joint_q: expected shape \[2\], got \[3\]'),
        ({'joint_q': [np.nan, 0.0]}, 'joint_q: must be finite'),
        ({'offset': np.zeros(7)}, 'offset: the norm of the quaternion must be'),
        ({'n_solutions': 0}, 'n_solutions'),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    model = two_links((3.0, 0.0, 0.05), (4.0, 0.0, 0.05))
    with pytest.raises(ArgumentError, match=message):
        solve_ahead(model, **arguments)


def test_a_model_without_shapes_is_refused():
    with pytest.raises(ArgumentError, match='no two shapes that may collide'):
        solve_ahead(two_links())
    # A plane and a plane have no distance.
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    link = builder.add_link('a', mass=1.0, inertia=np.eye(3))
    builder.add_joint_revolute(-1, link, axis=(0.0, 0.0, 1.0))
    builder.add_shape_plane(body=link)
    builder.add_shape_plane(body=-1)
    model = builder.finalize('cpu')
    with pytest.raises(ArgumentError, match=r'collision_pairs: \[0, 1\] are two planes'):
        ChainIK(model, 'a', check_collisions=True, collision_pairs=[(0, 1)])
