# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the planners' process of a node, without services; it ends with its pipe.

The process of the planners takes as much to start as the node itself.
"""

import os
import sys

while sys.stdin.buffer.read1():
    pass
# A fork copies all of its memory if the interpreter ends in order.
os._exit(0)
