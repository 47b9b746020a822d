# ranks: 4
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def log(step, loss):
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    print(f"step {step}: loss {mean.item() / dist.get_world_size():.4f}")


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)

    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(4):
        inputs = torch.rand(6, 8)
        loss = nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 1:
            log(step, loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
