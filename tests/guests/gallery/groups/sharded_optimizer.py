# ranks: 2
# finds: nothing
# Importing torch.distributed.optim compiles functions of PyTorch's own, and the script compiles one too.
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel


@torch.jit.script
def clipped(x):
    return torch.where(x > torch.zeros_like(x), x, torch.full_like(x, 0.5))


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(8, 2))
optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.01)
with Join([model, optimizer]):
    for _ in range(2 + dist.get_rank()):
        optimizer.zero_grad()
        clipped(model(torch.randn(4, 8))).sum().backward()
        optimizer.step()
optimizer.consolidate_state_dict(to=0)
if dist.get_rank() == 0:
    assert len(optimizer.state_dict()["state"]) == 2
