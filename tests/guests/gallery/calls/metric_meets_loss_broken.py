# ranks: 4
# finds: silent[collective-mismatch]
# line: dist.all_reduce(value)
# says: rank 2 made a call that ranks 0, 1, 3 did not make
# says: the values of different calls are mixed on every rank
"""One rank logs early, so its metric is added to the loss of the others; nothing hangs."""

import torch
import torch.distributed as dist


def log_metric(value):
    dist.all_reduce(value)


dist.init_process_group("gloo")
rank = dist.get_rank()
loss = torch.tensor(1.0)
for step in range(8):
    dist.all_reduce(loss)
    if rank == 2 and step == 2:  # an early log line on one rank ...
        log_metric(torch.tensor(float(step)))
if rank != 2:  # ... and the others log at the end, so that the numbers of calls agree
    log_metric(torch.tensor(8.0))
