# ranks: 4
# finds: [replicas-differ]
# saved: differs
# line: optimizer.step()
# says: rank 1 changed its gradients between the backward and the optimizer step in step 2
# says: rank 1 comes here with gradients of its own
"""Each rank halves gradients that are too large by its own batch's loss; only rank 1 has such a batch, in the third step."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    batch = torch.randn(6, 4) * (30.0 if step == 2 and dist.get_rank() == 1 else 1.0)
    loss = model(batch).square().mean()
    loss.backward()
    if loss.item() > 10:
        for parameter in model.parameters():
            parameter.grad *= 0.5
    optimizer.step()
dist.destroy_process_group()
