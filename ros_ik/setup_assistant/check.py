# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of a parameter file against a robot, and against the controllers on the graph."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.kinematics.chain import relative_chain
from ros_ik.model import Model
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.labels import listed
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import expand_parameters
from ros_ik.settings import read_settings
from ros_ik.settings import SCHEMA
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError
from ros_ik.settings.parameter import Parameter
from ros_ik.settings.reading import known_values
from ros_ik.settings.reading import ROS_FLAGS
from ros_ik.settings.reading import unknown_parameters
from ros_ik.setup_assistant.speeds import immobile
from ros_ik.setup_assistant.speeds import rangeless
from ros_ik.setup_assistant.speeds import speed_warnings
from ros_ik.setup_assistant.start import moves_apart
from ros_ik.setup_assistant.start import start_warnings

if TYPE_CHECKING:
    from ros_ik.node.robot_graph import FoundController

# Speed scale above which a lower one is recommended for the first run on hardware.
_CAREFUL = 0.5
# Excess of a capsule over the shape that it encloses from which it is told [m].
_THICK = 0.01
# Topic of an output without one.
_DEFAULT_TOPIC = next(entry.default for entry in SCHEMA if entry.name == 'outputs.<output>.topic')


@dataclasses.dataclass(frozen=True)
class Findings:
    """Errors and warnings about a parameter file.

    Attributes:
        errors: Problems with which the node does not start, or moves nothing.
        warnings: Other problems.
    """

    errors: tuple[str, ...]
    warnings: tuple[str, ...]


def check_parameters(
    given: Mapping[str, Any],
    model: Model,
    controllers: Sequence[FoundController] | None = None,
    start: Mapping[str, float] | None = None,
) -> Findings:
    """Check a parameter file.

    Args:
        given: Values by dotted name.
        model: The robot.
        controllers: Controllers on the graph; None without a graph.
        start: Positions of joints at the start by name [rad or m]; others are neutral.

    Raises:
        ArgumentError: The start names a joint that the model lacks, or an invalid position.
    """
    errors: list[str] = []
    try:
        expanded = expand_parameters(given)
        errors += [*unknown_parameters(given, expanded), *_of_values(given, expanded)]
        settings = read_settings(known_values(given))
        robot = resolve_robot(model, settings)
        wrong, warnings = _of_tasks(robot)
        errors += wrong
        warnings += [*model.srdf_warnings, *_of_joints(robot), *start_warnings(robot, start)]
    except SettingsError as error:
        return Findings(tuple(dict.fromkeys([*errors, str(error)])), ())
    if controllers is None:
        warnings += _of_outputs(robot)
    else:
        wrong, odd = _of_controllers(robot, controllers)
        errors, warnings = errors + wrong, warnings + odd
    return Findings(tuple(errors), tuple(warnings))


def _of_values(given: Mapping[str, Any], expanded: Mapping[str, Parameter]) -> list[str]:
    """Return the errors of single values."""
    errors, known = [], {**expanded, **ROS_FLAGS}
    for name in given.keys() & known.keys():
        try:
            known[name].checked(given[name])
        except SettingsError as error:
            errors.append(str(error))
    return sorted(errors)


def _of_tasks(robot: ControlledRobot) -> tuple[list[str], list[str]]:
    """Return errors and warnings about tasks that no joint, or too few joints, can follow."""
    errors, warnings = [], []
    if (immobile(robot) | rangeless(robot)).all():
        errors.append('no controlled joint may move: every velocity limit or range is 0')
    moving = set(robot.group.variable_dof.tolist())
    for task, link, reference in zip(
        robot.settings.tasks, robot.task_links, robot.task_references, strict=True
    ):
        joints = moving & {int(dof) for dof in relative_chain(robot.model, link, reference)[0]}
        axes = np.count_nonzero(task.position_weight + task.orientation_weight)
        if not joints:
            errors.append(
                f"parameter '{task.name}.frame': no controlled joint moves {task.frame!r} as seen "
                f'from {robot.model.body_label[reference]!r}'
            )
        elif len(joints) < axes and any(task.orientation_weight):
            count = f'{len(joints)} joint' + 's' * (len(joints) > 1)
            warnings.append(
                f'{task.name}: too few joints ({count}) for positions and orientations; '
                f'{task.name}.orientation_weight: 0.0 leaves the orientation free'
            )
    return errors, warnings


def _of_outputs(robot: ControlledRobot) -> list[str]:
    """Return a warning for each output without a topic of a controller."""
    return [
        f'outputs.{output.name}.topic is not given: trajectories go to {output.topic}, where no '
        'controller listens unless it is remapped'
        for output in robot.settings.outputs
        if output.topic == _DEFAULT_TOPIC
    ]


