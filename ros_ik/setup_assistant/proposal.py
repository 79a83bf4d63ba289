# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Proposed parameters for a robot, with a list of unknown values."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import itertools
import math
import re
from typing import Any
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.limits.default_acceleration import default_acceleration
from ros_ik.model import Model
from ros_ik.model.conventions.labels import listed
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import read_settings
from ros_ik.settings.parameter_file import flat
from ros_ik.settings.parameter_file import parameter_text
from ros_ik.setup_assistant.limbs import find_limbs
from ros_ik.setup_assistant.limbs import Limb
from ros_ik.setup_assistant.speeds import immobile
from ros_ik.setup_assistant.speeds import implausible
from ros_ik.setup_assistant.speeds import speed_warnings
from ros_ik.setup_assistant.start import start_warnings

if TYPE_CHECKING:
    from ros_ik.node.robot_graph import FoundController

# Initial speeds, slow enough to press the emergency stop in time.
_LINEAR_SPEED, _ANGULAR_SPEED = 0.1, 0.3
_VELOCITY_SCALE, _ACCELERATION_SCALE = 0.3, 0.5
# Velocity limits of joints without one in the description [rad/s or m/s].
_UNKNOWN_SPEED = 0.5
_TOPIC = '/joint_trajectory_controller/joint_trajectory'
# Joints that a pose needs.
_WHOLE_POSE = 6


@dataclasses.dataclass(frozen=True)
class Proposal:
    """A parameter file.

    Attributes:
        parameters: Nested values, as in a parameter file.
        unknown: Messages about values to look up or to measure.
        srdf_lines: Elements ``disable_collisions`` for links that are adjacent or always touch.
        warnings: Messages about the robot, which are not written to the file.
    """

    parameters: dict[str, Any]
    unknown: tuple[str, ...]
    srdf_lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def yaml_text(self) -> str:
        """Return the parameter file, with the unknown values as comments at the top."""
        head = ['Proposed by ros_ik_setup. Its speeds are low on purpose. Please look up:']
        head += [f'- {sentence}' for sentence in self.unknown]
        body = parameter_text({'/**': self.parameters})
        return ''.join(f'# {line}\n' for line in head) + body

    def srdf_text(self, name: str) -> str:
        """Return an SRDF with the lines, for a robot of this name."""
        lines = ''.join(f'  {line}\n' for line in self.srdf_lines)
        return f'<?xml version="1.0"?>\n<robot name={quoteattr(name)}>\n{lines}</robot>\n'


def propose(
    model: Model,
    controllers: Sequence[FoundController] | None = None,
    start: Mapping[str, float] | None = None,
) -> Proposal:
    """Propose parameters.

    Args:
        model: The robot.
        controllers: Controllers on the graph; None without a graph.
        start: Positions of joints at the start by name [rad or m]; others are neutral.

    Raises:
        ArgumentError: The robot has no movable joint, or the start names a joint that the model
            lacks.
    """
    limbs, unknown = list(find_limbs(model)), []
    if not limbs:
        raise ArgumentError('the robot has no movable joint')
    moved = {joint for limb in limbs for joint in limb.joints}
    chosen = _chosen(controllers or (), moved, unknown)
    driven = {joint for controller in chosen for joint in controller.joints}
    if driven:
        limbs = [limb for limb in limbs if driven & set(limb.joints)] or limbs
    parameters = {'base_frame': _base_frame(model, limbs), **_tasks(limbs, unknown)}
    robot = resolve_robot(model, read_settings(flat(parameters)))
    if driven:
        undriven = [name for name in robot.group.joint_names if name not in driven]
        if undriven:
            parameters['locked_joints'] = undriven
            unknown.append(
                f'what drives {listed(undriven)}: no controller does, so they are locked'
            )
    parameters |= _outputs(chosen, controllers is not None, unknown)
    rates = [controller.update_rate for controller in chosen if controller.update_rate]
    if rates:
        parameters['control_rate'] = float(min(100.0, *rates))
    parameters['limits'] = {
        'velocity_scale': _VELOCITY_SCALE, 'acceleration_scale': _ACCELERATION_SCALE
    }  # fmt: skip
    limits = _joint_limits(robot, unknown)
    if limits:
        parameters['joint_limits'] = limits
    # Of the description, before the file lowers its limits.
    warnings = speed_warnings(robot)
    # The joints that are locked now hold no pair of links.
    robot = resolve_robot(model, read_settings(flat(parameters)))
    unknown += _of_shapes(robot)
    near = start_warnings(robot, start)
    if near:
        unknown.append(
            'where the robot starts: some links are too near there (--check names them)'
        )
    unknown.append('the lag of robot and controller: following_error.delay is 0.1 s, its default')
    warnings = [*model.srdf_warnings, *warnings, *near]
    return Proposal(parameters, tuple(unknown), robot.srdf_lines, tuple(warnings))


def _chosen(
    controllers: Sequence[FoundController], joints: set[str], unknown: list[str]
) -> list[FoundController]:
    """Return the controllers to use, and add what to look up to a list.

    Active ones come first, then those for trajectories.
    """
    chosen: list[FoundController] = []

    def rank(found: FoundController) -> tuple[bool, bool]:
        return not found.is_active, found.type != 'joint_trajectory'

    for controller in sorted(controllers, key=rank):
        taken = {joint for other in chosen for joint in other.joints}
        if not controller.joints:
            if not chosen and len(controllers) == 1:
                chosen.append(controller)
                unknown.append(f'the joints of {controller.topic}: assumed to be all controlled')
            else:
                unknown.append(f'the joints of {controller.topic}: it is ignored')
        elif not joints & set(controller.joints):
            unknown.append(f'{controller.topic} drives none of the joints to move: it is ignored')
        elif taken & set(controller.joints):
            unknown.append(f'{controller.topic} drives joints of another output: it is ignored')
        else:
            chosen.append(controller)
    return chosen


