# ranks: 2
# finds: error[device-shared]
# line: dist.all_reduce(loss)
# says: Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 0
import os

import torch
import torch.distributed as dist


def mean_loss(values):
    loss = torch.tensor([sum(values) / len(values)]).cuda()
    dist.all_reduce(loss)
    return loss.item() / dist.get_world_size()


def main():
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    losses = [float(rank + step) for step in range(4)]
    mean = mean_loss(losses)
    if rank == 0:
        print("mean loss of", os.environ["WORLD_SIZE"], "ranks:", mean)
    assert mean == 2.0


if __name__ == "__main__":
    main()
