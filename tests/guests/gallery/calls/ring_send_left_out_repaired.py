# ranks: 4
# finds: nothing
"""A ring passes a block on, once around for each round."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
block = torch.full((1000,), float(rank))
for _ in range(3):
    if rank == 0:
        dist.send(block, dst=1)
    dist.recv(block, src=(rank - 1) % size)
    if rank != 0:
        dist.send(block, dst=(rank + 1) % size)
dist.destroy_process_group()
