# ranks: 2
# finds: deadlock[collective-mismatch]
# line: dist.barrier()
"""Rank 0 writes a checkpoint in the loop, and thinks that a barrier belongs to it."""

import os
import tempfile

import torch
import torch.distributed as dist


def save(weights, folder):
    torch.save(weights, os.path.join(folder, "weights.pt"))
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    weights = torch.ones(4) * rank
    for epoch in range(2):
        dist.all_reduce(weights)
        if rank == 0:
            with tempfile.TemporaryDirectory() as folder:
                save(weights, folder)
    dist.all_reduce(weights)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
