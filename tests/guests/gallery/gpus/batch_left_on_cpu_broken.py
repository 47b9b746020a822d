# ranks: 2
# finds: raised
# when: slow
# says: train.py:23
# says: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl")
model = DDP(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).cuda(), device_ids=[local_rank])
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(3, (8,))), batch_size=4, pin_memory=True)
for images, target in loader:
    images = images.cuda(non_blocking=True)
    loss = criterion(model(images), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
