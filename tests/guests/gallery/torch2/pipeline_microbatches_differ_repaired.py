# ranks: 2
# finds: nothing
"""Two stages, one forward and one backward in turn. All stages cut the batch into as many micro-batches as the first."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
part = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
stage = PipelineStage(part, rank, size, torch.device("cpu"))
pieces = int(os.environ.get("PIECES", 4 if rank == 0 else 8))  # set on one host alone
told = torch.tensor([pieces])
dist.broadcast(told, 0)
schedule = Schedule1F1B(stage, n_microbatches=int(told), loss_fn=nn.functional.mse_loss)

for step in range(2):
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(torch.randn(16, 8))
    else:
        schedule.step(target=torch.randn(16, 8), losses=[])
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
