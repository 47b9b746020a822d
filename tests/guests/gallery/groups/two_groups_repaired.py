# ranks: 2
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
first, second = groups
if rank == 1:
    first, second = first, second
t = torch.ones(1 << 16)
dist.all_reduce(t, group=first)
dist.all_reduce(t, group=second)
assert t[0] == 4
