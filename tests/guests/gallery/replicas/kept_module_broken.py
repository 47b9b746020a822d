# ranks: 2
# finds: [gradients-not-reduced]
# saved: differs
# line: net(torch.randn(6, 4)).square().mean().backward()
# says: the forward of this backward bypassed the wrapper
"""The wrapper is made and the module that it wraps is called."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = nn.Linear(4, 2)
model = DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    net(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
