# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The controlled robot: links, joints and limits of the settings, resolved in the model."""

from __future__ import annotations

from collections.abc import Iterable
import dataclasses
import functools

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.chain import relative_chain
from ros_ik.model import JointGroup
from ros_ik.model import JointType
from ros_ik.model import Model
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik.model.conventions.rotations import quaternion_from_rpy
from ros_ik.model.limit_override import with_position_limits
from ros_ik.servo.robot.collision_setup import ignored_pairs
from ros_ik.servo.robot.collision_setup import robot_shapes
from ros_ik.servo.robot.collision_setup import RobotShapes
from ros_ik.servo.robot.joint_limits import resolve_joint_limits
from ros_ik.servo.robot.link_joints import LinkJoints
from ros_ik.servo.robot.settings_checks import check_center
from ros_ik.servo.robot.settings_checks import check_output_joints
from ros_ik.servo.robot.settings_checks import check_per_joint
from ros_ik.servo.robot.settings_checks import check_strict_jerk
from ros_ik.servo.robot.srdf_lines import srdf_lines
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError
from ros_ik.settings import TaskSettings

# Rounding error of coordinates at a position limit [rad or m].
POSITION_ROUNDING = 1e-9
# Length of a prismatic joint that is equivalent to 1 rad [m].
_LEVER = 0.3


