# ranks: 4
# finds: deadlock[collective-mismatch]
# line: dist.all_reduce(saved)
# says: rank 2 called all_reduce at
# says: only rank 2 had called all_reduce at
# says: broadcast at
"""Rank 2 saves in the loop by collectives of its own; the first of them meets the loss of the others."""

import torch
import torch.distributed as dist


def save_checkpoint(step):
    saved = torch.tensor(float(step))
    dist.all_reduce(saved)
    dist.broadcast(saved, 0)


def main():
    dist.init_process_group("gloo")
    loss = torch.tensor(1.0)
    for step in range(6):
        dist.all_reduce(loss)
        if step == 2 and dist.get_rank() == 2:
            save_checkpoint(step)
    dist.barrier()


main()
