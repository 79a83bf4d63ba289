# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of the programs: a sentence that names them, before anything starts."""

import re

import pytest
import warp as wp

from ros_ik.demo import __main__ as demo
from ros_ik.errors import ArgumentError
from ros_ik.node.execution.start import init_rclpy
from ros_ik.node.model_loading import srdf_tool


@pytest.fixture(params=('demo', 'view'))
def program(request):
    """Return the main function of a program that has the options of the loop."""
    if request.param == 'demo':
        return demo.main
    pytest.importorskip('viser', reason='viser is not installed')
    from ros_ik.viewer import demo as view

    return view.main


@pytest.mark.parametrize(
    'words, sentence',
    [
        (['--rate', '-5'], '--rate: expected a value in [1, 1000] Hz, got -5.0'),
        (['--rate', '0'], '--rate: expected a value in [1, 1000] Hz, got 0.0'),
        (['--rate', 'nan'], '--rate: expected a finite number, got nan'),
        (['--rate', 'fast'], "--rate: expected a number, got 'fast'"),
        (['--device', 'gpu'], "--device: expected 'auto', 'cpu', 'cuda' or 'cuda:N'"),
        pytest.param(
            ['--device', 'cuda:7'],
            "--device: 'cuda:7' was requested, but",
            marks=pytest.mark.skipif(wp.is_cuda_available(), reason='may have the device'),
        ),
    ],
)
def test_options_that_the_node_would_refuse_are_refused(program, capsys, words, sentence):
    with pytest.raises(SystemExit) as refused:
        program(words)
    assert refused.value.code == 2
    assert f'error: argument {sentence}' in capsys.readouterr().err


@pytest.mark.parametrize('seed', ('-1', '0.5', 'x'))
def test_a_seed_is_a_whole_number(capsys, seed):
    with pytest.raises(SystemExit) as refused:
        demo.main(['--seed', seed])
    assert refused.value.code == 2
    assert f'--seed: expected a whole number >= 0, got {seed!r}' in capsys.readouterr().err


def test_the_folder_of_the_picture_is_made_before_the_robot_moves(tmp_path, capsys):
    file = tmp_path / 'file'
    file.touch()
    assert demo.main(['--robot', 'six_axis', '--output', str(file)]) == 2
    assert f"demo: the folder '{file}' cannot be made" in capsys.readouterr().err


@pytest.mark.parametrize(
    'words, sentence',
    [
        (['--params-file', 'my.yaml'], 'unknown arguments: --params-file my.yaml; parameters'),
        (['--ros-args', '--params-file', '/no/such.yaml'], '/no/such.yaml'),
        (['--ros-args', '-p', 'port:='], '-p port:='),
        (['--ros-args', '--log-level', 'loud'], '--log-level loud'),
        (['--ros-args', '--nosuch'], '--nosuch'),
    ],
)
def test_wrong_ros_arguments_are_refused_in_one_line(words, sentence):
    with pytest.raises(ArgumentError, match=re.escape(sentence)) as refused:
        init_rclpy(words)
    assert '.c:' not in str(refused.value) and '\n' not in str(refused.value)


@pytest.mark.parametrize('words', (['{file}'], ['{urdf}', '--srdf', '{file}'], ['/no/such.urdf']))
def test_a_file_that_cannot_be_read_is_named(tmp_path, capsys, words):
    file, urdf = tmp_path / 'binary', tmp_path / 'robot.urdf'
    file.write_bytes(b'\xff')
    urdf.write_text('<robot name="x"><link name="a"/></robot>')
    words = [word.format(file=file, urdf=urdf) for word in words]
    assert srdf_tool.main(words) == 1
    assert f"'{words[-1]}' cannot be read" in capsys.readouterr().err
