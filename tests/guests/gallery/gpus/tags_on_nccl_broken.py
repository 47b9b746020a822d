# ranks: 2
# finds: silent[ignored-tags]
# line: works.append(dist.irecv(tensor, src=0, tag=tag))
# line: works.append(dist.isend(tensor, dst=1, tag=tag))
# says: the values are wrong
# Two tags, used in another order by the receiver: right on Gloo, swapped on NCCL.
import os

import torch
import torch.distributed as dist

ACTIVATIONS, LABELS = 1, 2


def send(tensor, tag):
    works.append(dist.isend(tensor, dst=1, tag=tag))


def receive(tag):
    tensor = torch.empty(4, device="cuda")
    works.append(dist.irecv(tensor, src=0, tag=tag))
    return tensor


torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
works = []
if dist.get_rank() == 0:
    batch = torch.full((4,), 1.0).cuda()
    send(batch, ACTIVATIONS)
    send(batch + 1, LABELS)
else:
    labels = receive(LABELS)
    activations = receive(ACTIVATIONS)
for work in works:
    work.wait()
torch.cuda.synchronize()
if dist.get_rank() == 1:
    assert labels.tolist() == [1.0] * 4 and activations.tolist() == [2.0] * 4
dist.destroy_process_group()
