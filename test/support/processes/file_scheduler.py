# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Order in which the processes of pytest-xdist take test files."""

from support.processes.workers import begins_at_the_end
from xdist.scheduler import LoadFileScheduling


class FilesFromBothEnds(LoadFileScheduling):
    """Each process takes whole files, from the beginning of the list or from its end."""

    def remove_node(self, node):
        """Leave the files of a process that died to others, but for those it had finished.

        A process that got one of these would wait for its first test without end.
        """
        files = self.assigned_work[node]
        for name in [name for name, tests in files.items() if all(tests.values())]:
            del files[name]
        return super().remove_node(node)

    def _assign_work_unit(self, node):
        if begins_at_the_end(int(node.gateway.id.removeprefix('gw'))):
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
