# ranks: 2
# finds: nothing
# when: slow
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
model = nn.Linear(4, 2).to(f"cuda:{local_rank}")
model = DDP(model, device_ids=[local_rank])
model(torch.ones(2, 4).to(f"cuda:{local_rank}")).sum().backward()
