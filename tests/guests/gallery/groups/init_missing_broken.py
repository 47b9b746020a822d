# ranks: 2
# finds: error[not-initialized]
# line: dist.all_reduce(torch.ones(1))
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.all_reduce(torch.ones(1))
