# ranks: 2
# finds: nothing
"""Each rank steps on its own part of the parameters and broadcasts it. Some parameters are frozen."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2))
net[1].requires_grad_(False)
model = DistributedDataParallel(net)
optimizer = ZeroRedundancyOptimizer(net.parameters(), optimizer_class=torch.optim.Adam, lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
    with torch.no_grad():
        net[1].weight += dist.get_rank()  # nothing trains it
dist.destroy_process_group()
