# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Log lines about a new model: the first warning of each document."""

from types import SimpleNamespace

import pytest

from ros_ik.node.model_loading.build_log import log_built


class Log:
    """Logger that keeps its lines."""

    def __init__(self):
        self.infos, self.warnings = [], []
        self.info, self.warning = self.infos.append, self.warnings.append


@pytest.mark.parametrize(
    ('urdf_warnings', 'srdf_warnings', 'lines'),
    [
        ((), (), []),
        (
            ("link 'a': mesh 'm'", "link 'b': mesh 'm'"),
            ("SRDF group 'g': is empty",),
            [
                "robot description: 2 warnings, the first: link 'a': mesh 'm'",
                "SRDF: 1 warnings, the first: SRDF group 'g': is empty",
            ],
        ),
    ],
)
def test_an_srdf_is_not_hidden_behind_missing_meshes(urdf_warnings, srdf_warnings, lines):
    shapes = SimpleNamespace(warnings=['fit'], near=(), thick=(), often=(), tight=(), hidden=())
    model = SimpleNamespace(urdf_warnings=urdf_warnings, srdf_warnings=srdf_warnings)
    robot = SimpleNamespace(model=model, shapes=shapes, unreported=('base',))
    log = Log()
    log_built(
        log, SimpleNamespace(warnings=('no GPU',)), SimpleNamespace(robot=robot), 'built in 1 s'
    )
    assert log.infos == ['built in 1 s']
    first, *middle, base, last = log.warnings
    assert (first, middle, last) == ('no GPU', lines, 'collision shapes: fit')
    assert base.startswith('joint base moves a task and has several degrees of freedom')
