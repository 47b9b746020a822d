# ranks: 2
# finds: error[device-shared]
# when: slow
# line: model = DDP(model, device_ids=[0])
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
model = nn.Linear(4, 2).to("cuda")
model = DDP(model, device_ids=[0])
model(torch.ones(2, 4).to("cuda")).sum().backward()
