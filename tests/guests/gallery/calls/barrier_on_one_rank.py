# ranks: 2
# finds: deadlock[collective-mismatch]
# line: dist.barrier()
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
losses = torch.ones(4) * dist.get_rank()
dist.all_reduce(losses)
if dist.get_rank() == 0:
    print("saving")
    dist.barrier()
dist.all_reduce(losses)
