# ranks: 2
# finds: [buffer-broadcast-inplace]
# finds on torch 2.14: nothing
# saved: differs
# line: DistributedDataParallel(..., broadcast_buffers=False)
"""The second forward of the critic broadcasts its buffers while the first one's graph is still needed: PyTorch 1.13 raises in backward.
2.14 does not: its wrapper keeps the versions of buffers, which the backward of a training batch norm does not read."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def critic():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    judge = DistributedDataParallel(critic())
    maker = DistributedDataParallel(nn.Linear(2, 4))
    of_judge = torch.optim.Adam(judge.parameters())
    judge_loss = nn.BCEWithLogitsLoss()
    for step in range(2):
        real = torch.randn(6, 4)
        fake = maker(torch.randn(6, 2)).detach()
        of_judge.zero_grad()
        on_real = judge_loss(judge(real), torch.ones(6, 1))
        on_fake = judge_loss(judge(fake), torch.zeros(6, 1))
        (on_real + on_fake).backward()
        of_judge.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
