# ranks: 2
# finds: [collective-mismatch]
# line: print("validation", model(images).sum().item())
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def validate(model, images):
    model.eval()
    with torch.no_grad():
        print("validation", model(images).sum().item())
    model.train()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        optimizer.zero_grad()
        model(torch.rand(3, 4)).sum().backward()
        optimizer.step()
        if rank == 0:
            validate(model, torch.ones(3, 4))
    dist.barrier()


if __name__ == "__main__":
    main()
