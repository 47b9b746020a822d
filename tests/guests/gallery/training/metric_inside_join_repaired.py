# ranks: 2
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [torch.rand(3, 4) for _ in range(3 + rank)]
    losses = torch.zeros(1)
    with model.join():
        for batch in batches:
            optimizer.zero_grad()
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            losses += loss.detach()
            shown = loss.detach().clone()
    dist.all_reduce(losses)
    if rank == 0:
        print("mean loss", losses.item() / 7)


if __name__ == "__main__":
    main()
