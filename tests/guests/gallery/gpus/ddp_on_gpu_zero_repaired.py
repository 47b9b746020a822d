# ranks: 2
# finds: nothing
# when: slow
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    print("rank", dist.get_rank(), "is number", local_rank, "of its host")
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(f"cuda:{local_rank}")
    model = DDP(model, device_ids=[local_rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        optimizer.zero_grad()
        model(torch.ones(2, 4).to(f"cuda:{local_rank}")).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
