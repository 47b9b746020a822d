# ranks: 4
# world: {nodes: 2, ranks_per_node: 2}
# finds: nothing
# when: slow
"""On each of two hosts the ranks take its GPUs from the first on."""

import os

import torch
import torch.distributed as dist


def set_up():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
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
