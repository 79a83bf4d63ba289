# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control steps against pink and mink with equal costs and limits, along a path of a Panda.

Their error of a frame is the logarithm of the whole pose, ours the difference of positions beside
the logarithm of the rotation: they agree to second order in the error, so the errors are small
here, and the speed limits scaled down until they are met.
"""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import pin

from ros_ik.barriers import PositionBarrier
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import Task

pytestmark = pytest.mark.oracle

DT, GAIN, POSTURE_COST, DAMPING = 0.01, 0.4, 0.1, 1e-6
STEPS = 60
PATH = next(path for path in ALL_URDFS if path.stem == 'panda')
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])
# Targets are this far ahead of each step [m and rad]. Half of its square, through the inverse of
# the Jacobian, is the tolerance; steps are some 1e-3.
AHEAD = 5e-4
TOLERANCE = 3e-6
SPEED_SCALE = 0.02


class Ours:
    """Our solver over the arm and both fingers, which pink and mink move one by one."""

    def __init__(self):
        self.model = load(PATH)
        self.diff = DifferentialIK(self.model, '', DifferentialIKSettings(dt=DT))
        self.tip = self.model.body_index('panda_hand_tcp')
        self.start = self.diff.body_poses(HOME)[self.tip]
        self.objective = IKObjectivePose(self.tip, self.start, exact_jacobian=False)
        self.tasks = [
            Task(self.objective, gain=GAIN),
            Task(IKObjectiveJointPosition(self.model, HOME), weight=POSTURE_COST, gain=GAIN),
        ]
        self.limits = [PositionLimit(gain=0.5), VelocityLimit(scale=SPEED_SCALE)]
        self.speed = SPEED_SCALE * self.model.limits64()[2]
        self.rng = np.random.default_rng(0)

    def target(self, q):
        """Return a pose a little ahead of that at q."""
        pose = pin.XYZQUATToSE3(self.diff.body_poses(q)[self.tip])
        turn = pin.exp3(AHEAD * self.rng.uniform(-1, 1, 3))
        offset = np.array([0.0, AHEAD, 0.0]) + AHEAD * self.rng.uniform(-1, 1, 3)
        return pin.SE3(turn @ pose.rotation, pose.translation + offset)

    def step(self, q, target, barriers=()):
        step = np.zeros(9)
        self.objective.set_target_pose(0, pin.SE3ToXYZQUAT(target))
        assert self.diff.solve_ik(q, self.tasks, self.limits, barriers, step, DAMPING).ok
        return step


@pytest.mark.parametrize('with_box', [False, True])
def test_equals_pink(with_box):
    pink = pytest.importorskip('pink', reason='pink is not installed')
    pytest.importorskip('daqp', reason='daqp, a solver of pink, is not installed')
    from pink.barriers import PositionBarrier as PinkBarrier
    from pink.limits import ConfigurationLimit
    from pink.limits import VelocityLimit as PinkVelocity

    ours, model = Ours(), pin.buildModelFromXML(PATH.read_text())
    model.velocityLimit = ours.speed
    frame = pink.FrameTask('panda_hand_tcp', 1.0, 1.0, gain=GAIN)
    posture = pink.PostureTask(cost=POSTURE_COST, gain=GAIN)
    posture.set_target(HOME)
    limits = [ConfigurationLimit(model, 0.5), PinkVelocity(model)]
    configuration = pink.Configuration(model, model.createData(), HOME)
    barriers, boxes = [], []
    if with_box:
        low, high = ours.start[:3] - [0.5, 0.5, 0.1], ours.start[:3] + [0.5, 0.005, 0.5]
        barriers = [PositionBarrier(ours.tip, low, high, gain=5.0, safe_displacement_gain=0.0)]
        boxes = [PinkBarrier('panda_hand_tcp', p_min=low, p_max=high, gain=5.0 * np.ones(6))]
    q, met = HOME.copy(), 0
    for _ in range(STEPS):
        configuration.update(q)
        target = ours.target(q)
        frame.set_target(target)
        velocity = pink.solve_ik(
            configuration, [frame, posture], DT, solver='daqp', limits=limits, barriers=boxes,
            damping=DAMPING, safety_break=False,
        )  # fmt: skip
        step = ours.step(q, target, barriers)
        np.testing.assert_allclose(step[:7], (velocity * DT)[:7], atol=TOLERANCE)
        met += np.any(np.abs(step) > 0.999 * DT * ours.speed)
        q = q + step
    assert met > 10


def test_equals_mink():
    mink = pytest.importorskip('mink', reason='mink is not installed')
    mujoco = pytest.importorskip('mujoco', reason='mujoco is not installed')
    pytest.importorskip('daqp', reason='daqp, a solver of mink, is not installed')
    from xml.etree import ElementTree

    root = ElementTree.fromstring(PATH.read_text())
    for link in root.iter('link'):
        for shape in [*link.findall('visual'), *link.findall('collision')]:
            link.remove(shape)
    compiler = {'fusestatic': 'false', 'boundmass': '0.01', 'boundinertia': '0.001'}
    ElementTree.SubElement(ElementTree.SubElement(root, 'mujoco'), 'compiler', compiler)
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding='unicode'))
    ours = Ours()
    frame = mink.FrameTask('panda_hand_tcp', 'body', 1.0, 1.0, gain=GAIN)
    posture = mink.PostureTask(model, cost=POSTURE_COST, gain=GAIN)
    posture.set_target(HOME)
    names = [model.joint(k).name for k in range(model.njnt)]
    limits = [
        mink.ConfigurationLimit(model, gain=0.5),
        mink.VelocityLimit(model, dict(zip(names, ours.speed, strict=True))),
    ]
    configuration = mink.Configuration(model)
    q = HOME.copy()
    for _ in range(STEPS):
        configuration.update(q)
        target = ours.target(q)
        quaternion = pin.Quaternion(target.rotation).coeffs()[[3, 0, 1, 2]]
        frame.set_target(
            mink.SE3.from_rotation_and_translation(mink.SO3(quaternion), target.translation)
        )
        velocity = mink.solve_ik(
            configuration, [frame, posture], DT, solver='daqp', damping=DAMPING, limits=limits
        )
        step = ours.step(q, target)
        np.testing.assert_allclose(step[:7], (velocity * DT)[:7], atol=TOLERANCE)
        q = q + step
