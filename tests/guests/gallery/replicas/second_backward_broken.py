# ranks: 2
# finds: [replicas-differ]
# saved: differs
# line: auxiliary.backward()
# says: one backward for each forward of the wrapper
"""One forward and a backward for each of two losses: DDP averages the gradients of the first alone."""

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
    out = model(torch.randn(6, 4))
    main, auxiliary = out.square().mean(), out.abs().mean()
    main.backward(retain_graph=True)
    auxiliary.backward()
    optimizer.step()
dist.destroy_process_group()
