# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Import of the mimic joints of a URDF: q = offset + multiplier q(driver)."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

import numpy as np

from ros_ik.errors import ModelError
from ros_ik.model.building.joints.configuration_space import resolve_mimics
from ros_ik.model.building.joints.mimic_range import dof_links
from ros_ik.model.building.joints.mimic_range import narrow_drivers
from ros_ik.model.building.tables.rows import joint_row
from ros_ik.model.building.tables.rows import mimic_row
from ros_ik.model.building.worlds.worlds import Worlds
from ros_ik.model.conventions.labels import listed
from ros_ik.model.readers.loops import find_loop
from ros_ik.model.readers.loops import shortened
from ros_ik.model.readers.xml import float_attribute
from ros_ik.model.readers.xml import required
from ros_ik.numbers import MAX_MAGNITUDE


def add_mimics(builder: Worlds, elements: Mapping[str, Element]) -> None:
    """Add the mimic constraints of a description.

    Args:
        builder: Builder with the joints; a meaningless tag adds a warning.
        elements: The joint elements by name.

    Raises:
        ModelError: Joints that follow each other, or a factor that is not a number.
    """
    index = {label: k for k, label in enumerate(builder.joint_label)}
    leader: dict[str, str] = {}
    for name, element in elements.items():
        mimic = element.find('mimic')
        if mimic is None:
            continue
        where = f'joint {name!r} mimic'
        driver = required(mimic, 'joint', where)
        if driver not in elements:
            # Some robots in wide use have this, such as a hand extracted from a larger
            # description.
            builder.urdf_warnings.append(
                f'{where}: names a missing joint {driver!r}; the joint moves on its own'
            )
            continue
        coefficients = (
            float_attribute(mimic, 'offset', where, 0.0),
            float_attribute(mimic, 'multiplier', where, 1.0),
        )
        if any(joint_row(builder, index[joint]).dof_count != 1 for joint in (name, driver)):
            builder.urdf_warnings.append(
                f'{where}: ignored, both joints need one degree of freedom'
            )
            continue
        leader[name] = driver
        builder.add_constraint_mimic(index[name], index[driver], *coefficients)
    loop = find_loop(leader)
    if loop:
        raise ModelError(f'joint {loop[0]!r} mimic', f'follows itself through {shortened(loop)}')
    rows = [mimic_row(builder, k) for k in range(builder.row_count('constraint_mimic'))]
    mimics = resolve_mimics(rows)
    for joint, (_, coef0, coef1) in mimics.items():
        if not (abs(coef0) <= MAX_MAGNITUDE and abs(coef1) <= MAX_MAGNITUDE):
            raise ModelError(
                f'joint {builder.joint_label[joint]!r} mimic',
                f'offset {coef0} or multiplier {coef1} along its drivers is too large',
            )
    builder.urdf_warnings += _disjoint_ranges(builder, mimics)


def _disjoint_ranges(builder: Worlds, mimics: Mapping[int, tuple[int, float, float]]) -> list[str]:
    """Return a warning for each mimic joint whose limits exclude all positions of its driver.

    The positions are those that the driver and its other mimic joints allow.
    """
    lower, upper = np.array(builder.joint_limit_lower), np.array(builder.joint_limit_upper)
    low, high = lower.copy(), upper.copy()
    starts = np.array(builder.joint_qd_start)
    excluded = narrow_drivers(low, high, dof_links(mimics, starts))
    followers = [joint for joint in mimics if starts[joint] in excluded]
    found = []
    for joint in followers:
        driver, coef0, coef1 = mimics[joint]
        own, of_driver, allowed_by = starts[joint], starts[driver], ''
        ends = _ends(lower[of_driver], upper[of_driver], coef0, coef1)
        if ends[1] >= lower[own] and ends[0] <= upper[own]:
            ends = _ends(low[of_driver], high[of_driver], coef0, coef1)
            others = [k for k in mimics if mimics[k][0] == driver and k not in followers]
            allowed_by = f' that {listed(repr(builder.joint_label[k]) for k in others)} can follow'
        found.append(
            f'joint {builder.joint_label[joint]!r} mimic: positions of joint '
            f'{builder.joint_label[driver]!r}{allowed_by} lead it from {ends[0]:g} to '
            f'{ends[1]:g}, all outside its limits, {lower[own]:g} to {upper[own]:g}'
        )
    return found


def _ends(lower: float, upper: float, coef0: float, coef1: float) -> tuple[float, float]:
    """Return the range of a mimic joint whose driver has these limits."""
    if coef1 == 0.0:
        return coef0, coef0
    low, high = sorted(coef0 + coef1 * bound for bound in (lower, upper))
    return low, high
