# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A model of many worlds contains the robot many times, for every reader of a model."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.model import Model
from ros_ik.model import ModelBuilder

WORLDS = 3


@wp.kernel
def sum_of_squares(values: wp.array(dtype=wp.float32), total: wp.array(dtype=wp.float32)):
    k = wp.tid()
    wp.atomic_add(total, 0, values[k] * values[k])


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


@pytest.fixture(scope='module')
def blueprint():
    builder = ModelBuilder()
    builder.add_urdf(urdf_text('panda'))
    return builder


@pytest.fixture(scope='module')
def scene(blueprint):
    builder = ModelBuilder()
    builder.replicate(blueprint, WORLDS, (2.0, 0.0, 0.0))
    return builder.finalize('cpu')


def poses(model, joint_q):
    """Link poses [n, bodies, 7] in float64."""
    body_q = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    return body_q


def test_forward_kinematics_of_each_world(panda, scene):
    joint_q = scene.random_joint_q(4, np.random.default_rng(0))
    everywhere = poses(scene, joint_q).reshape(4, WORLDS, panda.body_count, 7)
    for world in range(WORLDS):
        alone = poses(panda, joint_q.reshape(4, WORLDS, -1)[:, world])
        alone[..., 0] += 2.0 * (world - 1)
        np.testing.assert_allclose(everywhere[:, world], alone, atol=1e-12)


@pytest.mark.oracle
def test_newton_moves_our_model_of_many_worlds(scene):
    newton = pytest.importorskip('newton', reason='newton, the oracle, is not installed')
    joint_q = scene.random_joint_q(1, np.random.default_rng(3))
    state = SimpleNamespace(body_q=wp.clone(scene.body_q), body_qd=wp.clone(scene.body_qd))
    coordinates = wp.array(joint_q[0], dtype=wp.float32, device='cpu')
    newton.eval_fk(scene, coordinates, scene.joint_qd, state)
    ours, theirs = poses(scene, joint_q)[0], state.body_q.numpy()
    # Newton computes in float32; positions go up to 3 m.
    np.testing.assert_allclose(theirs[:, :3], ours[:, :3], atol=3e-6)
    np.testing.assert_allclose(np.abs(np.sum(theirs[:, 3:] * ours[:, 3:], axis=1)), 1, atol=1e-6)


def test_jacobian_of_a_link_in_one_world(panda, scene):
    joint_q = scene.random_joint_q(2, np.random.default_rng(1))
    jacobian = np.zeros((2, 6, scene.joint_dof_count))
    eval_jacobian(scene, joint_q, scene.body_index('panda_hand', world=1), jacobian)
    alone = np.zeros((2, 6, panda.joint_dof_count))
    own = np.ascontiguousarray(joint_q.reshape(2, WORLDS, -1)[:, 1])
    eval_jacobian(panda, own, panda.body_index('panda_hand'), alone)
    jacobian = jacobian.reshape(2, 6, WORLDS, -1)
    np.testing.assert_allclose(jacobian[:, :, 1], alone, atol=1e-12)
    assert not jacobian[:, :, [0, 2]].any()


def test_coordinates_of_all_worlds(panda, scene):
    np.testing.assert_array_equal(
        scene.neutral_joint_q(), np.tile(panda.neutral_joint_q(), WORLDS)
    )
    np.testing.assert_array_equal(scene.joint_q.numpy(), np.tile(panda.joint_q.numpy(), WORLDS))
    lower, upper, _, _ = scene.limits64()
    joint_q = scene.random_joint_q(20, np.random.default_rng(2))
    assert np.all((joint_q >= lower) & (joint_q <= upper))
    fingers = joint_q.reshape(20, WORLDS, -1)[..., -2:]
    np.testing.assert_array_equal(fingers[..., 0], fingers[..., 1])
    assert len(np.unique(joint_q[:, :7].ravel())) == 140
    assert scene.joint_group().n_variables == WORLDS * panda.joint_group().n_variables


def test_names_in_many_worlds(panda, scene):
    for world in range(WORLDS):
        body = panda.body_index('panda_hand') + world * panda.body_count
        assert scene.body_index('panda_hand', world=world) == body
        joint = panda.joint_index('panda_joint3') + world * panda.joint_count
        assert scene.joint_index('panda_joint3', world=world) == joint
    with pytest.raises(ArgumentError, match="3 links 'panda_hand'.*world 0.*give the world"):
        scene.body_index('panda_hand')
    with pytest.raises(ArgumentError, match="3 joints 'panda_joint3'"):
        scene.joint_group(['panda_joint3'])
    with pytest.raises(ArgumentError, match="world 3 .*no link 'panda_hand'"):
        scene.body_index('panda_hand', world=3)
    with pytest.raises(ArgumentError, match="no link 'panda_hamd'; closest: panda_hand"):
        scene.body_index('panda_hamd')


