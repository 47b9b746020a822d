# ranks: 3
# finds: deadlock[communicator-incomplete]
# line: for work in dist.batch_isend_irecv([message]):
# says: the first batch of group world waits for rank 2
# NCCL makes the communicator of the world in the first batch, and rank 2 takes no part in it.
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
rank = dist.get_rank()
tensor = torch.ones(4).cuda()
if rank < 2:
    message = dist.P2POp(dist.isend if rank == 0 else dist.irecv, tensor, 1 - rank)
    for work in dist.batch_isend_irecv([message]):
        work.wait()
torch.cuda.synchronize()
dist.destroy_process_group()
