# ranks: 2
# finds: [gradients-not-reduced]
# saved: differs
# line: optimizer.step()
# says: ranks 0, 1 step the optimizer
"""Every forward stands in no_sync, and nobody averages parameters either."""

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
    with model.no_sync():
        model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
