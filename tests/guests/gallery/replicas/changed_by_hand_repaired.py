# ranks: 4
# finds: nothing
"""Rank 0 resets a layer, and sends it to the others before anybody uses it."""

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
    for parameter in model.module[2].parameters():
        dist.broadcast(parameter.data, src=0)
dist.destroy_process_group()
