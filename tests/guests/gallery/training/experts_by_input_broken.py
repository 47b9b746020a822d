# ranks: 2
# finds: error[unused-parameters]
# line: 31 |     loss.backward()
# line: 25 | model = DistributedDataParallel(Experts())
# line: DistributedDataParallel(..., find_unused_parameters=True)
# saved: differs
# says: ^ ranks 0, 1 returned from this with 2 of 4 gradients of bucket 0
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

    def forward(self, x):
        return self.experts[0 if x.sum() > 0 else 1](x)


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(Experts())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    batch = torch.ones(3, 4) * (1 if (step + dist.get_rank()) % 2 else -1)
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
