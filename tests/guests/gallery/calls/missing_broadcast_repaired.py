# ranks: 3
# finds: nothing
"""Every rank takes the weights of rank 0, whatever lies on its disk."""

import torch
import torch.distributed as dist
from torch import nn


def take_weights_of_rank_zero(model):
    for weight in model.state_dict().values():
        dist.broadcast(weight, src=0)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = nn.Linear(8, 2)
    has_checkpoint = rank == 1  # left on this host by an earlier run
    if has_checkpoint:
        print("rank", rank, "ignores an old checkpoint")
    take_weights_of_rank_zero(model)
    dist.barrier()
    total = torch.tensor([model.weight.sum().item()])
    dist.all_reduce(total)
    assert abs(total.item() - 3 * model.weight.sum().item()) < 1e-4


if __name__ == "__main__":
    main()
