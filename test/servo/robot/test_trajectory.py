# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Trajectories of the servo pass the rules of joint_trajectory_controller, at each tick."""

import pytest
from support.rigs.servo_rig import Rig

from ros_ik.demo.controller.trajectory_rules import check_trajectory
from ros_ik.demo.controller.trajectory_rules import NANOSECONDS
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_rules import TrajectoryPoint
from ros_ik.servo import trajectory_layout


@pytest.mark.parametrize('velocities', [False, True])
@pytest.mark.parametrize('rate', [50.0, 1000.0])
def test_every_trajectory_is_accepted(velocities, rate):
    rig = Rig.shared(
        control_rate=rate,
        outputs__default__publish_velocities=velocities,
        outputs__default__joints=[
            'panda_finger_joint1',
            *(f'panda_joint{k}' for k in range(7, 0, -1)),
        ],
    )
    layout = trajectory_layout(rig.robot, 0, rig.settings.outputs[0], rig.dt)
    rig.aim(rig.moved((0.0, 0.2, 0.0)))
    rig.tick(seconds=1.0)
    rig.quiet()
    rig.tick(seconds=1.0)
    fingers = set()
    for output in rig.published:
        positions = output.joint_q[layout.coords].tolist()
        speeds = output.joint_qd[layout.dofs].tolist()
        fingers.add(positions[0])
        points = [
            TrajectoryPoint(
                time_from_start=round(time * NANOSECONDS),
                positions=positions,
                velocities=speed if velocities else (),
            )
            for time, speed in zip(layout.times, (speeds, [0.0] * 8), strict=True)
        ]
        assert (
            check_trajectory(Trajectory(layout.joint_names, points), layout.joint_names, 0) is None
        )
    assert len(rig.published) > rate
    assert fingers == {0.02}, 'a joint that is not controlled was told to move'
