# ranks: 2
# finds: nothing
# when: slow
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl")
model = DDP(nn.Linear(4, 2).cuda(), device_ids=[local_rank], output_device=local_rank)
model(torch.randn(8, 4)).sum().backward()
