# ranks: 4
# finds: [replicas-differ]
# saved: differs
# line: optimizer.step()
# says: rank 2 steps with a learning rate of its own
"""Each rank lowers its learning rate by its own validation loss; only rank 2 sees a plateau."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def validation_loss(epoch):
    return 1.0 if dist.get_rank() == 2 else 1.0 / (epoch + 1)


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
for epoch in range(4):
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(6, 4)).square().mean().backward()
        optimizer.step()
    scheduler.step(validation_loss(epoch))
dist.destroy_process_group()
