# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robots with mimic joints on side links, and a judge of limits that reads only their text."""

import dataclasses
from xml.etree import ElementTree

import numpy as np

# Two slides. The driver alone leads its mimic joint from -0.5 to 0.5; the limits of the latter
# are {lower} and 6 [m].
SLIDING = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/>
<joint name="driver" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="follower" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="{lower}" upper="6" velocity="1" effort="1"/>
<mimic joint="driver" multiplier="0.5"/></joint></robot>"""

# Rounding of a limit that a factor divides and multiplies again, in float64.
ROUNDING = 1e-12


@dataclasses.dataclass(frozen=True)
class Follower:
    """Mimic joint on a side link; its driver may be a mimic joint itself."""

    name: str
    driver: str
    factor: float
    offset: float
    lower: float
    upper: float

    def element(self, parent):
        """Return the joint and its link as text."""
        return (
            f'<link name="link of {self.name}"/><joint name="{self.name}" type="revolute">'
            f'<parent link="{parent}"/><child link="link of {self.name}"/><axis xyz="0 1 0"/>'
            f'<limit lower="{self.lower:.17g}" upper="{self.upper:.17g}" velocity="1" effort="1"/>'
            f'<mimic joint="{self.driver}" multiplier="{self.factor:.17g}" '
            f'offset="{self.offset:.17g}"/></joint>'
        )


def with_followers(text, followers, parent):
    """Return a description with mimic joints on side links of a link."""
    elements = ''.join(follower.element(parent) for follower in followers)
    return text.replace('</robot>', f'{elements}</robot>')


def random_followers(rng, text, joints):
    """Return mimic joints that all are inside their limits at one random configuration.

    Among them are two of one driver, one with each sign of its factor, and a chain of two.
    """
    own = own_limits(text)
    at = {name: rng.uniform(*np.clip(own[name], -3.0, 3.0)) for name in joints}
    found = []
    first, second = rng.choice(joints, 2, replace=False)
    for name, driver, sign in (
        ('f0', first, -1.0), ('f1', first, 1.0), ('f2', second, -1.0), ('f3', 'f2', -1.0),
    ):  # fmt: skip
        factor, offset = sign * rng.uniform(0.5, 2.0), rng.uniform(-1.0, 1.0)
        at[name] = offset + factor * at[driver]
        below, above = rng.uniform(0.6, 2.0, 2)
        found.append(
            Follower(name, str(driver), factor, offset, at[name] - below, at[name] + above)
        )
    return found


def own_limits(text):
    """Return the lower and upper limit of each joint of a description that has them."""
    found = {}
    for joint in ElementTree.fromstring(text).findall('joint'):
        limit = joint.find('limit')
        if joint.get('type') in ('revolute', 'prismatic'):
            found[joint.get('name')] = float(limit.get('lower')), float(limit.get('upper'))
        elif joint.get('type') == 'continuous':
            found[joint.get('name')] = -np.inf, np.inf
    return found


def positions_by_name(model, joint_q):
    """Return the coordinates [.., joint_coord_count] of each joint with one of them, by name."""
    start = model.joint_q_start.numpy()
    return {
        name: joint_q[..., start[k]]
        for k, name in enumerate(model.joint_label)
        if start[k + 1] - start[k] == 1
    }


def is_inside(text, positions, slack=ROUNDING, exempt=()):
    """Return where all joints are inside the limits of a description, and follow their drivers.

    Args:
        text: The description.
        positions: Positions of all its movable joints by name [rad or m], arrays of one shape.
        slack: Rounding of the positions.
        exempt: Joints whose limits have no effect.
    """
    good = np.ones(np.shape(next(iter(positions.values()))), dtype=bool)
    for name, (low, high) in own_limits(text).items():
        if name not in exempt:
            good &= (positions[name] >= low - slack) & (positions[name] <= high + slack)
    for joint in ElementTree.fromstring(text).findall('joint'):
        mimic = joint.find('mimic')
        if mimic is not None:
            expected = float(mimic.get('offset', 0)) + (
                float(mimic.get('multiplier', 1)) * positions[mimic.get('joint')]
            )
            good &= np.abs(positions[joint.get('name')] - expected) <= slack
    return good
