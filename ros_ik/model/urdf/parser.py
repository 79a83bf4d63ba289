# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parser of URDFs into a ModelBuilder.

The document is untrusted, and every fault raises a ModelError that names the element. One body per
link; fixed joints stay joints. A planar joint becomes a D6 joint whose two prismatic axes span the
plane and whose revolute axis is its normal; a floating joint becomes a FREE one.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.model.building.tables.joint_dof import DofData
from ros_ik.model.building.tables.joint_dof import UNLIMITED
from ros_ik.model.building.worlds.worlds import Worlds
from ros_ik.model.conventions.checks import moment_fault
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.rotations import matrix_from_quaternion
from ros_ik.model.readers.loops import find_loop
from ros_ik.model.readers.loops import shortened
from ros_ik.model.readers.xml import float_attribute
from ros_ik.model.readers.xml import parse_document
from ros_ik.model.readers.xml import required
from ros_ik.model.readers.xml import unexpanded
from ros_ik.model.readers.xml import vector_attribute
from ros_ik.model.urdf.geometry import add_shapes
from ros_ik.model.urdf.geometry import read_origin
from ros_ik.model.urdf.mimic import add_mimics

_JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
# Name of the joint between the world and the root link.
ROOT_JOINT = 'root_joint'


@dataclasses.dataclass(frozen=True)
class _Joint:
    """A joint element with its names read."""

    name: str
    kind: str
    parent: str
    child: str
    element: Element


def parse_urdf(
    builder: Worlds,
    text: str,
    *,
    package_paths: Sequence[str | Path] = (),
    floating: bool = False,
    base_joint: Mapping[str, Any] | None = None,
    joint_ordering: str | None = 'dfs',
    bodies_follow_joint_ordering: bool = True,
    visuals_as_colliders: bool = False,
) -> None:
    """Parse a robot description with all links, joints, shapes and mimic constraints.

    Args:
        builder: Empty builder to fill; its first joint connects the root link to the world.
        text: The URDF document.
        package_paths: Folders in which meshes are looked up.
        floating: Connect the root link to the world by a free joint instead of a fixed one.
        base_joint: That joint, as arguments of ``ModelBuilder.add_joint``.
        joint_ordering: 'dfs', 'bfs', or None for the order of the document.
        bodies_follow_joint_ordering: True if links come in the order of their joints.
        visuals_as_colliders: True to use visual shapes as collision shapes.

    Raises:
        ModelError: The description is malformed; the error names the element.
        ArgumentError: An unknown order, or an invalid base joint.
    """
    root = parse_document(text, 'robot')
    builder.urdf_warnings += unexpanded(root)
    links = _read_links(root)
    joints = _read_joints(root, links)
    bodies: dict[str, int] = {}
    root_link = _root_link(links, joints)
    order = _ordered(root_link, joints, joint_ordering)
    names = [root_link, *(joint.child for joint in order)]
    for name in names if bodies_follow_joint_ordering else links:
        _add_link(builder, bodies, name, links[name])
    base = {'joint_type': JointType.FREE if floating else JointType.FIXED, **(base_joint or {})}
    base.setdefault('label', _unused_name(ROOT_JOINT, joints))
    builder.add_joint(**base, parent=-1, child=bodies[root_link])
    for joint in order:
        _add_joint(builder, bodies, joint)
    add_mimics(builder, {name: joint.element for name, joint in joints.items()})
    for name, element in links.items():
        if visuals_as_colliders:
            _use_visuals_for_collision(element)
        add_shapes(builder, bodies[name], name, element, package_paths)


def _read_links(root: Element) -> dict[str, Element]:
    """Return the link elements by name."""
    links: dict[str, Element] = {}
    for element in root.iterfind('link'):
        name = required(element, 'name', 'link')
        if name in links:
            raise ModelError(f'link {name!r}', 'appears more than once')
        links[name] = element
    if not links:
        reason = ': it is a xacro that is not expanded' if unexpanded(root) else ''
        raise ModelError('robot', f'has no links{reason}')
    return links


