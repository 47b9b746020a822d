# ranks: 2
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

mine, theirs = torch.full((1024,), float(rank)), torch.zeros(1024)
if rank == 0:
    dist.send(mine, dst=1 - rank)
    dist.recv(theirs, src=1 - rank)
else:
    dist.recv(theirs, src=1 - rank)
    dist.send(mine, dst=1 - rank)
assert theirs.sum() == 1024 * (1 - rank)
