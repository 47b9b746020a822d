# ranks: 2
# finds: deadlock
# line: print(model(torch.ones(3, 4)).sum())
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))
model(torch.rand(3, 4)).sum().backward()
model.eval()
if rank == 0:
    with torch.no_grad():
        print(model(torch.ones(3, 4)).sum())
dist.barrier()