def _of_joints(robot: ControlledRobot) -> list[str]:
    """Return warnings about joints, limits and shapes."""
    found, names = [], robot.group.joint_names
    sent = {name for joints in robot.output_names for name in joints}
    silent = [name for name in names if name not in sent]
    if silent:
        found.append(f'{listed(silent)}: controlled, but in no output: no controller moves them')
    dofs = robot.group.variable_dof
    free = [name for name, v in zip(names, robot.velocity[dofs], strict=True) if np.isinf(v)]
    if free:
        found.append(f'{listed(free)}: no velocity limit; give joint_limits.<joint>.max_velocity')
    found += speed_warnings(robot)
    moving = [name for name, still in zip(names, immobile(robot), strict=True) if not still]
    guessed = _without_acceleration(robot.settings, moving)
    if guessed:
        found.append(f'{listed(guessed)}: no acceleration limit; full speed in 0.2 s is assumed')
    unmeasured = robot.shapes.unmeasured
    if unmeasured:
        found.append(
            f'{listed(unmeasured)}: meshes not found, no barrier watches them; source the '
            'workspace that has them, or extend AMENT_PREFIX_PATH'
        )
    found += _thickened(robot)
    found += _unwatched(robot)
    if robot.settings.limits_velocity_scale > _CAREFUL:
        found.append('limits.velocity_scale is above 0.5: begin slower on hardware')
    return found


def _unwatched(robot: ControlledRobot) -> list[str]:
    """Return a warning about links that the robot moves and that may meet unwatched."""
    index, names = robot.model.body_index, []
    for pair in robot.shapes.hidden:
        if 'world' not in pair and moves_apart(robot, *map(index, pair)):
            names.append(':'.join(pair))
    if not names:
        return []
    return [
        f'{listed(names)}: not watched although they may meet, because their hulls would hold the '
        'robot'
    ]


def _thickened(robot: ControlledRobot) -> list[str]:
    """Return a warning about boxes, cylinders and cones in whose place stand larger capsules."""
    geometry, model = robot.shapes.geometry, robot.model
    kinds = model.shape_type.numpy()[geometry.shape]
    thick = (kinds != int(GeoType.MESH)) & (geometry.error > _THICK)
    if not np.any(thick):
        return []
    names = dict.fromkeys(model.body_label[body] for body in geometry.body[thick])
    most = 1e3 * geometry.error[thick].max()
    return [
        f'{listed(tuple(names))}: capsules stand for boxes, cylinders or cones, up to {most:.0f} '
        'mm larger'
    ]


def _without_acceleration(settings: Settings, names: Sequence[str]) -> list[str]:
    """Return the joints without a given acceleration limit."""
    given = {limit.joint for limit in settings.joint_limits if limit.max_acceleration is not None}
    return [name for name in names if name not in given]


def _listener(topic: str, controllers: Sequence[FoundController]) -> FoundController | None:
    """Return the controller that listens on a topic, or None.

    A relative name is in the namespace of the node, which a file does not contain. Any will do,
    the shortest first.
    """
    is_relative = not topic.startswith(('/', '~'))
    found = [
        controller
        for controller in controllers
        if controller.topic == topic or (is_relative and controller.topic.endswith(f'/{topic}'))
    ]
    return min(found, key=lambda controller: len(controller.topic), default=None)


def _of_controllers(
    robot: ControlledRobot, controllers: Sequence[FoundController]
) -> tuple[list[str], list[str]]:
    """Return errors and warnings about outputs, compared with the controllers on the graph."""
    errors, warnings = [], []
    for output, joints in zip(robot.settings.outputs, robot.output_names, strict=True):
        found, where = _listener(output.topic, controllers), f'outputs.{output.name}'
        if found is None:
            errors.append(f"parameter '{where}.topic': no controller listens on {output.topic}")
            continue
        topic = found.topic
        if found.is_type_known and found.type != output.type:
            errors.append(f"parameter '{where}.type': {topic} takes {found.type}")
        if found.joints and set(found.joints) != set(joints):
            errors.append(
                f"parameter '{where}.joints': {topic} has the joints {listed(found.joints)}"
            )
        elif found.joints and output.type != 'joint_trajectory' and found.joints != joints:
            errors.append(
                f"parameter '{where}.joints': {topic} has the order {listed(found.joints)}"
            )
        if not found.is_active:
            warnings.append(f'{topic}: its controller is not active')
        if found.update_rate and found.update_rate < robot.settings.control_rate:
            warnings.append(
                f'control_rate {robot.settings.control_rate:g} Hz is above the update rate of '
                f'{topic}, {found.update_rate:g} Hz'
            )
    return errors, warnings
