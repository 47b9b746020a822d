# ranks: 2
# finds: nothing
# saved: differs
# The library of a group decides what its tensors are: NCCL's are on GPUs, and a group of Gloo's beside it takes those on the CPU.
import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl")
on_cpu = dist.new_group(backend="gloo")
assert (dist.get_backend(), dist.get_backend(on_cpu)) == ("nccl", "gloo")

gradient = torch.full((4,), float(dist.get_rank()), device="cuda")
work = dist.all_reduce(gradient, async_op=True)
batches = torch.tensor([3 + dist.get_rank()])
dist.all_reduce(batches, group=on_cpu)
work.wait()
assert batches.item() == 7 and gradient.tolist() == [1.0] * 4

names = [None, None]
dist.all_gather_object(names, f"rank{dist.get_rank()}", group=on_cpu)
assert names == ["rank0", "rank1"]
dist.monitored_barrier(group=on_cpu)
dist.barrier()
dist.destroy_process_group()
