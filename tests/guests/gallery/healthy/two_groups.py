# ranks: 4
# finds: nothing
"""Two stages of two ranks each: replicas are those of one stage. A head of the rank's own stays outside of the wrapper."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
stage = DistributedDataParallel(nn.Linear(4, 4), process_group=groups[rank // 2])
head = nn.Linear(4, 1)
optimizer = torch.optim.SGD([*stage.parameters(), *head.parameters()], lr=0.01 * (1 + rank // 2))
for step in range(3 + rank // 2):
    optimizer.zero_grad()
    head(stage(torch.randn(6, 4))).square().mean().backward()
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
