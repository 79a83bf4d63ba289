# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the smoothness of changes of modes, targets, weights and aims in motion.

Problem: a tool moves at 0.25 m/s; then something changes, and the largest jerk of the joints
within 0.4 s is measured. If the velocity of the tool stays the same, the joints should hardly be
affected. A new velocity may cause as much jerk as a start at that speed, which is the first row,
because without jerk limits the acceleration of a task builds up at once. ``python -m
benchmarks.motion.switches`` prints the table of docs/motion_quality.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field

import numpy as np

from benchmarks.motion.ticked_servo import TickedServo
from ros_ik.settings import read_settings

SPEED = 0.25  # m/s
# Before the switch and after it [s].
_BEFORE, _AFTER = 0.8, 0.4
_ELBOWS = {'panda': 'panda_link4', 'ur5': 'forearm_link'}

# Fields of a command at a tick.
Fields = dict[str, object]
# Arguments of a sender: the servo, and the pose [7] of its tool after the last tick.
Sender = Callable[[TickedServo], Fields]


@dataclass(frozen=True)
class Switch:
    """A change in motion.

    Attributes:
        before: What is sent before it.
        after: What is sent from then on.
        changes: Parameters that change with it, with __ for a dot.
        given: Parameters from the start.
        holds_elbow: True for a second task, which holds the elbow where it is.
    """

    before: Sender
    after: Sender
    changes: dict[str, object] = field(default_factory=dict)
    given: dict[str, object] = field(default_factory=dict)
    holds_elbow: bool = False

    def values(self, robot: str) -> dict[str, object]:
        """Return the parameters of a servo of a robot at the start."""
        return {
            'ee__max_linear_speed': SPEED,
            'max_target_step_linear': 5.0,
            # The poses are placed ahead of the tool: they have no motion of their own to predict.
            'ee__target_prediction': 'off',
            'ee__elbow_frame': _ELBOWS[robot],
            'ee__elbow_direction': [0.0, 1.0, 0.0],
            **(_held_elbow(robot) if self.holds_elbow else {}),
            **self.given,
        }


def _held_elbow(robot: str) -> dict[str, object]:
    """Return the parameters of a second task of a robot, for the position of its elbow."""
    return {
        'frame_tasks': ['ee', 'elbow'],
        'elbow__frame': _ELBOWS[robot],
        'elbow__orientation_weight': 0.0,
    }


def tool(servo: TickedServo) -> np.ndarray:
    """Return the pose of the tool at the commanded configuration [7]."""
    return np.array(servo.servo.targets.trackers[0].frame_pose(servo.servo._poses()))


def far_pose(servo: TickedServo) -> Fields:
    """Send a pose 1 m ahead, which is approached at the largest speed."""
    pose = tool(servo)
    point = pose[:3] + [0.0, 1.0, 0.0]
    return {
        'poses': (servo.reader.pose(0, '', point, pose[3:], servo.now),),
        'twists': (None,),
        'joints': None,
    }


def twist(speed: float) -> Sender:
    """Return a sender of a velocity of the tool [m/s]."""

    def send(servo: TickedServo) -> Fields:
        target = servo.reader.twist(0, '', (0.0, speed, 0.0), (0.0, 0.0, 0.0), servo.now)
        return {'poses': (None,), 'twists': (target,), 'joints': None}

    return send


def jog(servo: TickedServo) -> Fields:
    """Send velocities of the joints that turn the tool about the base."""
    return _joint_velocities(servo, np.array([0.3, 0.2]))


def same_joints(servo: TickedServo) -> Fields:
    """Send the current velocities of the joints."""
    dofs = servo.robot.group.variable_dof
    return _joint_velocities(servo, servo.servo._step[dofs] / servo.dt)


def _joint_velocities(servo: TickedServo, velocities: np.ndarray) -> Fields:
    names = list(servo.robot.group.joint_names[: len(velocities)])
    target = servo.reader.joint_velocities(names, velocities.tolist(), servo.now)
    return {'poses': (None,), 'twists': (None,), 'joints': target}


def rest(servo: TickedServo) -> Fields:
    """Send targets at rest."""
    return twist(0.0)(servo)


def twists(*speeds: float) -> Sender:
    """Return a sender of velocities of the tool and of the elbow [m/s]."""

    def send(servo: TickedServo) -> Fields:
        targets = [
            servo.reader.twist(task, '', (0.0, speed, 0.0), (0.0, 0.0, 0.0), servo.now)
            for task, speed in enumerate(speeds)
        ]
        return {'poses': (None, None), 'twists': tuple(targets), 'joints': None}

    return send


