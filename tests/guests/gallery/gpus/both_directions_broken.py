# ranks: 2
# finds: deadlock[pair-stream]
# line: sent = dist.isend(own, dst=other)
# says: run in the order of their calls
# Each rank starts a send and then a receive: NCCL runs both on the stream that the two ranks share.
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
dist.barrier()
other = 1 - dist.get_rank()
own, theirs = torch.ones(1 << 20).cuda(), torch.zeros(1 << 20).cuda()
sent = dist.isend(own, dst=other)
received = dist.irecv(theirs, src=other)
sent.wait()
received.wait()
torch.cuda.synchronize()
dist.destroy_process_group()
