# ranks: 2
# finds: nothing
"""As PyTorch's newer tutorials are written, for whatever accelerator there is."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

accelerator = torch.accelerator.current_accelerator()
local_rank = int(os.environ["LOCAL_RANK"])
torch.accelerator.set_device_index(local_rank)
dist.init_process_group(dist.get_default_backend_for_device(accelerator), device_id=local_rank)

model = DistributedDataParallel(torch.nn.Linear(10, 5).to(local_rank), device_ids=[local_rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    outputs = model(torch.randn(20, 10))
    torch.nn.MSELoss()(outputs, torch.randn(20, 5).to(f"{accelerator}:{local_rank}")).backward()
    optimizer.step()
ranks = [None] * dist.get_world_size()
dist.all_gather_object(ranks, dist.get_rank())
assert ranks == [0, 1] and torch.accelerator.current_device_index() == local_rank
torch.accelerator.synchronize()
dist.destroy_process_group()
