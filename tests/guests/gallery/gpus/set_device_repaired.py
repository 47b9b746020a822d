# ranks: 2
# finds: nothing
# when: slow
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
loss = torch.tensor([float(dist.get_rank())]).cuda()
dist.all_reduce(loss)
assert loss.item() == 1.0
