# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every transition of the states of the servo, and of the command beside the robot."""

import numpy as np
import pytest
from support.motions.state_machines import record_transitions
from support.motions.state_machines import transitions
from support.rigs.servo_rig import Rig
from support.robots.simulated_drives import Loop
from support.robots.simulated_drives import NO_BARRIERS

from ros_ik.servo import Mode
from ros_ik.servo.state.following_state import FOLLOWING_TRANSITIONS
from ros_ik.servo.state.following_state import FollowingState
from ros_ik.servo.state.servo_state import SERVO_TRANSITIONS
from ros_ik.servo.state.servo_state import ServoState


@pytest.fixture
def made(monkeypatch):
    """Return the transitions that the test has made."""
    return record_transitions(monkeypatch)


def reach(rig, state):
    """Tick until the servo is in a state."""
    for _ in range(300):
        if rig.servo.state is state:
            return
        rig.tick()
    raise AssertionError(f'{state} was not reached from {rig.servo.state}')


def move(rig):
    """Bring the servo to full motion towards a target."""
    rig.quiet()
    rig.aim(rig.moved((0.0, 0.3 if rig.pose()[1] < 0.0 else -0.3, 0.0)))
    reach(rig, ServoState.TRACKING)
    rig.tick(15)
    assert rig.servo.moving


def arrive(rig):
    """Track a target where the robot is, at rest."""
    rig.quiet()
    names = rig.robot.group.joint_names
    rig.aim_joints(**dict(zip(names, rig.q[rig.robot.coords], strict=True)))
    reach(rig, ServoState.TRACKING)
    rig.tick(100)
    assert not rig.servo.moving


def brake(rig):
    """Lose the target in motion."""
    move(rig)
    rig.quiet()
    reach(rig, ServoState.BRAKING)


def pause(rig):
    rig.change(paused=True)
    rig.tick(2)


def resume(rig):
    rig.change(paused=False)
    rig.tick()


def switch(rig, active):
    rig.change(active=active)
    rig.tick()


def reactivate(rig):
    """Deactivate and activate between two ticks."""
    rig.command = rig.command.with_activation(False).with_activation(True)
    rig.tick()


def silent(rig):
    """Walk through the states of a servo that is silent at rest."""
    brake(rig)
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    reach(rig, ServoState.TRACKING)
    brake(rig)
    reach(rig, ServoState.IDLE)
    arrive(rig)
    rig.quiet()
    reach(rig, ServoState.IDLE)
    move(rig)
    pause(rig)
    assert rig.servo.state is ServoState.STOPPING
    reach(rig, ServoState.IDLE)
    resume(rig)
    brake(rig)
    pause(rig)
    assert rig.servo.state is ServoState.STOPPING
    resume(rig)
    # Targets continue while it stops: tracking restarts at rest.
    move(rig)
    rig.command = rig.command.with_reset()
    rig.tick()
    assert rig.servo.state is ServoState.STOPPING
    reach(rig, ServoState.TRACKING)
    for ends in (True, False):
        move(rig)
        if ends:
            rig.quiet()
        for _ in range(2):
            switch(rig, False)
            switch(rig, True)
            assert rig.servo.state is ServoState.ENDING
        reach(rig, ServoState.IDLE if ends else ServoState.TRACKING)
    for begin in (move, brake):
        begin(rig)
        reactivate(rig)
        assert rig.servo.state is ServoState.ENDING


def failing(rig):
    """Let a tick fail in each state of a servo that is silent at rest."""
    rig.servo.interrupt()
    move(rig)
    rig.servo.interrupt()
    brake(rig)
    rig.servo.interrupt()
    move(rig)
    pause(rig)
    rig.servo.interrupt()
    resume(rig)
    move(rig)
    switch(rig, False)
    switch(rig, True)
    rig.servo.interrupt()
    rig.servo.interrupt()
    assert rig.servo.state is ServoState.IDLE


