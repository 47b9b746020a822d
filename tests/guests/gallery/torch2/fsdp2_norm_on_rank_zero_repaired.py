# ranks: 2
# finds: nothing
"""A gradient's norm is a tensor of the mesh too: its value is reduced over all ranks when one asks for it."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
fully_shard(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)

for step in range(3):
    torch.manual_seed(step * dist.get_world_size() + dist.get_rank())
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    norm = model[0].weight.grad.norm()
    norm = norm.full_tensor()  # on every rank
    if dist.get_rank() == 0:
        print(f"step {step}: norm {norm:.4f}")
    optimizer.step()
dist.destroy_process_group()
