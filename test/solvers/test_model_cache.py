# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that solve in one call give the same answers with and without cached solvers."""

import contextlib
import copy
import dataclasses
import functools
import gc
import threading
from types import SimpleNamespace
import weakref

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.robots.collision_oracle import robot_with_meshes
from support.robots.collision_oracle import urdf_path
from support.robots.robots import load
from support.robots.robots import urdf_text
import warp as wp

from ros_ik import all_solutions
from ros_ik import closed_form
from ros_ik import ClosedFormFamily
from ros_ik import inverse_kinematics
from ros_ik import ModelBuilder
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.runtime.content_reader import ContentReader
from ros_ik.kinematics.serial_chain import serial_chain
from ros_ik.model import Model
from ros_ik.model.joint_group import group_of_joints
from ros_ik.solvers.analytic.result import ClosedFormSettings
from ros_ik.solvers.analytic.structure import form as closed_forms
from ros_ik.solvers.model_cache import max_bytes
from ros_ik.solvers.model_cache import PooledValue
from ros_ik.solvers.pose_ik import solver as pose_solver

LINKS = {'panda': 'panda_hand_tcp', 'ur5_robot': 'tool0'}
METHODS = {
    'search': inverse_kinematics,
    'auto': functools.partial(inverse_kinematics, method='auto'),
    'all solutions': all_solutions,
}


def robot(name, with_meshes=False):
    """Return a model whose arrays and solvers are not shared."""
    if with_meshes:
        return robot_with_meshes.__wrapped__(name)
    return load.__wrapped__(urdf_path(name))


