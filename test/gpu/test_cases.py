# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every objective, limit, barrier and query has a test on the GPU."""

from gpu.panda import panda
from gpu.test_queries import QUERIES
from gpu.test_steps import BARRIERS
from gpu.test_steps import LIMITS
from gpu.test_steps import OBJECTIVES
import pytest

from ros_ik import barriers
from ros_ik import kinematics
from ros_ik import limits
from ros_ik import objectives


def classes(module, base):
    """Return the names of the classes of a module that can be made, by their base class."""
    named = [getattr(module, name) for name in module.__all__]
    derived = [kind for kind in named if isinstance(kind, type) and issubclass(kind, base)]
    return {kind.__name__ for kind in derived if not any(
        issubclass(other, kind) and other is not kind for other in derived)}  # fmt: skip


@pytest.mark.parametrize(
    ('module', 'base', 'cases'),
    [
        (objectives, objectives.IKObjective, OBJECTIVES),
        (limits, limits.Limit, LIMITS),
        (barriers, barriers.Barrier, BARRIERS),
    ],
    ids=['objectives', 'limits', 'barriers'],
)
def test_every_class_has_a_case(module, base, cases):
    model = panda('cpu')
    argument = model.joint_dof_count if module is limits else model
    tested = {type(case(argument)).__name__ for case in cases.values()}
    assert classes(module, base) == tested


def test_every_query_has_a_case():
    queries = {name for name in kinematics.__all__ if name.startswith('eval_')}
    assert queries | {'CollisionChecker'} == set(QUERIES)