def repeating(rig):
    """Walk through the states of a servo that repeats its command at rest."""
    brake(rig)
    reach(rig, ServoState.HOLDING)
    rig.tick()
    move(rig)
    arrive(rig)
    rig.quiet()
    reach(rig, ServoState.HOLDING)
    pause(rig)
    assert rig.servo.state is ServoState.PARKED
    resume(rig)
    assert rig.servo.state is ServoState.PARKED
    move(rig)
    pause(rig)
    reach(rig, ServoState.PARKED)
    switch(rig, False)
    assert rig.servo.state is ServoState.IDLE
    switch(rig, True)
    # A stop is repeated only while the servo is active.
    rig.command = rig.command.with_stop()
    reach(rig, ServoState.PARKED)
    switch(rig, False)
    assert rig.servo.state is ServoState.IDLE
    switch(rig, True)
    reach(rig, ServoState.PARKED)
    reactivate(rig)
    rig.command = rig.command.with_reset()
    resume(rig)
    move(rig)
    rig.quiet()
    reach(rig, ServoState.HOLDING)
    reactivate(rig)
    move(rig)
    rig.quiet()
    reach(rig, ServoState.HOLDING)
    rig.received = rig.now - 10.0
    rig.tick()
    assert rig.servo.state is ServoState.IDLE
    rig.received = None
    move(rig)
    rig.quiet()
    reach(rig, ServoState.HOLDING)
    rig.servo.interrupt()
    move(rig)
    pause(rig)
    reach(rig, ServoState.PARKED)
    rig.servo.interrupt()
    assert rig.servo.state is ServoState.IDLE


def following(loop):
    """Return the state of the command beside the robot."""
    return loop.rig.servo.following.state


def tick_until(loop, *states):
    """Let the robot run until the command or the servo is in a state."""
    for _ in range(2000):
        if following(loop) in states or loop.rig.servo.state in states:
            return
        loop.tick()
    raise AssertionError(f'none of {states} was reached from {following(loop)}')


def stall(loop):
    """Freeze the robot in motion, and wait for the command to halt."""
    loop.rig.aim(loop.rig.moved((0.0, 0.3 if loop.rig.pose()[1] < 0.0 else -0.3, 0.0)))
    tick_until(loop, FollowingState.TRACKS)
    loop.tick(seconds=0.3)
    loop.drives.frozen = True
    tick_until(loop, FollowingState.HALTS)


def push(loop):
    """Stall, and move the robot by hand until its command is at rest."""
    stall(loop)
    for _ in range(50):
        loop.drives.q[loop.coords] += 0.003
        loop.tick()
    assert following(loop) is FollowingState.HALTS and loop.rig.servo.state is ServoState.IDLE


def release(loop):
    """Let the robot follow again."""
    loop.drives.frozen = False
    loop.tick(seconds=1.5)


def not_following(loop):
    """Walk through the states of a command that the robot does not follow."""
    stall(loop)
    tick_until(loop, FollowingState.RETURNS)
    tick_until(loop, FollowingState.TRACKS)
    release(loop)
    loop.rig.quiet()
    tick_until(loop, ServoState.IDLE)
    stall(loop)
    loop.rig.command = loop.rig.command.with_reset()
    loop.tick()
    assert following(loop) is FollowingState.UNKNOWN
    release(loop)
    stall(loop)
    tick_until(loop, FollowingState.RETURNS)
    loop.rig.command = loop.rig.command.with_reset()
    loop.tick()
    assert following(loop) is FollowingState.UNKNOWN
    release(loop)
    # The robot is moved by hand, and the command waits until it rests.
    push(loop)
    loop.rig.quiet()
    tick_until(loop, ServoState.ENDING)
    assert following(loop) is FollowingState.RETURNS
    tick_until(loop, ServoState.IDLE)
    release(loop)
    # Meanwhile it is set to repeat its command.
    push(loop)
    loop.rig.set(publish_when_idle=True)
    loop.tick()
    assert following(loop) is FollowingState.HALTS
    tick_until(loop, ServoState.PARKED)
    # It returns to a robot that moves again.
    loop.drives.q[loop.coords] += 0.01
    tick_until(loop, FollowingState.RETURNS)
    loop.tick()
    assert loop.rig.servo.state is ServoState.STOPPING
    # A stop on the way back is repeated.
    loop.rig.set(publish_when_idle=False)
    release(loop)
    push(loop)
    loop.rig.quiet()
    tick_until(loop, ServoState.ENDING)
    loop.rig.set(publish_when_idle=True)
    loop.rig.command = loop.rig.command.with_stop()
    tick_until(loop, ServoState.PARKED)
    assert following(loop) is FollowingState.RETURNS


