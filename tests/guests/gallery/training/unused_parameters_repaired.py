# ranks: 2
# finds: nothing
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 8)
        self.aux = nn.Linear(8, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x, short=False):
        x = self.trunk(x)
        return self.head(x if short else self.aux(x))


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)

model = DistributedDataParallel(Net(), find_unused_parameters=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.ones(3, 4), short=(rank == 1 and step == 2)).sum()
    loss.backward()
    optimizer.step()
dist.barrier()