def _tasks(limbs: Sequence[Limb], unknown: list[str]) -> dict[str, Any]:
    """Return the parameters of a task for each limb, and add what to look up to a list."""
    names = _task_names(limbs)
    parameters: dict[str, Any] = {'frame_tasks': names}
    for name, limb in zip(names, limbs, strict=True):
        parameters[name] = {
            'frame': limb.tip,
            'max_linear_speed': _LINEAR_SPEED,
            'max_angular_speed': _ANGULAR_SPEED,
        }
        if len(limb.joints) < _WHOLE_POSE:
            parameters[name]['orientation_weight'] = 0.0
            count = len(limb.joints)
            few = '1 joint reaches' if count == 1 else f'{count} joints reach'
            unknown.append(
                f'which orientations {name} needs: {few} few, so it goes to positions only '
                f'({name}.orientation_weight)'
            )
        if limb.others:
            unknown.append(f'whether {name}.frame is {limb.tip} or one of {listed(limb.others)}')
    return parameters


def _outputs(
    chosen: Sequence[FoundController], looked: bool, unknown: list[str]
) -> dict[str, Any]:
    """Return the parameters of the outputs, and add what to look up to a list.

    Args:
        chosen: The controllers to use.
        looked: True if the graph was read.
        unknown: The list.
    """
    if not chosen:
        why = 'none was found on the graph' if looked else 'a description does not name it'
        unknown.append(f'the topic of the controller: {why}; {_TOPIC} is a usual one')
        return {'output_names': ['default'], 'outputs': {'default': {'topic': _TOPIC}}}
    names = _distinct([controller.name for controller in chosen])
    outputs: dict[str, dict[str, Any]] = {}
    for name, controller in zip(names, chosen, strict=True):
        outputs[name] = {'topic': controller.topic, 'type': controller.type}
        if controller.joints:
            outputs[name]['joints'] = list(controller.joints)
        if not controller.is_active:
            unknown.append(f'when {controller.name} is activated: it is not active now')
        if not controller.is_type_known:
            unknown.append(f'whether {controller.topic} takes positions or velocities')
    return {'output_names': names, 'outputs': outputs}


def _joint_limits(robot: ControlledRobot, unknown: list[str]) -> dict[str, Any]:
    """Return the limits of the controlled joints, and add what to look up to a list."""
    limits, unlimited = {}, []
    dofs = robot.group.variable_dof
    speeds, gains = robot.velocity[dofs], robot.acceleration[dofs]
    for name, speed, gain, wrong, still in zip(
        robot.group.joint_names, speeds, gains, implausible(robot), immobile(robot), strict=True
    ):
        if still:
            # No limit may be looser than 0, and none above 0 is tighter.
            continue
        if wrong or not np.isfinite(speed):
            unlimited.append(name)
            speed = _UNKNOWN_SPEED
            gain = default_acceleration(np.asarray(speed)) if wrong else gain
        values = {
            'has_velocity_limits': True, 'max_velocity': _rounded_down(speed),
            'has_acceleration_limits': True, 'max_acceleration': round(float(gain), 4),
        }  # fmt: skip
        # ROS cannot read a section whose name contains a dot, see read_parameters.
        limits |= flat(values, f'{name}.') if '.' in name else {name: values}
    if unlimited:
        unknown.append(f'the velocity limits of {listed(unlimited)}: {_UNKNOWN_SPEED} is a guess')
    unknown.append(
        'acceleration limits: a URDF has none; these give full speed in 0.2 s. Jerk limits: none'
    )
    return limits


def _of_shapes(robot: ControlledRobot) -> list[str]:
    """Return messages about missing shapes."""
    shapes, found = robot.shapes, []
    if shapes.unmeasured:
        found.append(
            f'the shapes of {listed(shapes.unmeasured)}: their meshes were not found, and no '
            'barrier watches them'
        )
    if robot.model.semantic is None and robot.srdf_lines:
        found.append(
            f'which links may touch: there is no SRDF. {len(robot.srdf_lines)} pairs are '
            'neighbours or always touch (--srdf-output writes them)'
        )
    return found


def _base_frame(model: Model, limbs: Sequence[Limb]) -> str:
    """Return the link below the first joint of all limbs, or the root."""
    parents = model.joint_parent.numpy()
    first = {limb.joints[0] for limb in limbs}
    links = {int(parents[model.joint_index(joint)]) for joint in first}
    return model.body_label[links.pop()] if len(links) == 1 else ''


def _task_names(limbs: Sequence[Limb]) -> list[str]:
    """Return a name for each task, from its link if there are several."""
    if len(limbs) == 1:
        return ['ee']
    return _distinct([limb.tip for limb in limbs])


def _distinct(names: Sequence[str]) -> list[str]:
    """Return unique names of letters, digits and underscores."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r'\W', '_', name, flags=re.ASCII).strip('_') or 'x'
        plain = plain if plain[0].isalpha() else f'x{plain}'
        numbered = (f'{plain}_{number}' for number in itertools.count(2))
        candidates = itertools.chain([plain], numbered)
        found.append(next(each for each in candidates if each not in found))
    return found


def _rounded_down(value: float) -> float:
    """Return a limit rounded down to four decimals."""
    return math.floor(float(value) * 1e4) / 1e4
