# ranks: 2
# finds: nothing
"""Fully sharded data parallel over files of different length: all ranks stop with the shortest."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
for layer in (model[0], model[2]):
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, foreach=False)

batches = [torch.randn(4, 8) for _ in range(3 if rank == 0 else 2)]
shortest = torch.tensor([len(batches)])
dist.all_reduce(shortest, op=dist.ReduceOp.MIN)
for batch in batches[: int(shortest)]:
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
