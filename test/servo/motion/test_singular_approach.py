# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arms with targets beyond their reach: they come to rest at its edge and do not swing."""

import math

import numpy as np
import pytest
from support.long_forms import either
from support.rigs.servo_rig import Rig

from benchmarks.harness.robots import load_robot
from benchmarks.motion.ticked_servo import motion_limits
from ros_ik.servo.motion.singular_approach import SingularDirection
from ros_ik.servo.motion.singular_approach import slowed_approach

UP, FORWARD = (0.0, 0.0, 1.0), (0.94, 0.28, 0.19)


def make_rig(robot, acceleration, ratio, **values):
    """Return a robot with acceleration limits, and jerk limits ``ratio`` times these or none."""
    limits = motion_limits(load_robot(robot).joints, acceleration, ratio)
    return Rig.shared(robot, reports=False, **limits, **values)


def swing(rig, kind, direction):
    """Send a tool out of its reach; return its largest motion back from the farthest place [m]."""
    along = np.array(direction)
    if kind == 'velocity':
        rig.aim_twist(linear=tuple(0.3 * along))
    else:
        target = rig.pose().copy()
        target[:3] += 1.5 * along
        rig.aim(target)
    ways = []
    for _ in range(round(4.0 / rig.dt)):
        rig.tick()
        ways.append(rig.pose()[:3] @ along)
    return np.max(np.maximum.accumulate(ways) - ways)


# A velocity along the floor moves UR5 sideways along the edge at 10 mm/s, which is no swing.
# These have each robot, target, direction, acceleration and ratio.
CHOSEN = [
    ('ur5', 'velocity', UP, 5.0, 5),
    ('ur5', 'pose', FORWARD, 2.0, 0),
    ('panda', 'velocity', FORWARD, 2.0, 10),
    ('panda', 'pose', UP, 2.0, 10),
]
CASES = either(
    CHOSEN,
    [
        *CHOSEN,
        ('ur5', 'velocity', UP, 2.0, 0),
        ('ur5', 'velocity', FORWARD, 2.0, 10),
        ('ur5', 'pose', UP, 2.0, 5),
        ('ur5', 'pose', FORWARD, 5.0, 10),
        ('panda', 'velocity', UP, 5.0, 5),
        ('panda', 'pose', FORWARD, 5.0, 10),
    ],
)


@pytest.mark.parametrize(('robot', 'kind', 'direction', 'acceleration', 'ratio'), CASES)
def test_an_arm_comes_to_rest_at_the_edge_of_its_reach(
    robot, kind, direction, acceleration, ratio
):
    rig = make_rig(robot, acceleration, ratio)
    assert swing(rig, kind, direction) < 0.01
    sigma = rig.servo._solver.commanded_state.singularity.sigma()
    assert sigma[0] < 0.04, 'it stays far from the edge'
    assert np.abs(rig.speeds()[-50:]).max() < 0.3
    rig.assert_within_limits()


def test_without_damping_it_swings():
    values = {'solver__singularity_damping': 0.0}
    assert swing(make_rig('ur5', 2.0, 0, **values), 'pose', FORWARD) > 0.2


def test_a_direction_dominates_motions_within_half_a_right_angle_of_it():
    rng = np.random.default_rng(3)
    for _ in range(200):
        direction, motion = rng.normal(size=(2, 6))
        direction /= np.linalg.norm(direction)
        weights = rng.choice([0.0, 0.3, 1.0], size=6)
        motion += 2.0 * direction
        weighted = weights * motion
        cosine = abs(direction @ weighted) / max(np.linalg.norm(weighted), 1e-12)
        lost = SingularDirection(direction.tolist(), 0.1, 0.1, 1.0)
        shift, turn = tuple(motion[:3].tolist()), tuple(motion[3:].tolist())
        assert lost.dominates(shift, turn, weights.tolist()) == (cosine > math.cos(math.pi / 4))


@pytest.mark.parametrize('ramp', [0.0, 0.02, 0.2])
@pytest.mark.parametrize('dt', [0.001, 0.01])
def test_what_is_allowed_can_be_braked(ramp, dt):
    # An arm of two links of 0.4 m in a plane: r = 0.8 cos(bend / 2), so sigma = 0.4 sin(bend / 2).
    bend, rate, rates = 1.2, 0.0, []
    for _ in range(round(20.0 / dt)):
        sigma, slope = 0.4 * math.sin(0.5 * bend), 0.2 * math.cos(0.5 * bend)
        # Moving outwards, along +u, unbends the arm.
        lost = SingularDirection((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), sigma, -slope, 5.0)
        shift, turn = (0.5 * dt, 0.1, 0.0), (0.0, 0.0, 0.0)
        step = slowed_approach(shift, turn, (1.0,) * 6, lost, ramp, dt)
        if step is not None:
            assert step[0][1:] == (0.1, 0.0) and step[1] == turn
            shift = step[0]
        wanted = shift[0] / dt / sigma if sigma > 0.0 else 0.0
        rates.append(wanted)
        rate = min(wanted, rate + 5.0 * dt)
        bend -= rate * dt
        assert bend > -1e-6
    assert bend < 0.01
    # Beyond its maximum, the rate falls no faster than the joints can brake.
    peak = int(np.argmax(rates))
    assert max(-np.diff(rates[peak:])) < 5.0 * dt


def test_a_step_that_leaves_the_singularity_is_left_alone():
    lost = SingularDirection((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.01, -0.2, 1.0)
    step = slowed_approach((-0.1, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0,) * 6, lost, 0.0, 0.01)
    assert step is None
    step = slowed_approach((0.1, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0,) * 6, lost, 0.0, 0.01)
    assert step is not None and 0.0 < step[0][0] < 0.001
