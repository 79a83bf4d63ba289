# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A fault of one joint ends the motion of the others by braking only."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig
from support.robots import mobile_arm
from support.robots.urdf_limits import urdf_limits

from ros_ik.demo.robots import find_robot
from ros_ik.servo import Mode
from ros_ik.servo import StatusCode
from ros_ik.servo import StopState
from ros_ik.solvers import SolveStatus

ROBOTS = ('panda', 'baxter', 'talos_left_arm', 'mobile_arm')
# Without collision checks joints move freely.
FREE = {'barriers__self_collision__enabled': False, 'barriers__world__enabled': False}
TRIALS = either(3, 8)


def make(robot, **values):
    """Return a rig of a robot, and its limits from its description."""
    if robot == 'mobile_arm':
        rig, text = mobile_arm.on_rail(**FREE, **values), mobile_arm.urdf()
    else:
        rig, text = Rig.shared(robot, **FREE, **values), find_robot(robot).urdf_path.read_text()
    return rig, urdf_limits(text, rig.robot.group.joint_names)


def scatter(rig, limits, rng):
    """Place the robot at random with one or two joints outside their limits; return these."""
    names, q = rig.robot.group.joint_names, rig.q.copy()
    low = np.where(np.isfinite(limits.lower), limits.lower, -3.0)
    high = np.where(np.isfinite(limits.upper), limits.upper, 3.0)
    values = rng.uniform(low, high)
    bounded = np.flatnonzero(np.isfinite(limits.lower))
    outside = rng.choice(bounded, size=rng.integers(1, 3), replace=False)
    for joint in outside:
        beyond = rng.uniform(0.02, 0.3)
        below = rng.random() < 0.5
        values[joint] = limits.lower[joint] - beyond if below else limits.upper[joint] + beyond
    q[rig.robot.coords] = values
    rig.q = rig.model.apply_mimic(q)
    targets = rng.uniform(low, high)
    # Joints outside move inwards, slowly or fast.
    rig.aim_joints(**dict(zip(names, targets.tolist(), strict=True)))
    return outside


def fail(rig, monkeypatch):
    """Make the next solution fail, like a solver that diverges."""
    solver = rig.servo._solver
    monkeypatch.setattr(solver, 'solve', lambda *given: SolveStatus.NUMERICAL_FAILURE)


EVENTS = {
    'pause': lambda rig, patch: rig.change(paused=True),
    'stop': lambda rig, patch: rig.change(stop=StopState.LATCHED),
    'stale targets': lambda rig, patch: rig.quiet(),
    'stale states': lambda rig, patch: setattr(rig, 'received', rig.now),
    'no states': lambda rig, patch: setattr(rig, 'received', -np.inf),
    'inactive': lambda rig, patch: rig.change(active=False),
    'another model': lambda rig, patch: rig.change(model_loading=True),
    'hold': lambda rig, patch: rig.change(mode=Mode.HOLD),
    'reset': lambda rig, patch: rig.change(resets=rig.command.resets + 1),
    'clock': lambda rig, patch: setattr(rig, 'now', rig.now - 0.7),
    'solver': fail,
    'slower': lambda rig, patch: (
        rig.set(limits__velocity_scale=0.1), rig.change(paused=True),
    ),
    'softer': lambda rig, patch: (
        rig.set(limits__acceleration_scale=0.1), rig.change(paused=True),
    ),
}  # fmt: skip


def assert_brakes(rig, limits, scale, what=''):
    """Check every command since the last start: limits hold, and joints stop only by braking."""
    dt, dofs, coords = rig.dt, rig.robot.group.variable_dof, rig.robot.coords
    speed = np.array([output.joint_qd[dofs] for output in rig.published])
    q = np.array([output.joint_q[coords] for output in rig.published])
    change = np.abs(np.diff(speed, axis=0)) / dt / (scale * limits.acceleration)
    worst = np.unravel_index(change.argmax(), change.shape)
    assert change.max() <= 1.0 + 1e-6, (
        f'{what}: {change.max():.1f} times the limit: joint {worst[1]} from {speed[worst]:.3f}'
    )
    assert np.all(np.abs(speed) <= limits.velocity * (1.0 + 1e-9))
    np.testing.assert_allclose(np.diff(q, axis=0), speed[1:] * dt, atol=1e-12)
    # Joints outside move inwards.
    assert np.all((q[:-1] >= limits.lower - 2e-9) | (speed[1:] >= 0.0))
    assert np.all((q[:-1] <= limits.upper + 2e-9) | (speed[1:] <= 0.0))
    assert not speed[-1].any()


@pytest.mark.parametrize(('robot', 'halt_mode'), in_turn(ROBOTS, ['hold', 'decelerate']))
def test_no_joint_stops_for_the_fault_of_another(robot, halt_mode, monkeypatch):
    rng, fastest = np.random.default_rng(11), 0.0
    rig, limits = make(robot, halt_mode=halt_mode)
    for event in EVENTS:
        for trial in range(TRIALS if event in ('pause', 'stop') else 2):
            rig.set(limits__acceleration_scale=1.0, limits__velocity_scale=1.0)
            rig.quiet()
            rig.received = None
            rig.change(
                paused=False, stop=StopState.CLEAR, active=True, model_loading=False,
                mode=Mode.AUTO, resets=rig.command.resets + 1,
            )  # fmt: skip
            rig.tick()
            scale = float(rng.choice([0.1, 0.5, 1.0]))
            rig.set(limits__acceleration_scale=scale)
            outside = scatter(rig, limits, rng)
            rig.published.clear()
            rig.tick(int(rng.integers(8, 40)))
            q = rig.q[rig.robot.coords]
            still_outside = (q < limits.lower) | (q > limits.upper)
            fastest = max(fastest, np.abs(rig.speeds()[-1][~still_outside]).max(initial=0.0))
            with monkeypatch.context() as patch:
                EVENTS[event](rig, patch)
                if event in ('reset', 'clock'):
                    rig.quiet()
                rig.tick(30)
                for _ in range(3000):
                    if rig.outputs[-1].still:
                        break
                    rig.tick()
            assert_brakes(rig, limits, scale, f'{event}, trial {trial}, outside {outside}')
    assert fastest > 0.5, 'nothing moved'


def test_a_joint_outside_stays_where_it_stops_and_the_others_go_back():
    rig, limits = make('panda', halt_mode='hold')
    home = rig.q[rig.robot.coords].copy()
    rig.q[rig.robot.coords[0]] = limits.upper[0] + 0.3
    rig.aim_joints(panda_joint1=0.0, panda_joint4=float(home[3]) - 0.7)
    rig.published.clear()
    rig.tick(15)
    begun = rig.q[rig.robot.coords].copy()
    assert begun[0] > limits.upper[0] and np.abs(rig.speeds()[-1][[0, 3]]).min() > 0.3
    rig.change(paused=True)
    rig.tick(seconds=1.5)
    assert rig.outputs[-1].code == StatusCode.PAUSED and rig.outputs[-1].still
    np.testing.assert_allclose(rig.q[rig.robot.coords[1:]], begun[1:], atol=1e-8)
    stopped = rig.q[rig.robot.coords[0]]
    # v^2 / 2a; discrete ticks add less than the displacement of one.
    way = rig.speeds()[14][0] ** 2 / (2.0 * limits.acceleration[0])
    assert abs(begun[0] - stopped - way) < 0.02
    assert_brakes(rig, limits, 1.0)
