# ranks: 2
# finds: nothing
"""A feed-forward block whose first layer is split by columns and the second by rows."""

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

for step in range(3):
    torch.manual_seed(step)  # the ranks of a mesh of this kind see the same input
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    norm = model[0].weight.full_tensor().norm()  # gathers the parts of all ranks
    if dist.get_rank() == 0:
        print(f"step {step}: {norm:.4f}")
dist.destroy_process_group()
