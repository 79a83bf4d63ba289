# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Profile of Fast DDS for the programs of this package.

Fast DDS 3 answers other processes that ask for the types of a node, as each does when it starts.
At the end of a node it frees the queue of the answers before it stops the thread that writes them
(``~TypeLookupManager``, 3.2). A process that asks in between makes the node crash. ROS does not
need these answers: it compares types by name and hash, and has a service for descriptions.
"""

from __future__ import annotations

import os
from pathlib import Path

PROFILE = Path(__file__).with_suffix('.xml')
# Variables and files by which users give a profile of their own.
_VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
_FILES = ('DEFAULT_FASTDDS_PROFILES.xml', 'DEFAULT_FASTRTPS_PROFILES.xml')


def set_fastdds_profile() -> None:
    """Select the profile for this process and those that it starts, unless the user has one.

    Call this before the first node. Other middlewares ignore it.
    """
    if not any(map(os.environ.get, _VARIABLES)) and not any(map(os.path.exists, _FILES)):
        os.environ[_VARIABLES[0]] = str(PROFILE)
