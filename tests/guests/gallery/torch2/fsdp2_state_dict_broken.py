# ranks: 2
# finds: [collective-mismatch]
# line: whole = get_model_state_dict(
# line: loss = model(torch.randn(4, 8)).square().mean()
"""Fully sharded data parallel: each rank keeps a part of every parameter."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
for layer in (model[0], model[2]):
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(3):
    torch.manual_seed(step * dist.get_world_size() + dist.get_rank())
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if dist.get_rank() == 0:
        whole = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
        print(f"step {step}: {sum(t.sum() for t in whole.values()):.4f}")
dist.destroy_process_group()
