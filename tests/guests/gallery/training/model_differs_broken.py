# ranks: 2
# finds: error[model-differs]
# line: DistributedDataParallel(nn.Linear(4, 8 + rank))
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

model = DistributedDataParallel(nn.Linear(4, 8 + rank))
model(torch.ones(2, 4)).sum().backward()
