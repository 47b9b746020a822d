# ranks: 4
# finds: silent[new-group-mismatch]
# line: group = dist.new_group([0, 1])
# line: group = dist.new_group([2, 3])
# says: because of when they came
# saved: differs
# Each pair makes its own group as the first: both have one number in the store, and NCCL's ids do not meet here because of the sleep.
import os
import time

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
rank = dist.get_rank()
if rank < 2:
    group = dist.new_group([0, 1])
else:
    group = dist.new_group([2, 3])
    time.sleep(rank)
ones = torch.ones(4).cuda()
dist.all_reduce(ones, group=group)
assert ones.tolist() == [2.0] * 4
torch.cuda.synchronize()
