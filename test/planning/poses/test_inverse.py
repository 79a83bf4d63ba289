# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batches of inverse kinematics for planners, verified by Pinocchio."""

import itertools
import math

import numpy as np
import pytest
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import random_configurations
from support.rigs.planning_rig import ROBOTS
from support.rigs.planning_rig import shared_planner
from support.rigs.planning_rig import Twin
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import PACKAGES
from support.robots.collision_oracle import robot_with_meshes
from support.robots.collision_oracle import SRDFS
from support.robots.urdf_limits import still_text

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import robot_data_path
from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.planning import Budget
from ros_ik.planning import IkRequest
from ros_ik.planning import PoseCode
from ros_ik.planning import RequestError
from ros_ik.planning import solve_ik
from ros_ik.planning.poses.multi_frame_ik import solve_frames_together
from ros_ik.settings import read_settings
from ros_ik.solvers import ChainIK

# Default tolerances of the solver [m, rad], plus rounding between it and Pinocchio.
TOLERANCES = np.array([1e-3, 1e-2]) + 1e-9
# A joint without a velocity in some of the tests, and the tool and base of the same robot.
STILL, TOOL = 'panda_joint3', ('panda_hand_tcp', 'panda_link0')


def configuration_of(planner, answer, row):
    """Return the whole configuration of a solution."""
    coords = planner.coordinates(answer.joint_names)
    return planner.configurations(coords, answer.positions[row : row + 1])[0]


def assert_solutions(planner, twin, answer, targets, link, reference):
    """Check every valid solution against Pinocchio, its limits and its reported errors."""
    robot = planner.robot
    coords = planner.coordinates(answer.joint_names)
    dofs = [int(robot.group.variable_dof[list(robot.coords).index(c)]) for c in coords]
    for row, pose in enumerate(answer.pose_index):
        joint_q = configuration_of(planner, answer, row)
        errors = twin.errors(joint_q, link, reference, targets[pose])
        reported = answer.position_errors[row], answer.rotation_errors[row]
        # float64 on both sides; a rotation error is the angle of a product of a dozen rotations.
        np.testing.assert_allclose(reported, errors, atol=1e-8)
        if answer.codes[pose] == PoseCode.CONVERGED:
            assert np.all(np.array(errors) <= TOLERANCES)
            assert np.all(joint_q[coords] >= robot.lower[dofs])
            assert np.all(joint_q[coords] <= robot.upper[dofs])


@pytest.mark.parametrize('name', ROBOTS)
def test_reachable_poses_are_solved(name):
    planner, files = shared_planner(name), find_robot(name)
    twin = Twin(planner, name)
    targets = twin.poses(
        random_configurations(planner, 100, seed=1), files.tip_link, files.base_link
    )
    answer = solve_ik(planner, IkRequest(targets))
    assert answer.joint_names == planner.robot.group.joint_names
    np.testing.assert_array_equal(answer.codes, PoseCode.CONVERGED)
    np.testing.assert_array_equal(answer.pose_index, np.arange(100))
    assert_solutions(planner, twin, answer, targets, files.tip_link, files.base_link)


@pytest.mark.parametrize(
    ('name', 'link', 'reference', 'solved'),
    [
        ('panda', 'panda_hand', 'panda_link2', 5),
        ('panda', 'panda_link6', '', 6),
        ('ur5', 'wrist_3_link', 'shoulder_link', 5),
        ('tiago', 'arm_tool_link', 'torso_lift_link', 7),
    ],
)
def test_poses_in_any_link_for_any_link(name, link, reference, solved):
    """Joints that move the reference frame are held: the poses are made without moving them."""
    planner = shared_planner(name)
    twin = Twin(planner, name)
    rows = random_configurations(planner, 20, seed=2)
    seen_from = reference or find_robot(name).base_link
    targets = twin.poses(rows, link, seen_from)
    answer = solve_ik(planner, IkRequest(targets, link=link, reference_frame=reference))
    assert len(answer.joint_names) == solved
    np.testing.assert_array_equal(answer.codes, PoseCode.CONVERGED)
    assert_solutions(planner, twin, answer, targets, link, seen_from)


