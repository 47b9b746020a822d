# ranks: 3
# finds: nothing
# saved: differs
"""Ranks with more and with fewer batches, in two epochs of join()."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    with model.join():
        for batch in range(2 + dist.get_rank()):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
dist.destroy_process_group()
