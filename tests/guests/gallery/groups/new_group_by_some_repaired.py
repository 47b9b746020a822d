# ranks: 3
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

if True:
    group = dist.new_group([0, 1, 2])
if True:
    dist.all_reduce(torch.ones(1), group=group)
dist.barrier()
