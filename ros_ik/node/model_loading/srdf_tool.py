# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: SRDF lines for the links of a URDF that always touch.

ros_ik_srdf_lines robot.urdf >> lines.xml
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys

import warp as wp

from ros_ik.errors import RosIkError
from ros_ik.kinematics.runtime.shared_compilation import share_compilations
from ros_ik.model import Model
from ros_ik.model.readers.text_files import read_text
from ros_ik.node.model_loading.package_paths import package_paths
from ros_ik.servo.robot.collision_setup import robot_shapes
from ros_ik.servo.robot.srdf_lines import srdf_lines
from ros_ik.settings import read_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the lines; return the exit code, 1 if the robot cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__, prog='ros_ik_srdf_lines')
    parser.add_argument('urdf', type=Path, help='the robot description, xacro expanded')
    parser.add_argument('--srdf', type=Path, help='an SRDF whose pairs are left out')
    parser.add_argument(
        '--package-path', action='append', default=[], metavar='FOLDER',
        help='a folder that holds packages with meshes, beside those of AMENT_PREFIX_PATH',
    )  # fmt: skip
    given = parser.parse_args(arguments)
    # Only the lines go to standard output.
    wp.config.log_level = wp.LOG_ERROR
    share_compilations()
    try:
        model = Model.from_urdf(
            read_text(given.urdf, 'robot description'),
            srdf=read_text(given.srdf, 'SRDF') if given.srdf else None,
            package_paths=(*given.package_path, *package_paths()),
            device='cpu',
        )
        # Any link may be the frame, because no task is solved.
        shapes = robot_shapes(model, read_settings({'ee.frame': model.body_label[0]}))
    except RosIkError as error:
        print(error, file=sys.stderr)
        return 1
    for sentence in shapes.warnings:
        print(sentence, file=sys.stderr)
    print('\n'.join(srdf_lines(model, shapes)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
