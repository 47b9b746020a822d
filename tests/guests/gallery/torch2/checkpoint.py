# ranks: 2
# finds: nothing
"""torch.distributed.checkpoint: all ranks save together, and load together what they saved."""

import os
import shutil
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
where = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
dist.broadcast_object_list(where)
folder = os.path.join(where[0], "step1")

model = nn.Linear(8, 8)
fully_shard(model)
before = model.weight.full_tensor()
dcp.save({"model": model.state_dict()}, checkpoint_id=folder)
with torch.no_grad():
    for parameter in model.parameters():
        parameter.zero_()
state = {"model": model.state_dict()}
dcp.load(state, checkpoint_id=folder)
model.load_state_dict(state["model"])
assert torch.equal(before, model.weight.full_tensor())
dist.barrier()
if dist.get_rank() == 0:
    shutil.rmtree(where[0])
dist.destroy_process_group()