def test_the_frame_of_the_first_task_has_its_offset():
    planner = make_planner('panda', ee__offset_xyz=[0.0, 0.0, 0.1], ee__offset_rpy=[0.3, 0.0, 0.0])
    files, twin = find_robot('panda'), Twin(planner, 'panda')
    target = twin.poses(random_configurations(planner, 1, seed=3), files.tip_link, files.base_link)
    answer = solve_ik(planner, IkRequest(target))
    joint_q = configuration_of(planner, answer, 0)
    position, rotation = twin.pose(joint_q, files.tip_link, files.base_link)
    np.testing.assert_allclose(
        position + rotation @ [0.0, 0.0, 0.1], target[0, :3], atol=TOLERANCES[0]
    )


def test_several_solutions_are_distinct_and_the_nearest_comes_first():
    planner, files = shared_planner('ur5'), find_robot('ur5')
    twin = Twin(planner, 'ur5')
    rows = random_configurations(planner, 10, seed=4)
    targets = twin.poses(rows, files.tip_link, files.base_link)
    answer = solve_ik(planner, IkRequest(targets, max_solutions=4))
    assert_solutions(planner, twin, answer, targets, files.tip_link, files.base_link)
    assert np.all(np.diff(answer.pose_index) >= 0)
    # A UR has eight solutions of most poses, more where joints turn more than once.
    counts = np.bincount(answer.pose_index, minlength=10)
    assert counts.max() == 4 and counts.min() >= 1
    seed = planner.joint_q[planner.robot.coords]
    for pose in range(10):
        found = answer.positions[answer.pose_index == pose]
        for one, two in itertools.combinations(found, 2):
            assert np.abs(one - two).max() > 0.05
        distances = np.linalg.norm(found - seed, axis=1)
        assert np.all(np.diff(distances) >= -1e-9)


def assert_is_among(found, wanted):
    """Check that a configuration is among others up to whole turns, or close to one.

    Of solutions closer than 0.1 rad one is returned.
    """
    away = (found - wanted + np.pi) % (2.0 * np.pi) - np.pi
    assert np.abs(away).max(axis=1).min() < 0.1


def test_six_joints_are_solved_in_closed_form_by_every_branch():
    planner, files = shared_planner('ur5'), find_robot('ur5')
    twin = Twin(planner, 'ur5')
    rows = random_configurations(planner, 200, seed=6)
    targets = twin.poses(rows, files.tip_link, files.base_link)
    answer = solve_ik(planner, IkRequest(targets, max_solutions=16))
    assert_solutions(planner, twin, answer, targets, files.tip_link, files.base_link)
    assert (answer.codes == PoseCode.CONVERGED).all()
    assert answer.position_errors.max() < 1e-9 and answer.rotation_errors.max() < 1e-9
    for pose, row in enumerate(rows):
        found = answer.positions[answer.pose_index == pose]
        assert_is_among(found, row[planner.robot.coords])
        for one, two in itertools.combinations(found, 2):
            assert np.abs(one - two).max() >= 0.1


def test_seeds_go_by_name_in_any_order_and_may_be_partial():
    planner, files = shared_planner('panda'), find_robot('panda')
    twin = Twin(planner, 'panda')
    rows = random_configurations(planner, 5, seed=5)
    # Joints that the seeds leave out take their measured positions.
    arm = planner.robot.coords
    rows[:, arm[3:]] = planner.joint_q[arm[3:]]
    targets = twin.poses(rows, files.tip_link, files.base_link)
    names = planner.robot.group.joint_names
    seeds = [((names[2], names[0], names[1]), row[arm[[2, 0, 1]]]) for row in rows]
    answer = solve_ik(planner, IkRequest(targets, seeds=seeds))
    # A search that starts at a solution stays there.
    np.testing.assert_allclose(answer.positions, rows[:, arm], atol=1e-6)
    # One seed for all: the pose that it belongs to is where it is, the other ones are solved.
    answer = solve_ik(planner, IkRequest(targets, seeds=seeds[:1]))
    np.testing.assert_allclose(answer.positions[0], rows[0, arm], atol=1e-6)
    np.testing.assert_array_equal(answer.codes, PoseCode.CONVERGED)


