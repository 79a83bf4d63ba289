# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches of one thread wait while another records a graph, and run beside each other."""

import contextlib
import itertools
import linecache
import sys
import threading

import numpy as np
import pytest
from support.motions.command_changes import command_changes
from support.motions.other_values import dynamic_parameters
from support.motions.other_values import other_value
from support.rigs.planning_rig import make_planner
from support.rigs.servo_rig import Rig
from support.robots.robots import urdf_text
from support.solvers.device_uses import watch_device
from support.solvers.link_functions import Height
from support.solvers.link_functions import too_low
from support.solvers.link_functions import too_low_rate
import warp as wp

from ros_ik import AccelerationLimit
from ros_ik import CollisionGeometry
from ros_ik import CollisionScene
from ros_ik import CollisionShape
from ros_ik import IKObjectiveJointPosition
from ros_ik import IKObjectiveLinkFunction
from ros_ik import launch_lock
from ros_ik import OptimalControl
from ros_ik import OptimalControlCommandBuilder
from ros_ik import PositionBarrier
from ros_ik import PositionLimit
from ros_ik import SelfCollisionBarrier
from ros_ik import VelocityLimit
from ros_ik import WorldCollisionBarrier
from ros_ik.kinematics import eval_bias_force
from ros_ik.kinematics import eval_com
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.kinematics import eval_mass_matrix
from ros_ik.kinematics.link_poses import link_poses
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.launch_lock import ReadersWriterLock
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.node.markers.pairs import ClosestPairs
from ros_ik.objectives import IKObjectivePose
from ros_ik.planning import Budget
from ros_ik.planning import check_trajectory
from ros_ik.planning import Point
from ros_ik.solvers import ChainIK
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DlsSolver
from ros_ik.solvers import IkChain
from ros_ik.solvers import IKSolver
from ros_ik.solvers import inverse_kinematics
from ros_ik.solvers import Task
from ros_ik.solvers.graph import Graph

TIP = 'panda_hand_tcp'
POSE = np.array([[0.4, 0.1, 0.5, 1.0, 0.0, 0.0, 0.0]])
# A thread that does not come [s].
NEVER = 60.0


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


def evaluation(function, *shape):
    """Return a case that fills an array of zeros."""

    def case(model):
        sizes = {'dofs': model.joint_dof_count, 'bodies': model.body_count}
        joint_q, out = model.neutral_joint_q()[None], np.zeros([sizes.get(n, n) for n in shape])
        between = {
            eval_jacobian: (model.body_count - 1,),
            eval_bias_force: (np.zeros((1, model.joint_dof_count)),),
        }.get(function, ())

        def call():
            function(model, joint_q, *between, out)
            return out.copy()

        return call

    return case


def search(model):
    solver = ChainIK(model, TIP, 600, n_threads=2)
    poses = np.repeat(POSE, 600, axis=0)
    return lambda: solver.solve(poses).joint_q.copy()


def search_beside(model):
    return lambda: inverse_kinematics(model, TIP, POSE, preference='manipulability').joint_q


def chain(model):
    solver, arm = DlsSolver(), IkChain(model, TIP)
    return lambda: solver.solve(arm, model.neutral_joint_q(), POSE[0])


def batch(model):
    solver = IKSolver(model, 1, [IKObjectivePose(model.body_index(TIP), POSE)])
    start = wp.array(model.neutral_joint_q()[None], dtype=wp.float32, device='cpu')

    def call():
        out = wp.zeros_like(start)
        solver.step(start, out, iterations=3)
        return out.numpy()

    return call


def steps(model):
    solver = DifferentialIK(model, n_robots=2)
    tasks = [Task(IKObjectivePose(model.body_index(TIP), POSE[0]))]
    joint_q = wp.array(np.tile(model.neutral_joint_q(), (2, 1)), dtype=wp.float64, device='cpu')

    def call():
        out = wp.zeros((2, model.joint_dof_count), dtype=wp.float64, device='cpu')
        solver.solve_ik(joint_q, tasks, [], [], out)
        return out.numpy()

    return call


