# ranks: 4
# finds: nothing
"""Local steps in no_sync, whose parameters are averaged every three steps; the last ones are not."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(8):
    optimizer.zero_grad()
    with model.no_sync():
        model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
    if step % 3 == 2:
        for parameter in model.parameters():
            dist.all_reduce(parameter.data)
            parameter.data /= dist.get_world_size()
dist.destroy_process_group()
