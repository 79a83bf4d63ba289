# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Random inputs in random order: limits hold in each tick, and motions end at rest."""

import numpy as np
import pytest
from support.long_forms import either
from support.rigs.servo_rig import Rig

from ros_ik.servo import Mode


def ask(rig, rng):
    """Make one of the inputs that users can make at any time."""
    match rng.integers(11):
        case 0 | 1:
            rig.aim(rig.moved(rng.uniform(-0.4, 0.4, 3)))
        case 2 | 3:
            rig.aim_twist(rng.normal(0.0, 0.4, 3), rng.normal(0.0, 0.8, 3))
        case 4:
            joint, value = f'panda_joint{rng.integers(1, 8)}', float(rng.uniform(-2.0, 2.0))
            if rng.random() < 0.5:
                rig.aim_joints(**{joint: value})
            else:
                rig.aim_joint_velocities(**{joint: value})
        case 5 | 6:
            rig.quiet()
        case 7:
            rig.change(mode=Mode(int(rng.choice([0, 1, 1, 1, 2, 3, 4]))))
        case 8:
            rig.change(paused=rng.random() < 0.3, active=rng.random() > 0.2)
        case 9:
            rig.set(
                halt_mode=str(rng.choice(['decelerate', 'hold'])),
                target_filter_tau=float(rng.choice([0.0, 0.2])),
            )
        case 10:
            rig.command = (
                rig.command.with_stop() if rng.random() < 0.3 else rig.command.with_reset()
            )


@pytest.mark.parametrize('rate', [100.0, either(250.0, 500.0)])
def test_limits_hold_whatever_is_asked(rate):
    rig, rng = Rig(control_rate=rate), np.random.default_rng(7)
    for _ in range(120):
        ask(rig, rng)
        rig.tick(seconds=rng.uniform(0.01, 0.3))
    assert sum(not output.still for output in rig.outputs) > 4.0 * rate
    assert len({output.code for output in rig.outputs}) >= 4
    rig.quiet()
    rig.change(mode=Mode.AUTO, paused=False, active=True)
    rig.tick(seconds=1.5)
    assert rig.outputs[-1].still
    rig.assert_within_limits()