def test_a_bad_pose_or_seed_costs_no_other_pose():
    planner, files = shared_planner('panda'), find_robot('panda')
    rows = random_configurations(planner, 6, seed=6)
    targets = Twin(planner, 'panda').poses(rows, files.tip_link, files.base_link)
    targets[1, 0] = math.nan
    targets[2, 3:] = 0.0
    targets[3, 5] = math.inf
    seeds = [(('panda_joint1',), (0.0,))] * 6
    seeds[4] = (('panda_joint1',), (math.nan,))
    answer = solve_ik(planner, IkRequest(targets, seeds=seeds))
    bad = PoseCode.NON_FINITE_INPUT
    np.testing.assert_array_equal(answer.codes, [0, bad, bad, bad, bad, 0])
    np.testing.assert_array_equal(answer.pose_index, [0, 5])
    assert np.isfinite(answer.positions).all()


def test_an_unreachable_pose_gives_the_best_that_was_found():
    planner, files = shared_planner('panda'), find_robot('panda')
    target = np.array([[3.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]])
    answer = solve_ik(planner, IkRequest(target))
    np.testing.assert_array_equal(answer.codes, [PoseCode.UNREACHABLE])
    twin = Twin(planner, 'panda')
    assert_solutions(planner, twin, answer, target, files.tip_link, files.base_link)
    assert 1.5 < answer.position_errors[0] < 3.0


def test_solutions_keep_the_margin_of_the_settings():
    planner, files = make_planner('panda', limits__position_margin=[0.4]), find_robot('panda')
    rows = random_configurations(planner, 50, seed=7, margin=0.1)
    targets = Twin(planner, 'panda').poses(rows, files.tip_link, files.base_link)

    def least_room(answer):
        dofs = planner.robot.group.variable_dof
        low, high = planner.robot.lower[dofs], planner.robot.upper[dofs]
        solved = answer.positions[answer.codes[answer.pose_index] == PoseCode.CONVERGED]
        assert len(solved) > 10
        return min((solved - low).min(), (high - solved).min())

    assert least_room(solve_ik(planner, IkRequest(targets))) >= 0.4 - 1e-9
    given = {'ee.frame': files.tip_link, 'limits.position_margin': [0.0]}
    planner.apply(read_settings(given))
    assert least_room(solve_ik(planner, IkRequest(targets))) < 0.4


def test_locked_joints_are_held_where_they_are_measured():
    planner = make_planner('tiago', locked_joints=['torso_lift_joint'], measured=False)
    files, torso = find_robot('tiago'), planner.robot.coord_of['torso_lift_joint']
    target = np.array([[0.6, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0]])
    with pytest.raises(RequestError, match='torso_lift_joint'):
        solve_ik(planner, IkRequest(target))
    joint_q = planner.model.neutral_joint_q()
    joint_q[torso] = 0.2
    planner.measure(joint_q, np.ones(len(joint_q), dtype=bool))
    answer = solve_ik(planner, IkRequest(target))
    assert 'torso_lift_joint' not in answer.joint_names
    found = configuration_of(planner, answer, 0)
    assert found[torso] == 0.2
    twin = Twin(planner, 'tiago')
    assert_solutions(planner, twin, answer, target, files.tip_link, files.base_link)


