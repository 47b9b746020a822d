# ranks: 3
# finds: deadlock
# line: dist.broadcast(weights, src=0)
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

weights = torch.full((8,), float(rank))
if rank != 1:
    dist.broadcast(weights, src=0)
dist.barrier()
assert rank == 1 or weights.sum() == 0
