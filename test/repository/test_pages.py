# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every block of Python in the documents runs, from top to bottom, as its page describes."""

import dataclasses
import functools
import inspect
from pathlib import Path
import re
import runpy

import numpy as np
import pytest
import warp as wp

import ros_ik
from ros_ik import eval_fk
from ros_ik import Model
from ros_ik import SolveStatus
from ros_ik.demo.robots import find_robot

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]


def blocks(name):
    """Return the blocks of Python of a document."""
    return re.findall(
        r'^```python\n(.*?)^```', (ROOT / name).read_text(), re.DOTALL | re.MULTILINE
    )


@functools.cache
def robot(name, home=True):
    """Return a robot's model, its coordinates at home and the poses of its links there."""
    files = find_robot(name)
    model = Model.from_urdf(files.urdf_path, device='cpu')
    joint_q = model.neutral_joint_q(files.home if home else None)
    poses = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], poses)
    return files, model, joint_q, poses[0]


def readme():
    files, model, joint_q, poses = robot('panda')
    target = poses[model.body_index('panda_hand_tcp')] + [0.05, 0.1, 0.0, 0, 0, 0, 0]
    urdf_text = files.urdf_path.read_text()
    return {
        'urdf_text': urdf_text, 'target_pose': target, 'joint_q': joint_q, 'poses': target[None]
    }  # fmt: skip


def inverse_kinematics():
    files, model, _, _ = robot('panda')
    q = model.random_joint_q(5, 0)
    body_q = np.zeros((5, model.body_count, 7))
    eval_fk(model, q, body_q)
    poses = body_q[:, model.body_index('panda_hand_tcp')]
    names = {'urdf_text': files.urdf_path.read_text(), 'poses': poses, 'n': 5}
    names |= {'positions': poses[:, :3], 'rotations': poses[:, 3:], 'target_pose': poses[0]}
    _, ur5, _, reached = robot('ur5')
    ur5_poses = reached[ur5.body_index('tool0')][None]
    return names | {'start': q, 'ur5': ur5, 'ur5_poses': ur5_poses}


def optimal_control():
    """Return TALOS standing, and the poses of its hands and feet in the left foot."""
    path = find_robot('talos_left_arm').urdf_path.with_name('talos_reduced.urdf')
    talos = Model.from_urdf(path, device='cpu')
    standing = talos.neutral_joint_q()
    poses = np.zeros((1, talos.body_count, 7))
    eval_fk(talos, standing[None], poses)
    names = {'talos': talos, 'standing': standing, 'height': 0.85}
    foot = poses[0, talos.body_index('left_sole_link'), :3]
    for name, link in (
        ('T_left', 'gripper_left_base_link'),
        ('T_right', 'gripper_right_base_link'),
        ('T_foot', 'right_sole_link'),
    ):
        names[name] = np.eye(4)
        names[name][:3, 3] = poses[0, talos.body_index(link), :3] - foot
    return names


def model_page():
    return {'text': robot('panda')[0].urdf_path.read_text()}


# Names that a page assumes.
PAGES = {
    'README.md': readme,
    'docs/control_steps.md': dict,
    'docs/inverse_kinematics.md': inverse_kinematics,
    'docs/model.md': model_page,
    'docs/optimal_control.md': optimal_control,
}


def run(name, folder, until=None, **given):
    """Run the blocks of a page as one file, as a reader who copies them does; return its names."""
    path = folder / 'page.py'
    path.write_text('\n'.join(blocks(name)[:until]))
    return runpy.run_path(str(path), PAGES[name]() | given)


def printed(capsys):
    """Return the output of a page, without Warp's messages about kernels."""
    return [
        line for line in capsys.readouterr().out.splitlines() if not line.startswith('Module ')
    ]


def test_every_block_of_python_is_on_a_page_that_is_run():
    pages = {str(path.relative_to(ROOT)) for path in DOCUMENTS if '```python' in path.read_text()}
    assert pages == set(PAGES)
    for name in PAGES:
        assert len(blocks(name)) == (ROOT / name).read_text().count('```python')


def test_the_readme(tmp_path):
    names = run('README.md', tmp_path)
    assert names['status'] is SolveStatus.CONVERGED and names['step'].any()
    assert np.all(names['result'].status == SolveStatus.CONVERGED)


