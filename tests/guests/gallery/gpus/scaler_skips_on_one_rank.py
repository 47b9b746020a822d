# ranks: 2
# finds: [replicas-differ]
# saved: differs
# line: scaler.step(optimizer)
# says: rank 1 leaves out the optimizer step
# says: The gradient scaler of rank 1 found an infinity or a NaN
"""Rank 1 adds a gradient of its own after backward, which overflows: its scaler alone leaves the step out."""

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
    scaler.scale(loss).backward()
    if step == 1 and rank == 1:
        model.module.weight.grad *= float("inf")
    scaler.step(optimizer)
    scaler.update()
dist.destroy_process_group()
