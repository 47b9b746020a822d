# ranks: 2
# finds: deadlock[collective-mismatch]
# line: dcp.save(
"""torch.distributed.checkpoint: rank 0 saves alone."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
shared = tempfile.TemporaryDirectory() if dist.get_rank() == 0 else None  # a file system that all ranks see
where = [shared.name if shared else None]
dist.broadcast_object_list(where)
folder = os.path.join(where[0], "step1")

model = nn.Linear(8, 8)
fully_shard(model)
before = model.weight.full_tensor()
if dist.get_rank() == 0:
    dcp.save({"model": model.state_dict()}, checkpoint_id=folder)
dist.barrier()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.zero_()
state = {"model": model.state_dict()}
dcp.load(state, checkpoint_id=folder)
model.load_state_dict(state["model"])
assert torch.equal(before, model.weight.full_tensor())
dist.barrier()
dist.destroy_process_group()
