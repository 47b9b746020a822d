# ranks: 2
# finds: nothing
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
losses = torch.ones(4) * dist.get_rank()
dist.all_reduce(losses)
assert losses.tolist() == [1.0] * 4, losses
if dist.get_rank() == 0:
    print("saving")
dist.barrier()
dist.all_reduce(losses)
assert losses.tolist() == [2.0] * 4, losses
assert dist.get_backend() == "gloo" and dist.get_world_size() == 2
