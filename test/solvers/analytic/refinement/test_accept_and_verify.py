# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solutions that are made and verified in one kernel of a CPU, against two and Pinocchio."""

import dataclasses

import numpy as np
import pytest
from support.robots.chain_judge import ChainJudge
from support.robots.robots import urdf_text
import warp as wp

from benchmarks.gpu.kernels import product_variants
from ros_ik import ClosedFormIK
from ros_ik import SolveStatus
from ros_ik.solvers.analytic import solver as solver_module
from ros_ik.solvers.analytic import stage as stage_module
from ros_ik.solvers.pose_ik.search.setup import make_placement

# Parallel and intersecting axes, limits of less than a turn, and other joints in the model.
ARMS = {'ur5_robot': 'tool0', 'z1': 'gripperStator', 'kinova': 'j2s6s200_end_effector'}
UR5_JOINTS = [
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint',
    'wrist_3_joint',
]  # fmt: skip
N = 96


@pytest.fixture(scope='module', params=ARMS)
def judge(request):
    return ChainJudge(urdf_text(request.param), ARMS[request.param], None, '')


def mixed_problems(judge):
    """Return poses of all kinds, and seeds."""
    seeds = np.random.default_rng(0).uniform(-3.0, 3.0, (N, judge.model.joint_coord_count))
    return judge.mixed_poses(N), seeds


def listed(solver):
    """Return the problems that the kernel left to the others."""
    rows = solver._stage._unverified.rows
    return rows.row.numpy()[: rows.ends.numpy()[-1]]


@pytest.mark.parametrize('max_solutions', [3, 16])
def test_one_kernel_finds_what_two_find(judge, max_solutions, monkeypatch):
    poses, seeds = mixed_problems(judge)
    results = []
    for is_direct in (True, False):
        if not is_direct:
            monkeypatch.setattr(solver_module, 'has_direct_path', lambda *arguments: False)
        solver = ClosedFormIK(judge.model, judge.link, N, max_solutions)
        assert (solver._stage._unverified is not None) == is_direct
        # Flags, directions and configurations of the first solve must not remain.
        solver.solve(np.roll(poses, -1, axis=0), seeds)
        results.append(dataclasses.asdict(solver.solve(poses, seeds)))
        if is_direct:
            left = listed(solver)
            assert np.all(np.diff(left) > 0)
            assert set(left) >= set(range(2, N, 4)) | set(range(3, N, 4))
            assert np.sum(left % 4 == 0) < N // 16
    for key, values in results[0].items():
        np.testing.assert_array_equal(results[1][key], values, err_msg=key)


def test_single_poses_and_batches_of_blocks_have_the_same_solutions(judge, monkeypatch):
    """Only a single block leaves out launches that have no pose to work on."""
    poses, seeds = mixed_problems(judge)
    monkeypatch.setattr(stage_module, '_BLOCK', N // 4)
    batch = dataclasses.asdict(ClosedFormIK(judge.model, judge.link, N).solve(poses, seeds))
    single = ClosedFormIK(judge.model, judge.link, 1)
    n_listed = 0
    for k in range(N):
        result = dataclasses.asdict(single.solve(poses[k : k + 1], seeds[k : k + 1]))
        n_listed += len(listed(single))
        for key, values in result.items():
            np.testing.assert_array_equal(values[0], batch[key][k], err_msg=f'{key} of {k}')
    assert N // 4 < n_listed < N


def test_solutions_and_their_errors_are_those_of_pinocchio(judge):
    q = judge.random(N, seed=1)
    poses = judge.poses(q)
    # A tenth of the tolerance, which the kernel can tell from rounding.
    poses[:, 0] += 1e-12
    solver = ClosedFormIK(judge.model, judge.link, N, 16)
    result = solver.solve(poses, judge.whole(q))
    assert len(listed(solver)) < N // 8
    assert judge.is_found(result, q).all()
    judge.assert_true(result, poses, seeds=q)
    there = np.arange(16) < result.n_found[:, None]
    own = judge.own(result.joint_q)[there]
    moved, turned = judge.errors(own, np.repeat(poses, result.n_found, axis=0))
    np.testing.assert_allclose(result.position_error[there], moved, atol=1e-14)
    np.testing.assert_allclose(result.rotation_error[there], turned, atol=1e-13)
    # Locked joints and mimic joints.
    np.testing.assert_array_equal(result.joint_q[there], judge.whole(own))


def joint_text(number, origin, axis):
    """Return a link and the joint before it."""
    return (
        f'<link name="link{number}"/><joint name="joint{number}" type="revolute">'
        f'<parent link="link{number - 1}"/><child link="link{number}"/>'
        f'<origin xyz="{origin}"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
    )


@pytest.mark.parametrize('tilt', [0.0, 2e-5, 1e-4])
def test_axes_opposite_to_z_are_as_exact_as_others(tilt):
    """The shortest rotation from z to such an axis is badly determined."""
    down, side = f'{tilt} 0 -1', f'0 -1 {tilt}'
    axes = [down, side, side, down, side, f'0 {-tilt} -1']
    origins = ['0 0 1', '0.1 0 0.4', '0 0.05 0.5', '0.3 0 0', '0 0 0', '0 0 0']
    joints = [joint_text(k + 1, *pair) for k, pair in enumerate(zip(origins, axes, strict=True))]
    text = f'<robot name="arm"><link name="link0"/>{"".join(joints)}</robot>'
    judge = ChainJudge(text, 'link6', None, '')
    q = judge.random(N, seed=3)
    poses = judge.poses(q)
    result = ClosedFormIK(judge.model, judge.link, N).solve(poses, judge.whole(q))
    assert np.all(result.status == SolveStatus.CONVERGED)
    moved, turned = judge.errors(judge.own(result.joint_q[:, 0]), poses)
    np.testing.assert_allclose(result.position_error[:, 0], moved, atol=1e-14)
    np.testing.assert_allclose(result.rotation_error[:, 0], turned, atol=1e-13)


@pytest.mark.parametrize('error', [1e-3, 1e-8])
def test_a_chain_that_differs_from_the_model_is_detected(judge, error, monkeypatch):
    def displaced(*arguments):
        placement = make_placement(*arguments)
        tool = np.array(placement.tool)
        tool[0] += error
        placement.tool = wp.transformd(*tool)
        return placement

    monkeypatch.setattr(solver_module, 'make_placement', displaced)
    solver = ClosedFormIK(judge.model, judge.link, N)
    result = solver.solve(judge.poses(judge.random(N, seed=2)))
    assert np.all(result.status == SolveStatus.NUMERICAL_FAILURE)
    assert len(listed(solver)) == N
    np.testing.assert_allclose(result.position_error, error, rtol=1e-2)


def test_paths_with_other_joints_take_two_steps():
    judge = ChainJudge(urdf_text('ur5_robot'), 'tool0', None, '')
    assert ClosedFormIK(judge.model, 'tool0', 1)._stage._unverified is not None
    five = {'joint_group': UR5_JOINTS[:-1]}
    for other in (five, {**five, 'free_rotation': 'z'}, {'all_turns': True}):
        assert ClosedFormIK(judge.model, 'tool0', 1, **other)._stage._unverified is None


def test_the_table_of_gpus_has_no_kernel_for_a_cpu():
    names = {name for variant in product_variants() for name in variant.kernels}
    assert 'accept' in names and 'accept_and_verify' not in names
