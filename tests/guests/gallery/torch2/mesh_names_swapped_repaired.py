# ranks: 4
# finds: nothing
"""Two by two ranks: each pair splits the layers, and the pairs average their gradients. All name the dimensions alike."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

dist.init_process_group("gloo")
rank = dist.get_rank()
names = ("rows", "columns")
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=names)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
model = parallelize_module(model, mesh["columns"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)

for step in range(2):
    torch.manual_seed(step)
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad.to_local(), group=mesh["rows"].get_group())
    optimizer.step()
dist.destroy_process_group()
