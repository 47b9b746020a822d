# ranks: 2
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
