# ranks: 2
# finds: nothing
"""Rank 0 writes a checkpoint in the loop, and all ranks wait until it is there."""

import os
import tempfile

import torch
import torch.distributed as dist


def save(weights, folder):
    torch.save(weights, os.path.join(folder, "weights.pt"))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    weights = torch.ones(4) * rank
    for epoch in range(2):
        dist.all_reduce(weights)
        if rank == 0:
            with tempfile.TemporaryDirectory() as folder:
                save(weights, folder)
        dist.barrier()
    assert weights.tolist() == [2.0] * 4, weights
    assert dist.get_backend() == "gloo" and dist.get_world_size() == 2
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