def construction(model):
    def call():
        return ChainIK(model, TIP, 2).solve(np.repeat(POSE, 2, axis=0)).joint_q.copy()

    return call


CASES = {
    'eval_fk': evaluation(eval_fk, 1, 'bodies', 7),
    'eval_jacobian': evaluation(eval_jacobian, 1, 6, 'dofs'),
    'eval_com': evaluation(eval_com, 1, 3),
    'eval_mass_matrix': evaluation(eval_mass_matrix, 1, 'dofs', 'dofs'),
    'eval_bias_force': evaluation(eval_bias_force, 1, 'dofs'),
    'search': search, 'preference': search_beside, 'chain': chain, 'batch': batch, 'steps': steps,
    'construction': construction,
}  # fmt: skip


@pytest.mark.parametrize('name', CASES)
def test_launches_wait_while_another_thread_records(panda, name, monkeypatch):
    call = CASES[name](panda)
    expected = call()
    values, found = wp.zeros(1, dtype=wp.float64, device='cpu'), []
    recorder, arrived, recording, meanwhile = threading.get_ident(), threading.Event(), [], []
    enter, alone, launch = ReadersWriterLock.enter, ReadersWriterLock.alone, wp.launch
    other = threading.Thread(target=lambda: found.append(call()))

    def coming(lock, then):
        if threading.get_ident() != recorder:
            arrived.set()
        return then(lock)

    def launching(*arguments, **options):
        if recording and threading.get_ident() != recorder:
            meanwhile.append(arguments[0])
        return launch(*arguments, **options)

    def record():
        values.fill_(1.0)
        if wp.get_device('cpu').is_capturing:
            recording.append(True)
            other.start()
            assert arrived.wait(NEVER)
            other.join(0.05)
            assert found == []
            recording.clear()

    monkeypatch.setattr(ReadersWriterLock, 'enter', lambda lock: coming(lock, enter))
    monkeypatch.setattr(ReadersWriterLock, 'alone', lambda lock: coming(lock, alone))
    monkeypatch.setattr(wp, 'launch', launching)
    graph = Graph(record, 'cpu')
    other.join(NEVER)
    assert meanwhile == []
    np.testing.assert_array_equal(found[0], expected)
    values.zero_()
    graph.launch()
    assert values.numpy()[0] == 1.0


@pytest.mark.parametrize('wait', [1, 2])
@pytest.mark.parametrize('shares', [False, True])
def test_an_interrupted_wait_leaves_the_lock_to_others(shares, wait, monkeypatch):
    lock, end, held, waits = ReadersWriterLock(), threading.Event(), threading.Event(), []

    def hold():
        with lock.shared():
            held.set()
            end.wait(NEVER)

    def interrupted(condition, timeout=None):
        waits.append(condition)
        if len(waits) == wait:
            raise KeyboardInterrupt
        return wait_for(condition, timeout)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(NEVER)
    wait_for = lock._condition.wait_for
    monkeypatch.setattr(lock._condition, 'wait_for', interrupted)
    own = lock.shared() if shares else contextlib.nullcontext()
    with own, pytest.raises(KeyboardInterrupt), lock.alone():
        pytest.fail('a share is held')
    end.set()
    holder.join(NEVER)
    entered = []

    def use():
        with lock.shared():
            entered.append('shared')
        with lock.alone():
            entered.append('alone')

    other = threading.Thread(target=use, daemon=True)
    other.start()
    other.join(5.0)
    assert entered == ['shared', 'alone']


def use_whole(lock):
    """Use every method of a lock, nested too."""
    with lock.shared():
        with lock.shared(), lock.alone():
            pass
        with lock.alone(), lock.shared():
            pass