def _read_joints(root: Element, links: dict[str, Element]) -> dict[str, _Joint]:
    """Return the joints by name, with the links they name checked."""
    joints: dict[str, _Joint] = {}
    of_child: dict[str, str] = {}
    for element in root.iterfind('joint'):
        name = required(element, 'name', 'joint')
        where = f'joint {name!r}'
        if name in joints:
            raise ModelError(where, 'appears more than once')
        kind = element.get('type', '')
        if kind not in _JOINT_TYPES:
            raise ModelError(where, f'type {kind!r} is not one of {", ".join(_JOINT_TYPES)}')
        ends = []
        for tag in ('parent', 'child'):
            end = element.find(tag)
            if end is None:
                raise ModelError(where, f'lacks <{tag}>')
            link = required(end, 'link', where)
            if link not in links:
                raise ModelError(where, f'names a missing {tag} link {link!r}')
            ends.append(link)
        if ends[1] in of_child:
            raise ModelError(
                f'link {ends[1]!r}', f'has two parents: joints {of_child[ends[1]]!r} and {name!r}'
            )
        of_child[ends[1]] = name
        joints[name] = _Joint(name, kind, ends[0], ends[1], element)
    return joints


def _root_link(links: dict[str, Element], joints: dict[str, _Joint]) -> str:
    """Return the only link without a parent; cycles are an error."""
    above = {joint.child: joint for joint in joints.values()}
    loop = find_loop({joint.child: joint.parent for joint in joints.values()})
    if loop:
        raise ModelError(
            f'joint {above[loop[0]].name!r}', f'closes a cycle of links: {shortened(loop)}'
        )
    roots = [link for link in links if link not in above]
    if len(roots) > 1:
        raise ModelError(
            f'link {roots[1]!r}', f'is a second root beside {roots[0]!r}: no joint connects them'
        )
    return roots[0]


def _use_visuals_for_collision(element: Element) -> None:
    """Use the visual shapes of a link as its collision shapes."""
    for shape in element.findall('collision'):
        element.remove(shape)
    for shape in element.iterfind('visual'):
        shape.tag = 'collision'


