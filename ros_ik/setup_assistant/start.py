# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of links that are too near at the configuration in which a robot starts.

The pairs are those of the node's self-collision barrier, without those that touch by design. One
that is nearer than its margin may only move apart, so several of them can hold the whole robot.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses

import numpy as np

from ros_ik.barriers.pair_sampling import sample_pair_distances
from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.collision.distance.contact import in_contact
from ros_ik.model.conventions.labels import link_names
from ros_ik.model.conventions.labels import listed
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.srdf_lines import srdf_line

# Name of what is no link, which an SRDF cannot exclude.
_WORLD = 'world'


@dataclasses.dataclass(frozen=True)
class NearPair:
    """Two links that are nearer than the margin.

    Attributes:
        links: Their names.
        distance: Signed distance of their shapes [m], negative if they overlap.
    """

    links: tuple[str, ...]
    distance: float

    @property
    def overlaps(self) -> bool:
        """True if the shapes overlap or touch."""
        return bool(in_contact(np.float64(self.distance), 0.0))

    def warning(self) -> str:
        """Return a message with the line for the SRDF."""
        first, second = self.links
        depth = f'overlap by {1e3 * abs(self.distance):.1f} mm'
        if _WORLD in self.links:
            return f'{first} and {second} {depth} at the start'
        line = srdf_line(first, second, 'User')
        return f'{first} and {second} {depth} at the start; if they may, write in the SRDF: {line}'


def near_pairs(robot: ControlledRobot, start: Mapping[str, float] | None) -> tuple[NearPair, ...]:
    """Return the links that violate the self-collision barrier at the start, the nearest first.

    A pair that no controlled joint moves holds nothing, and is not among them.

    Args:
        robot: The robot.
        start: Positions of joints by name [rad or m]; None for the neutral configuration.

    Raises:
        ArgumentError: As :meth:`Model.neutral_joint_q`.
    """
    settings, model = robot.settings, robot.model
    if not settings.barriers_self_collision_enabled:
        return ()
    shapes, joint_q = robot.shapes, model.neutral_joint_q(start)
    distance = sample_pair_distances(shapes.geometry, shapes.pairs, joint_q[None])[0]
    least: dict[tuple[str, ...], NearPair] = {}
    near = np.flatnonzero(distance < shapes.margins(settings.barriers_self_collision_margin))
    for row in near[np.argsort(distance[near], kind='stable')].tolist():
        first, second = shapes.geometry.body[shapes.pairs[row]].tolist()
        links = link_names(model.body_label, (first, second))
        if links not in least and moves_apart(robot, first, second):
            least[links] = NearPair(links, float(distance[row]))
    return tuple(least.values())


def start_warnings(robot: ControlledRobot, start: Mapping[str, float] | None) -> list[str]:
    """Return messages about links that are too near at the start, first the common one."""
    pairs = near_pairs(robot, start)
    overlapping = [pair for pair in pairs if pair.overlaps]
    beside = [':'.join(pair.links) for pair in pairs if not pair.overlaps]
    margin = 1e3 * robot.settings.barriers_self_collision_margin
    found = []
    if overlapping:
        found.append(
            f'{_overlap_sentence(len(overlapping), start)}. Start elsewhere (--start), or disable '
            'pairs that may touch, in the SRDF or collision.ignore_pairs'
        )
        found += [pair.warning() for pair in overlapping]
    if beside:
        found.append(
            f'{listed(beside)}: nearer at the start than barriers.self_collision.margin '
            f'({margin:g} mm); they may only move apart'
        )
    return found


def _overlap_sentence(count: int, start: Mapping[str, float] | None) -> str:
    """Return a message about the number of links that overlap at the start."""
    where = 'where the robot starts' if start else 'at the neutral configuration'
    several = f'{count} pairs of links overlap' if count > 1 else 'one pair of links overlaps'
    return f'{several} {where}: the node lets them only move apart, which may hold the whole robot'


def moves_apart(robot: ControlledRobot, first: int, second: int) -> bool:
    """Return True if a controlled joint moves one of two links relative to the other one."""
    group = robot.group
    dofs = np.setxor1d(link_dofs(robot.model, first), link_dofs(robot.model, second))
    return bool(np.any((group.dof_variable[dofs] >= 0) & (group.dof_scale[dofs] != 0.0)))
