# ranks: 2
# finds: [replicas-differ]
# saved: differs
# line: model(torch.randn(6, 4)).square().mean().backward()
# says: the record cannot say which is right
# says: after the model was wrapped
"""Rank 0 alone loads its checkpoint, into a model that is wrapped already."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
if dist.get_rank() == 0:
    model.module.load_state_dict({"weight": torch.ones(2, 4), "bias": torch.zeros(2)})
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
