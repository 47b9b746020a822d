# ranks: 4
# finds: nothing
"""As scripts of today begin: a device for init_process_group, autocast, a mesh over the GPUs."""
import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device(f"cuda:{local_rank}")
torch.cuda.set_device(device)
dist.init_process_group(backend="nccl", device_id=device)

model = DistributedDataParallel(torch.nn.Linear(4, 4).to(device), device_ids=[local_rank], output_device=local_rank)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(2):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(torch.randn(2, 4, device=device)).float().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    shown = loss.detach().clone()
    dist.all_reduce(shown, op=dist.ReduceOp.AVG)

pair = dist.new_group([0, 1])
if dist.get_rank() < 2:
    dist.barrier(group=pair, device_ids=[local_rank])
mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))
dist.all_reduce(shown, group=mesh.get_group("tp"))
dist.barrier()
dist.destroy_process_group()
