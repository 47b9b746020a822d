# ranks: 2
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

losses = {"rank": rank, "loss": 0.5}
gathered = [None, None] if rank == 0 else None
if True:
    dist.gather_object(losses, gathered)
if rank == 0:
    assert gathered == [{"rank": 0, "loss": 0.5}, {"rank": 1, "loss": 0.5}], gathered
everybody = [None, None]
dist.all_gather_object(everybody, rank)
assert everybody == [0, 1]
