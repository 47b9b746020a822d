# ranks: 3
# finds: [new-group-mismatch]
# line: group = dist.new_group([0, 1, 2])
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

if rank < 2:
    group = dist.new_group([0, 1, 2])
if rank < 2:
    dist.all_reduce(torch.ones(1), group=group)
dist.barrier()
