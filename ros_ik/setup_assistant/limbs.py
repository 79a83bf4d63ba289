# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arms and legs of a robot: unbranched chains of joints, and their tip links."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import re

from ros_ik.kinematics.chain import relative_chain
from ros_ik.model import Model

# Patterns in the names of tip links, the best first.
_TIPS = ('tcp', 'tool0', 'grasp', 'tool', 'end_effector', '_ee(_|$)', 'flange', 'gripper', 'hand')
# Words in the names of links of a gripper that are no tip, and of joints that open or close one.
_PARTS = ('finger', 'thumb')
_GRIPPER_JOINTS = (*_PARTS, 'gripper', 'jaw')
# Minimum number of joints of an arm. Shorter chains such as legs are used if there is no arm.
_MIN_ARM_JOINTS, _MIN_LIMB_JOINTS = 5, 3


@dataclasses.dataclass(frozen=True)
class Limb:
    """A chain to control.

    Attributes:
        joints: Joints that move its tip, root first, without mimic joints.
        tip: Tip link.
        others: Other candidates for the tip, the most likely first.
    """

    joints: tuple[str, ...]
    tip: str
    others: tuple[str, ...] = ()


def root_link(model: Model) -> int:
    """Return the root link."""
    return int(model.joint_child.numpy()[list(model.joint_parent.numpy()).index(-1)])


def moving_joints(model: Model, link: int) -> tuple[str, ...]:
    """Return the joints with one degree of freedom from the root to a link."""
    starts, root = model.joint_qd_start.numpy(), root_link(model)
    dofs = set(relative_chain(model, link, root)[0])
    return tuple(
        label
        for joint, label in enumerate(model.joint_label)
        if starts[joint + 1] - starts[joint] == 1
        and int(starts[joint]) in dofs
        and joint not in model.mimic_driver
    )


def find_limbs(model: Model) -> tuple[Limb, ...]:
    """Return the arms of a robot, or its legs or fingers if it has none.

    Args:
        model: The robot.
    """
    chains = {link: moving_joints(model, link) for link in range(model.body_count)}
    successors: dict[str, set[str]] = {'': set()}
    for chain in chains.values():
        for before, after in zip(('', *chain), chain, strict=False):
            successors.setdefault(before, set()).add(after)
    for least in (_MIN_ARM_JOINTS, _MIN_LIMB_JOINTS, 1):
        segments = _segments(successors, least)
        if segments:
            return tuple(_limb(model, chains, segment, least) for segment in segments)
    return ()


def _segments(successors: Mapping[str, set[str]], least: int) -> list[tuple[str, ...]]:
    """Return the unbranched chains of joints that are long enough and not the end of another one.

    Args:
        successors: Joints that follow a joint towards the tips; '' is the root.
        least: Minimum number of joints of a chain.
    """
    found, starts = [], sorted(successors[''])
    while starts:
        segment = [starts.pop(0)]
        while len(successors.get(segment[-1], ())) == 1:
            segment += successors[segment[-1]]
        if len(segment) >= least:
            found.append(tuple(segment))
        else:
            starts += sorted(successors.get(segment[-1], ()))
    return found


def _limb(
    model: Model, chains: dict[int, tuple[str, ...]], segment: tuple[str, ...], least: int
) -> Limb:
    """Return the limb of a segment; its tip is the link with the best name, or the last one."""
    on_it = [link for link, chain in chains.items() if chain and chain[-1] in segment[least - 1 :]]

    def rank(link: int) -> tuple[int, int, int]:
        name, joint = model.body_label[link].lower(), chains[link][-1].lower()
        kind = next((k for k, tip in enumerate(_TIPS) if re.search(tip, name)), None)
        if kind is None or any(part in name for part in _PARTS):
            kind = 2 * len(_TIPS)
        elif any(word in joint for word in _GRIPPER_JOINTS):
            kind += len(_TIPS)
        return kind, -len(chains[link]), -link

    first, *others = sorted(on_it, key=rank)
    named = [model.body_label[link] for link in others if rank(link)[0] < len(_TIPS)]
    return Limb(chains[first], model.body_label[first], tuple(named[:4]))
