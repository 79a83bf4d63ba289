# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What the mock robot beside the node of a parameter file listens to."""

import pytest
import yaml

from ros_ik.demo.nodes import command_topics


@pytest.mark.parametrize(
    'given, first, more',
    [
        ({'default': '~/joint_trajectory'}, 'ros_ik/joint_trajectory', ['']),
        ({'left': '/l', 'right': '/r'}, '/l', ['/r']),
    ],
)
def test_mock_robot_listens_to_the_topic_of_each_output(tmp_path, given, first, more):
    node = {
        'output_names': list(given),
        'outputs': {
            name: {'topic': topic, 'joints': [f'{name}_joint']} for name, topic in given.items()
        },
        'ee': {'frame': 'tool0'},
    }
    file = tmp_path / 'parameters.yaml'
    file.write_text(yaml.safe_dump({'/**/ros_ik': {'ros__parameters': node}}))
    assert command_topics(file) == {'command_topic': first, 'more_command_topics': more}
