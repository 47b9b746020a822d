# ranks: 4
# world: {nodes: 2, ranks_per_node: 2}
# finds: raised
# saved: differs
# says: CUDA error: invalid device ordinal
# says: _broken.py:12
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank())
dist.all_reduce(torch.ones(1, device="cuda"))
