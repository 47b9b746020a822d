# ranks: 2
# finds: deadlock[collective-mismatch]
# line: loss.backward()
import functools
import threading

import torch
import torch.distributed as dist


def sum_beside(gradient):
    """No line of this file is on the thread that makes the call."""
    thread = threading.Thread(target=functools.partial(dist.all_reduce, gradient))
    thread.start()
    thread.join()


dist.init_process_group("gloo")
rank = dist.get_rank()
weight = torch.ones(4, requires_grad=True)
for step in range(3):
    loss = (weight * step).sum()
    if rank == 0 or step < 2:
        weight.register_hook(sum_beside)
    loss.backward()
    weight.grad = None
dist.barrier()
