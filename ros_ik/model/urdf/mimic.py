# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Import of the mimic joints of a URDF: q = offset + multiplier q(driver)."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from ros_ik.errors import ModelError
from ros_ik.model.building.joints.configuration_space import resolve_mimics
from ros_ik.model.building.tables.rows import joint_row
from ros_ik.model.building.tables.rows import mimic_row
from ros_ik.model.building.worlds.worlds import Worlds
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
