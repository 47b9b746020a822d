# ranks: 2
# finds: error[not-initialized]
# line: dist.all_reduce(loss)
"""A training loop that was written for one process, with an average over the ranks added to it."""

import torch
import torch.distributed as dist
from torch import nn


def mean_over_ranks(loss):
    loss = loss.detach().clone()
    dist.all_reduce(loss)
    return loss / dist.get_world_size()


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        loss = model(torch.rand(8, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", mean_over_ranks(loss).item())


if __name__ == "__main__":
    main()
