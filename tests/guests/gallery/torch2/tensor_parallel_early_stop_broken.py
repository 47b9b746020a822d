# ranks: 2
# finds: error[missing-call]
# line: loss = model(batch).square().mean()
"""A split feed-forward block that stops when the loss is small. Each rank adds noise of its own, so each stops when it likes."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("tp",))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
model = parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)

for step in range(6):
    torch.manual_seed(step)
    batch = torch.randn(4, 8)
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    patience = loss.item() / (step + 1) + dist.get_rank()
    if patience < 0.1:
        break
dist.destroy_process_group()
