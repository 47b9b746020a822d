# ranks: 2
# finds: raised
# when: slow
# says: device_ids and output_device arguments only work with single-device/multiple-device GPU modules
# says: _broken.py:16
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl")
model = DDP(nn.Linear(4, 2), device_ids=[local_rank], output_device=local_rank)
model(torch.randn(8, 4)).sum().backward()
