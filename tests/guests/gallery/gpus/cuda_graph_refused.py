# ranks: 2
# finds: raised
# says: pdsim run cannot carry out torch.cuda.CUDAGraph on the CPU
# says: _refused.py:12
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    dist.all_reduce(torch.ones(1, device="cuda"))
