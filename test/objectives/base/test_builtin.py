# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The contracts that all built-in objectives share."""

import numpy as np
from objectives import rig
import pytest

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKObjectiveLookAt
from ros_ik.objectives import IKObjectiveManipulability
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.objectives import IKObjectiveRotation


def test_built_in_objectives_serve_solvers_of_one_model_on_one_device():
    model, other = object(), object()
    objective = IKObjectivePosition(0, np.zeros(3), np.zeros(3))
    first = rig.Owner(model, 'cpu')
    assert objective.claim(first)
    same = rig.Owner(model, 'cpu')
    assert not objective.claim(same)
    for wrong in (rig.Owner(other, 'cpu'), rig.Owner(model, 'cuda:0')):
        with pytest.raises(ArgumentError, match='another model, device or number of rows'):
            objective.claim(wrong)
    del first
    assert not objective.claim(rig.Owner(model, 'cpu'))
    del same
    # It has no owner: it is set up again for the next one, because masses may have changed.
    assert objective.claim(rig.Owner(model, 'cpu'))


@pytest.mark.parametrize(
    'make',
    [
        lambda link: IKObjectivePosition(link, np.zeros(3), np.zeros(3)),
        lambda link: IKObjectiveRotation(link, (0, 0, 0, 1), (0, 0, 0, 1)),
        lambda link: IKObjectivePose(link, (0, 0, 0, 0, 0, 0, 1)),
        lambda link: IKObjectiveLookAt(link, (0, 0, 1), np.zeros(3)),
        lambda link: IKObjectiveManipulability(link, 0.1),
    ],
)
def test_a_link_index_is_an_integer(make):
    assert make(np.int32(3)).link_index == 3
    for wrong in (3.7, 3.0, True, None, [3]):
        with pytest.raises(ArgumentError, match='link_index must be the integer index'):
            make(wrong)
    with pytest.raises(ArgumentError, match=r"model.body_index\('hand'\)"):
        make('hand')
