# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions read by Newton and here, compared joint by joint and link by link."""

import re
import warnings
from xml.etree import ElementTree

from model.building.newton_twins import newton
import numpy as np
import pytest
from support.robots.robots import load
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS

from ros_ik.model import JointType
from ros_ik.model import Model

pytestmark = pytest.mark.oracle


def newton_model(path):
    """Return the model that Newton makes, without shapes: their meshes are slow to read.

    Newton refuses a mimic tag on a fixed joint, which we ignore with a warning.
    """
    text = re.sub(r'(?s)<(visual|collision)\b.*?</\1>', '', path.read_text())
    text = re.sub(
        r'(?s)<joint\b[^>]*type="fixed".*?</joint>',
        lambda joint: re.sub(r'<mimic[^>]*/>', '', joint.group()),
        text,
    )
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        # The XML declaration would name an encoding that a string no longer has.
        builder.add_urdf(
            re.sub(r'<\?xml.*?\?>', '', text), floating=False, bodies_follow_joint_ordering=False
        )
        return builder.finalize('cpu', skip_validation_inertia=True)


def by_name(labels):
    """Index by label without the robot's name that Newton puts before it."""
    return {label.split('/', 1)[-1]: index for index, label in enumerate(labels)}


def unlimited(values):
    """1e6 is Newton's default for no velocity or effort limit; no robot has such a one."""
    return np.clip(np.where(values >= 1e6, np.float32(1e10), values), -1e10, 1e10)


@pytest.mark.parametrize('path', SOME_URDFS, ids=SOME_IDS)
def test_links_and_joints_equal_newtons(path):
    ours, theirs = load(path), newton_model(path)
    bounded = bounded_joints(path)
    links, joints = by_name(theirs.body_label), by_name(theirs.joint_label)
    assert set(links) == set(ours.body_label)
    order = [links[name] for name in ours.body_label]
    for name in ('body_mass', 'body_com', 'body_inertia'):
        # Both turn inertias into link axes, Newton in float32.
        expected = getattr(theirs, name).numpy()[order]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            getattr(ours, name).numpy(), expected, rtol=1e-5, atol=1e-6 * scale, err_msg=name
        )
    back = {there: here for here, there in enumerate(order)} | {-1: -1}
    for here, label in enumerate(ours.joint_label[1:], start=1):  # the first one holds the root
        there = joints[label]
        assert ours.joint_type.numpy()[here] == theirs.joint_type.numpy()[there], label
        for name in ('joint_parent', 'joint_child'):
            assert getattr(ours, name).numpy()[here] == back[getattr(theirs, name).numpy()[there]]
        assert_same_joint(ours, here, theirs, there, label, label in bounded)


def bounded_joints(path):
    """Joints whose lower and upper limits URDF leaves no doubt about.

    Newton takes the limits of a continuous joint for limits, and a missing one for none; in URDF
    a continuous joint has none, and a missing one is 0.
    """
    return {
        joint.get('name')
        for joint in ElementTree.parse(path).iterfind('joint')
        if joint.get('type') != 'continuous'
        and {'lower', 'upper'} <= set(getattr(joint.find('limit'), 'attrib', ()))
    }


def assert_same_joint(ours, here, theirs, there, label, bounded):
    """Compare poses, axes and limits of a joint; the axes of a planar one are anyone's choice."""
    for name in ('joint_X_p', 'joint_X_c'):
        mine, other = getattr(ours, name).numpy()[here], getattr(theirs, name).numpy()[there]
        np.testing.assert_allclose(mine[:3], other[:3], atol=1e-6, err_msg=label)
        # Both quaternions of a rotation serve.
        assert abs(mine[3:] @ other[3:]) == pytest.approx(1.0, abs=1e-6), label
    kind = ours.joint_type.numpy()[here]
    if kind not in (JointType.REVOLUTE, JointType.PRISMATIC):
        return
    mine, other = (int(m.joint_qd_start.numpy()[j]) for m, j in ((ours, here), (theirs, there)))
    np.testing.assert_allclose(
        ours.joint_axis.numpy()[mine], theirs.joint_axis.numpy()[other], atol=1e-6, err_msg=label
    )
    names = ['joint_velocity_limit', 'joint_effort_limit']
    for name in names + ['joint_limit_lower', 'joint_limit_upper'] * bounded:
        a, b = getattr(ours, name).numpy()[mine], getattr(theirs, name).numpy()[other]
        assert unlimited(a) == pytest.approx(unlimited(b), rel=1e-6), (label, name)


@pytest.mark.parametrize('path', SOME_URDFS, ids=SOME_IDS)
def test_mimic_joints_equal_newtons(path):
    ours, theirs = load(path), newton_model(path)
    leader, coefficients = theirs.joint_mimic_joint.numpy(), theirs.joint_mimic_coeffs.numpy()
    names = [label.split('/', 1)[-1] for label in theirs.joint_label]
    expected = {
        names[k]: (names[leader[k]], *coefficients[k].tolist())
        for k in np.flatnonzero(leader >= 0)
    }
    found = {
        ours.joint_label[joint]: (ours.joint_label[driver], coef0, coef1)
        for joint, (driver, coef0, coef1) in ours.mimic_driver.items()
    }
    assert found.keys() == expected.keys()
    for name, (driver, *values) in found.items():
        assert driver == expected[name][0]
        np.testing.assert_allclose(values, expected[name][1:], rtol=1e-6)


@pytest.mark.parametrize('kind', ['revolute', 'continuous', 'prismatic', 'planar'])
def test_friction_equals_newtons(kind):
    text = f"""<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" velocity="1" effort="1"/>
  <dynamics damping="0.3" friction="0.7"/></joint></robot>"""
    builder = newton.ModelBuilder()
    builder.add_urdf(text)
    theirs = builder.finalize('cpu', skip_validation_inertia=True).joint_friction.numpy()
    ours = Model.from_urdf(text, device='cpu').joint_friction.numpy()
    # Newton's planar joint does not turn.
    assert len(ours) == (3 if kind == 'planar' else 1)
    assert set(ours) == set(theirs) == {np.float32(0.7)}
