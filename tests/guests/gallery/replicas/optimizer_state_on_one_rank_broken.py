# ranks: 4
# finds: [replicas-differ]
# saved: differs
# line: optimizer.step()
# says: rank 0 begins the optimizer step in step 0 with an optimizer's state (momentum, moments) of its own
"""A restart whose model every rank gets from DDP; only rank 0 loads the optimizer's state."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def state_of_an_earlier_run(optimizer):
    parameters = optimizer.param_groups[0]["params"]
    kept = {i: {"momentum_buffer": torch.ones_like(p)} for i, p in enumerate(parameters)}
    return {**optimizer.state_dict(), "state": kept}


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
if dist.get_rank() == 0:
    optimizer.load_state_dict(state_of_an_earlier_run(optimizer))
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
