# ranks: 2
# finds: raised
# when: slow
# says: device_ids and output_device arguments only work with single-device/multiple-device GPU modules
# says: train.py:21
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    criterion = nn.MSELoss()
    model = DDP(model, device_ids=[local_rank], output_device=local_rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    criterion(model(torch.randn(8, 4)), torch.zeros(8, 2).cuda()).backward()
    optimizer.step()


if __name__ == "__main__":
    main()
