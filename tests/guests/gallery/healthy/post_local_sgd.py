# ranks: 4
# finds: nothing
"""PyTorch's post-local SGD: gradients are averaged within pairs of ranks, parameters of all every other step."""

import torch
import torch.distributed as dist
import torch.distributed.algorithms.model_averaging.averagers as averagers
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import PostLocalSGDState, post_localSGD_hook
from torch.distributed.optim import PostLocalSGDOptimizer
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
state = PostLocalSGDState(process_group=None, subgroup=pairs[dist.get_rank() // 2], start_localSGD_iter=2)
model.register_comm_hook(state, post_localSGD_hook)
optimizer = PostLocalSGDOptimizer(
    torch.optim.SGD(model.parameters(), lr=0.01), averagers.PeriodicModelAverager(period=2, warmup_steps=2)
)
for step in range(7):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