def test_an_interrupt_at_any_line_leaves_the_lock_to_its_own_thread():
    """Otherwise a set-up that comes after Ctrl-C would wait without end."""
    files, interrupted, usable = (launch_lock.__file__, contextlib.__file__), [], []

    def interrupted_use(lock, line):
        """Use a lock; interrupt it before a line, counted from 0, of its own or of contextlib."""
        count = itertools.count()

        def trace(frame, event, _):
            if frame.f_code.co_filename not in files:
                return None
            # Python lets none come between the two ends of a ``with`` and what it holds.
            text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
            is_with = text.lstrip().startswith('with ')
            if event == 'line' and not is_with and next(count) == line:
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            use_whole(lock)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    def interrupt_each_line():
        line, lock = 0, ReadersWriterLock()
        while interrupted_use(lock, line):
            interrupted.append(line)
            use_whole(lock)
            usable.append(line)
            line, lock = line + 1, ReadersWriterLock()

    thread = threading.Thread(target=interrupt_each_line, daemon=True)
    thread.start()
    thread.join(NEVER)
    assert not thread.is_alive(), interrupted[-1]
    assert len(interrupted) > 50 and interrupted == usable


@pytest.mark.parametrize('method', ['capture_begin', 'capture_end'])
def test_an_interrupt_at_either_end_of_a_recording_leaves_room_for_others(method, monkeypatch):
    values, whole = wp.zeros(1, dtype=wp.float64, device='cpu'), getattr(wp, method)

    def interrupted(*arguments, **options):
        monkeypatch.undo()
        if method == 'capture_begin':
            whole(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(wp, method, interrupted)
    with pytest.raises(KeyboardInterrupt):
        Graph(lambda: values.fill_(1.0), 'cpu')
    graph = Graph(lambda: values.fill_(2.0), 'cpu')
    values.zero_()
    graph.launch()
    assert values.numpy()[0] == 2.0


def first_steps(model):
    """Make a solver, tasks, limits and barriers, and use every check."""
    tip, joint_q = model.body_index(TIP), model.neutral_joint_q()
    step, rest = np.zeros((2, model.joint_dof_count))
    solver = DifferentialIK(model)
    links = ['panda_link0', 'panda_link4', 'panda_hand']
    spheres = CollisionGeometry.from_spheres(model, links, np.zeros((3, 3)), 0.05)
    scene = CollisionScene(spheres, max_obstacles=2)
    barriers = [
        SelfCollisionBarrier(scene),
        WorldCollisionBarrier(scene),
        PositionBarrier(tip, [-2.0, -2.0, -2.0], [2.0, 2.0, 2.0]),
    ]
    poses = [Task(IKObjectivePose(tip, POSE[0]), priority=priority) for priority in (1, 2)]
    limits = [PositionLimit(), VelocityLimit(), AccelerationLimit(rest + 9.0)]
    tasks = [*poses, Task(IKObjectiveJointPosition(model, joint_q))]
    solver.solve_ik(joint_q, tasks, limits, barriers, step)
    scene.add_obstacle('ball', CollisionShape.sphere(0.1), [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    barriers[2].gain = 2.0
    solver.solve_ik(joint_q, tasks, limits, barriers, step)
    solver.enforce_barriers(joint_q, barriers, step, 1e-4)
    solver.limit_to_stoppable(joint_q, barriers, step, rest, rest + 9.0)
    solver.barrier_values(joint_q, barriers)
    solver.task_errors(joint_q, tasks)


def first_motion(model):
    command = OptimalControlCommandBuilder()
    command.add_cartesian_target('', TIP, POSE[0], 1.0)
    OptimalControl(model).solve(command.build(model), model.neutral_joint_q())


def first_chain(model):
    DlsSolver().solve(IkChain(model, TIP), model.neutral_joint_q(), POSE[0])


def first_model(_):
    """Build a model with values of one's own, and change it."""
    builder = ModelBuilder()
    builder.add_urdf(urdf_text('panda'))
    frequency = Model.AttributeFrequency.BODY
    builder.add_custom_attribute(ModelBuilder.CustomAttribute('wear', wp.float32, frequency))
    builder.finalize(device='cpu').set_gravity([0.0, 0.0, -1.6])


def first_ticks(_):
    """Build a servo, and tick it with changes of every kind of command and of parameters."""
    rig = Rig(
        rollout_steps=2,
        outputs__default__command_horizon=0.2,
        barriers__position__box__frame='panda_hand',
        barriers__position__box__min=[-9.0, -9.0, -9.0],
        joint_limits__panda_joint1__has_jerk_limits=True,
        joint_limits__panda_joint1__max_jerk=500.0,
        com__weight=1.0,
    )
    given, n_joints = dict(rig.given), rig.robot.group.n_variables
    for change in command_changes(rig).values():
        change()
        rig.tick(2)
    for name, entry in dynamic_parameters(given).items():
        value = given.get(name, entry.default)
        rig.set(**{name.replace('.', '__'): other_value(entry, value, n_joints)})
        rig.aim(rig.moved((0.0, 0.01, 0.0)))
        rig.tick()
    rig.servo.interrupt()
    rig.tick(2)


def first_objectives(model):
    """Write the numbers of objectives, and solve into an array."""
    tip, heights = model.body_index(TIP), [Height(), Height()]
    target = wp.array(POSE, dtype=wp.transformd, device='cpu')
    pose = IKObjectivePose(tip, target)
    pose.set_target_pose(0, POSE[0])
    pose.set_target_poses(POSE)
    IKObjectiveLinkFunction(tip, too_low, too_low_rate, heights).set_parameters(heights)
    step = wp.zeros(model.joint_dof_count, dtype=wp.float64, device='cpu')
    DifferentialIK(model).solve_ik(model.neutral_joint_q(), [Task(pose)], [], [], step)


def first_pairs(_):
    """Find the closest pairs that the node draws."""
    rig = Rig.shared()
    robot = rig.robot
    pairs = ClosestPairs(robot.shapes, rig.settings)
    pairs.find(link_poses(robot.model, rig.q))


def first_trajectory(_):
    """Check the barriers along a trajectory."""
    planner = make_planner('panda')
    points = [Point(0.0, planner.joint_q[:7]), Point(1.0, planner.joint_q[:7] + 0.01)]
    joints = [f'panda_joint{k}' for k in range(1, 8)]
    check_trajectory(planner, joints, points, budget=Budget(10.0))


@pytest.mark.parametrize(
    'use',
    [
        first_steps, first_motion, first_chain, first_model, first_ticks, first_objectives,
        first_pairs, first_trajectory, construction, batch,
    ],
)  # fmt: skip
def test_no_recording_of_another_thread_meets_new_arrays_and_copies(panda, use, monkeypatch):
    """Warp would record them too, or fail because the recording has ended."""
    found = watch_device(monkeypatch)
    use(panda)
    assert found == set()


def test_threads_share_and_one_is_alone():
    lock, order = ReadersWriterLock(), []
    both = threading.Barrier(2, timeout=NEVER)

    def share():
        with lock.shared():
            both.wait()
            order.append('shared')

    threads = [threading.Thread(target=share) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(NEVER)
    assert order == ['shared'] * 2
    with lock.alone():
        assert lock.is_held_here and not lock.is_shared_here
        late = threading.Thread(target=lambda: order.append(lock.shared().__enter__()))
        late.start()
        late.join(0.05)
        assert len(order) == 2
        with lock.shared(), lock.alone():
            assert lock.is_shared_here
    late.join(NEVER)
    assert len(order) == 3
    assert not lock.is_held_here


def test_two_threads_that_share_are_alone_one_after_the_other():
    lock, inside = ReadersWriterLock(), []
    both = threading.Barrier(2, timeout=NEVER)

    def share():
        with lock.shared():
            both.wait()
            with lock.alone():
                inside.append(1)
                assert len(inside) == 1
                inside.pop()
            inside_again.append(lock.is_shared_here)

    inside_again = []
    threads = [threading.Thread(target=share) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(NEVER)
    assert inside_again == [True, True]
    # Both have left: one comes in alone at once.
    with lock.alone():
        assert LAUNCH_LOCK is not lock
