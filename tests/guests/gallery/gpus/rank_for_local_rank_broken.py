# ranks: 4
# world: {nodes: 2, ranks_per_node: 2}
# finds: raised
# saved: differs
# says: CUDA error: invalid device ordinal
# says: train.py:17
"""Ran for months on one host; on two, the ranks of the second ask for GPUs that no host has."""

import os

import torch
import torch.distributed as dist


def set_up():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank())
    return torch.device("cuda", torch.cuda.current_device())


def main():
    device = set_up()
    weights = torch.full((4,), float(dist.get_rank()), device=device)
    dist.broadcast(weights, src=0)
    loss = weights.sum()
    dist.all_reduce(loss)
    print("loss", loss.item(), "host", os.uname().nodename)


if __name__ == "__main__":
    main()
