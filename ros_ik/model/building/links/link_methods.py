# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Links of a ModelBuilder, under Newton's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ros_ik.model.building.joints.joint_methods import JointMethods
from ros_ik.model.conventions.checks import check_flags
from ros_ik.model.conventions.checks import checked_amount
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.checks import checked_inertia
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import label_or
from ros_ik.model.conventions.flags import BodyFlags


class LinkMethods(JointMethods):
    """Methods of ModelBuilder for links."""

    def add_link(
        self,
        label: str | None = None,
        *,
        xform: Any = None,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Any = None,
        mass: float = 0.0,
        lock_inertia: bool = False,
        is_kinematic: bool = False,
        custom_attributes: Mapping[str, Any] | None = None,
    ) -> int:
        """Add a link and return its body index.

        Args:
            label: Name; made from the index where empty.
            xform: Pose in the world [7], for ``body_q`` and for free joints; identity where None.
            com: Centre of mass in the link [m], shape [3].
            inertia: Inertia about the centre of mass in link axes [kg m^2], shape [3, 3].
            mass: Mass [kg].
            lock_inertia: True if shapes do not change mass and inertia.
            is_kinematic: Stored for simulators: moved by the user, not by forces.
            custom_attributes: Values by ``namespace:name``.

        Raises:
            ArgumentError: A negative mass or moment of inertia, or a number that is not finite;
                the error names the link.
        """
        label = label_or(label, f'body_{self.body_count}')
        check_flags(lock_inertia=lock_inertia, is_kinematic=is_kinematic)
        self.checked_custom_values('body', self.body_count, custom_attributes)
        where = f'link {label!r}'
        inertia = np.zeros((3, 3)) if inertia is None else inertia
        body = self.append_row(
            'body',
            body_label=label,
            body_mass=checked_amount(f'{where} mass', mass),
            body_com=checked_array(f'{where} com', (0, 0, 0) if com is None else com, (3,)),
            body_inertia=checked_inertia(f'{where} inertia', inertia),
            body_q=checked_pose(f'{where} xform', xform),
            body_qd=np.zeros(6),
            body_flags=int(BodyFlags.KINEMATIC if is_kinematic else BodyFlags.DYNAMIC),
            body_world=self.current_world,
            body_lock_inertia=bool(lock_inertia),
        )
        self.set_custom_values('body', body, custom_attributes)
        return body