def poses_of(model, link, n=4, seed=0):
    """Return reachable poses [n, 7]."""
    joint_q = model.random_joint_q(n, np.random.default_rng(seed))
    body_q = np.zeros((n, model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    return body_q[:, model.body_index(link)]


def assert_equal(found, other):
    """Assert that all arrays of two results agree to the bit."""
    for field in dataclasses.fields(found):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(other, field.name))


@pytest.fixture
def makes(monkeypatch):
    """Count the solvers of poses that are made."""
    made, make = [], pose_solver.ChainIK.__init__

    def counted(self, *args, **options):
        made.append(args)
        make(self, *args, **options)

    monkeypatch.setattr(pose_solver.ChainIK, '__init__', counted)
    return made


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('name', LINKS)
def test_repeated_calls_answer_as_first_ones(name, method):
    model, link, solve = robot(name), LINKS[name], METHODS[method]
    poses = poses_of(model, link, either(3, 6))
    first = [solve(copy.copy(model), link, pose) for pose in poses]
    again = [solve(model, link, pose) for pose in poses for _ in range(2)]
    for k, result in enumerate(again):
        assert_equal(result, first[k // 2])


def test_a_group_of_another_model_is_refused_after_equal_requests_too():
    model, link = robot('panda'), LINKS['panda']
    (pose,) = poses_of(model, link, 1)
    own = model.joint_group([f'panda_joint{k}' for k in range(1, 7)])
    named = urdf_text('panda').replace('panda_joint', 'arm_joint')
    other = Model.from_urdf(named, device='cpu')
    foreign = other.joint_group([f'arm_joint{k}' for k in range(1, 7)])
    assert foreign.joint_indices == own.joint_indices
    for _ in range(2):
        inverse_kinematics(model, link, pose, joint_group=own)
        with pytest.raises(ArgumentError, match='joint_group: .* belongs to another model'):
            inverse_kinematics(model, link, pose, joint_group=foreign)


def test_one_solver_is_made_for_equal_requests(makes):
    model, link = robot('panda'), LINKS['panda']
    poses = poses_of(model, link)
    for pose in poses:
        inverse_kinematics(model, link, pose)
        inverse_kinematics(model, link, pose, model.neutral_joint_q())
    assert len(makes) == 1
    held = model.neutral_joint_q()
    for change in (
        {'position_tolerance': 1e-4}, {'offset': np.array([0.0, 0, 0.1, 0, 0, 0, 1])},
        {'joint_q': held}, {'joint_q': held + 1e-9}, {'n_solutions': 2}, {'n_threads': 1},
        {'joint_group': [f'panda_joint{k}' for k in range(1, 7)]},
    ):  # fmt: skip
        makes.clear()
        for _ in range(2):
            inverse_kinematics(model, link, poses[0], **change)
        assert len(makes) == 1, change


def put(array, content):
    """Write into an array of Warp or NumPy."""
    if isinstance(array, wp.array):
        array.assign(content)
    else:
        array[:] = content


@pytest.mark.parametrize('check_collisions', [False, True])
def test_a_change_of_any_array_of_the_model_is_seen(check_collisions):
    model, link = robot('panda', with_meshes=True), LINKS['panda']
    poses, options = poses_of(model, link, 24), {'check_collisions': check_collisions}
    before = inverse_kinematics(model, link, poses, **options)
    rng = np.random.default_rng(0)
    seen = set()
    for name, value in list(vars(model).items()):
        host = value if isinstance(value, np.ndarray) else getattr(value, 'numpy', lambda: None)()
        if host is None or host.dtype.kind != 'f' or not host.size:
            continue
        # In the short form, others are changed without a check of collisions alone.
        if check_collisions and either(not name.startswith(('shape', 'joint_X_p', '_lim')), False):
            continue
        kept = host.copy()
        size = 0.1 if name.startswith('shape') else 0.01
        changed = kept * (1.0 + size * rng.random(host.shape)) + size * rng.random(host.shape)
        put(value, changed.astype(host.dtype))
        found = inverse_kinematics(model, link, poses, **options)
        assert_equal(found, inverse_kinematics(copy.copy(model), link, poses, **options))
        if not np.array_equal(found.joint_q, before.joint_q):
            seen.add(name)
        put(value, kept)
        assert_equal(inverse_kinematics(model, link, poses, **options), before)
    # The changes were such that answers depend on them.
    assert {'joint_X_p64', '_limits'} <= seen
    assert ('shape_transform' in seen) == check_collisions


@pytest.mark.parametrize('lay_out', [np.array, np.asfortranarray, lambda array: array[::-1][::-1]])
def test_an_array_in_the_place_of_another_is_seen_and_so_are_its_changes(lay_out):
    model, link = robot('panda'), LINKS['panda']
    poses = poses_of(model, link)
    before = inverse_kinematics(model, link, poses)
    first = model.joint_X_p64
    other = model.joint_X_p64 = lay_out(first * [1.1, 1.1, 1.1, 1.0, 1.0, 1.0, 1.0])
    longer = inverse_kinematics(model, link, poses)
    assert_equal(longer, inverse_kinematics(copy.copy(model), link, poses))
    other[:, :3] /= 1.1
    other[3, 2] += 0.05
    moved = inverse_kinematics(model, link, poses)
    assert_equal(moved, inverse_kinematics(copy.copy(model), link, poses))
    answers = {found.joint_q.tobytes() for found in (before, longer, moved)}
    assert len(answers) == 3
    model.joint_X_p64 = first
    assert_equal(inverse_kinematics(model, link, poses), before)


def test_arrays_of_other_shapes_are_other_content():
    values = np.arange(6.0)
    contents = {
        ContentReader(arrays).read()
        for arrays in (
            (values[:2], values[2:]), (values[:3], values[3:]), (values.reshape(2, 3),),
            (values.reshape(3, 2),), (values,), (values.view(np.int64),),
        )
    }  # fmt: skip
    assert len(contents) == 6


def test_a_change_in_the_memory_of_a_device_is_seen():
    values, beside = np.arange(6.0), np.arange(3)
    elsewhere = SimpleNamespace(device=SimpleNamespace(is_cpu=False), numpy=values.copy)
    reader = ContentReader((beside, elsewhere))
    first = reader.read()
    assert reader.read() is first
    values[2] = 7.0
    assert reader.read() != first
    values[2], beside[0] = 2.0, 1
    assert reader.read() != first
    beside[0] = 0
    assert reader.read() == first


def test_a_device_that_is_not_to_be_read_is_read_once():
    values, beside = np.arange(6.0), np.arange(3)
    reads = []

    def numpy():
        reads.append(values)
        return values.copy()

    elsewhere = SimpleNamespace(device=SimpleNamespace(is_cpu=False), numpy=numpy)
    reader = ContentReader((beside, elsewhere), reads_devices=False)
    first = reader.read()
    values[2] = 7.0
    assert reader.read() is first and len(reads) == 1
    beside[0] = 1
    assert reader.read() != first
    beside[0] = 0
    # Another array in its place is read.
    other = ContentReader((beside, elsewhere), reads_devices=False)
    assert other.read() != first


def test_answers_stay_when_the_solver_goes_on():
    model, link = robot('panda'), LINKS['panda']
    poses = poses_of(model, link, 2)
    for solve in METHODS.values():
        first = solve(model, link, poses[0])
        kept = first.copy()
        other = solve(model, link, poses[1])
        assert not np.array_equal(first.joint_q, other.joint_q)
        assert_equal(first, kept)


def test_a_model_ends_with_its_solvers():
    model = robot('panda')
    inverse_kinematics(model, LINKS['panda'], poses_of(model, LINKS['panda'], 1))
    end = weakref.ref(model)
    assert 'solver_cache' not in vars(copy.copy(model))
    del model
    gc.collect()
    assert end() is None


@dataclasses.dataclass(frozen=True)
class Weights:
    """Settings with an array."""

    values: np.ndarray


@dataclasses.dataclass(eq=False)
class Steps:
    """Settings that Python compares by identity."""

    count: int


def test_settings_are_compared_by_content():
    model, weights, steps = robot('panda'), np.zeros(2), Steps(1)

    def value_of(settings):
        with PooledValue(model, {'settings': settings}, object) as value:
            return value

    default = value_of(ClosedFormSettings())
    assert value_of(ClosedFormSettings()) is default
    assert value_of(ClosedFormSettings(max_steps=41)) is not default
    first = value_of(Weights(weights))
    assert value_of(Weights(weights.copy())) is first
    weights[1] = 1.0
    assert value_of(Weights(weights)) is not first
    first = value_of(steps)
    assert value_of(Steps(1)) is first
    steps.count = 2
    assert value_of(steps) is not first


def test_slices_of_a_large_batch_share_a_solver(makes, monkeypatch):
    monkeypatch.setattr('ros_ik.solvers.pose_batches.batch.MAX_BATCH', 70)
    model, link = robot('panda'), LINKS['panda']
    inverse_kinematics(model, link, poses_of(model, link, 210))
    assert len(makes) == 1


@pytest.mark.parametrize(
    ('solve', 'most', 'places'),
    [
        (inverse_kinematics, 'pose_batches.batch.MAX_BATCH', 1),
        (all_solutions, 'analytic.batch._MAX_BATCH', 16),
    ],
)
@pytest.mark.parametrize('n', [1, 6, 7, 13, 14, 15])
def test_each_slice_of_a_batch_is_answered_in_its_rows(solve, most, places, n, monkeypatch):
    monkeypatch.setattr(f'ros_ik.solvers.{most}', 7 * places)
    model, link = robot('ur5_robot'), LINKS['ur5_robot']
    poses, seeds = poses_of(model, link, n), model.random_joint_q(n, 0)
    whole = solve(model, link, poses, seeds)
    for first in range(0, n, 7):
        rows = slice(first, min(first + 7, n))
        assert_equal(whole.rows(rows), solve(model, link, poses[rows], seeds[rows]))


def idle_solvers(model):
    """Return the unused solvers of a model, the least recently used one first."""
    requests = model.solver_cache['poses']._requests.values()
    return [entry for equals in requests for entry in equals.idle]


@pytest.mark.parametrize(('method', 'n'), in_turn(list(METHODS), [65, 256, 1000]))
def test_solvers_of_batches_are_kept(makes, method, n):
    solve = METHODS[method]
    for name, options in (('panda', {}), ('ur5_robot', {'n_threads': 2})):
        if method == 'all solutions':
            options = {'redundant_values': 1} if name == 'panda' else {}
        model, link = robot(name), LINKS[name]
        poses, seeds = poses_of(model, link, n), model.random_joint_q(n, 1)
        alone = solve(copy.copy(model), link, poses, seeds, **options)
        first = solve(model, link, poses, seeds, **options)
        made = len(makes)
        kept = first.copy()
        solve(model, link, poses[::-1], **options)
        assert_equal(solve(model, link, poses, seeds, **options), alone)
        assert_equal(first, kept)
        assert len(makes) == made
        model.joint_X_p64[:, :3] *= 1.1
        other = solve(model, link, poses, seeds, **options)
        assert_equal(other, solve(copy.copy(model), link, poses, seeds, **options))
        assert not np.array_equal(other.joint_q, alone.joint_q)


@pytest.mark.parametrize('method', METHODS)
def test_kept_solvers_are_bounded_in_memory(method):
    for name in LINKS:
        model, link = robot(name), LINKS[name]
        poses = poses_of(model, link, 40)
        METHODS[method](model, link, poses)
        size = max(n_bytes for _, n_bytes in idle_solvers(model))
        assert size > 40 * 8 * model.joint_coord_count
        pool = model.solver_cache['poses']
        pool.max_bytes = int(2.5 * size)
        for n in (40, 39, 38, 40, 37):
            METHODS[method](model, link, poses[:n])
            assert sum(n_bytes for _, n_bytes in idle_solvers(model)) <= 2.5 * size
        sizes = [s[0].n_problems for s, n_bytes in idle_solvers(model) if n_bytes]
        assert sizes == [40, 37]
        pool.max_bytes = size // 2
        METHODS[method](model, link, poses)
        assert 40 not in [s[0].n_problems for s, n_bytes in idle_solvers(model) if n_bytes]


def test_a_gpu_keeps_larger_solvers():
    assert max_bytes(SimpleNamespace(is_cuda=True, total_memory=2**36)) == 2**30
    assert max_bytes(wp.get_device('cpu')) == 2**25


def test_kept_solvers_are_bounded_in_number(makes):
    model, link = robot('panda'), LINKS['panda']
    poses = poses_of(model, link, 20)
    for n in range(1, 21):
        inverse_kinematics(model, link, poses[:n])
    assert [s[0].n_problems for s, _ in idle_solvers(model)] == list(range(5, 21))
    makes.clear()
    inverse_kinematics(model, link, poses[:5])
    assert not makes and idle_solvers(model)[-1][0][0].n_problems == 5


def test_a_chain_is_folded_once_for_equal_requests(monkeypatch):
    folded = []

    def counted(*args, **options):
        folded.append(args)
        return serial_chain(*args, **options)

    for place in (pose_solver, closed_forms):
        monkeypatch.setattr(place, 'serial_chain', counted)
    model, link = robot('panda'), LINKS['panda']
    poses = poses_of(model, link)
    for options in ({'poses': poses[None]}, {'poses': poses, 'preference': 'middle'}):
        folded.clear()
        found = [inverse_kinematics(model, link, **options) for _ in range(3)]
        assert len(folded) == 1
        assert_equal(found[0], found[2])


def test_wrong_arguments_are_refused_beside_a_kept_solver():
    model, link = robot('panda'), LINKS['panda']
    pose = poses_of(model, link, 1)
    for options, words in (
        ({'n_threads': True}, 'n_threads'),
        ({'joint_q': np.zeros(3)}, 'joint_q'), ({'joint_group': ['elbow']}, 'elbow'),
        ({'settings': {}}, 'settings'), ({'position_tolerance': np.nan}, 'position_tolerance'),
    ):  # fmt: skip
        inverse_kinematics(model, link, pose, n_threads=1)
        with pytest.raises(ArgumentError, match=words):
            inverse_kinematics(model, link, pose, **options)
    with pytest.raises(ArgumentError, match='model must be a ros_ik Model'):
        inverse_kinematics(None, link, pose)


def test_groups_of_equal_names_are_told_apart():
    builder, scene = ModelBuilder(), ModelBuilder()
    builder.add_urdf(urdf_path('ur5_robot'))
    scene.replicate(builder, 2, spacing=(0.0, 0.0, 0.0))
    model = scene.finalize('cpu')
    link = model.body_index('tool0', world=1)
    pose = poses_of(robot('ur5_robot'), 'tool0', 1)
    half = model.joint_count // 2
    mine = group_of_joints(model, range(half, model.joint_count))
    inverse_kinematics(model, link, pose, joint_group=mine)
    with pytest.raises(ArgumentError, match='no joint of the group moves'):
        inverse_kinematics(model, link, pose, joint_group=group_of_joints(model, range(half)))


def test_threads_do_not_share_a_solver():
    model, link = robot('ur5_robot'), LINKS['ur5_robot']
    poses = poses_of(model, link, 40)
    alone = [inverse_kinematics(copy.copy(model), link, pose) for pose in poses]
    failed = []

    def solve(offset):
        for k in np.roll(np.arange(len(poses)), offset):
            for _ in range(3):
                try:
                    assert_equal(inverse_kinematics(model, link, poses[k]), alone[k])
                except Exception as error:  # noqa: BLE001 it would end the thread unseen
                    failed.append(error)

    threads = [threading.Thread(target=solve, args=(10 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_thread_does_not_wait_for_the_solver_of_another():
    """Ends only if the inner call, in another thread, ends before the outer one."""
    model, link = robot('panda'), LINKS['panda']
    poses = poses_of(model, link, 3)
    expected = inverse_kinematics(copy.copy(model), link, poses)
    inside = []

    def solve_beside(done, total):
        thread = threading.Thread(
            target=lambda: inside.append(inverse_kinematics(model, link, poses))
        )
        thread.start()
        thread.join()

    outside = inverse_kinematics(model, link, poses, on_progress=solve_beside)
    assert_equal(inside[0], expected)
    assert_equal(outside, expected)
    assert len(idle_solvers(model)) == 2


def test_a_solver_is_kept_after_a_call_that_fails(makes):
    model, link = robot('panda'), LINKS['panda']
    pose = poses_of(model, link, 1)
    expected = inverse_kinematics(model, link, pose)

    def stop(done, total):
        raise KeyboardInterrupt

    for options, error in (
        ({}, None), ({'joint_group': ['elbow']}, ArgumentError), ({'settings': {}}, ArgumentError),
        ({'seeds': np.zeros(3)}, ArgumentError), ({'on_progress': stop}, KeyboardInterrupt),
    ):  # fmt: skip
        with contextlib.nullcontext() if error is None else pytest.raises(error):
            inverse_kinematics(model, link, pose, **options)
        makes.clear()
        assert_equal(inverse_kinematics(model, link, pose), expected)
        assert not makes and len(idle_solvers(model)) == 1, options


def test_the_closed_form_is_found_again_after_the_arm_has_changed():
    model = robot('ur5_robot')
    form = closed_form(model, 'tool0')
    assert form.family is ClosedFormFamily.PARALLEL and closed_form(model, 'tool0') is form
    axis = model.joint_axis64[2]
    axis += 0.1
    axis /= np.linalg.norm(axis)
    assert closed_form(model, 'tool0').family is ClosedFormFamily.GENERAL
