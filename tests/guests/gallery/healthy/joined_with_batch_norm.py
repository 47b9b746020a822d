# ranks: 3
# finds: nothing
"""Uneven inputs in join(): ranks that have joined make the calls of DDP that the others make, those for buffers and for buckets."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    with model.join():
        for batch in range(1 if dist.get_rank() == 0 else 3):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
dist.barrier()
dist.destroy_process_group()
