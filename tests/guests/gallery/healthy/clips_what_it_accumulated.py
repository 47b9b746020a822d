# ranks: 4
# finds: nothing
"""Gradients of two batches, the first of them in no_sync, are clipped on all ranks alike."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    with model.no_sync():
        (model(torch.randn(6, 4)).square().mean() / 2).backward()
    (model(torch.randn(6, 4)).square().mean() / 2).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.01)
    optimizer.step()
dist.destroy_process_group()
