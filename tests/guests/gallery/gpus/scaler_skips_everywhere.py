# ranks: 2
# finds: nothing
"""An overflow on one rank is in the averaged gradients of all, so every scaler leaves the step out."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
torch.manual_seed(rank)
model = DistributedDataParallel(nn.Linear(4, 2).cuda(), device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.cuda.amp.GradScaler()
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(6, 4).cuda()).square().mean()
    if step == 1 and rank == 1:
        loss = loss * float("inf")
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
dist.destroy_process_group()
