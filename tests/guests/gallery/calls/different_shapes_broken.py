# ranks: 2
# finds: error[
# line: dist.all_reduce(t)
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

t = torch.ones(4 + 4 * rank)
dist.all_reduce(t)
print(t)
