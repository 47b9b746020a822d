# ranks: 2
# finds: nothing
"""A layer is unfrozen after two steps, and the model is wrapped again."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
net[0].requires_grad_(False)
for epoch in range(2):
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.01)
    for step in range(2):
        optimizer.zero_grad()
        model(torch.randn(6, 4)).square().mean().backward()
        optimizer.step()
    net[0].requires_grad_(True)
dist.destroy_process_group()