_GOING = twist(SPEED), twist(SPEED)
START = Switch(rest, twist(SPEED))
# The tool goes on at the same velocity.
SAME_VELOCITY = {
    'pose to velocity': Switch(far_pose, twist(SPEED)),
    'velocity to pose': Switch(twist(SPEED), far_pose),
    'velocity to joint velocities': Switch(twist(SPEED), same_joints),
    'position weight 1 to 0.3': Switch(*_GOING, {'ee__position_weight': 0.3}),
    'orientation weight 0.5 to 0.05': Switch(*_GOING, {'ee__orientation_weight': 0.05}),
    'orientation weight 0.5 to 0': Switch(*_GOING, {'ee__orientation_weight': 0.0}),
    'posture weight 0.01 to 0.1': Switch(*_GOING, {'posture__weight': 0.1}),
}
# So it does, and what changes is an aim beside it.
AIMS = {
    'elbow on': Switch(*_GOING, {'ee__elbow_speed': 0.5}),
    'elbow off': Switch(*_GOING, {'ee__elbow_speed': 0.0}, {'ee__elbow_speed': 0.5}),
    'elbow to the other side': Switch(
        *_GOING, {'ee__elbow_direction': [0.0, -1.0, 0.0]}, {'ee__elbow_speed': 0.5}
    ),
    'manipulability on': Switch(*_GOING, {'ee__manipulability_speed': 0.5}),
    'centering on': Switch(*_GOING, {'posture__centering': 0.5}),
    'centering 0.5 to 0.1 1/s': Switch(
        *_GOING, {'posture__centering': 0.1}, {'posture__centering': 0.5}
    ),
}
# Another velocity is asked for, or another rotation.
OTHER_VELOCITY = {
    'joint velocities to velocity': Switch(jog, twist(SPEED)),
    'joint velocities to rest of the tool': Switch(jog, twist(0.0)),
    'orientation weight 0 to 0.5': Switch(
        *_GOING, {'ee__orientation_weight': 0.5}, {'ee__orientation_weight': 0.0}
    ),
}
# One task moves the tool, another one holds the elbow, and the balance between them changes.
START_OF_ELBOW = Switch(
    twists(0.0, 0.0), twists(0.0, SPEED), given={'ee__priority': 2}, holds_elbow=True
)
_BESIDE_ELBOW = twists(SPEED, 0.0), twists(SPEED, 0.0)
BALANCES = {
    'elbow held: its weight 1 to 0.1': Switch(
        *_BESIDE_ELBOW, {'elbow__position_weight': 0.1}, holds_elbow=True
    ),
    'elbow held: its priority 2 to 1': Switch(
        *_BESIDE_ELBOW, {'elbow__priority': 1}, {'elbow__priority': 2}, holds_elbow=True
    ),
    'elbow held: weight of the tool 1 to 0.1': Switch(
        *_BESIDE_ELBOW, {'ee__position_weight': 0.1}, holds_elbow=True
    ),
    'elbow held: its priority 2 to 1, the tool 1 to 2': Switch(
        *_BESIDE_ELBOW,
        {'elbow__priority': 1, 'ee__priority': 2},
        {'elbow__priority': 2},
        holds_elbow=True,
    ),
}


def velocities_of(servo: TickedServo, switch: Switch) -> np.ndarray:
    """Return the velocities of the joints from two ticks before a switch on [ticks, joints]."""
    dofs, found = servo.robot.group.variable_dof, []

    def tick(send: Sender) -> None:
        servo.change(**send(servo))
        found.append(servo.tick().joint_qd[dofs])

    for _ in range(round(_BEFORE / servo.dt)):
        tick(switch.before)
    if switch.changes:
        changed = {key.replace('__', '.'): value for key, value in switch.changes.items()}
        servo.given.update(changed)
        servo.settings = read_settings(servo.given)
        servo.servo.apply(servo.settings)
    ticks = round(_AFTER / servo.dt)
    for _ in range(ticks):
        tick(switch.after)
    return np.array(found[-ticks - 2 :])


def jerk_after(servo: TickedServo, switch: Switch) -> float:
    """Return the largest jerk of a joint from a switch on [rad/s^3]."""
    return float(np.abs(np.diff(velocities_of(servo, switch), 2, axis=0)).max()) / servo.dt**2


def main() -> None:
    """Print the table."""
    print('| change | Panda, 100 Hz | Panda, 1 kHz | UR5, 100 Hz | UR5, 1 kHz |')
    print('|---|---|---|---|---|')
    rows = {
        'start at 0.25 m/s': START, **SAME_VELOCITY, **AIMS, **OTHER_VELOCITY,
        'start of the elbow': START_OF_ELBOW, **BALANCES,
    }  # fmt: skip
    for name, switch in rows.items():
        cells = []
        for robot in _ELBOWS:
            for rate in (100.0, 1000.0):
                servo = TickedServo(robot, control_rate=rate, **switch.values(robot))
                cells.append(f'{jerk_after(servo, switch):,.0f}')
        print(f'| {name} | {" | ".join(cells)} |', flush=True)


if __name__ == '__main__':
    main()
