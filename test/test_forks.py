# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Forked processes use models and solvers of their parent, whatever its other threads do."""

import os
import pickle
import select
import signal
import threading

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.launch_lock import POOL_LOCK
from ros_ik.model import Model
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import inverse_kinematics
from ros_ik.solvers import Task
from ros_ik.solvers.graph import Graph

TIP = 'panda_hand_tcp'
POSE = np.array([0.4, 0.1, 0.5, 1.0, 0.0, 0.0, 0.0])
# A process or thread that does not come [s].
NEVER = 60.0


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


def in_fork(call):
    """Return what a call returns in a forked process; fail if it never ends."""
    read, write = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.write(write, pickle.dumps(call()))
        except BaseException as error:  # shown by the parent; this process must not go on
            os.write(write, pickle.dumps(repr(error)))
        finally:
            os._exit(0)
    os.close(write)
    try:
        assert select.select([read], [], [], NEVER)[0], 'the process waits'
        with os.fdopen(read, 'rb') as answer:
            return pickle.load(answer)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def steps(solver, tasks):
    """Return the steps of robots at rest."""
    n, model = solver.n_robots, solver.model
    found = np.zeros((n, model.joint_dof_count))
    solver.solve_ik(np.tile(model.neutral_joint_q(), (n, 1)), tasks, [], [], found)
    return found


def tasks_of(model):
    return [Task(IKObjectivePose(model.body_index(TIP), POSE), gain=0.1)]


def record_and_search(model):
    """Record graphs of a new solver, and take one of the pool."""
    found = steps(DifferentialIK(model, n_robots=2), tasks_of(model))
    return found, inverse_kinematics(model, TIP, POSE).joint_q


@pytest.mark.parametrize('lock', [LAUNCH_LOCK.shared(), POOL_LOCK], ids=['launch', 'pool'])
def test_another_thread_is_inside_a_lock(panda, lock):
    expected, inside, end = record_and_search(panda), threading.Event(), threading.Event()

    def stay():
        with lock:
            inside.set()
            # A fork waits for the pool, which is held for microseconds; not for launches.
            end.wait(NEVER if lock is not POOL_LOCK else 0.1)

    other = threading.Thread(target=stay)
    other.start()
    assert inside.wait(NEVER)
    try:
        found = in_fork(lambda: record_and_search(panda))
    finally:
        end.set()
        other.join(NEVER)
    np.testing.assert_equal(found, expected)
    np.testing.assert_equal(record_and_search(panda), expected)


def test_a_fork_waits_for_a_recording(panda):
    """Warp would go on recording in the new process, without an end."""
    values, recording = wp.zeros(1, device='cpu'), threading.Event()

    def record():
        values.fill_(1.0)
        if wp.get_device('cpu').is_capturing:
            recording.set()
            # The fork comes meanwhile, or later on a busy machine.
            threading.Event().wait(0.05)

    other = threading.Thread(target=lambda: Graph(record, 'cpu'))
    other.start()
    assert recording.wait(NEVER)
    met = in_fork(lambda: wp.get_device('cpu').is_capturing)
    other.join(NEVER)
    assert met is False


def test_it_may_fork_inside_a_share_and_alone(panda):
    expected = record_and_search(panda)
    for context in (LAUNCH_LOCK.shared, LAUNCH_LOCK.alone):
        with context():
            found = in_fork(lambda: record_and_search(panda))
            assert LAUNCH_LOCK.is_held_here
        np.testing.assert_equal(found, expected)
        assert not LAUNCH_LOCK.is_held_here
    with LAUNCH_LOCK.alone():
        pass


def test_threads_of_a_batch_start_again(panda):
    """Work for the threads of the parent would pile up, as no thread takes it."""
    solver, tasks = DifferentialIK(panda, n_robots=300, n_threads=2), tasks_of(panda)
    expected = steps(solver, tasks)
    before, found, after = in_fork(
        lambda: (threading.active_count(), steps(solver, tasks), threading.active_count())
    )
    assert (before, after) == (1, 2)
    np.testing.assert_array_equal(found, expected)