def test_prefixes_make_names_unique(blueprint):
    builder = ModelBuilder()
    builder.replicate(blueprint, 2, label_prefixes=['left', 'right'])
    model = builder.finalize('cpu')
    assert model.body_index('right/panda_hand') == model.body_count // 2 + 9
    assert model.joint_group(['left/panda_joint1', 'right/panda_joint1']).n_variables == 2
    assert model.shape_label[0].startswith('left/')


def test_a_blueprint_stays_as_it_is(blueprint):
    before = {name: list(getattr(blueprint, name)) for name in ('joint_label', 'body_world')}
    scene = ModelBuilder()
    scene.add_world(blueprint, xform=(1, 2, 3, 0, 0, 0, 1), label_prefix='a')
    scene.body_mass[0] = 7.0
    assert before == {name: getattr(blueprint, name) for name in before}
    assert blueprint.body_mass[0] != 7.0
    assert blueprint.finalize('cpu').world_count == 1
    own = ModelBuilder()
    own.add_builder(blueprint)
    own.add_builder(own)
    assert own.finalize('cpu').body_count == 2 * blueprint.body_count


def test_start_values_may_be_written(blueprint):
    builder = ModelBuilder()
    builder.add_builder(blueprint)
    builder.joint_q[:7] = [0.1, 0.2, 0.3, -1.0, 0.5, 0.6, 0.7]
    model = builder.finalize('cpu')
    np.testing.assert_allclose(model.joint_q.numpy()[:7], [0.1, 0.2, 0.3, -1.0, 0.5, 0.6, 0.7])


def test_joints_without_articulation_get_one():
    builder = ModelBuilder()
    a, b, c = (builder.add_link(name) for name in 'abc')
    builder.add_joint_ball(-1, a)
    builder.add_joint_ball(a, b)
    builder.add_joint_ball(b, c)
    model = builder.finalize('cpu')
    assert builder.articulation_count == 0
    assert list(model.articulation_start.numpy()) == [0, 3]
    assert list(model.articulation_end.numpy()) == [3]
    assert list(model.joint_ancestor.numpy()) == [-1, 0, 1]
    scene = ModelBuilder()
    scene.replicate(builder, 2)
    free = scene.add_body(label='free')
    model = scene.finalize('cpu')
    assert list(model.articulation_end.numpy()) == [3, 6, 7]
    assert list(model.articulation_world.numpy()) == [0, 1, -1]
    assert model.body_world.numpy()[free] == -1


def test_a_tool_is_bolted_to_a_finished_robot(panda, blueprint):
    builder = ModelBuilder()
    builder.add_builder(blueprint)
    tool = builder.add_link('tool', mass=0.5)
    flange = builder.body_label.index('panda_link8')
    builder.add_joint_fixed(flange, tool, parent_xform=(0, 0, 0.1, 0, 0, 0, 1))
    model = builder.finalize('cpu')
    assert (model.articulation_count, model.joint_count) == (1, panda.joint_count + 1)
    assert model.joint_ancestor.numpy()[-1] == model.joint_index('panda_joint8')


def test_joints_in_any_order():
    """Newton's kernels walk by ``_fk_joint_order`` where a child comes before its parent."""
    builder = ModelBuilder()
    a, b, c = (builder.add_link(name) for name in 'abc')
    builder.add_joint_revolute(b, c)
    builder.add_joint_revolute(a, b)
    builder.add_joint_revolute(-1, a)
    model = builder.finalize('cpu')
    assert list(model.joint_ancestor.numpy()) == [1, 2, -1]
    assert list(model._fk_joint_order.numpy()) == [2, 1, 0]


def test_distance_joints_limit_no_coordinate():
    builder = ModelBuilder()
    builder.add_joint_distance(-1, builder.add_link('a'), min_distance=0.5, max_distance=0.75)
    model = builder.finalize('cpu')
    assert model.joint_limit_lower.numpy()[0] == 0.5
    assert np.all(np.isinf(model.limits64()))


def test_gradients_flow_into_the_model(scene, blueprint):
    model = blueprint.finalize('cpu', requires_grad=True)
    assert model.joint_X_p.requires_grad and model.body_com.requires_grad
    assert not scene.joint_X_p.requires_grad
    tape = wp.Tape()
    total = wp.zeros(1, dtype=wp.float32, device='cpu', requires_grad=True)
    with tape:
        wp.launch(sum_of_squares, model.joint_coord_count, [model.joint_q], [total], device='cpu')
    tape.backward(total)
    np.testing.assert_allclose(model.joint_q.grad.numpy(), 2 * model.joint_q.numpy())
