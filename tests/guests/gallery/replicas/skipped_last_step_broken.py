# ranks: 2
# finds: [replicas-differ]
# saved: differs
# line: optimizer.step()
# says: leaves out the optimizer step
"""The last step: no forward uses the parameters any more, but they are what is saved."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    if step < 2 or dist.get_rank() == 0:
        optimizer.step()
