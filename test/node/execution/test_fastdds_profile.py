# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Programs end in order while others ask for their types: they have no thread that answers."""

import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest
from support.processes.ros_processes import reserved_domain

pytest.importorskip('rclpy', reason='the programs need rclpy')

from ros_ik.node.execution import fastdds_profile  # noqa: E402

pytestmark = [
    pytest.mark.dds,
    pytest.mark.skipif(not Path('/proc/self/task').is_dir(), reason='reads threads of Linux'),
]

# A program that prints whether its process answers questions about types.
_PROGRAM = """
from pathlib import Path
import os
import rclpy
{init}
node = rclpy.create_node('asked')
print(any('dds.tls' in path.read_text() for path in Path('/proc/self/task').glob('*/comm')))
node.destroy_node()
rclpy.try_shutdown()
"""
_OURS = 'from ros_ik.node.execution.start import init_rclpy; init_rclpy([])'
# A profile of a user, which changes nothing.
_OWN = '<profiles><participant profile_name="own" is_default_profile="true"/></profiles>'


def answers(init, folder, **variables):
    """Return True if a program answers questions about types.

    Args:
        init: Line that initialises rclpy.
        folder: Current directory of the program.
        variables: Environment variables.
    """
    environment = {
        name: value for name, value in os.environ.items() if name not in fastdds_profile._VARIABLES
    } | variables
    with reserved_domain() as domain:
        done = subprocess.run(
            [sys.executable, '-c', _PROGRAM.format(init=init)], capture_output=True, text=True,
            timeout=100, cwd=folder, env={**environment, 'ROS_DOMAIN_ID': str(domain)},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1] == 'True'


@pytest.fixture(scope='module', autouse=True)
def _asked(tmp_path_factory):
    if not answers('rclpy.init()', tmp_path_factory.mktemp('plain')):
        pytest.skip('no process of this middleware answers questions about types')


def test_no_thread_of_a_program_answers_questions_about_types(tmp_path):
    assert not answers(_OURS, tmp_path)


@pytest.mark.parametrize('name', fastdds_profile._VARIABLES)
def test_a_profile_of_the_user_counts(name, tmp_path):
    (tmp_path / 'own.xml').write_text(_OWN)
    assert answers(_OURS, tmp_path, **{name: str(tmp_path / 'own.xml')})


@pytest.mark.parametrize('name', fastdds_profile._FILES)
def test_a_profile_in_the_current_directory_counts(name, tmp_path):
    (tmp_path / name).write_text(_OWN)
    assert answers(_OURS, tmp_path)


def test_an_own_profile_may_set_the_property(tmp_path):
    shutil.copy(fastdds_profile.PROFILE, tmp_path / fastdds_profile._FILES[0])
    assert not answers(_OURS, tmp_path)
