# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reader of SRDFs: joint groups, named states, link pairs without collision check.

A fault of an element that MoveIt skips is a warning here, too. The element is ignored if nothing
depends on it, or less is permitted without it. A group or a state with a fault raises an error
where it is used, because it would hold other joints than was meant. An ``enable_collisions``
without a link is an error, because a pair would not be checked.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import os
from pathlib import Path
from xml.etree.ElementTree import Element

from ros_ik.errors import ModelError
from ros_ik.model.conventions.labels import listed
from ros_ik.model.readers.loops import find_loops
from ros_ik.model.readers.urdf_source import read_source
from ros_ik.model.readers.xml import float_attribute
from ros_ik.model.readers.xml import parse_document
from ros_ik.model.readers.xml import required
from ros_ik.model.readers.xml import unexpanded

# Elements that are read only for warnings, and the names of joints, links and groups in them.
_IGNORED = {
    'virtual_joint': {'child_link': 'link'},
    'end_effector': {'group': 'group', 'parent_link': 'link', 'parent_group': 'group'},
    'passive_joint': {'name': 'joint'},
}
_PAIR = ('link1', 'link2')


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
        ignored: Names in elements without effect, as element, kind ('joint', 'link', 'group') and
            name.
        warnings: Faults of the document by itself.
    """

    groups: dict[str, SemanticGroup]
    states: dict[tuple[str, str], dict[str, float]]
    disabled_pairs: frozenset[tuple[str, str]]
    enabled_pairs: frozenset[tuple[str, str]] = frozenset()
    disabled_links: frozenset[str] = frozenset()
    robot: str = ''
    ignored: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[str, ...] = ()

    def named_as(self, joints: Collection[str], links: Collection[str]) -> SemanticDescription:
        """Return the description with the robot's own names.

        Some documents prefix names of joints and links with the name of the robot and a slash. The
        prefix is removed if only the name without it exists in the robot.

        Args:
            joints: Names of the joints of the robot.
            links: Names of its links.
        """
        prefix = f'{self.robot}/'
        known = {'joint': joints, 'link': links}

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
            ignored=tuple(
                (where, kind, name if kind == 'group' else own(name, known[kind]))
                for where, kind, name in self.ignored
            ),
        )

    def group_loop(self, name: str) -> list[str]:
        """Return the groups by which a group, or one in it, contains itself; [] for none."""
        return next(find_loops(self._subgroups(), [name]), [])

    def faults(self, joints: Collection[str], links: Collection[str]) -> list[str]:
        """Return a warning for each element that is wrong, or wrong for a robot.

        Args:
            joints: Names of the joints of the robot.
            links: Names of its links.
        """
        known = {'joint': joints, 'link': links, 'group': self.groups}
        unknown: dict[str, list[str]] = {}

        def check(where: str, kind: str, name: str) -> None:
            if name not in known[kind]:
                unknown.setdefault(where, []).append(f'{kind} {name!r}')

        for name, group in self.groups.items():
            where = f'group {name!r}'
            ends = [link for chain in group.chains for link in chain]
            for kind, names in (
                ('joint', group.joints), ('link', (*group.links, *ends)),
                ('group', group.subgroups),
            ):  # fmt: skip
                for one in names:
                    check(where, kind, one)
        for (group_name, name), state in self.states.items():
            where = f'group_state {name!r}'
            check(where, 'group', group_name)
            for joint in state:
                check(where, 'joint', joint)
        for tag, pairs in (
            ('disable_collisions', self.disabled_pairs),
            ('enable_collisions', self.enabled_pairs),
            ('disable_default_collisions', [(link,) for link in self.disabled_links]),
        ):
            for link in sorted({link for pair in pairs for link in pair}):
                check(tag, 'link', link)
        for where, kind, name in self.ignored:
            check(where, kind, name)
        found = [f'{where}: unknown {listed(names)}' for where, names in unknown.items()]
        found += [
            f'group {loop[0]!r}: contains itself through {listed(loop)}'
            for loop in find_loops(self._subgroups())
        ]
        return [*self.warnings, *(f'SRDF {fault}' for fault in found)]

    def _subgroups(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the groups in each group."""
        return {name: group.subgroups for name, group in self.groups.items()}

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

    Virtual joints, end effectors and passive joints have no effect. Groups may name links and
    joints that the robot does not have, because variants of a robot share SRDFs; only the use of
    such a group is an error.

    Args:
        text: The document.

    Raises:
        ModelError: Malformed XML, or an element ``enable_collisions`` without a link.
    """
    root = parse_document(text, 'robot')
    virtual = {element.get('name') for element in root.iterfind('virtual_joint')}
    virtual_joints = {('joint', name) for name in virtual}
    warnings = unexpanded(root)
    groups: dict[str, SemanticGroup] = {}
    for element in root.iterfind('group'):
        name = element.get('name', '')
        if not name:
            warnings.append('group: lacks a name, it is ignored')
            continue
        if name in groups:
            warnings.append(f'group {name!r}: appears more than once, the first one is used')
            continue
        groups[name] = _group(element, virtual)
        if not len(element):
            warnings.append(f'group {name!r}: is empty')
    states: dict[tuple[str, str], dict[str, float]] = {}
    for element in root.iterfind('group_state'):
        name = element.get('name', '')
        key = element.get('group', ''), name
        if key in states:
            warnings.append(f'group_state {name!r}: appears more than once, the last one is used')
        try:
            required(element, 'name', 'group_state')
            states[key] = _state(element, name, virtual)
        except ModelError as error:
            # Without one position, the others would be another state than was meant.
            states.pop(key, None)
            warnings.append(f'{error}, the state is ignored')
    return SemanticDescription(
        groups,
        states,
        disabled_pairs=_pairs(_complete(root, 'disable_collisions', _PAIR, warnings)),
        enabled_pairs=_pairs(root.findall('enable_collisions')),
        disabled_links=frozenset(
            element.attrib['link']
            for element in _complete(root, 'disable_default_collisions', ('link',), warnings)
        ),
        robot=root.get('name', ''),
        ignored=tuple(entry for entry in _ignored(root) if entry[1:] not in virtual_joints),
        warnings=tuple(f'SRDF {warning}' for warning in warnings),
    )


def _ignored(root: Element) -> Iterator[tuple[str, str, str]]:
    """Yield element, kind and name of each joint, link and group in elements without effect."""
    for tag, attributes in _IGNORED.items():
        for element in root.iterfind(tag):
            where = tag if 'name' in attributes else f'{tag} {element.get("name", "")!r}'
            for attribute, kind in attributes.items():
                if attribute != 'parent_group' or element.get(attribute):
                    yield where, kind, element.get(attribute, '')


def _complete(
    root: Element, tag: str, attributes: Sequence[str], warnings: list[str]
) -> list[Element]:
    """Return the elements with this tag and all attributes, and add a warning for each other."""
    found = []
    for element in root.iterfind(tag):
        missing = [name for name in attributes if not element.get(name)]
        if missing:
            warnings.append(f'{tag}: lacks the attribute {missing[0]!r}, it is ignored')
        else:
            found.append(element)
    return found


def _pairs(elements: Sequence[Element]) -> frozenset[tuple[str, str]]:
    """Read the pair of links of each element, in alphabetical order."""
    pairs = set()
    for element in elements:
        first, second = sorted(required(element, key, element.tag) for key in _PAIR)
        pairs.add((first, second))
    return frozenset(pairs)


def _group(element: Element, virtual: set[str | None]) -> SemanticGroup:
    """Read one group, without virtual joints; a missing name is ''."""

    def names(tag: str) -> tuple[str, ...]:
        return tuple(child.get('name', '') for child in element.iterfind(tag))

    return SemanticGroup(
        joints=tuple(joint for joint in names('joint') if not joint or joint not in virtual),
        links=names('link'),
        chains=tuple(
            (child.get('base_link', ''), child.get('tip_link', ''))
            for child in element.iterfind('chain')
        ),
        subgroups=names('group'),
    )


def _state(element: Element, name: str, virtual: set[str | None]) -> dict[str, float]:
    """Read the positions of one state, without joints that are virtual or of several values."""
    where = f'group_state {name!r}'
    values = {}
    for child in element.iterfind('joint'):
        joint = required(child, 'name', where)
        if joint not in virtual and len(child.get('value', '').split()) < 2:
            values[joint] = float_attribute(child, 'value', f'{where}, joint {joint!r}')
    return values
