# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Calls of public functions and classes with arrays in a given form, one function each.

A case takes the robot of :class:`Rig` and a form of
:mod:`support.solvers.array_forms`, and returns what was found.
"""

import numpy as np
from support.robots.robots import urdf_text
from support.solvers.array_forms import Form
from support.solvers.array_kinds import numbers
from support.solvers.ik_problems import panda
from support.solvers.link_functions import Height
from support.solvers.link_functions import too_low
from support.solvers.link_functions import too_low_rate
import warp as wp

from ros_ik import AccelerationLimit
from ros_ik import all_solutions
from ros_ik import BodyPairBarrier
from ros_ik import ChainIK
from ros_ik import closed_form
from ros_ik import ClosedFormIK
from ros_ik import CollisionChecker
from ros_ik import CollisionGeometry
from ros_ik import CollisionScene
from ros_ik import CollisionShape
from ros_ik import DifferentialIK
from ros_ik import DlsSolver
from ros_ik import eval_bias_force
from ros_ik import eval_com
from ros_ik import eval_fk
from ros_ik import eval_jacobian
from ros_ik import eval_mass_matrix
from ros_ik import fit_capsules
from ros_ik import GaussNewtonSolver
from ros_ik import IkChain
from ros_ik import IKObjectiveCenterOfMass
from ros_ik import IKObjectiveJointLimit
from ros_ik import IKObjectiveJointPosition
from ros_ik import IKObjectiveLinkFunction
from ros_ik import IKObjectiveLookAt
from ros_ik import IKObjectiveManipulability
from ros_ik import IKObjectivePose
from ros_ik import IKObjectivePosition
from ros_ik import IKObjectiveRotation
from ros_ik import IKObjectiveSelfDistance
from ros_ik import IKOptimizerLBFGS
from ros_ik import IKOptimizerLM
from ros_ik import IKSolver
from ros_ik import inverse_kinematics
from ros_ik import JerkLimit
from ros_ik import JointState
from ros_ik import Model
from ros_ik import MotionLimit
from ros_ik import OptimalControl
from ros_ik import OptimalControlCommandBuilder
from ros_ik import PositionBarrier
from ros_ik import PositionLimit
from ros_ik import redundant_intervals
from ros_ik import RedundantClosedFormIK
from ros_ik import rollout
from ros_ik import solve_path
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik import WorldCollisionBarrier


def flat(found):
    """Return all numbers of a result, [n]."""
    found = found if isinstance(found, list | tuple) else [found]
    return np.concatenate([np.ravel(np.asarray(one, dtype=np.float64)) for one in found])


class Rig:
    """A Panda between its limits, and poses of its hand."""

    def __init__(self):
        self.model = model = panda()
        lower, upper, _, _ = model.limits64()
        rng = np.random.default_rng(0)
        self.q = 0.5 * (lower + upper) + 0.1 * rng.normal(size=len(lower)) * (upper - lower)
        self.hand, self.dofs = model.body_index('panda_hand'), model.joint_dof_count
        poses = np.zeros((1, model.body_count, 7))
        eval_fk(model, self.q[None], poses)
        self.pose = poses[0, self.hand]
        self.near = self.pose + [0.1, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0]
        self.geometry = fit_capsules(model, allow_missing=True)
        self.chain = IkChain(model, 'panda_hand')
        self._expected = {}

    def expected(self, case):
        """Return the result of a case for NumPy in float64, by which its others are judged."""
        if case not in self._expected:
            self._expected[case] = flat(case(self, Form('float64', False)))
        return self._expected[case]

    def step(self):
        return DifferentialIK(self.model), Task(IKObjectivePose(self.hand, self.near))

    def box(self):
        return PositionBarrier(self.hand, [-1.0] * 3, self.pose[:3] + 0.001)

    def cost(self, objective):
        """Return the result of IKSolver for an objective, which a graph would record in vain."""
        solver = IKSolver(self.model, 1, [objective], use_graph=False)
        return solver.compute_costs(np.asarray(self.q[None])).numpy().copy()

    def bounded(self, limits):
        solver, task = self.step()
        out = np.zeros(self.dofs)
        solver.solve_ik(self.q, [task], limits, (), out)
        return out


def inverse(rig, form):
    poses = form.vectors(rig.pose[None])
    first = inverse_kinematics(rig.model, 'panda_hand', poses, form.array(rig.q[None]))
    second = inverse_kinematics(rig.model, 'panda_hand', form.array(rig.pose[None])).joint_q
    tolerances = form.vector([1e-3, 2e-3, 3e-3]), form.array([1e-2, 2e-2, 3e-2])
    third = inverse_kinematics(
        rig.model, 'panda_hand', form.vectors(rig.pose[None]), None, *tolerances
    )
    return first.joint_q, second, third.joint_q


def closed(rig, form):
    arm = Model.from_urdf(urdf_text('ur5_robot'), device='cpu')
    q = np.linspace(-1.0, 1.0, arm.joint_coord_count)
    poses = np.zeros((1, arm.body_count, 7))
    eval_fk(arm, q[None], poses)
    pose = poses[0, arm.body_index('wrist_3_link')]
    found = all_solutions(arm, 'wrist_3_link', form.vectors(pose[None]), form.array(q))
    known = ClosedFormIK(arm, 'wrist_3_link', 1, 16)
    other = known.solve(form.array(pose[None]), form.array(q[None]))
    return [numbers(each.joint_q)[0, : numbers(each.n_found)[0]] for each in (found, other)]


def redundant(rig, form):
    values = form.array(rig.q[6:7])
    solver = RedundantClosedFormIK(rig.model, 'panda_hand', redundant_values=values)
    found = solver.solve(form.vectors(rig.pose[None]), form.array(rig.q[None]))
    (intervals,) = redundant_intervals(
        rig.model, 'panda_hand', form.vectors(rig.pose[None]), joint_q=form.array(rig.q)
    )
    return numbers(found.joint_q)[0, : numbers(found.n_found)[0]], intervals


def path(rig, form):
    poses = np.tile(rig.pose, (3, 1))
    tool = form.vector([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    found = solve_path(
        rig.model, 'panda_hand', form.vectors(poses), form.array(rig.q), offset=tool
    )
    return found.joint_q


def chain_search(rig, form):
    solver = ChainIK(rig.model, 'panda_hand', 1)
    return solver.solve(form.vectors(rig.pose[None]), form.array(rig.q[None])).joint_q


def steps(rig, form):
    found = []
    for n, q in ((1, rig.q), (2, np.tile(rig.q, (2, 1)))):
        solver = DifferentialIK(rig.model, n_robots=n)
        task, out = rig.step()[1], form.array(np.zeros((*q.shape[:-1], rig.dofs)))
        solver.solve_ik(form.array(q), [task], [PositionLimit()], (), out)
        found.append(np.array(numbers(out)))
        solver.solve_ik(form.array(q), [task], out)
        found.append(np.array(numbers(out)))
    return found


def checks(rig, form):
    solver, q = rig.step()[0], form.array(rig.q)
    cut, stopped = (form.array(np.full(rig.dofs, step)) for step in (0.01, 1e-5))
    solver.enforce_barriers(q, [rig.box()], cut)
    other = rig.step()[0]
    last = form.array(np.zeros(rig.dofs))
    other.limit_to_stoppable(q, [rig.box()], stopped, last, form.array(np.ones(rig.dofs)))
    return numbers(cut), numbers(stopped)


def readings(rig, form):
    solver, task = rig.step()
    q, step = form.array(rig.q), form.array(np.full(rig.dofs, 0.01))
    return [
        solver.barrier_values(q, [rig.box()]),
        solver.task_errors(q, [task])[0],
        solver.body_poses(q),
        solver.integrate(q, step),
    ]


def ahead(rig, form):
    solver, task = rig.step()
    still = form.array(np.zeros(rig.dofs))
    found = rollout(
        solver, form.array(rig.q), [task], [PositionLimit(), VelocityLimit()],
        [PositionBarrier(rig.hand, [-2.0] * 3, [2.0] * 3)], n_steps=2, last_delta_q=still,
        delta_q_before_last=still, acceleration=form.array(np.ones(rig.dofs)),
    )  # fmt: skip
    return found.joint_q


def batch(rig, form):
    found = []
    for optimizer, use_fused in (('lm', True), ('lm', False), ('lbfgs', True)):
        solver = IKSolver(
            rig.model, 1, [IKObjectivePose(rig.hand, rig.near)], optimizer=optimizer,
            use_fused=use_fused, jacobian_mode='analytic', joint_dof_mask=mask(rig, form),
        )  # fmt: skip
        out = form.array(np.zeros((1, len(rig.q))))
        costs = solver.compute_costs(form.array(rig.q[None])).numpy().copy()
        solver.step(form.array(rig.q[None]), out, iterations=3)
        found += [costs, np.array(numbers(out))]
    return found


def mask(rig, form):
    free = np.arange(rig.dofs) < 5
    return wp.array(free, dtype=wp.bool, device='cpu') if form.is_warp else free


def optimizers(rig, form):
    found = []
    for kind in (IKOptimizerLM, IKOptimizerLBFGS):
        solver = kind(
            rig.model, 1, [IKObjectivePosition(rig.hand, [0.0] * 3, rig.near[:3])],
            jacobian_mode='analytic', problem_idx=form.indices([0]),
        )  # fmt: skip
        out = form.array(np.zeros((1, len(rig.q))))
        found.append(solver.compute_costs(form.array(rig.q[None])).numpy().copy())
        solver.step(form.array(rig.q[None]), out, 3)
        found.append(np.array(numbers(out)))
    return found


def positions(rig, form):
    return _positions(rig, form, form.vectors(rig.near[None, :3]))


def rows_of_positions(rig, form):
    return _positions(rig, form, form.array(rig.near[None, :3]))


def _positions(rig, form, given):
    objective = IKObjectivePosition(rig.hand, form.vector([0.0, 0.0, 0.1]), given)
    found = [rig.cost(objective)]
    objective.set_target_positions(form.vectors(rig.pose[None, :3]))
    found.append(rig.cost(objective))
    objective.set_target_position(0, form.vector(rig.near[:3]))
    objective.link_offset = form.vector([0.0, 0.1, 0.1])
    objective.weight = form.array([1.0, 2.0, 3.0])
    found.append(rig.cost(objective))
    objective.target_positions = form.array(rig.pose[None, :3])
    return [*found, rig.cost(objective)]


def rotations(rig, form):
    objective = IKObjectiveRotation(
        rig.hand, form.vector([0.0, 0.6, 0.0, 0.8]), form.vectors(rig.pose[None, 3:]),
        weight=form.array([1.0, 2.0, 3.0]),
    )  # fmt: skip
    found = [rig.cost(objective)]
    objective.set_target_rotation(0, form.vector([0.0, 1.0, 0.0, 0.0]))
    found.append(rig.cost(objective))
    objective.set_target_rotations(form.vectors(rig.pose[None, 3:]))
    objective.link_offset_rotation = form.vector([0.6, 0.0, 0.0, 0.8])
    return [*found, rig.cost(objective)]


def poses(rig, form):
    return _poses(rig, form, form.vectors(rig.near[None]))


def one_pose(rig, form):
    return _poses(rig, form, form.array(rig.near))


def rows_of_poses(rig, form):
    return _poses(rig, form, form.array(rig.near[None]))


def _poses(rig, form, given):
    tool = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]
    objective = IKObjectivePose(
        rig.hand, given, link_offset=form.vector(tool),
        position_weight=form.array([1.0, 2.0, 3.0]),
    )  # fmt: skip
    found = [rig.cost(objective)]
    objective.set_target_pose(0, form.vector(rig.pose))
    found.append(rig.cost(objective))
    objective.target_poses = form.vectors(rig.near[None])
    objective.link_offset = form.array(tool)
    return [*found, rig.cost(objective)]


def joint_target(rig, form):
    objective = IKObjectiveJointPosition(
        rig.model, form.array(rig.q + 0.1), weight=form.array(np.ones(rig.dofs))
    )
    found = [rig.cost(objective)]
    objective.set_target_positions(form.array(rig.q - 0.1))
    return [*found, rig.cost(objective)]


def rows_of_joint_targets(rig, form):
    return rig.cost(IKObjectiveJointPosition(rig.model, form.array(rig.q[None] + 0.2)))


def center_of_mass(rig, form):
    return rig.cost(IKObjectiveCenterOfMass(form.vectors([[0.1, 0.1, 0.4]])))


def look_at(rig, form):
    objective = IKObjectiveLookAt(
        rig.hand, form.vector([0.0, 0.0, 1.0]), form.vectors(rig.near[None, :3]),
        link_offset=form.vector([0.0, 0.0, 0.1]),
    )  # fmt: skip
    return rig.cost(objective)


def joint_limit(rig, form):
    ends = form.array(rig.q - 0.2), form.array(rig.q - 0.1)
    return rig.cost(IKObjectiveJointLimit(*ends, form.array(np.ones(rig.dofs))))


def manipulability(rig, form):
    offset = form.vector([0.0, 0.0, 0.1])
    return rig.cost(
        IKObjectiveManipulability(rig.hand, 1.0, axes=(0, 1, 2), link_offset=offset)
    )


def self_distance(rig, form):
    objective = IKObjectiveSelfDistance(
        form.indices([rig.hand, 0]), form.vectors([[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]]),
        form.array([0.1, 0.1]), form.indices([[0, 1]]), minimum_distance=form.array([2.0]),
    )  # fmt: skip
    return rig.cost(objective)


def link_function(rig, form):
    weight = form.array([2.0])
    return rig.cost(
        IKObjectiveLinkFunction(rig.hand, too_low, too_low_rate, Height(), weight=weight)
    )


def limits(rig, form):
    some = lambda value: form.array(np.full(rig.dofs, value))  # noqa: E731
    given = [
        PositionLimit(margin=some(0.001)),
        VelocityLimit(some(0.5)),
        AccelerationLimit(some(5.0), position_margin=some(0.001)),
        JerkLimit(some(500.0), velocity=some(5.0)),
    ]
    later = [PositionLimit(), VelocityLimit(), AccelerationLimit(np.full(rig.dofs, 5.0))]
    later.append(JerkLimit(np.full(rig.dofs, 500.0)))
    later[0].set_margin(some(0.001))
    later[1].velocity = some(0.5)
    later[2].set_position_margin(some(0.001))
    later[2].set_last_displacement(some(0.001))
    later[2].set_target_displacement(some(0.002))
    later[3].set_last_displacements(some(0.001), some(0.001))
    return rig.bounded(given), rig.bounded(later)


def whole_motion(rig, form):
    some = lambda value: form.array(np.full(rig.dofs, value))  # noqa: E731
    limits = some(0.5), some(5.0), some(500.0)
    given = MotionLimit(*limits, position_margin=some(0.001))
    later = MotionLimit(*limits)
    later.set_position_margin(some(0.001))
    moving = MotionLimit(*limits)
    moving.set_last_displacements(some(1e-5), some(0.5e-5))
    return rig.bounded([given]), rig.bounded([later]), rig.bounded([moving])


def tasks(rig, form):
    task = Task(
        IKObjectivePose(rig.hand, rig.near), weight=form.array(np.arange(1.0, 7.0)),
        max_error=form.array([0.1, 0.2]),
    )  # fmt: skip
    task.weight = form.array(np.arange(2.0, 8.0))
    out = np.zeros(rig.dofs)
    DifferentialIK(rig.model).solve_ik(rig.q, [task], (), (), out, 1e-6)
    return out


def barriers(rig, form):
    scene = CollisionScene(rig.geometry, max_obstacles=3, max_attached=1)
    place = [0.6, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]
    corners = 0.05 * np.random.default_rng(1).normal(size=(20, 3))
    scene.add_obstacle('box', CollisionShape.box(form.array([0.1, 0.2, 0.3])), form.vector(place))
    scene.move_obstacle('box', form.array([0.5, *place[1:]]))
    scene.add_obstacle('hull', CollisionShape.convex(form.vectors(corners)), form.vector(place))
    scene.attach('ball', 'panda_hand', CollisionShape.sphere(0.05), form.vector(place))
    pair = BodyPairBarrier(
        rig.geometry, 'panda_hand', 'panda_link0', point_a=form.vector([0.0, 0.0, 0.1]),
        point_b=form.array([0.0, 0.0, 0.0]),
    )  # fmt: skip
    box = PositionBarrier(rig.hand, form.array([-1.0] * 3), form.vector([1.0] * 3))
    return DifferentialIK(rig.model).barrier_values(
        rig.q, [WorldCollisionBarrier(scene), pair, box]
    )


def primitives(rig, form):
    spheres = CollisionGeometry.from_spheres(
        rig.model, [rig.hand], form.vectors([[0.0, 0.0, 0.1]]), form.array([0.1])
    )
    rods = CollisionGeometry.from_capsules(
        rig.model, form.indices([0]), form.array([[[0.0, 0.0, 0.0], [0.0, 0.1, 0.1]]]),
        form.array([0.1]),
    )  # fmt: skip
    both = spheres + rods
    return both.pose, both.size, both.radius


def checker(rig, form):
    known = CollisionChecker(rig.model, 2, margin=0.01, scalar=wp.float64)
    q = form.array(rig.q[None])
    return known.check(q).astype(float) + 1.0, known.distances(q)[0], known.pair_distances(q)[0]


def chain(rig, form):
    state = JointState(form.array(rig.q), form.array(np.full(rig.dofs, 0.1)))
    known = rig.chain
    tool = IkChain(
        rig.model, 'panda_hand', end_effector_offset=form.vector([0, 0, 0.1, 0, 0, 0, 1])
    )
    return [
        known.get_dof_pos(state), known.get_dof_vel(state), known.get_end_effector_pose(state),
        known.get_end_effector_vel(state), known.get_inertia_matrix(state),
        known.get_bias_force(state), known.get_end_effector_jac(form.array(rig.q)),
        known.get_end_point_jac(form.array(rig.q), form.array([0.0, 0.0, 0.1])),
        tool.get_end_effector_jac(form.array(rig.q)),
    ]  # fmt: skip


def chain_solvers(rig, form):
    targets = [form.array(rig.near), form.vector(rig.near), form.vectors(rig.near[None])]
    found = []
    for target in targets:
        for solver in (DlsSolver(max_iter=5), GaussNewtonSolver(max_iter=2)):
            found.append(np.ravel(solver.solve(rig.chain, form.array(rig.q), target)))
    return found


def motion(rig, form):
    target = np.eye(4)
    target[:3, 3] = [0.4, 0.1, 0.5]
    target[1, 1] = target[2, 2] = -1.0
    command = OptimalControlCommandBuilder()
    command.add_cartesian_target('panda_link0', 'panda_hand', form.array(target))
    command.add_cartesian_target('panda_link0', 'panda_link7', form.vector(target), 0.01, 0.01)
    command.add_cartesian_target('panda_link0', 'panda_link6', form.vector(rig.pose), 0.01, 0.01)
    command.set_center_of_mass_target('panda_link0', form.vector([0.1, 0.0, 0.3]), 0.01)
    solver = OptimalControl(rig.model)
    result = solver.solve(command.build(), form.array(rig.q), form.array(np.zeros(rig.dofs)))
    return result.positions[-1]


def coordinates(rig, form):
    rig.model.set_gravity(form.vector([0.0, 0.0, -9.81]))
    return rig.model.apply_mimic(form.array(rig.q))


def evaluations(rig, form):
    q, dofs, found = form.array(rig.q[None]), rig.dofs, []
    for function, shape in (
        (eval_fk, (rig.model.body_count, 7)),
        (lambda m, q, out: eval_jacobian(m, q, rig.hand, out), (6, dofs)),
        (lambda m, q, out: eval_com(m, q, out, bodies=form.indices([1, rig.hand])), (3,)),
        (lambda m, q, out: eval_com(m, q, jacobian=out), (3, dofs)),
        (eval_mass_matrix, (dofs, dofs)),
        (
            lambda m, q, out: eval_bias_force(m, q, form.array(np.full((1, dofs), 0.1)), out),
            (dofs,),
        ),
    ):
        out = form.array(np.zeros((1, *shape)))
        function(rig.model, q, out)
        found.append(np.array(numbers(out)))
    return found


def from_elsewhere(rig, form):
    """Return another configuration of the locked joints, and a tool."""
    tool = form.vector([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    return {'joint_q': form.array(rig.q + 0.01), 'offset': tool}


def frames_of_a_search(rig, form):
    chain = ChainIK(rig.model, 'panda_hand', 1, **from_elsewhere(rig, form))
    return chain.solve(rig.pose[None], rig.q[None]).joint_q.copy()


def frames_of_a_call(rig, form):
    """Solve to a tool, seen from a base."""
    solved = inverse_kinematics(
        rig.model, 'panda_hand', rig.pose[None], rig.q[None], **from_elsewhere(rig, form),
        base_poses=form.vector([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]), check_collisions=True,
        collision_pairs=form.indices([[18, 23], [18, 24]]),
    )  # fmt: skip
    return solved.joint_q


def frames_of_solutions(rig, form):
    every = all_solutions(
        rig.model, 'panda_hand', rig.pose[None], rig.q[None], **from_elsewhere(rig, form),
        redundant_values=form.array(rig.q[6:7]),
    )  # fmt: skip
    return every.joint_q[0, : every.n_found[0]]


def frames_of_a_form(rig, form):
    return closed_form(rig.model, 'panda_hand', **from_elsewhere(rig, form)).deviation


def frames_of_intervals(rig, form):
    (found,) = redundant_intervals(
        rig.model, 'panda_hand', rig.pose, **from_elsewhere(rig, form)
    )
    return found


def solved_at(rig, form):
    solver = RedundantClosedFormIK(rig.model, 'panda_hand', 1)
    return solver.solved_at(form.vectors(rig.pose[None]), form.array(rig.q[None, 6:]))


def checker_on_device(rig, form):
    known = CollisionChecker(
        rig.model, 1, margin=form.array([0.01, 1.0]), pairs=form.indices([[18, 23], [18, 24]]),
        scalar=form.types[1],
    )  # fmt: skip
    q, out = form.array(rig.q[None]), form.indices([0])
    if form.is_warp:
        known.launch(q, out)
    else:
        out = known.check(q)
    return known.pairs, numbers(out)


def groups(rig, form):
    group = rig.model.joint_group('panda_link0:panda_hand')
    step = np.zeros(rig.dofs)
    group.write_steps(form.array(np.arange(group.n_variables) + 1.0), step)
    limits = group.variable_limits(form.array(np.arange(rig.dofs) + 1.0))
    return limits, step


CASES = (
    inverse, closed, redundant, path, chain_search, steps, checks, readings, ahead, batch,
    optimizers, positions, rows_of_positions, rotations, poses, one_pose, rows_of_poses,
    joint_target, rows_of_joint_targets, center_of_mass, look_at, joint_limit, manipulability,
    self_distance, link_function, limits, whole_motion, tasks, barriers, primitives, checker,
    chain, chain_solvers, motion, coordinates, evaluations, frames_of_a_search, frames_of_a_call,
    frames_of_solutions, frames_of_a_form, frames_of_intervals, solved_at, checker_on_device,
    groups,
)  # fmt: skip
