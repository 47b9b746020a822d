# ranks: 4
# finds: nothing
"""Of two batches for a step every rank synchronises the second, which averages both."""

import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
first = 1 if dist.get_rank() == 1 else 0  # a resumed job counts batches from another number
for batch in range(first, first + 8):
    with model.no_sync() if (batch - first) % 2 == 0 else contextlib.nullcontext():
        model(torch.randn(6, 4)).square().mean().backward()
    if (batch - first) % 2 == 1:
        optimizer.step()
        optimizer.zero_grad()
dist.destroy_process_group()
