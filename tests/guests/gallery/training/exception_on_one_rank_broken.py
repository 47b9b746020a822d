# ranks: 3
# finds: error[rank-died]
# line: raise ValueError("bad batch")
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    if rank == 1 and step == 2:
        raise ValueError("bad batch")
    model(torch.ones(3, 4)).sum().backward()
    optimizer.step()
