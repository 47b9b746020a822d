# ranks: 4
# finds: nothing
import random

import torch
import torch.distributed as dist


def common_seed():
    """One seed for all ranks."""
    rank = dist.get_rank()
    seed = torch.tensor([random.randrange(1000)])
    dist.broadcast(seed, src=0)
    return seed.item()


def main():
    dist.init_process_group("gloo")
    seed = common_seed()
    torch.manual_seed(seed)
    weights = torch.rand(16)
    total = weights.clone()
    dist.all_reduce(total)
    print("same start:", torch.allclose(total, weights * dist.get_world_size()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
