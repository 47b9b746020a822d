# ranks: 2
# finds: nothing
"""Two stages of a model, four micro-batches, GPipe."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
part = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
stage = PipelineStage(part, rank, size, torch.device("cpu"))
batches = 2
schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)

for step in range(batches):
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(torch.randn(16, 8))
    else:
        schedule.step(target=torch.randn(16, 8), losses=[])
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
