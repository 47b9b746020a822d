# ranks: 2
# finds: nothing
"""Rank 0 keeps a moving average of the weights, evaluates and saves with it, and goes on with its own."""

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
average = copy.deepcopy(model.module)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
    with torch.no_grad():
        for mean, own in zip(average.parameters(), model.parameters()):
            mean.lerp_(own, 0.5)
        if dist.get_rank() == 0 and step % 2 == 1:
            kept = copy.deepcopy(model.module.state_dict())
            model.module.load_state_dict(average.state_dict())
            model.module(torch.zeros(1, 4))
            model.module.load_state_dict(kept)
    dist.barrier()
if dist.get_rank() == 0:
    model.module.load_state_dict(average.state_dict())
dist.destroy_process_group()
