# ranks: 4
# finds: nothing
"""A hook that averages gradients with one neighbour alone, another one in each step: replicas differ on purpose."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(nn.Linear(4, 2))
groups = [[dist.new_group([0, 1]), dist.new_group([2, 3])], [dist.new_group([0, 2]), dist.new_group([1, 3])]]
rounds = [0]


def gossip(state, bucket):
    mine = groups[rounds[0] % 2][dist.get_rank() // 2 if rounds[0] % 2 == 0 else dist.get_rank() % 2]
    rounds[0] += 1
    work = dist.all_reduce(bucket.buffer(), group=mine, async_op=True)
    return work.get_future().then(lambda done: done.value()[0] / 2)


model.register_comm_hook(None, gossip)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
