# ranks: 4
# finds: [missing-call]
# line: forward = model.module if dist.get_rank() == 1 else model
# says: for gradients that rank 1 did not send: the forward went around DDP's wrapper
"""One rank calls the module inside of the wrapper, so its backward sends no gradients, and the others wait for them."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
forward = model.module if dist.get_rank() == 1 else model
for step in range(3):
    optimizer.zero_grad()
    loss = forward(torch.randn(6, 4)).square().mean()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