@dataclasses.dataclass(frozen=True, eq=False)
class ControlledRobot:
    """Robot of a servo.

    Attributes:
        model: Model, with position limits tightened by the settings.
        settings: Settings at the start; only the read-only ones remain valid.
        group: Controlled joints, one degree of freedom and one variable each.
        base_link: Link of poses without a frame_id.
        task_links: Link of each frame task.
        task_references: Reference link of each frame task.
        elbow_links: The link of the elbow of each frame task, or -1.
        barrier_links: Link of each position barrier.
        coords: Coordinate of each controlled joint, [n_variables].
        is_linear: True for prismatic joints, [n_variables].
        needed: Names of the joints whose state must be known.
        needed_coords: Their coordinates.
        lower: Position limits [joint_dof_count], rad or m.
        upper: Position limits [joint_dof_count], rad or m.
        velocity: Velocity limits [joint_dof_count], rad/s or m/s, tightened by the settings.
            Velocity, acceleration and jerk limits already respect those of mimic joints.
        acceleration: Acceleration limits [joint_dof_count], rad/s^2 or m/s^2.
        jerk: Jerk limits [joint_dof_count], rad/s^3 or m/s^3, inf where there is none.
        coord_of: Coordinate of each joint with one degree of freedom, by joint name.
        output_coords: For each output, the coordinates of its joints.
        output_names: For each output, the names of its joints.
        unreported: Joints that move a task relative to its reference frame, and which joint states
            cannot report, because they have several degrees of freedom. They are taken to be at
            their neutral positions.
    """

    model: Model
    settings: Settings
    group: JointGroup
    base_link: int
    task_links: tuple[int, ...]
    task_references: tuple[int, ...]
    elbow_links: tuple[int, ...]
    barrier_links: tuple[int, ...]
    coords: np.ndarray
    is_linear: np.ndarray
    needed: tuple[str, ...]
    needed_coords: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray
    coord_of: dict[str, int]
    output_coords: tuple[np.ndarray, ...]
    output_names: tuple[tuple[str, ...], ...]
    unreported: tuple[str, ...]

    @functools.cached_property
    def radian(self) -> np.ndarray:
        """Motion of each controlled joint that is equivalent to 1 rad, [n_variables]."""
        return np.where(self.is_linear, _LEVER, 1.0)

    @functools.cached_property
    def can_move(self) -> np.ndarray:
        """True for controlled joints whose velocity limit is not 0, bool [n_variables]."""
        return np.asarray(self.velocity[self.group.variable_dof] > 0.0)

    @functools.cached_property
    def ramp(self) -> float:
        """Longest time in which a controlled joint reaches its acceleration limit [s]."""
        dofs = self.group.variable_dof
        return float(np.max(self.acceleration[dofs] / self.jerk[dofs], initial=0.0))

    @functools.cached_property
    def moving_dofs(self) -> np.ndarray:
        """Degrees of freedom of the controlled joints and of those that mimic them, int [n]."""
        coords = dof_coordinates(self.model)
        return np.flatnonzero((self.group.dof_variable >= 0) & (coords >= 0))

    @functools.cached_property
    def moving_coords(self) -> np.ndarray:
        """Coordinates of :attr:`moving_dofs`, int [n]."""
        return dof_coordinates(self.model)[self.moving_dofs]

    @functools.cached_property
    def has_followers(self) -> bool:
        """True if controlled joints drive mimic joints."""
        return len(self.moving_dofs) > self.group.n_variables

    @functools.cached_property
    def tolerated_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Position limits that coordinates keep despite rounding errors [joint_dof_count]."""
        return self.inner_limits(-POSITION_ROUNDING)

    @functools.cached_property
    def driver_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Position limits, those of drivers narrowed by mimic joints [joint_dof_count]."""
        return driver_limits(self.model)

    @functools.cached_property
    def link_joints(self) -> LinkJoints:
        """Joints that move the links relative to each other."""
        return LinkJoints(self.model)

    @functools.cached_property
    def shapes(self) -> RobotShapes:
        """Collision geometry of the robot; meshes are read at the first use."""
        return robot_shapes(self.model, self.settings)

    @property
    def unmeasured_links(self) -> tuple[str, ...]:
        """Links that distances ignore in whole or in part; empty if nothing is checked."""
        settings = self.settings
        if settings.barriers_self_collision_enabled or settings.barriers_world_enabled:
            return self.shapes.unmeasured
        return ()

    @functools.cached_property
    def srdf_lines(self) -> tuple[str, ...]:
        """SRDF lines for link pairs that need no check; cached, as they take milliseconds."""
        return srdf_lines(self.model, self.shapes)

    def position_margin(self, settings: Settings) -> np.ndarray:
        """Return the margin to the position limits [joint_dof_count], at most half a range.

        The range of a joint is what the limits of its mimic joints leave of its own.
        """
        margin = np.zeros(self.model.joint_dof_count)
        lower, upper = (limit[self.group.variable_dof] for limit in self.driver_limits)
        of_variables = np.minimum(settings.limits_position_margin, 0.5 * (upper - lower))
        # Mimic joints move in proportion.
        self.group.write_steps(of_variables, margin)
        return np.minimum(np.abs(margin), 0.5 * (self.upper - self.lower))

    def scaled_velocity(self, settings: Settings) -> np.ndarray:
        """Return the velocity limits with their scale [joint_dof_count], rad/s or m/s."""
        return self.velocity * settings.limits_velocity_scale

    def scaled_acceleration(self, settings: Settings) -> np.ndarray:
        """Return the acceleration limits with their scale [joint_dof_count], rad/s^2 or m/s^2.

        A servo in motion may still use those of the previous scale, :attr:`Servo.acceleration`.
        """
        return self.acceleration * settings.limits_acceleration_scale

    def inner_limits(self, margin: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Return the position limits moved inwards by a margin [joint_dof_count], rad or m."""
        return self.lower + margin, self.upper - margin

    def inner_driver_limits(self, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return position limits with which the controlled joints keep a margin to all limits.

        Those of a controlled joint are what its mimic joints leave, moved inwards by the margin.
        Mimic joints have their own ones, because they keep the margin with their drivers.

        Args:
            margin: As :meth:`position_margin` returns it, [joint_dof_count].

        Returns:
            Lower and upper limits, [joint_dof_count], rad or m.
        """
        lower, upper = self.driver_limits
        of_moved = np.zeros_like(margin)
        of_moved[self.group.variable_dof] = margin[self.group.variable_dof]
        return lower + of_moved, upper - of_moved


def resolve_robot(model: Model, settings: Settings) -> ControlledRobot:
    """Resolve the settings in a model, without kernels: a robot that is in motion may go on.

    Raises:
        SettingsError: A link, joint or group that the model lacks, a limit looser than the
            model's, a list of the wrong length, or ``com.weight`` for a model without mass.
    """
    check_center(settings, model)
    # The shapes themselves are read later.
    ignored_pairs(model, settings.collision_ignore_pairs)
    base = (
        _link(model, 'base_frame', settings.base_frame)
        if settings.base_frame
        else _root_link(model)
    )
    links = tuple(_link(model, f'{task.name}.frame', task.frame) for task in settings.tasks)
    references = tuple(
        _link(model, f'{task.name}.reference_frame', task.reference_frame)
        if task.reference_frame
        else base
        for task in settings.tasks
    )
    elbows = tuple(
        _link(model, f'{task.name}.elbow_frame', task.elbow_frame) if task.elbow_frame else -1
        for task in settings.tasks
    )
    barriers = tuple(
        _link(model, f'barriers.position.{box.name}.frame', box.frame) for box in settings.barriers
    )
    coord_of = _joint_coordinates(model)
    moving = _joints_on_chains(model, links, references)
    on_chains = tuple(name for name in moving if name in coord_of)
    group = _controlled_group(model, settings, on_chains, coord_of)
    names = tuple(output.joints or group.joint_names for output in settings.outputs)
    for output, joints in zip(settings.outputs, names, strict=True):
        check_output_joints(output.name, joints, coord_of)
    needed = tuple(
        dict.fromkeys([*group.joint_names, *on_chains, *(j for joints in names for j in joints)])
    )
    needed = tuple(dict.fromkeys(_drivers(model, needed)))
    limits = resolve_joint_limits(model, settings)
    check_per_joint(settings, group)
    check_strict_jerk(settings, group, limits.jerk)
    if not np.array_equal([limits.lower, limits.upper], model.limits64()[:2]):
        model = with_position_limits(model, limits.lower, limits.upper)
    return ControlledRobot(
        model=model,
        settings=settings,
        group=group,
        base_link=base,
        task_links=links,
        task_references=references,
        elbow_links=elbows,
        barrier_links=barriers,
        coords=np.array([coord_of[name] for name in group.joint_names]),
        is_linear=_are_linear(model, group),
        needed=needed,
        needed_coords=np.array([coord_of[name] for name in needed]),
        lower=limits.lower,
        upper=limits.upper,
        velocity=group.coupled_limits(limits.velocity),
        acceleration=group.coupled_limits(limits.acceleration),
        jerk=group.coupled_limits(limits.jerk),
        coord_of=coord_of,
        output_coords=tuple(np.array([coord_of[name] for name in joints]) for joints in names),
        output_names=names,
        unreported=tuple(name for name in moving if name not in coord_of),
    )


def link_offset(task: TaskSettings) -> np.ndarray:
    """Return the pose of the controlled frame in its link, [7]."""
    return np.concatenate([task.offset_xyz, quaternion_from_rpy(*task.offset_rpy)])


def _link(model: Model, parameter: str, name: str) -> int:
    try:
        return model.body_index(name)
    except ArgumentError as error:
        raise SettingsError(parameter, str(error)) from error


def _root_link(model: Model) -> int:
    parents, children = model.joint_parent.numpy(), model.joint_child.numpy()
    return int(children[list(parents).index(-1)])


def _joint_coordinates(model: Model) -> dict[str, int]:
    """Return the coordinate of each joint with one degree of freedom."""
    starts = model.joint_qd_start.numpy()
    coords = dof_coordinates(model)
    return {
        label: int(coords[starts[index]])
        for index, label in enumerate(model.joint_label)
        if starts[index + 1] - starts[index] == 1
    }


def _joints_on_chains(
    model: Model, links: Iterable[int], references: Iterable[int]
) -> tuple[str, ...]:
    """Return the joints that move tasks relative to their references, in model order."""
    starts = model.joint_qd_start.numpy()
    dofs = {
        int(dof)
        for link, reference in zip(links, references, strict=True)
        for dof in relative_chain(model, link, reference)[0]
    }
    return tuple(
        label
        for index, label in enumerate(model.joint_label)
        if not dofs.isdisjoint(range(starts[index], starts[index + 1]))
    )


def _drivers(model: Model, names: Iterable[str]) -> list[str]:
    """Return the joints, with mimic joints replaced by the joints that drive them."""
    indices = (model.joint_index(name) for name in names)
    return [model.joint_label[model.mimic_driver.get(index, (index,))[0]] for index in indices]


def _controlled_group(
    model: Model, settings: Settings, on_chains: tuple[str, ...], coord_of: dict[str, int]
) -> JointGroup:
    """Return the controlled joints, or raise SettingsError."""
    for name in settings.locked_joints:
        if name not in model.joint_label:
            raise SettingsError('locked_joints', _unknown_joint(model, name))
    try:
        spec = settings.joint_group or tuple(_drivers(model, on_chains))
        group = model.joint_group(spec)
    except ArgumentError as error:
        raise SettingsError('joint_group', str(error)) from error
    # Joint states and trajectories cannot represent joints with several degrees of freedom.
    names = [n for n in group.joint_names if n in coord_of and n not in settings.locked_joints]
    if not names:
        reason = (
            f'{settings.joint_group!r} has no movable joint'
            if settings.joint_group
            else 'the robot has no movable joint between the reference frames and the frames of '
            'the tasks'
        )
        raise SettingsError('joint_group', reason)
    return dataclasses.replace(model.joint_group(names), name=settings.joint_group)


def _are_linear(model: Model, group: JointGroup) -> np.ndarray:
    """Return which joints of a group are prismatic."""
    joints = [model.joint_index(name) for name in group.joint_names]
    linear: np.ndarray = model.joint_type.numpy()[joints] == JointType.PRISMATIC
    return linear


def _unknown_joint(model: Model, name: str) -> str:
    try:
        model.joint_index(name)
    except ArgumentError as error:
        return str(error)
    return f'the model has no joint {name!r}'
