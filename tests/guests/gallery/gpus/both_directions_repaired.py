# ranks: 2
# finds: nothing
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
dist.barrier()
other = 1 - dist.get_rank()
own, theirs = torch.ones(1 << 20).cuda(), torch.zeros(1 << 20).cuda()
exchange = [dist.P2POp(dist.isend, own, other), dist.P2POp(dist.irecv, theirs, other)]
for work in dist.batch_isend_irecv(exchange):
    work.wait()
torch.cuda.synchronize()
assert theirs.tolist() == own.tolist()
dist.destroy_process_group()
