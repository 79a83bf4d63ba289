# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Calibrate a tool with PyTorch: fit its point and the zeros of joints to measured positions.

    pip install torch
    tools/run python examples/library/fit_tool.py                  # --device cuda:0 with a GPU

A tracker measured the tool centre point at 40 configurations. The kinematics of ros_ik become a
PyTorch function whose gradient is the backward pass of ``eval_fk``. Tensors and Warp arrays share
their memory.
"""

import argparse

import numpy as np
import torch
import warp as wp

from ros_ik import eval_fk
from ros_ik import Model
from ros_ik.demo.robots import find_robot

MEASURED, NOISE = 40, 1e-4  # noise of the tracker [m]


class LinkPoses(torch.autograd.Function):
    """Poses of all links [n, body_count, 7] as a function of coordinates."""

    @staticmethod
    def forward(ctx, joint_q: torch.Tensor, model: Model) -> torch.Tensor:
        """Record ``eval_fk`` on a tape."""
        ctx.joint_q = wp.from_torch(joint_q.detach().contiguous(), requires_grad=True)
        shape = (len(joint_q), model.body_count, 7)
        ctx.body_q = wp.zeros(shape, ctx.joint_q.dtype, model.device, requires_grad=True)
        with wp.Tape() as ctx.tape:
            eval_fk(model, ctx.joint_q, ctx.body_q)
        return wp.to_torch(ctx.body_q, requires_grad=False)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Run the tape backwards."""
        ctx.tape.backward(grads={ctx.body_q: wp.from_torch(gradient.contiguous())})
        return wp.to_torch(ctx.joint_q.grad, requires_grad=False), None


def tool_points(model: Model, joint_q: torch.Tensor, link: int, tool: torch.Tensor):
    """Return the positions of a point of a link in the world, [n, 3]."""
    pose = LinkPoses.apply(joint_q, model)[:, link]
    u, w = pose[:, 3:6], pose[:, 6:]
    cross = torch.linalg.cross(u, tool.expand_as(u))
    return pose[:, :3] + tool + 2.0 * torch.linalg.cross(u, cross) + 2.0 * w * cross


def main() -> None:
    """Generate measurements, fit, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--device', default='cpu')
    device = parser.parse_args().device
    torch.set_default_device(device)
    rng = np.random.default_rng(0)
    model = Model.from_urdf(find_robot('panda').urdf_path, device=device)
    hand = model.body_index('panda_hand')
    joint_q = torch.tensor(model.random_joint_q(MEASURED, rng))
    # An offset of the last joint cannot be told apart from a rotation of the tool.
    true_zero = torch.zeros(model.joint_coord_count, dtype=torch.float64)
    true_zero[:6] = torch.tensor(rng.normal(scale=0.01, size=6))
    true_tool = torch.tensor([0.02, -0.01, 0.15], dtype=torch.float64)
    seen = tool_points(model, joint_q + true_zero, hand, true_tool)
    seen = seen + torch.tensor(rng.normal(scale=NOISE, size=seen.shape))

    zero = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    tool = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    fit = torch.optim.LBFGS(
        [zero, tool], max_iter=200, tolerance_grad=1e-12, tolerance_change=1e-15,
        line_search_fn='strong_wolfe',
    )  # fmt: skip

    def loss() -> torch.Tensor:
        fit.zero_grad()
        zeros = torch.nn.functional.pad(zero, (0, model.joint_coord_count - 6))
        away = tool_points(model, joint_q + zeros, hand, tool) - seen
        squares = torch.sum(away * away)
        squares.backward()
        return squares

    before = float(loss().detach())
    fit.step(loss)
    after = float(loss().detach())
    rms = [1000.0 * (squares / MEASURED) ** 0.5 for squares in (before, after)]
    tool_error = 1000.0 * float(torch.linalg.norm(tool.detach() - true_tool))
    zero_error = 1000.0 * float(torch.max(torch.abs(zero.detach() - true_zero[:6])))
    print(f'from {rms[0]:.0f} mm to {rms[1]:.3f} mm between measured and computed points')
    print(f'the tool is {tool_error:.3f} mm off, the worst zero of a joint {zero_error:.3f} mrad')


if __name__ == '__main__':
    main()