def test_every_transition_of_the_servo_is_made(made):
    rig = Rig(activate=True, **NO_BARRIERS)
    silent(rig)
    failing(rig)
    repeating(Rig(publish_when_idle=True, **NO_BARRIERS))
    not_following(Loop())
    for table in (SERVO_TRANSITIONS, FOLLOWING_TRANSITIONS):
        kind = type(next(iter(table)))
        assert {one for one in made if isinstance(one[0], kind)} == transitions(table)


def test_a_state_says_what_the_command_is_good_for():
    rig = Rig(publish_when_idle=True, **NO_BARRIERS)
    brake(rig)
    reach(rig, ServoState.HOLDING)
    assert rig.servo.state.resumes and rig.servo.state.repeats
    held = rig.published[-1].joint_q
    pause(rig)
    assert rig.servo.state.repeats and not rig.servo.state.resumes
    np.testing.assert_array_equal(rig.published[-1].joint_q, held)
    switch(rig, False)
    assert not rig.servo.state.repeats and not rig.outputs[-1].publish


def _events(loop, rng):
    """Return what may happen between two ticks of a servo."""
    rig = loop.rig

    def command(change):
        rig.command = change(rig.command)

    def aim():
        rig.aim(rig.moved(rng.uniform(-0.3, 0.3, 3)))

    def push():
        loop.drives.q[loop.coords] += rng.uniform(-0.01, 0.01, len(loop.coords))

    def freeze(frozen):
        loop.drives.frozen = frozen

    def fall_silent(silent):
        loop.silent = silent

    return [
        *[lambda: command(lambda one: one.with_reset())] * 4,
        lambda: command(lambda one: one.with_stop()),
        *[lambda: command(lambda one: one.with_activation(True))] * 3,
        lambda: command(lambda one: one.with_activation(False)),
        lambda: command(lambda one: one.with_activation(False).with_activation(True)),
        *[lambda: command(lambda one: one.with_pause(False))] * 2,
        lambda: command(lambda one: one.with_pause(True)),
        lambda: command(lambda one: one.with_changes(model_loading=not one.model_loading)),
        lambda: command(lambda one: one.with_changes(mode=Mode.HOLD)),
        *[lambda: command(lambda one: one.with_changes(mode=Mode.AUTO))] * 3,
        *[aim] * 6, rig.quiet, push,
        *[lambda: freeze(False)] * 2, lambda: freeze(True),
        *[lambda: fall_silent(False)] * 3, lambda: fall_silent(True),
        lambda: rig.set(publish_when_idle=bool(rng.integers(2))),
        rig.servo.interrupt,
    ]  # fmt: skip


def test_no_order_of_events_lacks_a_transition():
    rng = np.random.default_rng(7)
    loop = Loop()
    events = _events(loop, rng)
    quiet = 0
    for _ in range(4000):
        if rng.random() < 0.1:
            events[rng.integers(len(events))]()
        output = loop.tick()
        # The first tick at rest sends the last point.
        quiet = quiet + 1 if output.still and not loop.rig.command.active else 0
        assert quiet < 2 or not output.publish
