# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Jobs that the suite and a solver's process exchange."""

from dataclasses import replace
import json
import sys

import numpy as np
import pytest

from benchmarks.harness.job import as_slice
from benchmarks.harness.job import bound_values
from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.process import run_jobs


def make_job(key, mode, n=4, **more):
    """Return a job about a chain of two joints."""
    return Job(
        key=key, mode=mode, variant='', urdf='<robot/>', tip='tip', joints=('a', 'b'),
        lower=bound_values(np.array([-1.0, -np.inf])), upper=bound_values(np.array([1.0, np.inf])),
        problems='problems.npz', n=n, position_tolerance=1e-3, rotation_tolerance=1e-2, **more,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a problem set of ten."""
    poses = np.arange(70.0).reshape(10, 7)
    np.savez(tmp_path / 'problems.npz', poses=poses, starts=poses[:, :2])
    return tmp_path


def serve_here(folder, monkeypatch, jobs, build):
    """Do jobs in this process as a solver's process does."""
    (folder / 'jobs.json').write_text(json.dumps([job.save() for job in jobs]))
    monkeypatch.setattr(sys, 'argv', ['peer', str(folder)])
    serve(('numpy',), build)


def test_answers_and_times_of_each_mode(folder, monkeypatch):
    jobs = [make_job('single', 'single'), make_job('batch', 'batch', n=6)]
    serve_here(folder, monkeypatch, jobs, lambda job: lambda poses, starts: starts + 1.0)
    with np.load(folder / 'problems.npz') as file:
        starts = file['starts']
    for key, n, times in (('single', 4, 4), ('batch', 6, 3)):
        with np.load(folder / f'{key}.npz') as answer:
            np.testing.assert_array_equal(answer['joint_q'], starts[:n] + 1.0)
            assert answer['seconds'].shape == (times,)
        assert json.loads((folder / f'{key}.json').read_text())['versions'] == {
            'numpy': np.__version__
        }


def test_a_budget_ends_the_problems_not_the_job(folder, monkeypatch):
    jobs = [make_job('job', 'single', budget=-1.0)]
    serve_here(folder, monkeypatch, jobs, lambda job: lambda poses, starts: starts)
    with np.load(folder / 'job.npz') as answer:
        assert answer['joint_q'].shape == (0, 2)


def test_one_failing_job_leaves_the_others(folder, monkeypatch):
    def build(job):
        if job.key == 'bad':
            raise RuntimeError('no such joint')
        return lambda poses, starts: starts

    jobs = [make_job('bad', 'single'), make_job('good', 'single')]
    serve_here(folder, monkeypatch, jobs, build)
    assert 'no such joint' in json.loads((folder / 'bad.json').read_text())['error']
    assert (folder / 'good.npz').exists()


def test_a_process_that_dies_is_an_error_with_its_last_words(folder):
    answers = run_jobs('benchmarks.no_such_module', [make_job('job', 'single')], folder, 30.0)
    assert 'exit code 1' in answers['job'].error
    assert 'no_such_module' in answers['job'].error


def test_answers_of_an_earlier_run_do_not_count(folder):
    (folder / 'job.json').write_text(json.dumps({'versions': {}, 'setting': 'old'}))
    np.savez(folder / 'job.npz', joint_q=np.zeros((1, 2)), seconds=np.zeros(1))
    answers = run_jobs('benchmarks.no_such_module', [make_job('job', 'single')], folder, 30.0)
    assert 'exit code 1' in answers['job'].error


def test_answers_that_would_replace_the_problems_are_refused(folder):
    job = make_job('job', 'single')
    with pytest.raises(ValueError, match="job 'job': its answers would replace its problems"):
        run_jobs('x', [replace(job, problems='job.npz')], folder, 30.0)


def test_an_environment_that_is_not_there_is_an_error(folder):
    python = folder / '.venv-bench' / 'bin' / 'python'
    answers = run_jobs('x', [make_job('job', 'single')], folder, 1.0, python=python)
    assert 'tools/setup_bench' in answers['job'].error


def test_bounds_survive_json():
    job = Job(**json.loads(json.dumps(make_job('job', 'single').save())))
    low, high = job.bounds()
    assert (low.tolist(), high.tolist()) == ([-1.0, -np.inf], [1.0, np.inf])
    assert job.bounds(unlimited=3.0)[1].tolist() == [1.0, 3.0]


@pytest.mark.parametrize('columns', [[0], [2, 3, 4], [3, 2], [0, 2], [1, 1]])
def test_a_slice_takes_the_same_columns(columns):
    table = np.arange(20).reshape(4, 5)
    np.testing.assert_array_equal(table[:, as_slice(columns)], table[:, columns])


def test_columns_that_follow_each_other_are_a_slice():
    assert as_slice([2, 3, 4]) == slice(2, 5)
