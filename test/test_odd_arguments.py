# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Values of a wrong type in the place of every argument: they work, or an error names it.

Such an error is one of ros_ik. Errors of Python or NumPy tell what a line of ours cannot do, and
name no argument.
"""

import dataclasses
import inspect
import re

import numpy as np
import pytest
from support.robots.robots import urdf_text

import ros_ik as rk
from ros_ik import planning
from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.errors import RosIkError
from ros_ik.settings import read_settings

ODD = {
    'None': lambda: None,
    'string': lambda: 'odd',
    'empty string': lambda: '',
    'array without dimensions': lambda: np.array(0.5),
    'integer without dimensions': lambda: np.array(1),
    'None without dimensions': lambda: np.array(None),
    'array of objects': lambda: np.array([None, 'a'], dtype=object),
    'array': lambda: np.zeros(2),
    'matrix': lambda: np.zeros((2, 2)),
    'array of strings': lambda: np.array(['a', 'b']),
    'dict': lambda: {'a': 1},
    'generator': lambda: (k for k in ()),
    'empty list': list,
    'list': lambda: [None],
    'object': object,
    'NaN': lambda: float('nan'),
    'complex': lambda: 1j,
    'class': lambda: int,
}
URDF = urdf_text('ur5_robot')
POSE = np.array([0.3, 0.2, 0.4, 0.0, 0.0, 0.0, 1.0])
Q = np.full(6, 0.3)
Z = np.zeros(3)
JOINTS = [
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint',
    'wrist_3_joint',
]  # fmt: skip
# What errors call an argument that they do not call by its name.
ALSO_CALLED = {
    'text': 'document', 'urdf': 'document', 'source': 'document', 'srdf': 'SRDF document',
    'poses': 'cartesian_costs', 'joints': 'joint_costs|no target', 'data': 'joint_q',
    'pose': 'link_offset|target', 'problem_idx': 'row', 'links': 'centers',
    'body': 'radius', 'joint': 'joint', 'reference_link': 'link|joint', 'reference_frame': 'link',
    'joint_names': 'joint', 'start_names': 'joint', 'start_positions': 'start.position',
    'start_velocities': 'start.velocity', 'link_name': 'link', 'ref_link_name': 'link',
    'link_a': 'link', 'link_b': 'link', 'name': 'obstacle|attached|link|joint',
    'ignored_links': 'link', 'touch_links': 'link', 'spec': 'joint', 'group': 'joint',
    'joint_group': 'joint', 'positions': 'joint', 'delta_q': 'an array', 'barriers': 'limits',
    'limits': 'barriers|delta_q', 'link_indices': 'pairs', 'most_checks': 'checks',
    'joint_limit_lower': 'joint_limit_upper', 'dof': 'axis', 'linear_axes': 'axis',
    'angular_axes': 'axis', 'parent': 'body', 'radius': 'scale', 'half_height': 'scale',
    'height': 'plane',
}  # fmt: skip
# Functions of the caller, which an error of theirs ends.
FUNCTIONS = {'on_progress', 'preference'}


def defaults(function, **given):
    """Return the arguments of a function by name: their defaults, and the given ones."""
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = {p.name: p.default for p in parameters if p.kind not in kinds and p.name != 'self'}
    return {**found, **given}


def two_links():
    """Return a builder of two links and a joint that is in no articulation."""
    builder = rk.ModelBuilder()
    builder.add_link('a')
    builder.add_link('b')
    builder.add_joint_fixed(-1, 0)
    return builder


# Methods of a builder of two links, with the arguments that have no default.
BUILDING = {
    'add_link': {}, 'add_body': {}, 'add_joint_revolute': {'parent': 0, 'child': 1},
    'add_joint_fixed': {'parent': 0, 'child': 1}, 'add_joint_ball': {'parent': 0, 'child': 1},
    'add_joint_d6': {'parent': 0, 'child': 1}, 'add_articulation': {'joints': [0]},
    'add_shape_cylinder': {'body': 0}, 'add_shape_sphere': {'body': 0}, 'add_ground_plane': {},
    'begin_world': {},
}  # fmt: skip


def _make_cases():
    """Return functions with arguments that work, by name."""
    model = rk.Model.from_urdf(URDF, device='cpu')
    panda = rk.Model.from_urdf(urdf_text('panda'), device='cpu')
    tip, hand = model.body_index('tool0'), panda.body_index('panda_hand')
    spheres = rk.CollisionGeometry.from_spheres(model, [tip, 1], np.zeros((2, 3)), [0.05, 0.05])
    shape = rk.CollisionShape.sphere(0.1)
    chain, state = rk.IkChain(model, 'tool0'), rk.JointState(Q)
    solver = rk.DifferentialIK(model)
    tasks, step = [rk.Task(rk.IKObjectivePose(tip, POSE[None]))], np.zeros(6)
    parts = {
        'tasks': tasks, 'limits': [rk.VelocityLimit()],
        'barriers': [rk.PositionBarrier(tip, -np.ones(3), np.ones(3))],
    }  # fmt: skip
    settings = read_settings({'ee.frame': 'tool0'})
    planner = planning.Planner(URDF, '', settings)
    planner.measure(Q, np.ones(6, bool))
    optimal = rk.OptimalControl(model)
    command = rk.OptimalControlCommandBuilder().add_joint_position_target('elbow_joint', 0.4)
    command = command.build(model)
    points = [planning.Point(0.0, [0.1] * 6), planning.Point(1.0, [0.2] * 6)]
    cost = planning.JointCost('elbow_joint', 0.4, 1.0)
    builder = rk.ModelBuilder()
    builder.add_urdf(URDF)
    cases = {}

    def add(title, function, /, of=None, **given):
        cases[title] = function, defaults(of or function, **given)

    def scene():
        found = rk.CollisionScene(spheres)
        found.add_obstacle('there', shape)
        return found

    def request(kind, solve, **fields):
        """Add a request of planners, which the planner checks."""
        names = [field.name for field in dataclasses.fields(kind)]
        example = kind(**fields)
        add(
            kind.__name__, lambda **given: solve(planner, kind(**given)), of=kind,
            **{name: getattr(example, name) for name in names},
        )  # fmt: skip

    def build(method, **given):
        """Add a method of the builder of commands."""
        add(
            method, lambda **args: getattr(rk.OptimalControlCommandBuilder(), method)(**args),
            of=getattr(rk.OptimalControlCommandBuilder(), method), **given,
        )  # fmt: skip

    add('from_urdf', rk.Model.from_urdf, text=URDF, device='cpu')
    add('add_urdf', lambda **given: rk.ModelBuilder().add_urdf(**given),
        of=rk.ModelBuilder().add_urdf, source=URDF)
    cases['add_urdf'][1].pop('text')
    add('Model', rk.Model, builder=builder, device='cpu')
    add('ModelBuilder', rk.ModelBuilder)
    add('joint_group', model.joint_group)
    add('write_steps', model.joint_group().write_steps, variables=Q, step=np.zeros(6))
    add('variable_limits', model.joint_group().variable_limits, limits=Q)
    for method, given in BUILDING.items():
        add(
            method, lambda method=method, **given: getattr(two_links(), method)(**given),
            of=getattr(two_links(), method), **given,
        )  # fmt: skip
    for method in ('add_builder', 'add_world'):
        add(method, lambda method=method, **given: getattr(rk.ModelBuilder(), method)(**given),
            of=getattr(rk.ModelBuilder(), method), builder=two_links())
    for name, function in (
        ('from_model', rk.CollisionGeometry.from_model), ('fit_capsules', rk.fit_capsules),
        ('fit_spheres', rk.fit_spheres),
    ):  # fmt: skip
        add(name, function, model=model, links=[], allow_missing=True)
    add('from_shapes', rk.CollisionGeometry.from_shapes, model=model, shapes=[])
    add('from_spheres', rk.CollisionGeometry.from_spheres,
        model=model, links=[tip], centers=[Z], radii=[0.1])
    add('from_capsules', rk.CollisionGeometry.from_capsules,
        model=model, body=[tip], ends=[[Z, Z]], radius=[0.1])
    add('select', spheres.select, rows=[0])
    for kind, sizes in (
        ('sphere', ['radius']), ('capsule', ['radius', 'half_length']),
        ('cylinder', ['radius', 'half_length']),
    ):  # fmt: skip
        add(kind, getattr(rk.CollisionShape, kind), **dict.fromkeys(sizes, 0.1))
    add('CollisionChecker', rk.CollisionChecker, model=model, n=1)
    add('CollisionScene', rk.CollisionScene, geometry=spheres)
    add('add_obstacle', lambda **given: scene().add_obstacle(**given), of=scene().add_obstacle,
        name='new', shape=shape)
    add('attach', lambda **given: scene().attach(**given), of=scene().attach,
        name='new', link=tip, shape=shape)
    add('move_obstacle', lambda **given: scene().move_obstacle(**given),
        of=scene().move_obstacle, name='there', pose=POSE)
    add('enable_obstacle', lambda **given: scene().enable_obstacle(**given),
        of=scene().enable_obstacle, name='there')
    add('BodyPairBarrier', rk.BodyPairBarrier, source=spheres, link_a=tip, link_b=1, name='pair')
    add('IKObjectiveCenterOfMass', rk.IKObjectiveCenterOfMass, target_positions=Z)
    add('IKObjectiveManipulability', rk.IKObjectiveManipulability, link_index=tip, threshold=0.1)
    add('IKObjectivePose', rk.IKObjectivePose, link_index=tip, target_poses=POSE)
    add('IKObjectiveRotation', rk.IKObjectiveRotation, link_index=tip,
        link_offset_rotation=POSE[3:], target_rotations=POSE[3:])
    objectives = [rk.IKObjectivePose(tip, POSE)]
    add('IKOptimizerLM', rk.IKOptimizerLM, model=model, n_batch=1, objectives=objectives)
    add('IKOptimizerLBFGS', rk.IKOptimizerLBFGS, model=model, n_batch=1, objectives=objectives)
    add('IKSolver', rk.IKSolver, model=model, n_problems=1, objectives=objectives)
    add('DlsSolver', rk.DlsSolver)
    add('solve of DlsSolver', rk.DlsSolver().solve, ik_model=chain, data=state, target_pose=POSE)
    add('DifferentialIK', rk.DifferentialIK, model=model)
    add('DifferentialIKSettings', rk.DifferentialIKSettings)
    add('solve_ik of DifferentialIK', solver.solve_ik, joint_q=Q, delta_q=step, **parts)
    cases['solve_ik of DifferentialIK'][1].pop('xp')
    add('task_errors', solver.task_errors, joint_q=Q, tasks=tasks)
    add('barrier_values', solver.barrier_values, joint_q=Q, barriers=parts['barriers'])
    add('continue_from', rk.DifferentialIK(model).continue_from, other=solver)
    add('rollout', rk.rollout, solver=solver, joint_q=Q, n_steps=1, **parts)
    cases['rollout'][1].pop('delta_q_before')
    add('ClosedFormSettings', rk.ClosedFormSettings, structure=rk.StructureTolerances())
    add('RedundantClosedFormIK', rk.RedundantClosedFormIK, model=panda, link=hand,
        redundant_values=8)
    for function in (rk.closed_form, rk.all_solutions, rk.inverse_kinematics, rk.solve_path):
        given = {} if function is rk.closed_form else {'poses': np.tile(POSE, (2, 1))}
        add(function.__name__, function, model=model, link='tool0', **given)
    add('OptimalControl', rk.OptimalControl, model=model)
    add('solve of OptimalControl', optimal.solve, command=command, joint_q=Q)
    add('OptimalControlCommand', rk.OptimalControlCommand, header=command.header)
    build('add_cartesian_target', ref_link_name='base_link', link_name='tool0', T=POSE)
    build('add_joint_position_target', joint_name='elbow_joint', target_position=0.4)
    build('set_center_of_mass_target', ref_link_name='', pose=Z)
    add('build', rk.OptimalControlCommandBuilder().add_joint_position_target(*JOINTS[:1], 0).build)
    add('Planner', planning.Planner, urdf=URDF, srdf='', settings=settings)
    add('Budget', planning.Budget)
    add('check_trajectory', planning.check_trajectory, planner=planner, joint_names=JOINTS,
        points=points, max_step=0.5)
    add('Point', lambda **given: planning.check_trajectory(
        planner, JOINTS, [planning.Point(**given), planning.Point(2.0, [0.1] * 6)], 0.5
    ), of=planning.Point, time=0.0, positions=[0.1] * 6)
    add('solve_fk', planning.solve_fk, planner=planner, joint_names=JOINTS, positions=[Q],
        links=['tool0'])
    add('solve_ik', planning.solve_ik, planner=planner, request=planning.IkRequest(POSE[None]))
    add('solve_optimal', planning.solve_optimal, planner=planner,
        request=planning.OptimalRequest(joints=[cost]))
    add('reconfigure', planning.reconfigure, planner=planner, task=0, pose=POSE, start=Q)
    request(planning.IkRequest, planning.solve_ik, poses=POSE[None])
    request(planning.OptimalRequest, planning.solve_optimal, joints=[cost])
    for kind, given in (
        (planning.JointCost, {'joint': 'elbow_joint', 'target': 0.4}),
        (planning.PoseCost, {'reference_link': '', 'link': 'tool0', 'pose': POSE,
                             'translation_weight': 1.0, 'rotation_weight': 1.0}),
        (planning.CenterOfMassCost, {'reference_link': '', 'position': Z}),
    ):  # fmt: skip
        weight = {} if kind is planning.PoseCost else {'weight': 1.0}
        field = {'JointCost': 'joints', 'PoseCost': 'poses'}.get(kind.__name__)

        def solve(kind=kind, field=field, **fields):
            one = kind(**fields)
            costs = {field: [one]} if field else {'center_of_mass': one}
            planning.solve_optimal(planner, planning.OptimalRequest(**costs))

        add(kind.__name__, solve, of=kind, **given, **weight)
    return cases


@pytest.fixture(scope='module')
def cases():
    return _make_cases()



def fault_of(function, given, name, value):
    """Return what is wrong with the answer to a value in the place of one argument, or ''."""
    try:
        function(**{**given, name: value})
    except RosIkError as error:
        called = '|'.join([name, name.rstrip('s'), *ALSO_CALLED.get(name, '').split('|')])
        return '' if re.search(called.rstrip('|'), str(error)) else f'unnamed: {error}'
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    return ''


@pytest.mark.parametrize('odd', ODD)
def test_it_works_or_an_error_of_ros_ik_names_the_argument(cases, odd):
    faults = []
    for title, (function, given) in cases.items():
        for name in given:
            fault = '' if name in FUNCTIONS else fault_of(function, given, name, ODD[odd]())
            if fault:
                faults.append(f'{title}, {name}: {fault[:200]}')
    assert not faults, '\n'.join(faults)


def test_the_arguments_of_the_cases_work(cases):
    for function, given in cases.values():
        function(**given)


@pytest.mark.parametrize('value', ['yes', 2, 'False', [], np.zeros(3)])
def test_flags_are_true_or_false(value):
    """A string such as 'False' had counted as true."""
    model = rk.Model.from_urdf(URDF, device='cpu')
    for name in ('floating', 'requires_grad'):
        with pytest.raises(ArgumentError, match=f'^{name} must be True or False'):
            rk.Model.from_urdf(URDF, device='cpu', **{name: value})
    for name in ('respect_limits', 'use_graph', 'use_fused'):
        with pytest.raises(ArgumentError, match=f'^{name} must be True or False'):
            rk.IKSolver(model, 1, [rk.IKObjectivePose(1, POSE)], **{name: value})


def test_an_array_is_no_srdf():
    for srdf in (np.array([URDF]), np.array(URDF), np.zeros(3)):
        with pytest.raises(ModelError, match='^SRDF document: expected a string of XML, got nd'):
            rk.Model.from_urdf(URDF, srdf, device='cpu')


def test_what_a_command_holds_is_checked_without_its_builder():
    for name, value in {
        'velocity_limit_scaling': 2.0, 'error_scaling': 0.0, 'patience': 0, 'stop_cost': -1.0,
    }.items():  # fmt: skip
        with pytest.raises(ArgumentError, match=f'^{name} must be'):
            rk.OptimalControlCommand(**{name: value})
    with pytest.raises(ArgumentError, match=r'cartesian_targets\[0\] must be CartesianTarget'):
        rk.OptimalControlCommand(cartesian_targets=[None])
