# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays into which results cannot be written are refused by name, before anything is written."""

import numpy as np
import pytest

from ros_ik import ArgumentError
from ros_ik import DifferentialIK
from ros_ik import eval_bias_force
from ros_ik import eval_com
from ros_ik import eval_fk
from ros_ik import eval_jacobian
from ros_ik import eval_mass_matrix
from ros_ik import IKObjectivePosition
from ros_ik import IKOptimizerLM
from ros_ik import IKSolver
from ros_ik import Model
from ros_ik import PositionBarrier
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import Task

URDF = """<robot name="r"><link name="a"/>
<link name="b"><inertial><origin xyz="1 0 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
<limit lower="-2" upper="2" velocity="1" effort="1"/></joint></robot>"""


class AsOfJax:
    """An array that, like those of JAX, is exchanged by DLPack without a mark that it is fixed."""

    __module__ = 'jaxlib.stand_in'

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def rows(*shape):
    return np.full(shape, 7.0)


def locked(array):
    array.setflags(write=False)
    return array


@pytest.fixture(scope='module')
def model():
    return Model.from_urdf(URDF, device='cpu')


@pytest.mark.parametrize(
    ('name', 'call'),
    [
        ('body_q', lambda model, q, out: eval_fk(model, q, out(1, 2, 7))),
        ('jacobian', lambda model, q, out: eval_jacobian(model, q, 1, out(1, 6, 1))),
        ('com', lambda model, q, out: eval_com(model, q, out(1, 3))),
        ('jacobian', lambda model, q, out: eval_com(model, q, None, out(1, 3, 1))),
        ('inertia_matrix', lambda model, q, out: eval_mass_matrix(model, q, out(1, 1, 1))),
        ('bias_force', lambda model, q, out: eval_bias_force(model, q, rows(1, 1), out(1, 1))),
        ('step', lambda model, q, out: model.joint_group('').write_steps(q[0], out(1))),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_of_kinematics(model, name, call):
    q = np.zeros((1, 1))
    call(model, q, rows)
    with pytest.raises(ArgumentError, match=f'^{name} cannot be written to, got a read-only'):
        call(model, q, lambda *shape: locked(rows(*shape)))


def test_nothing_is_written_if_the_second_output_is_refused(model):
    com = rows(1, 3)
    for jacobian in (locked(rows(1, 3, 1)), rows(1, 3, 2)):
        with pytest.raises(ArgumentError, match='^jacobian'):
            eval_com(model, np.zeros((1, 1)), com, jacobian)
        assert (com == 7.0).all()


@pytest.mark.parametrize('robots', [None, 2])
def test_of_control_steps(model, robots):
    solver = DifferentialIK(model, n_robots=robots or 1)
    tasks = [Task(IKObjectiveJointPosition(model, np.array([1.0])), gain=0.5)]
    barriers = [PositionBarrier(1, (-9.0,) * 3, (9.0,) * 3)]
    shape = (1,) if robots is None else (robots, 1)
    q, last, acceleration = np.zeros(shape), np.zeros(shape), np.ones(1)
    calls = (
        lambda step: solver.solve_ik(q, tasks, delta_q=step),
        lambda step: solver.solve_ik(q, tasks, step),
        lambda step: solver.enforce_barriers(q, barriers, step),
        lambda step: solver.limit_to_stoppable(q, barriers, step, last, acceleration),
    )
    for call in calls:
        call(np.zeros(shape))
        with pytest.raises(ArgumentError, match='^delta_q cannot be written to, got a read-only'):
            call(locked(np.zeros(shape)))
        with pytest.raises(ArgumentError, match='^delta_q must be an array of floats, got int'):
            call(np.zeros(shape, dtype=int))
        with pytest.raises(ArgumentError, match='^delta_q must be'):
            call(np.zeros(shape).tolist())


def test_steps_of_jax_are_not_cut_behind_its_back(model):
    step = AsOfJax(np.full(1, 9.0))
    solver = DifferentialIK(model)
    barriers = [PositionBarrier(1, (-1.0,) * 3, (1.0,) * 3)]
    q, zero, acceleration = np.zeros(1), np.zeros(1), np.ones(1)
    for call in (
        lambda: solver.enforce_barriers(q, barriers, step),
        lambda: solver.limit_to_stoppable(q, barriers, step, zero, acceleration),
    ):
        with pytest.raises(ArgumentError, match='^delta_q cannot be written to'):
            call()
        assert step.values.tolist() == [9.0]


@pytest.mark.parametrize('kind', [IKSolver, IKOptimizerLM])
def test_of_batch_solvers(model, kind):
    solver = kind(model, 1, [IKObjectivePosition(1, np.zeros(3), np.ones((1, 3)))])
    q = np.zeros((1, 1), dtype=np.float32)
    solver.step(q, np.zeros_like(q), iterations=1)
    with pytest.raises(ArgumentError, match='^joint_q_out cannot be written to, got a read-only'):
        solver.step(q, locked(np.zeros_like(q)), iterations=1)


def test_a_view_that_its_library_calls_read_only(model):
    class Exported:
        """Array of a library without DLPack; its memory is that of the host."""

        __cuda_array_interface__ = {
            **np.zeros((1, 2, 7)).__array_interface__, 'data': (1, True), 'version': 3,
        }  # fmt: skip

    with pytest.raises(ArgumentError, match='^body_q cannot be written to'):
        eval_fk(model, np.zeros((1, 1)), Exported())
