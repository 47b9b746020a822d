# ranks: 4
# finds: [gradients-not-reduced]
# saved: differs
# line: loss = model.module(torch.randn(6, 4)).square().mean()
# says: bypasses the wrapper
# says: call the wrapped model: model(x), not model.module(x)
"""Every rank calls the module inside of the wrapper, and trains alone."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    loss = model.module(torch.randn(6, 4)).square().mean()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
