# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sections of parameter files whose names contain a dot, which ROS cannot read.

Where such a section ends, ROS loses only what follows the last dot of its name. After a section
``joint_8.0`` it reads ``joint_9.0`` as ``joint_8.joint_9.0``.
"""

from __future__ import annotations

from collections.abc import Sequence


def dotted_section_message(section: str, parameter: str) -> str:
    """Return a message about a section, with the line to write instead.

    Args:
        section: Name of the section.
        parameter: A parameter in it.
    """
    return (
        f"ROS cannot read section '{section}:' of the parameter file, because its name contains a "
        f"dot; write '{section}.{parameter}: ...' in one line instead"
    )


def find_dotted_section(name: str, known: Sequence[str]) -> str:
    """Return the section with a dot after which ROS reads an unknown name, '' if there is none.

    Args:
        name: The unknown name, such as ``joint_8.joint_9.0``.
        known: Names that exist, such as ``joint_8.0`` and ``joint_9.0``.
    """
    rests = [name.removesuffix(f'.{other}') for other in known if name.endswith(f'.{other}')]
    for section in known:
        kept, dot, _ = section.rpartition('.')
        if dot and any(f'{rest}.'.startswith(f'{kept}.') for rest in rests):
            return section
    return ''