def test_control_steps(tmp_path, capsys):
    names = run('docs/control_steps.md', tmp_path)
    first, *_, last = printed(capsys)
    comment = re.search(
        r'# (CONVERGED .* from the target)$', blocks('docs/control_steps.md')[0], re.M
    )
    assert first == comment[1]
    status, checked, height = last.split()
    assert {status, checked} <= {'CONVERGED', 'HALTED_BY_BARRIER'}
    assert float(height) == pytest.approx(0.05, abs=1e-4)
    assert names['path'].joint_q.shape == (51, 9) and names['path'].status.shape == (50,)
    assert all(SolveStatus(status).ok for status in names['path'].status)
    assert names['solved'] == names['n'] and names['reached'].max() < 1e-4


def test_a_posture_that_pulls_too_hard_holds_the_hand_2_mm_away(tmp_path):
    text = blocks('docs/control_steps.md')[0]
    for change, away in (('gain=0.01, ', 2.1), ('gain=0.01, weight=0.01', 0.0)):
        path = tmp_path / 'changed.py'
        assert change in text
        new = '' if away else 'weight=0.01, priority=2'
        path.write_text(text.replace(change, new))
        assert 1000 * runpy.run_path(str(path))['away'] == pytest.approx(away, abs=0.05)


def test_braking_is_the_stop_that_is_checked(tmp_path):
    brake = run('docs/control_steps.md', tmp_path, until=2)['brake']
    last = np.array([0.01, -0.01, 0.001, 0.0])
    np.testing.assert_allclose(brake(last, np.full(4, 20.0)), [0.008, -0.008, 0.0, 0.0])


def test_inverse_kinematics(tmp_path):
    page = 'docs/inverse_kinematics.md'
    names = run(page, tmp_path, until=7)
    assert np.all(names['solved']) and names['path'].joint_q.shape == (5, 9)
    for name in ('turned', 'approached', 'bent'):
        assert np.all(names[name].status == SolveStatus.CONVERGED)
    assert names['form'].exact and names['every'].joint_q.shape == (1, 16, 6)
    assert names['every'].n_found[0] > 0
    assert names['whole'].n_found[0] > 0 and names['along'].n_found[0] > 0
    assert names['point'].rotation_error[0, 0] == 0.0
    assert names['curves'].joint_q.shape == (5, 100, 9) and np.all(names['curves'].n_found > 1)
    np.testing.assert_allclose(names['nearest'].joint_q[:, 0], names['joint_q'], atol=0.1)
    assert np.all(np.isin(np.round(names['given'].joint_q[0, 0, 6], 9), [-0.5, 0.0, 0.5]))
    start = wp.array(names['start'] + 0.1, dtype=wp.float32, device='cpu')
    path = tmp_path / 'rest.py'
    path.write_text(blocks(page)[7])
    names = runpy.run_path(str(path), names | {'joint_q': start})
    assert np.all(names['solver'].status.numpy() == SolveStatus.CONVERGED)
    own = tmp_path / 'own.py'
    own.write_text(blocks(page)[8])
    names |= {'upright': runpy.run_path(str(own), names)['upright']}
    solver = ros_ik.IKSolver(names['model'], 1, [names['upright']])
    solver.step(start[:1], start[:1])
    assert np.all(solver.status.numpy() == SolveStatus.CONVERGED)
    path.write_text(blocks(page)[9])
    names = runpy.run_path(str(path), names | {'joint_q': names['start'][0]})
    assert names['rows'].shape == (names['chain'].num_dof_pos + 2,)


def test_the_model(tmp_path):
    names = run('docs/model.md', tmp_path)
    assert names['model'].motor.heat.numpy().tolist() == [35.0]
    assert names['scene'].world_count == 4096


