# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Recovery from a violation: robots that start 5 mm beyond a margin, judged by Pinocchio."""

import os

import numpy as np
import pytest
from safety.servo.recoveries import CASES
from safety.servo.recoveries import compare
from safety.servo.recoveries import MAX_CHANGES
from safety.servo.recoveries import recovery
from safety.servo.recoveries import recovery_from_ball
from support.long_forms import either
from support.robots.collision_oracle import robot_with_meshes

from benchmarks.motion.ticked_servo import motion_limits

# Recoveries of each robot; the environment sets more.
COUNT = int(os.environ.get('RECOVERIES', either('3', '6')))
# Largest decrease of a distance in a tick by rounding [m].
ROUNDING = 2e-9


# Where joints that move inwards took longer to stop than the others, the check of stops refused
# step after step: distances shrank by up to 0.2 mm a tick, and it took up to 1.5 s.
@pytest.mark.parametrize('name', ['ur5', 'baxter'])
def test_the_way_out_is_gone_without_a_step_back(name):
    for seed in range(1, 1 + COUNT):
        values, rig = recovery(name, seed, 60)
        out = int(np.argmax(values >= 0.0))
        assert values[0] < 0.0 <= values[-1], f'seed {seed}: still outside'
        assert np.diff(values[: out + 1]).min() >= -ROUNDING, f'seed {seed}'
        assert values[out:].min() >= -ROUNDING, f'seed {seed}: out and in again'
        rig.assert_within_limits()


# With slow jerk limits it took the UR5 3.2 s, and strict limits held both robots for 4 s or more:
# rows asked for hardly any acceleration, and joints moved in too fast to stop before the others.
@pytest.mark.parametrize(
    ('name', 'mode', 'seed', 'recover'),
    [
        ('ur5', 'soft', 7, recovery), ('ur5', 'strict', 9, recovery),
        ('panda', 'strict', 12, recovery), ('ur5', 'strict', 16, recovery_from_ball),
        ('panda', 'strict', 13, recovery_from_ball),
    ],
)  # fmt: skip
def test_jerk_limits_hardly_delay_the_way_out(name, mode, seed, recover):
    case = CASES[name]
    group = robot_with_meshes(case.urdf).joint_group(f'{case.base}:{case.frames[0]}')
    limits = motion_limits(group.joint_names, 5.0, 10.0)
    values, rig = recover(name, seed, 150, **limits, limits__jerk=mode)
    out = int(np.argmax(values >= 0.0))
    assert values[0] < 0.0 <= values[-1] and out < 120
    assert np.diff(values[: out + 1]).min() >= -ROUNDING
    assert values[out:].min() >= -ROUNDING


# Before steps knew where their stops end, the check cut them back and forth just inside the face:
# 4, 5 and 9 of these 12 trembled, with 2.4, 2.6 and 4.2 times the jerk. One may be at the
# threshold, like some far from every face.
@pytest.mark.parametrize('name', ['ur5', 'panda', 'baxter'])
def test_the_way_out_is_as_smooth_as_any_other(name):
    rough, _, _ = compare(name, range(1, 1 + 2 * COUNT), 80)
    changes, jerk = rough[:, 0, 0], rough[..., 1]
    assert np.count_nonzero(changes > MAX_CHANGES) <= COUNT // 6, changes
    assert changes.max() < 1.5 * MAX_CHANGES
    assert np.median(jerk[:, 0] / jerk[:, 1]) < 1.6
    assert jerk[:, 0].max() < 2.0 * jerk[:, 1].max()


# Each violated pair halved how fast joints may move into it, and every other tick such a pair had
# no row: a UR5 had up to 225 rad/s^3, a Panda up to 31 changes of sign a second. The first push
# used the whole acceleration, and the lag was made up for at once: twice the jerk. The short form
# has the balls that show most where the way out is faster than along the slope of the row.
@pytest.mark.parametrize('name', ['ur5', 'panda'])
def test_the_way_from_an_obstacle_is_smooth(name):
    seeds = either(range(5, 11), range(1, 13))
    # Shapes that hold the hulls are deeper in the margin, where a robot would evade.
    slow = {'barriers__world__evasion_speed': 0.0}
    rough, out, back = compare(name, seeds, 80, recover=recovery_from_ball, **slow)
    changes, jerk = rough[:, 0, 0], rough[..., 1]
    assert (out < 80).all() and back.min() >= -ROUNDING
    assert changes.max() < 1.2 * MAX_CHANGES, changes
    assert np.median(jerk[:, 0] / jerk[:, 1]) < 1.4
    assert jerk[:, 0].max() < 2.0 * jerk[:, 1].max()
