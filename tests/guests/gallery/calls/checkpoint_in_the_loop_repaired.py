# ranks: 4
# finds: nothing
"""Every rank saves, so that the calls of the checkpoint meet each other."""

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
        if step == 2:
            save_checkpoint(step)
    dist.barrier()


main()
