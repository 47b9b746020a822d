# ranks: 2
# finds on torch 2: error[device-without-backend]
# finds: error[device-without-backend]
# line: dist.all_reduce(correct)
# says: Tensors must be CUDA and dense
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
model = DDP(nn.Linear(4, 2).to(device), device_ids=[device.index])
correct = 0
for step in range(2):
    output = model(torch.randn(8, 4, device=device))
    correct += (output.argmax(1) == 0).sum().item()
correct = torch.tensor(correct)
dist.all_reduce(correct)