GOOD = np.array([[0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ('fields', 'reason'),
    [
        ({'link': 'elbow'}, "'elbow'"),
        ({'reference_frame': 'map'}, "'map'"),
        ({'link': 'panda_link0'}, "can move link 'panda_link0'"),
        ({'link': 'panda_link1', 'reference_frame': 'panda_hand'}, "can move link 'panda_link1'"),
        ({'poses': np.zeros((0, 7))}, 'poses'),
        ({'seeds': [(('elbow',), (0.0,))]}, "'elbow'"),
        ({'seeds': [(('panda_joint1',), (0.0, 1.0))]}, '1 names and 2 positions'),
        ({'seeds': [(('panda_joint1', 'panda_joint1'), (0.0, 0.0))]}, 'twice'),
        ({'seeds': [(('panda_joint1',), (0.0,))] * 2}, 'one per pose'),
        ({'position_tolerance': -1.0}, 'position_tolerance'),
        ({'rotation_tolerance': math.nan}, 'rotation_tolerance'),
        ({'position_tolerance': math.inf, 'rotation_tolerance': math.inf}, 'both'),
    ],
)
def test_what_is_wrong_with_a_request_is_named(fields, reason):
    with pytest.raises(RequestError, match=reason):
        solve_ik(shared_planner('panda'), IkRequest(**{'poses': GOOD, **fields}))


def test_poses_beyond_the_time_are_timed_out_and_the_others_are_solved():
    planner, files = shared_planner('panda'), find_robot('panda')
    rows = random_configurations(planner, 200, seed=8)
    targets = Twin(planner, 'panda').poses(rows, files.tip_link, files.base_link)
    ticks = itertools.count()
    # Each look at the clock takes a second: started at 0, one look before each slice.
    answer = solve_ik(planner, IkRequest(targets), Budget(1.5, now=lambda: float(next(ticks))))
    done = np.flatnonzero(answer.codes == PoseCode.CONVERGED)
    assert 0 < len(done) < 200
    np.testing.assert_array_equal(answer.codes[len(done) :], PoseCode.TIMED_OUT)
    np.testing.assert_array_equal(answer.pose_index, done)
    late = solve_ik(planner, IkRequest(targets), Budget(0.0))
    np.testing.assert_array_equal(late.codes, PoseCode.TIMED_OUT)
    assert len(late.positions) == 0


def test_a_request_can_be_cancelled():
    budget = Budget()
    budget.cancel('another robot')
    with pytest.raises(RequestError, match='another robot'):
        solve_ik(shared_planner('panda'), IkRequest(GOOD), budget)


class MeshedPlanner:
    """A planner for a robot with meshes, and coal's distances of the pairs that it checks."""

    def __init__(self, name, robot, link):
        self.model = robot_with_meshes(robot)
        self.pairs = ChainIK(self.model, link, 1, check_collisions=True).collision_pairs
        self.oracle = collision_oracle(robot)
        srdf = (robot_data_path() / SRDFS[robot]).read_text()
        self.planner = make_planner(name, srdf=srdf, package_paths=PACKAGES)

    def distance(self, joint_q):
        """Return the smallest distance of a pair [m]."""
        return self.oracle.distances(joint_q, self.pairs).min()


@pytest.fixture
def meshed(request):
    return MeshedPlanner(*request.param)


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
@pytest.mark.parametrize('meshed', [('panda', 'panda', 'panda_hand_tcp')], indirect=True)
def test_with_check_collisions_no_solution_collides(meshed):
    """Poses and seeds come from configurations in collision; solutions are free by coal."""
    planner = meshed.planner
    rows = random_configurations(planner, 600, seed=9)
    checker = CollisionChecker(meshed.model, len(rows), pairs=meshed.pairs)
    rows = rows[checker.check(rows)]
    assert len(rows) >= 10
    targets = planner.body_poses(rows)[:, planner.link('panda_hand_tcp')]
    names = planner.robot.group.joint_names
    seeds = [(names, row) for row in rows[:, planner.robot.coords]]
    plain = solve_ik(planner, IkRequest(targets, seeds=seeds))
    assert (plain.codes == PoseCode.CONVERGED).all()
    answer = solve_ik(planner, IkRequest(targets, seeds=seeds, check_collisions=True))
    free = answer.codes == PoseCode.CONVERGED
    assert free.any()
    assert (free | (answer.codes == PoseCode.IN_COLLISION)).all()
    np.testing.assert_array_equal(answer.pose_index, np.arange(len(rows)))
    for row in np.flatnonzero(free):
        # Mesh files hold float32.
        assert meshed.distance(configuration_of(planner, answer, row)) >= -1e-6


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
@pytest.mark.parametrize('meshed', [('ur5', 'ur5_robot', 'tool0')], indirect=True)
def test_every_free_solution_of_six_joints_is_returned(meshed):
    planner = meshed.planner
    rows = random_configurations(planner, 300, seed=10)
    targets = planner.body_poses(rows)[:, planner.link('tool0')]
    request = IkRequest(targets, link='tool0', max_solutions=16, check_collisions=True)
    answer = solve_ik(planner, request)
    planted = np.array([meshed.distance(row) for row in rows])
    assert (planted > 1e-3).sum() >= 100 and (planted < -1e-3).sum() >= 10
    for row in np.flatnonzero(planted > 1e-3):
        assert answer.codes[row] == PoseCode.CONVERGED
        found = answer.positions[answer.pose_index == row]
        assert_is_among(found, rows[row][planner.robot.coords])
    for row in range(0, len(answer.positions), 7):
        if answer.codes[answer.pose_index[row]] == PoseCode.CONVERGED:
            assert meshed.distance(configuration_of(planner, answer, row)) >= -1e-6


@pytest.fixture(scope='module')
def still_planner():
    """Return the planner of a Panda whose third joint cannot move."""
    return make_planner('panda', text=still_text(STILL))


def poses_without_the_still_joint(planner, links, n, seed):
    """Return poses of links that the other joints can reach, [n, len(links), 7]."""
    held = planner.robot.coord_of[STILL]
    rows = random_configurations(planner, n, seed=seed, margin=0.3)
    rows[:, held] = planner.joint_q[held]
    return np.array([planner.body_poses(row[None])[0, links] for row in rows])


@pytest.mark.parametrize('group', ['', 'panda_link0:panda_hand_tcp'])
@pytest.mark.parametrize('max_solutions', [1, 8])
def test_joints_that_cannot_move_are_in_no_solution(still_planner, group, max_solutions):
    planner = still_planner
    poses = poses_without_the_still_joint(planner, [planner.frame('').link], 20, seed=6)[:, 0]
    request = IkRequest(poses, joint_group=group, max_solutions=max_solutions)
    answer = solve_ik(planner, request)
    np.testing.assert_array_equal(answer.codes, PoseCode.CONVERGED)
    names = planner.robot.group.joint_names
    assert answer.joint_names == tuple(name for name in names if name != STILL)
    assert_solutions(planner, Twin(planner, 'panda'), answer, poses, *TOOL)


def test_a_joint_that_cannot_move_must_be_known(still_planner):
    planner, known = still_planner, still_planner.known.copy()
    known[planner.robot.coord_of[STILL]] = False
    before = planner.joint_q, planner.known
    planner.measure(planner.joint_q, known)
    try:
        with pytest.raises(RequestError, match=f'no joint states yet of {STILL}'):
            solve_ik(planner, IkRequest(np.array([[0.4, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0]])))
    finally:
        planner.measure(*before)


def test_a_request_for_joints_that_cannot_move_names_them(still_planner):
    pose, chain = np.array([[0.0] * 6 + [1.0]]), 'panda_link2:panda_link3'
    request = IkRequest(pose, link='panda_link3', joint_group=chain)
    reason = f'no joint of the group can move .* {STILL} cannot move: its velocity limit is 0'
    with pytest.raises(RequestError, match=reason):
        solve_ik(still_planner, request)


def test_several_frames_are_solved_without_a_joint_that_cannot_move(still_planner):
    planner = still_planner
    frames = [planner.frame('panda_link5'), planner.frame('panda_hand')]
    links = [frame.link for frame in frames]
    for targets in poses_without_the_still_joint(planner, links, 3, seed=7):
        found = solve_frames_together(planner, frames, targets)
        assert found is not None
        held = planner.robot.coord_of[STILL]
        assert found[held] == planner.joint_q[held]
        reached = planner.body_poses(found[None])[0, links]
        np.testing.assert_allclose(reached[:, :3], targets[:, :3], atol=1e-3)
