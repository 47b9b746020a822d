# ranks: 3
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def load(step, rank):
    """One file of the data set is damaged; in its place rank 1 takes another, and all ranks make as many steps."""
    try:
        if rank == 1 and step == 2:
            raise ValueError("bad batch")
        return torch.ones(3, 4)
    except ValueError:
        return torch.zeros(3, 4)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        batch = load(step, rank)
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
