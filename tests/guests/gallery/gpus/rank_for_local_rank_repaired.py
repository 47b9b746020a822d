# ranks: 4
# world: {nodes: 2, ranks_per_node: 2}
# finds: nothing
# when: slow
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.all_reduce(torch.ones(1, device="cuda"))
