# ranks: 2
# finds: nothing
"""Two wrapped models that train in turn; the critic's weights are clipped by hand on every rank."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
maker = DistributedDataParallel(nn.Linear(2, 4))
critic = DistributedDataParallel(nn.Linear(4, 1))
of_maker = torch.optim.RMSprop(maker.parameters(), lr=0.01)
of_critic = torch.optim.RMSprop(critic.parameters(), lr=0.01)
for step in range(4):
    of_critic.zero_grad()
    fake = maker(torch.randn(6, 2)).detach()
    (critic(fake).mean() - critic(torch.randn(6, 4)).mean()).backward()
    of_critic.step()
    for parameter in critic.parameters():
        parameter.data.clamp_(-0.1, 0.1)
    of_maker.zero_grad()
    (-critic(maker(torch.randn(6, 2))).mean()).backward()
    of_maker.step()
dist.destroy_process_group()
