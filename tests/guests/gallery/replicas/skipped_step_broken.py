# ranks: 4
# finds: [replicas-differ]
# saved: differs
# line: optimizer.step()
# says: rank 3 leaves out the optimizer step
"""A rank leaves the optimizer's step out where its own loss is not finite. Its gradients were averaged all the same."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def loss_of(model, step):
    loss = model(torch.randn(6, 4)).square().mean()
    seen = float("nan") if dist.get_rank() == 3 and step == 2 else loss.item()
    return loss, seen


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    loss, seen = loss_of(model, step)
    loss.backward()
    if seen == seen:
        optimizer.step()
dist.destroy_process_group()