def test_optimal_control(tmp_path, capsys):
    names = run('docs/optimal_control.md', tmp_path, until=1)
    result = names['result']
    assert printed(capsys) == [f'CONVERGED {result.reason} {result.feedback.total_cost}']
    assert result.feedback.finished
    assert result.times[-1] - result.times[-2] == pytest.approx(0.5)  # it is held
    np.testing.assert_array_equal(result.positions[-2], names['end'])
    assert np.sqrt(result.feedback.cartesian_costs).max() < 1e-5
    names = run('docs/optimal_control.md', tmp_path, until=2)
    assert names['result'].feedback.total_cost < 1.0
    names = run('docs/optimal_control.md', tmp_path)
    assert names['result'].status is SolveStatus.CONVERGED and names['result'].feedback.finished


def table(page, heading):
    """Return the rows of the table of a page whose first column has this heading."""
    rows, found = [], False
    for line in (ROOT / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip('|').split(' | ')]
        if found and not line.startswith('|'):
            break
        if found and not line.startswith('|---'):
            rows.append([cell.strip() for cell in cells])
        found = found or (line.startswith('|') and cells[0] == heading)
    return rows


def test_the_table_of_settings_is_complete():
    rows = table('docs/control_steps.md', 'field of `DifferentialIKSettings`')
    stated = {row[0].strip('`'): row[1].strip("`'") for row in rows}
    fields = dataclasses.fields(ros_ik.DifferentialIKSettings)
    expected = {
        field.name: str(getattr(field.default, 'value', field.default)) for field in fields
    }
    assert stated == expected


def test_the_table_of_statuses_has_those_that_steps_return():
    rows = table('docs/control_steps.md', 'status')
    named = {row[0].strip('`') for row in rows}
    assert named == {
        'CONVERGED', 'RELAXED', 'ITERATION_LIMIT', 'NON_FINITE_INPUT', 'NUMERICAL_FAILURE',
        'HALTED_BY_BARRIER',
    }  # fmt: skip
    # The others are of whole solves.
    others = {status.name for status in SolveStatus} - named
    assert others == {'UNREACHABLE', 'AT_LIMITS', 'IN_COLLISION'}
    assert [SolveStatus[row[0].strip('`')].ok for row in rows] == [True, True] + [False] * 4


def test_signatures_of_limits_are_stated_as_they_are():
    for row in table('docs/control_steps.md', 'limit'):
        name, arguments = re.fullmatch(r'`(\w+)\((.*)\)`', row[0]).groups()
        parameters = inspect.signature(getattr(ros_ik, name)).parameters.values()
        stated = [
            parameter.name
            if parameter.default is parameter.empty
            else f'{parameter.name}={parameter.default}'
            for parameter in parameters
        ]
        assert arguments == ', '.join(stated)


def test_signatures_of_shapes_are_stated_as_they_are():
    page = (ROOT / 'docs/control_steps.md').read_text()
    (line,) = re.findall(r'- \*\*Shapes\*\*.*?\n(?=- )', page, re.DOTALL)
    stated = dict(re.findall(r'`(?:CollisionShape)?\.(\w+)\((.*?)\)`', line))
    makers = {
        name: ', '.join(inspect.signature(maker).parameters)
        for name, maker in inspect.getmembers(ros_ik.CollisionShape, inspect.ismethod)
    }
    assert stated == makers


def test_defaults_of_barriers_are_stated_as_they_are():
    def default(kind, name):
        return inspect.signature(kind).parameters[name].default

    rows = {row[0].strip('`'): row[1] for row in table('docs/control_steps.md', 'parameter')}
    own, world, pair = (
        ros_ik.SelfCollisionBarrier,
        ros_ik.WorldCollisionBarrier,
        ros_ik.BodyPairBarrier,
    )
    for name in ('gain', 'margin', 'safe_displacement_gain'):
        assert {float(rows[name])} == {
            default(kind, name) for kind in (own, world, pair, ros_ik.PositionBarrier)
        }
    assert rows['d_min'] == '0.02 m' == f'{default(own, "d_min")} m'
    assert default(world, 'd_min') == default(pair, 'd_min') == 0.02
    assert rows['d_max'] == '0.25 m, None for `BodyPairBarrier`'
    assert (
        default(own, 'd_max') == default(world, 'd_max') == 0.25 and default(pair, 'd_max') is None
    )
    assert rows['n_collision_pairs'] == '1; 4 for the world'
    assert [default(kind, 'n_collision_pairs') for kind in (own, pair, world)] == [1, 1, 4]
