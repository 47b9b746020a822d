# ranks: 4
# finds: [replicas-differ]
# saved: differs
# line: return model(torch.randn(6, 4))
# says: rank 0 changed
# says: after the optimizer step in step 1
"""Rank 0 resets a layer of its own after two steps."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def forward(model):
    return model(torch.randn(6, 4))


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    forward(model).square().mean().backward()
    optimizer.step()
    if step == 1 and dist.get_rank() == 0:
        model.module[2].reset_parameters()
dist.destroy_process_group()
