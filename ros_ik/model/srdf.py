# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reads an SRDF: joint groups, named states and link pairs that need no collision check."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from ros_ik.errors import ModelError
from ros_ik.model.xml import float_attribute
from ros_ik.model.xml import parse_document
from ros_ik.model.xml import required

if TYPE_CHECKING:
    from ros_ik.model.builder import ModelBuilder


@dataclasses.dataclass(frozen=True)
class SemanticGroup:
    """One group: joints, links that stand for the joint above them, chains, other groups."""

    joints: tuple[str, ...]
    links: tuple[str, ...]
    chains: tuple[tuple[str, str], ...]
    subgroups: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class SemanticDescription:
    """What an SRDF says.

    Attributes:
        groups: Groups by name.
        states: Joint positions [rad or m] by (group, state) name.
        disabled_pairs: Pairs of links that need no collision check, each in alphabetical order.
    """

    groups: dict[str, SemanticGroup]
    states: dict[tuple[str, str], dict[str, float]]
    disabled_pairs: frozenset[tuple[str, str]]


def parse_srdf(text: str, builder: ModelBuilder) -> SemanticDescription:
    """Read an SRDF document.

    Virtual joints, end effectors and passive joints are left aside.

    Args:
        text: The document.
        builder: The robot it belongs to; unknown links and joints are errors.

    Raises:
        ModelError: Malformed XML, or a group that names an unknown link or joint.
    """
    root = parse_document(text, 'robot')
    links = {link.label for link in builder.links}
    # A virtual joint is the SRDF's own and moves nothing here, but groups may name it.
    virtual = {element.get('name') for element in root.iterfind('virtual_joint')}
    joints = {joint.label for joint in builder.joints} | virtual
    groups = {}
    for element in root.iterfind('group'):
        name = required(element, 'name', 'group')
        groups[name] = _group(element, name, links, joints, virtual)
    states = {}
    for element in root.iterfind('group_state'):
        name = required(element, 'name', 'group_state')
        key = (required(element, 'group', f'group_state {name!r}'), name)
        states[key] = _state(element, name)
    pairs = set()
    for element in root.iterfind('disable_collisions'):
        first, second = sorted(required(element, key, 'disable_collisions') for key in ('link1', 'link2'))
        pairs.add((first, second))
    return SemanticDescription(groups, states, frozenset(pairs))


def _group(
    element: Element, name: str, links: set[str], joints: set[str], virtual: set[str]
) -> SemanticGroup:
    """Read one group and check its names."""
    where = f'group {name!r}'
    named_joints = [required(child, 'name', where) for child in element.iterfind('joint')]
    named_links = [required(child, 'name', where) for child in element.iterfind('link')]
    chains = [
        (required(child, 'base_link', where), required(child, 'tip_link', where))
        for child in element.iterfind('chain')
    ]
    for kind, names, known in (
        ('joint', named_joints, joints),
        ('link', [*named_links, *(link for chain in chains for link in chain)], links),
    ):
        for unknown in sorted(set(names) - known):
            raise ModelError(where, f'names an unknown {kind} {unknown!r}')
    return SemanticGroup(
        joints=tuple(joint for joint in named_joints if joint not in virtual),
        links=tuple(named_links),
        chains=tuple(chains),
        subgroups=tuple(required(child, 'name', where) for child in element.iterfind('group')),
    )


def _state(element: Element, name: str) -> dict[str, float]:
    """Read the joint positions of one state; joints with several values are left out."""
    where = f'group_state {name!r}'
    values = {}
    for child in element.iterfind('joint'):
        joint = required(child, 'name', where)
        if len(child.get('value', '').split()) == 1:
            values[joint] = float_attribute(child, 'value', f'{where}, joint {joint!r}')
    return values
