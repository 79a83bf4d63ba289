# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""User-defined barriers declared by Warp functions: values, steps, errors."""

from barriers.collision_rig import Bench
from barriers.collision_rig import robot
import numpy as np
import pytest
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjectivePosition
from ros_ik import LinkFunctionBarrier
from ros_ik import Model
from ros_ik import PositionBarrier
from ros_ik import SolveStatus
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.errors import ArgumentError

CHAIN = 'panda_link0:panda_hand_tcp'
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])
OPTIONS = {'gain': 5.0, 'safe_displacement_gain': 0.0}


@wp.struct
class Walls:
    """Bounds of x and z."""

    x_most: wp.float64
    z_least: wp.float64


@wp.func
def room(walls: Walls, pose: wp.transformd) -> wp.vec2d:
    """Distance to the two walls, in the order of PositionBarrier."""
    p = wp.transform_get_translation(pose)
    return wp.vec2d(p[2] - walls.z_least, walls.x_most - p[0])


@wp.func
def room_rate(walls: Walls, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.vec2d:
    """Rate of the two distances."""
    return wp.vec2d(velocity[2], -velocity[0])


@wp.struct
class Column:
    """A vertical column."""

    center: wp.vec3d
    radius: wp.float64


@wp.func
def away(column: Column, pose: wp.transformd) -> wp.float64:
    """Horizontal distance from the surface."""
    p = wp.transform_get_translation(pose) - column.center
    return wp.sqrt(p[0] * p[0] + p[1] * p[1]) - column.radius


@wp.func
def away_rate(
    column: Column, pose: wp.transformd, velocity: wp.spatial_vectord
) -> wp.float64:  # fmt: skip
    """Rate of the distance, along the horizontal normal."""
    p = wp.transform_get_translation(pose) - column.center
    return (p[0] * velocity[0] + p[1] * velocity[1]) / wp.sqrt(p[0] * p[0] + p[1] * p[1])


@wp.func
def level(walls: Walls, pose: wp.transformd) -> wp.vec2d:
    """Cosine of the tilt, and its square."""
    axis = wp.transform_vector(pose, wp.vec3d(wp.float64(0.0), wp.float64(0.0), wp.float64(1.0)))
    return wp.vec2d(axis[2], axis[2] * axis[2])


@wp.func
def level_rate(walls: Walls, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.vec2d:
    """Rate of both as the link turns."""
    axis = wp.transform_vector(pose, wp.vec3d(wp.float64(0.0), wp.float64(0.0), wp.float64(1.0)))
    rate = wp.cross(wp.spatial_bottom(velocity), axis)
    return wp.vec2d(rate[2], wp.float64(2.0) * axis[2] * rate[2])


def walls(x_most=0.6, z_least=0.2):
    made = Walls()
    made.x_most, made.z_least = x_most, z_least
    return made


def column(x, y, radius):
    made = Column()
    made.center, made.radius = wp.vec3d(x, y, 0.0), radius
    return made


def declared(model, parameters=None, **options):
    tip = model.body_index('panda_hand_tcp')
    given = walls() if parameters is None else parameters
    return LinkFunctionBarrier(tip, room, room_rate, given, **options)


def built_in(model, x_most=0.6, z_least=0.2, **options):
    low, high = [-np.inf, -np.inf, z_least], [x_most, np.inf, np.inf]
    return PositionBarrier(model.body_index('panda_hand_tcp'), low, high, **options)


@pytest.mark.parametrize('functions', [(room, room_rate), (level, level_rate)])
@pytest.mark.parametrize('reference', [-1, 3])
@pytest.mark.parametrize(('name', 'link'), [('panda', 9), ('baxter', 20)])
def test_slopes_are_those_of_finite_differences(name, link, reference, functions):
    model = robot(name)
    bench, joint_q = Bench(model, 4), model.random_joint_q(4, np.random.default_rng(1))
    barrier = LinkFunctionBarrier(link, *functions, walls(), reference_link_index=reference)
    _, jacobian = bench.evaluate(barrier, joint_q)
    assert np.abs(jacobian).max() > 0.1
    np.testing.assert_allclose(jacobian, bench.finite_differences(barrier, joint_q), atol=1e-6)


def test_a_robot_without_joints_has_distances_and_no_slopes():
    urdf = (
        '<robot name="post"><link name="base"/><link name="top"/><joint name="mount" type="fixed">'
        '<parent link="base"/><child link="top"/><origin xyz="0 0 0.5"/></joint></robot>'
    )
    model = Model.from_urdf(urdf, device='cpu')
    barrier = LinkFunctionBarrier(model.body_index('top'), room, room_rate, walls())
    bench, joint_q = Bench(model, 2), np.zeros((2, 0))
    values, jacobian = bench.evaluate(barrier, joint_q)
    np.testing.assert_allclose(values, [[0.3, 0.6]] * 2)
    assert jacobian.shape == bench.finite_differences(barrier, joint_q).shape == (2, 2, 0)


@pytest.mark.parametrize('reference', [-1, 2])
def test_values_and_slopes_are_those_of_the_built_in_barrier(reference):
    model = robot('panda')
    bench, joint_q = Bench(model, 5), model.random_joint_q(5, np.random.default_rng(2))
    for own, theirs in zip(
        bench.evaluate(declared(model, reference_link_index=reference), joint_q),
        bench.evaluate(built_in(model, reference_link_index=reference), joint_q),
        strict=True,
    ):
        np.testing.assert_allclose(own, theirs, atol=1e-14)


def pull(model, barriers, joint_q, n_steps, is_checked=False):
    """Return the positions of robots whose targets lie beyond both walls, [steps, n, 3]."""
    joint_q = np.atleast_2d(joint_q).copy()
    solver = DifferentialIK(model, CHAIN, n_robots=len(joint_q))
    tip = model.body_index('panda_hand_tcp')
    target = np.tile([0.75, 0.1, 0.1], (len(joint_q), 1))
    task, step = Task(IKObjectivePosition(tip, np.zeros(3), target), gain=0.05), 0.0 * joint_q
    tasks, limits, way, codes = [task], [VelocityLimit()], [], set()
    for _ in range(n_steps):
        status = solver.solve_ik(joint_q, tasks, limits, barriers, step, 1e-6)
        codes |= set(np.ravel(status).tolist())
        if is_checked:
            solver.enforce_barriers(joint_q, barriers, step)
        joint_q = solver.integrate(joint_q, step)
        way.append(joint_q.copy())
    poses = np.stack([solver.body_poses(q)[:, tip, :3] for q in way])
    assert codes == {int(SolveStatus.CONVERGED)}
    return np.stack(way), poses


def test_steps_are_those_of_the_built_in_barrier():
    model = robot('panda')
    options = {'margin': 0.01, **OPTIONS}
    own, places = pull(model, [declared(model, **options)], HOME, 150)
    theirs, _ = pull(model, [built_in(model, **options)], HOME, 150)
    np.testing.assert_allclose(own, theirs, atol=1e-9)
    # Both walls are reached and neither is passed.
    assert 0.57 < places[-1, 0, 0] <= 0.6 and 0.2 <= places[-1, 0, 2] < 0.23


@pytest.mark.parametrize('n', [3, 200])
def test_each_robot_of_a_batch_has_its_own_parameters(n):
    """Two hundred robots are recorded in parts; each part reads its own rows."""
    model = robot('panda')
    bounds = np.linspace(0.4, 0.65, n)
    barrier = declared(model, [walls(x) for x in bounds], **OPTIONS)
    _, places = pull(model, [barrier], np.tile(HOME, (n, 1)), 120, is_checked=True)
    assert (places[-1, :, 0] <= np.maximum(bounds, places[0, :, 0]) + 1e-6).all()
    later = places[-1, bounds > 0.45, 0]
    np.testing.assert_allclose(later, bounds[bounds > 0.45], atol=0.01)


def test_parameters_are_changed_between_solves():
    model = robot('panda')
    solver = DifferentialIK(model, CHAIN)
    tip = model.body_index('panda_hand_tcp')
    place = solver.body_poses(HOME)[tip, :3]
    barrier = LinkFunctionBarrier(tip, away, away_rate, column(*place[:2] + [0.1, 0], 0.05))
    assert solver.barrier_values(HOME, [barrier])[0] == pytest.approx(0.05)
    barrier.set_parameters(column(*place[:2] + [0.0, 0.2], 0.05))
    assert solver.barrier_values(HOME, [barrier])[0] == pytest.approx(0.15)


@wp.func
def nowhere(walls: Walls, pose: wp.transformd) -> wp.float64:
    return wp.sqrt(wp.float64(-1.0))


@wp.func
def nowhere_rate(walls: Walls, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.float64:
    return wp.float64(0.0)


def test_a_value_that_is_no_number_moves_nothing():
    model, step = robot('panda'), np.ones(9)
    tip = model.body_index('panda_hand_tcp')
    barrier = LinkFunctionBarrier(tip, nowhere, nowhere_rate, walls())
    task = Task(IKObjectivePosition(tip, np.zeros(3), np.ones((1, 3))))
    solver = DifferentialIK(model, CHAIN)
    status = solver.solve_ik(HOME, [task], [VelocityLimit()], [barrier], step, 1e-6)
    status = status if not status.ok else solver.enforce_barriers(HOME, [barrier], step)
    assert not status.ok and not step.any()


@wp.func
def of_many(walls: Walls, pose: wp.transformd) -> wp.types.vector(7, wp.float64):
    return wp.types.vector(7, wp.float64)()


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'value': print}, ['LinkFunctionBarrier', 'value', '@wp.func', 'print']),
        ({'value': room_rate}, ['room_rate', 'Walls, wp.transformd, wp.spatial_vectord']),
        ({'value': of_many}, ['of_many', '1 to 6']),
        ({'rate': room}, ['rate', 'room', 'wp.spatial_vectord']),
        ({'rate': away_rate}, ['away_rate', 'Column', 'Walls']),
        ({'parameters': column(0, 0, 1)}, ['parameters', 'Walls']),
        ({'parameters': []}, ['parameters', 'Walls']),
        ({'link_index': -1}, ['link_index']),
        ({'reference_link_index': 0.5}, ['reference_link_index']),
        ({'gain': 0.0}, ['gain']),
    ],
)
def test_what_does_not_fit_is_named(arguments, words):
    given = {
        'link_index': 1, 'value': room, 'rate': room_rate, 'parameters': walls(), **arguments,
    }  # fmt: skip
    with pytest.raises(ArgumentError) as caught:
        LinkFunctionBarrier(**given)
    for word in words:
        assert word in str(caught.value)


def test_what_does_not_fit_the_model_is_named():
    model, step = robot('panda'), np.zeros(9)
    task = Task(IKObjectivePosition(9, np.zeros(3), np.ones((1, 3))))
    for barrier, words in (
        (LinkFunctionBarrier(99, room, room_rate, walls()), 'there is no link 99'),
        (declared(model, [walls()] * 2, name='walls'), r"'walls': .* each robot \(1\), got 2"),
    ):
        with pytest.raises(ArgumentError, match=words):
            DifferentialIK(model, CHAIN).solve_ik(HOME, [task], (), [barrier], step)
    barrier = declared(model)
    with pytest.raises(ArgumentError, match='1, got 2'):
        barrier.set_parameters([walls(), walls()])
    with pytest.raises(ArgumentError, match='cannot be set'):
        barrier.link_index = 3
