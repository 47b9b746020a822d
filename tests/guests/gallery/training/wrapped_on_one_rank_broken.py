# ranks: 2
# finds: deadlock[ddp-on-some-ranks]
# line: model = DistributedDataParallel(model)
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(distributed):
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
    if distributed:
        model = DistributedDataParallel(model)
    return model


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(0)
    model = build(distributed=rank == 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for step in range(3):
        optimizer.zero_grad()
        criterion(model(torch.rand(4, 8)), torch.tensor([0, 1, 0, 1])).backward()
        optimizer.step()
    dist.barrier()


if __name__ == "__main__":
    main()
