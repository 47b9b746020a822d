# ranks: 2
# finds: nothing
# saved: differs
# The order of the sends on NCCL, and tags in any order in a group on Gloo.
import os

import torch
import torch.distributed as dist

ACTIVATIONS, LABELS = 1, 2

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
on_cpu = dist.new_group(backend="gloo")
works = []
if dist.get_rank() == 0:
    batch = torch.full((4,), 1.0)
    for group, device in ((None, "cuda"), (on_cpu, "cpu")):
        works.append(dist.isend(batch.to(device), dst=1, tag=ACTIVATIONS, group=group))
        works.append(dist.isend((batch + 1).to(device), dst=1, tag=LABELS, group=group))
else:
    received = [torch.empty(4, device=device) for device in ("cuda", "cuda", "cpu", "cpu")]
    works.append(dist.irecv(received[0], src=0, tag=ACTIVATIONS))
    works.append(dist.irecv(received[1], src=0, tag=LABELS))
    works.append(dist.irecv(received[3], src=0, tag=LABELS, group=on_cpu))
    works.append(dist.irecv(received[2], src=0, tag=ACTIVATIONS, group=on_cpu))
for work in works:
    work.wait()
torch.cuda.synchronize()
if dist.get_rank() == 1:
    assert [tensor[0].item() for tensor in received] == [1.0, 2.0, 1.0, 2.0]
dist.destroy_process_group()
