# ranks: 4
# finds: nothing
"""Accumulation in no_sync, clipping, a step that all ranks leave out, a learning rate that falls on all ranks."""

import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
for step in range(4):
    optimizer.zero_grad()
    for batch in range(3):
        with contextlib.nullcontext() if batch == 2 else model.no_sync():
            (model(torch.randn(6, 4)).square().mean() / 3).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    if step != 2:
        optimizer.step()
    scheduler.step()
    if dist.get_rank() == 0:  # logs with gradients on
        model.eval()
        print(model.module(torch.zeros(1, 4)).sum().item())
        model.train()
dist.destroy_process_group()
