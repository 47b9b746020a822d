# ranks: 4
# finds: nothing
"""Every rank logs in the same step."""

import torch
import torch.distributed as dist


def log_metric(value):
    dist.all_reduce(value)


dist.init_process_group("gloo")
loss = torch.tensor(1.0)
for step in range(8):
    dist.all_reduce(loss)
    if step == 2:
        log_metric(torch.tensor(float(step)))
log_metric(torch.tensor(8.0))
