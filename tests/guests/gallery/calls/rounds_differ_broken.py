# ranks: 3
# finds: error[missing-call]
# line: dist.all_reduce(loss)
# says: it was called 4 times on ranks 0, 2, 5 times on rank 1
# says: ranks 0, 2 had finished their programs
"""Rank 1 has one batch more than the others."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.tensor(1.0)
batches = 5 if dist.get_rank() == 1 else 4
for step in range(batches):
    dist.all_reduce(loss)
