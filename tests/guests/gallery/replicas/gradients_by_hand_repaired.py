# ranks: 4
# finds: nothing
"""The ranks halve gradients that are too large by the largest loss of all ranks, so that all do."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    batch = torch.randn(6, 4) * (30.0 if step == 2 and dist.get_rank() == 1 else 1.0)
    loss = model(batch).square().mean()
    loss.backward()
    largest = loss.detach().clone()
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    if largest.item() > 10:
        for parameter in model.parameters():
            parameter.grad *= 0.5
    optimizer.step()
dist.destroy_process_group()
