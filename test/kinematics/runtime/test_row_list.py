# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Lists of the rows that a later launch works on, in the order of the rows."""

from typing import no_type_check

import numpy as np
import pytest
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.row_list import row_list_functions
from ros_ik.kinematics.runtime.row_list import RowList
from ros_ik.solvers.graph import Graph

N = 1000


@no_type_check
def rows_kernel():
    """Build the kernel that writes the row of each thread."""
    functions = row_list_functions()
    Rows, listed_row = functions.Rows, functions.listed_row

    @compiled_kernel()
    def write_rows(rows: Rows, out: wp.array(dtype=wp.int32)):
        thread = wp.tid()
        out[thread] = listed_row(rows, thread)

    return write_rows


def rows_of_threads(rows):
    """Return the row of each thread of a launch."""
    out = wp.zeros(N, dtype=wp.int32, device='cpu')
    launch(rows_kernel(), dim=N, inputs=[rows], outputs=[out], device='cpu')
    return out.numpy()


@pytest.mark.parametrize('share', [0.0, 0.02, 0.5, 1.0])
def test_marked_rows_are_listed_in_their_order(share):
    listed, rng = RowList(N, 'cpu'), np.random.default_rng(3)
    for _ in range(2):  # the second list replaces the first
        marked = rng.uniform(size=N) < share
        listed.marked.assign(marked.astype(np.int32))
        listed.gather()
        rows = np.flatnonzero(marked)
        expected = np.concatenate([rows, np.full(N - len(rows), -1)])
        np.testing.assert_array_equal(rows_of_threads(listed.rows), expected)


def test_without_a_list_each_thread_has_its_row():
    np.testing.assert_array_equal(rows_of_threads(row_list_functions().Rows()), np.arange(N))


def test_a_graph_lists_anew():
    listed = RowList(N, 'cpu')
    graph = Graph(listed.gather, 'cpu')
    for row in (7, 300):
        listed.marked.zero_()
        listed.marked.numpy()[row] = 1
        graph.launch()
        assert rows_of_threads(listed.rows)[:2].tolist() == [row, -1]
