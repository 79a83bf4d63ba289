# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Picture of the eight postures of a UR5 at one pose, for docs/inverse_kinematics.md.

    tools/run python -m tools.posture_picture docs/images/ur5_postures.png
"""

from pathlib import Path
import sys

import matplotlib as mpl
import numpy as np

mpl.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import LightSource  # noqa: E402
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # noqa: E402

from ros_ik import all_solutions  # noqa: E402
from ros_ik.demo.report.robot_picture import RobotPicture  # noqa: E402
from ros_ik.demo.robots.demo_robot import DemoRobot  # noqa: E402
from ros_ik.kinematics import eval_fk  # noqa: E402
from ros_ik.viewer.robot.palette import hex_code  # noqa: E402
from ros_ik.viewer.robot.palette import VERMILLION  # noqa: E402

# A regular posture, the pose of which has eight; shoulder, elbow and wrist show.
POSTURE = np.array([0.5, -1.2, 1.6, -0.9, -1.2, 0.4])
_HALF_WIDTH = 0.55  # m, of what is shown
_COLOUR, _TOOL = '#8fa9c4', hex_code(VERMILLION)


def postures() -> tuple[np.ndarray, np.ndarray]:
    """Return all configurations at the pose of POSTURE [8, 6] and the place of the tool [3]."""
    model = DemoRobot.load('ur5').model
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, POSTURE[None], body_q)
    pose = body_q[0, model.body_index('tool0')]
    found = all_solutions(model, 'tool0', pose[None], seeds=POSTURE[None])
    joint_q = found.joint_q[0, : found.n_found[0]]
    # Shoulder, then wrist, then elbow: the same half of the picture has the same shoulder.
    turned = np.cos(joint_q[:, 0] - POSTURE[0]) < 0.5
    return joint_q[np.lexsort((joint_q[:, 2], joint_q[:, 4], turned))], pose[:3]


def draw(path: Path) -> int:
    """Write the picture and return the number of postures."""
    joint_q, place = postures()
    robot = RobotPicture(DemoRobot.load('ur5'))
    figure = plt.figure(figsize=(12, 5.4))
    for k, q in enumerate(joint_q):
        axes = figure.add_subplot(2, 4, k + 1, projection='3d')
        axes.add_collection3d(
            Poly3DCollection(
                robot.triangles(q), facecolors=_COLOUR, shade=True,
                lightsource=LightSource(azdeg=300, altdeg=50), linewidths=0,
            )
        )  # fmt: skip
        axes.computed_zorder = False
        axes.scatter(*place, color=_TOOL, s=60, depthshade=False, zorder=10)
        low = 0.5 * place[:2] - _HALF_WIDTH
        axes.set(
            xlim=(low[0], low[0] + 2.0 * _HALF_WIDTH), ylim=(low[1], low[1] + 2.0 * _HALF_WIDTH),
            zlim=(-0.32, 2.0 * _HALF_WIDTH - 0.32),
        )  # fmt: skip
        axes.set_box_aspect((1, 1, 1), zoom=1.9)
        axes.view_init(elev=18, azim=-60)
        axes.set_axis_off()
        words = ' '.join(f'{angle:.2f}' for angle in q)
        axes.set_title(words, fontsize=9, y=0.0)
    figure.subplots_adjust(left=0.0, right=1.0, bottom=0.02, top=1.0, wspace=-0.1, hspace=0.0)
    figure.savefig(path, dpi=90)
    plt.close(figure)
    return len(joint_q)


if __name__ == '__main__':
    print(f'{draw(Path(sys.argv[1]))} postures in {sys.argv[1]}')
