# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A whole servo keeps limits and distances for any input, and brakes where it must stop.

SERVO_SAFETY_TICKS sets how many ticks all robots take together; `make stress` and docs/safety.md
have many. Limits come from the description, link poses from kinematics in numpy, distances from
formulas and coal: no code is shared with the product.
"""

import dataclasses
import os

import numpy as np
import pytest
from safety.servo.bodies import Bodies
from safety.servo.bodies import Kinematics
from safety.servo.bodies import solid
from safety.servo.cases import SERVO_CASES
from safety.servo.drive import ServoDrive
from safety.servo.judge import Judge
from safety.servo.stress import as_json
from safety.servo.stress import DRIVE
from safety.servo.stress import drive
from safety.servo.stress import JogDrive
from safety.servo.stress import RATES
from support.robots.collision_oracle import coal
from support.robots.robots import pin

from ros_ik.model.conventions.joint_type import GeoType

TICKS = int(os.environ.get('SERVO_SAFETY_TICKS', '0'))
# Robots, rates and seeds at which faults of the past showed soon, for the suite; every robot at
# every rate for a long run.
SHORT = [
    ('mobile_arm', 30, 0), ('mobile_arm', 100, 0), ('mobile_arm', 250, 1000),
    ('panda', 30, 1001), ('panda', 100, 1000), ('panda', 250, 0), ('talos', 30, 1000),
]  # fmt: skip
# Judging a tick of TALOS takes eight times as long.
SHORT_TICKS = {'talos': 300}
LONG = [(robot, rate, 0) for robot in sorted(SERVO_CASES) for rate in RATES]
# Rounding of positions [rad or m], velocities and accelerations.
ROUNDING = 1e-6
# Tolerance of distances [m]: that of the product's distances of hulls.
TOLERANCE = 1e-5


def assert_held(record):
    """Check that limits and distances hold."""
    text = as_json(record)
    assert record.failed == 0, text
    assert record.position <= ROUNDING, text
    assert record.velocity <= ROUNDING, text
    assert record.acceleration <= ROUNDING, text
    assert record.jump <= ROUNDING, text
    assert record.distance >= -TOLERANCE, text
    assert record.shrink <= TOLERANCE, text
    assert record.unbraked == 0, text


@pytest.mark.timeout(120 + TICKS // 20)
@pytest.mark.parametrize(('robot', 'rate', 'seed'), LONG if TICKS else SHORT)
def test_no_command_of_a_servo_breaks_a_limit_or_a_distance(robot, rate, seed):
    record = drive(robot, rate, seed, DRIVE if TICKS else SHORT_TICKS.get(robot, 500))
    while record.ticks < TICKS // len(LONG):
        seed += 1
        record.add(drive(robot, rate, seed))
    print(robot, rate, as_json(record))
    assert_held(record)
    # It moved, and came near to an obstacle.
    assert record.moving > record.ticks // 5
    assert record.near > 0


@pytest.mark.parametrize(('robot', 'rate'), [('mobile_arm', 30), ('panda', 100)])
def test_no_velocity_of_joints_breaks_a_limit_or_a_distance(robot, rate):
    record = drive(robot, rate, 0, 400, JogDrive)
    assert_held(record)
    assert record.moving > record.ticks // 5
    assert record.near > 0


@pytest.mark.parametrize('robot', ['panda', 'mobile_arm'])
def test_the_kinematics_of_the_judge_are_those_of_pinocchio(robot):
    case, rng = SERVO_CASES[robot], np.random.default_rng(3)
    kinematics, model = Kinematics(case.text), pin.buildModelFromXML(case.text)
    data = model.createData()
    joints = [joint for joint in kinematics.joints.values() if joint[1] != 'fixed']
    free = [joint[0] for joint in joints if joint[5] is None]
    values = {name: rng.uniform(-1.0, 1.0, 3) for name in free}
    placed = kinematics.poses(values)
    for row in range(3):
        q = pin.neutral(model)
        for name, kind, *_, mimic in joints:
            value = values[name][row] if mimic is None else (
                mimic[1] * values[mimic[0]][row] + mimic[2]
            )  # fmt: skip
            at = model.joints[model.getJointId(name)].idx_q
            q[at : at + (2 if kind == 'continuous' else 1)] = (
                [np.cos(value), np.sin(value)] if kind == 'continuous' else value
            )
        pin.framesForwardKinematics(model, data, q)
        for link, (rotation, position) in placed.items():
            frame = data.oMf[model.getFrameId(link, pin.FrameType.BODY)]
            np.testing.assert_allclose(rotation[row], frame.rotation, atol=1e-12)
            np.testing.assert_allclose(position[row], frame.translation, atol=1e-12)


def test_the_distances_of_the_judge_are_those_of_coal():
    rng = np.random.default_rng(4)
    kinds = [
        (GeoType.SPHERE, (0, 0, 0), 0.1, None, coal.Sphere(0.1)),
        (GeoType.CAPSULE, (0, 0, 0.2), 0.05, None, coal.Capsule(0.05, 0.4)),
        (GeoType.BOX, (0.1, 0.2, 0.05), 0.0, None, coal.Box(0.2, 0.4, 0.1)),
        (GeoType.CYLINDER, (0.1, 0.1, 0.2), 0.0, None, coal.Cylinder(0.1, 0.4)),
    ]
    solids = [solid(*given) for *given, _ in kinds]
    rotation = np.stack([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(200)])
    rotation[np.linalg.det(rotation) < 0.0, :, 0] *= -1.0
    rotation = rotation.reshape(50, 4, 3, 3)
    position = rng.normal(0.0, 0.4, (50, 4, 3))
    bodies = Bodies(solids, rotation, position)
    pairs = np.array([(a, b) for a in range(4) for b in range(a)])
    row, column = bodies.near(pairs, 10.0)
    assert len(row) == 50 * len(pairs)
    found = bodies.distances(row, *pairs[column].T)
    for k, (a, b) in enumerate(pairs[column]):
        places = [coal.Transform3s(rotation[row[k], s], position[row[k], s]) for s in (a, b)]
        request, result = coal.DistanceRequest(True, True), coal.DistanceResult()
        request.gjk_tolerance, request.gjk_max_iterations = 1e-9, 1000
        apart = coal.distance(
            kinds[a][-1], places[0], kinds[b][-1], places[1], request, result
        )  # fmt: skip
        if apart > 0.0:
            np.testing.assert_allclose(found[k], apart, atol=1e-6)
    # Skipped pairs are far apart.
    close, _ = bodies.near(pairs, 0.05)
    assert len(close) >= (found < 0.05).sum()


def test_the_judge_sees_what_is_wrong():
    servo = ServoDrive('mobile_arm', 100, 1)
    log = servo.run(400)
    moved = np.flatnonzero(np.abs(log.qd).max(axis=1) > 0.1)
    row = int(moved[len(moved) // 2])

    def judged(**changed):
        judge = Judge(servo, 'a doctored log')
        copies = {
            field.name: np.copy(getattr(log, field.name))
            for field in dataclasses.fields(log)
            if field.name != 'shapes'
        }
        for name, (rows, values) in changed.items():
            copies[name][rows] = values
        return judge.take(dataclasses.replace(log, **copies))

    assert_held(judged())
    # A dead stop, a jump, a joint too fast or outside.
    assert judged(qd=(row, 0.0)).acceleration > 0.1
    assert judged(jump=(row, 1e-3)).jump > ROUNDING
    assert judged(velocity_scale=(row, 0.001)).velocity > 0.0
    assert judged(q=((row, 3), 1.9)).position > 0.2
    # Something that stood where the hand goes, and a margin that was there all the time.
    tip = servo.kinematics.poses(servo.values(log.q))['flange'][1][row]
    there = np.array([*tip, 0.0, 0.0, 0.0, 1.0])
    inside = judged(obstacles=((row, 0), there), excused=(row, False))
    assert inside.deep > 0.0 or inside.shrink > 0.0 or inside.distance < 0.0
