# ranks: 3
# finds: nothing
"""The ranks agree on the smallest number of batches first."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.tensor(1.0)
batches = torch.tensor(5 if dist.get_rank() == 1 else 4)
dist.all_reduce(batches, op=dist.ReduceOp.MIN)
for step in range(int(batches)):
    dist.all_reduce(loss)
