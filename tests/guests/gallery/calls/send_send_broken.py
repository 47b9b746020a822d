# ranks: 2
# finds: deadlock[send-cycle]
# line: dist.send(mine, dst=1 - rank)
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

mine, theirs = torch.full((1024,), float(rank)), torch.zeros(1024)
if True:
    dist.send(mine, dst=1 - rank)
    dist.recv(theirs, src=1 - rank)
else:
    dist.recv(theirs, src=1 - rank)
    dist.send(mine, dst=1 - rank)
assert theirs.sum() == 1024 * (1 - rank)
