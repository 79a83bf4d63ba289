# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reader of SRDFs: joint groups, named states, link pairs without collision check."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
import dataclasses
import os
from pathlib import Path
from xml.etree.ElementTree import Element

from ros_ik.errors import ModelError
from ros_ik.model.readers.urdf_source import read_source
from ros_ik.model.readers.xml import float_attribute
from ros_ik.model.readers.xml import parse_document
from ros_ik.model.readers.xml import required


@dataclasses.dataclass(frozen=True)
class SemanticGroup:
    """One group: joints, links (each for its parent joint), chains, other groups."""

    joints: tuple[str, ...]
    links: tuple[str, ...]
    chains: tuple[tuple[str, str], ...]
    subgroups: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class SemanticDescription:
    """Content of an SRDF.

    Attributes:
        groups: Groups by name.
        states: Joint positions [rad or m] by (group, state) name; a model's description omits
            positions of fixed joints, which some documents name.
        disabled_pairs: Pairs of links that need no collision check, each in alphabetical order.
        enabled_pairs: Pairs that are always checked.
        disabled_links: Links that are checked only in enabled pairs.
        robot: Name of the robot, or ''.
    """

    groups: dict[str, SemanticGroup]
    states: dict[tuple[str, str], dict[str, float]]
    disabled_pairs: frozenset[tuple[str, str]]
    enabled_pairs: frozenset[tuple[str, str]] = frozenset()
    disabled_links: frozenset[str] = frozenset()
    robot: str = ''

    def named_as(self, joints: Collection[str], links: Collection[str]) -> SemanticDescription:
        """Return the description with the robot's own names.

        Some documents prefix names of joints and links with the name of the robot and a slash. The
        prefix is removed if only the name without it exists in the robot.

        Args:
            joints: Names of the joints of the robot.
            links: Names of its links.
        """
        prefix = f'{self.robot}/'

        def own(name: str, known: Collection[str]) -> str:
            bare = name.removeprefix(prefix)
            return bare if name not in known and bare in known else name

        def pair(names: tuple[str, str]) -> tuple[str, str]:
            first, second = sorted(own(name, links) for name in names)
            return first, second

        if not self.robot:
            return self
        groups = {
            name: dataclasses.replace(
                group,
                joints=tuple(own(joint, joints) for joint in group.joints),
                links=tuple(own(link, links) for link in group.links),
                chains=tuple((own(a, links), own(b, links)) for a, b in group.chains),
            )
            for name, group in self.groups.items()
        }
        states = {
            key: {own(joint, joints): value for joint, value in state.items()}
            for key, state in self.states.items()
        }
        return dataclasses.replace(
            self,
            groups=groups,
            states=states,
            disabled_pairs=frozenset(map(pair, self.disabled_pairs)),
            enabled_pairs=frozenset(map(pair, self.enabled_pairs)),
            disabled_links=frozenset(own(link, links) for link in self.disabled_links),
        )

    def without_positions_of(self, joints: Collection[str]) -> SemanticDescription:
        """Return the description without positions of some joints in its states."""
        states = {
            key: {joint: value for joint, value in state.items() if joint not in joints}
            for key, state in self.states.items()
        }
        return dataclasses.replace(self, states=states)

    def collision_disabled(self, link1: str, link2: str, otherwise: bool = False) -> bool:
        """Return True if two links need no collision check.

        Args:
            link1: Name of a link.
            link2: Name of another.
            otherwise: Result for pairs that the document does not mention.
        """
        pair = (min(link1, link2), max(link1, link2))
        if pair in self.enabled_pairs:
            return False
        unchecked = link1 in self.disabled_links or link2 in self.disabled_links
        return unchecked or pair in self.disabled_pairs or otherwise


def read_srdf(
    source: str | os.PathLike[str],
    package_paths: Sequence[str | Path] = (),
    *,
    may_name_file: bool = False,
) -> SemanticDescription:
    """Read an SRDF from its text, or from a file.

    Args:
        source: The document, or the path of a file as a path object.
        package_paths: Folders in which packages are looked up.
        may_name_file: True if a string may be the path of a file, or its URI. Use False for
            untrusted strings.

    Raises:
        ModelError: As :func:`parse_srdf`, or a file that cannot be read.
    """
    try:
        if may_name_file or isinstance(source, os.PathLike):
            source = read_source(source, package_paths)[0]
        return parse_srdf(source)
    except ModelError as error:
        if error.element != 'document':
            raise
        raise ModelError('SRDF document', error.reason) from error


def parse_srdf(text: str) -> SemanticDescription:
    """Read an SRDF document.

    Virtual joints, end effectors and passive joints are ignored. Groups may name links and joints
    that the robot does not have, because variants of a robot share SRDFs; only the use of such a
    group is an error.

    Args:
        text: The document.

    Raises:
        ModelError: Malformed XML, an element without a name, or a value that is not a number.
    """
    root = parse_document(text, 'robot')
    virtual = {element.get('name') for element in root.iterfind('virtual_joint')}
    groups = {}
    for element in root.iterfind('group'):
        name = required(element, 'name', 'group')
        groups[name] = _group(element, name, virtual)
    states = {}
    for element in root.iterfind('group_state'):
        name = required(element, 'name', 'group_state')
        states[element.get('group', ''), name] = _state(element, name)
    return SemanticDescription(
        groups,
        states,
        disabled_pairs=_pairs(root, 'disable_collisions'),
        enabled_pairs=_pairs(root, 'enable_collisions'),
        disabled_links=frozenset(
            required(element, 'link', 'disable_default_collisions')
            for element in root.iterfind('disable_default_collisions')
        ),
        robot=root.get('name', ''),
    )


def _pairs(root: Element, tag: str) -> frozenset[tuple[str, str]]:
    """Read the pairs of links of all elements with this tag, each in alphabetical order."""
    pairs = set()
    for element in root.iterfind(tag):
        first, second = sorted(required(element, key, tag) for key in ('link1', 'link2'))
        pairs.add((first, second))
    return frozenset(pairs)


def _group(element: Element, name: str, virtual: set[str | None]) -> SemanticGroup:
    """Read one group, without virtual joints."""
    where = f'group {name!r}'
    joints = [required(child, 'name', where) for child in element.iterfind('joint')]
    return SemanticGroup(
        joints=tuple(joint for joint in joints if joint not in virtual),
        links=tuple(required(child, 'name', where) for child in element.iterfind('link')),
        chains=tuple(
            (required(child, 'base_link', where), required(child, 'tip_link', where))
            for child in element.iterfind('chain')
        ),
        subgroups=tuple(required(child, 'name', where) for child in element.iterfind('group')),
    )


def _state(element: Element, name: str) -> dict[str, float]:
    """Read the joint positions of one state, without joints of several values."""
    where = f'group_state {name!r}'
    values = {}
    for child in element.iterfind('joint'):
        joint = required(child, 'name', where)
        if len(child.get('value', '').split()) == 1:
            values[joint] = float_attribute(child, 'value', f'{where}, joint {joint!r}')
    return values
