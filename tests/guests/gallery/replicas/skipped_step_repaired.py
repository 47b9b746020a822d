# ranks: 4
# finds: nothing
"""All ranks leave the step out where the loss of one of them is not finite."""

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
    bad = torch.tensor(0.0 if seen == seen else 1.0)
    dist.all_reduce(bad, op=dist.ReduceOp.MAX)
    if bad == 0:
        optimizer.step()
dist.destroy_process_group()