def _ordered(root_link: str, joints: dict[str, _Joint], ordering: str | None) -> Sequence[_Joint]:
    """Return the joints depth or breadth first from the root, children in document order."""
    if ordering is None:
        return list(joints.values())
    if not isinstance(ordering, str) or ordering not in ('dfs', 'bfs'):
        raise ArgumentError(f"joint_ordering must be 'dfs', 'bfs' or None, got {ordering!r}")
    below: dict[str, list[_Joint]] = {}
    for joint in joints.values():
        below.setdefault(joint.parent, []).append(joint)
    order: list[_Joint] = []
    if ordering == 'bfs':
        order.extend(below.get(root_link, []))
        for joint in order:  # grows during the iteration
            order.extend(below.get(joint.child, []))
        return order
    stack = below.get(root_link, [])[::-1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(below.get(joint.child, [])[::-1])
    return order


def _unused_name(name: str, taken: dict[str, _Joint]) -> str:
    """Return ``name`` with as many leading underscores as needed to be unique."""
    while name in taken:
        name = f'_{name}'
    return name


def _add_link(builder: Worlds, bodies: dict[str, int], name: str, element: Element) -> None:
    """Add a link, with its inertia rotated into link axes."""
    where = f'link {name!r}'
    inertial = element.find('inertial')
    if inertial is None:
        bodies[name] = builder.add_link(name)
        return
    mass = float_attribute(inertial.find('mass'), 'value', f'{where} mass', 0.0)
    if mass < 0.0:
        raise ModelError(f'{where} mass', f'must not be negative, got {mass}')
    pose = read_origin(inertial, f'{where} inertial')
    tensor = inertial.find('inertia')
    ixx, ixy, ixz, iyy, iyz, izz = (
        float_attribute(tensor, key, f'{where} inertia', 0.0)
        for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    )
    rotation = matrix_from_quaternion(pose[3:])
    inertia = rotation @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ rotation.T
    if moment_fault(inertia):
        raise ModelError(f'{where} inertia', moment_fault(inertia))
    bodies[name] = builder.add_link(name, mass=mass, com=pose[:3], inertia=inertia)


def _add_joint(builder: Worlds, bodies: dict[str, int], joint: _Joint) -> None:
    """Add a joint of the type of its element."""
    where = f'joint {joint.name!r}'
    common: dict[str, Any] = {
        'parent': bodies[joint.parent],
        'child': bodies[joint.child],
        'label': joint.name,
        'parent_xform': read_origin(joint.element, where),
    }
    if joint.kind == 'fixed':
        builder.add_joint_fixed(**common)
    elif joint.kind == 'floating':
        builder.add_joint_free(**common)
    elif joint.kind == 'planar':
        normal = _axis(joint.element, where)
        first, second = _plane(normal)
        friction = _friction(joint.element, where)
        x, y, turn = (DofData(_tuple(axis), friction=friction) for axis in (first, second, normal))
        builder.add_joint_d6(**common, linear_axes=[x, y], angular_axes=[turn])
    else:
        dof = _dof(joint, where)
        add = builder.add_joint_revolute
        if joint.kind == 'prismatic':
            add = builder.add_joint_prismatic
        add(**common, dof=dof)
        if dof.velocity == 0.0:
            builder.urdf_warnings.append(f'{where} limit: a velocity of 0 never lets it move')


def _axis(element: Element, where: str) -> np.ndarray:
    """Return the unit axis of a joint; x by default."""
    axis = vector_attribute(element.find('axis'), 'xyz', f'{where} axis', (1.0, 0.0, 0.0))
    norm = np.linalg.norm(axis)
    if norm < 1e-9:
        raise ModelError(f'{where} axis', f'has zero length: {axis.tolist()}')
    return axis / norm


def _plane(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two unit axes with first x second = normal; x and y for a normal along z."""
    helper = np.eye(3)[0] if abs(normal[0]) < 0.9 else np.eye(3)[1]
    first = helper - normal * (helper @ normal)
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)


def _dof(joint: _Joint, where: str) -> DofData:
    """Return axis and limits of a joint of one degree of freedom."""
    axis = _tuple(_axis(joint.element, where))
    limit = joint.element.find('limit')
    friction = _friction(joint.element, where)
    where = f'{where} limit'
    if limit is None and joint.kind != 'continuous':
        raise ModelError(where, f'is required for a {joint.kind} joint')
    velocity = _limit(limit, 'velocity', where, np.inf)
    effort = _limit(limit, 'effort', where, np.inf)
    for name, value in (('velocity', velocity), ('effort', effort)):
        if value < 0.0:
            raise ModelError(where, f'{name} must not be negative, got {value}')
    if joint.kind == 'continuous':
        return DofData(axis, velocity=velocity, effort=effort, friction=friction)
    # In URDF, lower and upper default to 0.
    lower = _limit(limit, 'lower', where, 0.0)
    upper = _limit(limit, 'upper', where, 0.0)
    if lower > upper:
        raise ModelError(where, f'lower {lower} lies above upper {upper}')
    if lower == np.inf or upper == -np.inf:
        raise ModelError(where, f'leaves nothing between lower {lower} and upper {upper}')
    return DofData(axis, lower, upper, velocity, effort, friction=friction)


def _friction(element: Element, joint: str) -> float:
    """Return the friction of a joint's ``<dynamics>`` [Nm or N], 0 without one."""
    where = f'{joint} dynamics'
    friction = float_attribute(element.find('dynamics'), 'friction', where, 0.0)
    if friction < 0.0:
        raise ModelError(where, f'friction must not be negative, got {friction}')
    return friction


def _limit(element: Element | None, attribute: str, where: str, default: float) -> float:
    """Return a limit; one beyond a useful size counts as none."""
    value = float_attribute(element, attribute, where, default, bound=np.inf)
    return float(np.copysign(np.inf, value)) if abs(value) >= UNLIMITED else value


def _tuple(vector: np.ndarray) -> tuple[float, float, float]:
    """Return a vector as three floats."""
    return float(vector[0]), float(vector[1]), float(vector[2])
