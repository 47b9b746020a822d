# ranks: 4
# finds: deadlock[unmatched-message]
# line: dist.recv(block, src=(rank - 1) % size)
# says: rank 1 came to its receive #3 from rank 0 without a send to rank 2, which waits for it
# says: let rank 1 send to rank 2 before it receives again
"""A ring passes a block on, once around for each round; rank 1 leaves its send out in the second round."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
block = torch.full((1000,), float(rank))
for step in range(3):
    if rank == 0:
        dist.send(block, dst=1)
    dist.recv(block, src=(rank - 1) % size)
    if rank != 0 and not (rank == 1 and step == 1):
        dist.send(block, dst=(rank + 1) % size)
dist.destroy_process_group()
