# ranks: 2
# finds: nothing
import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        value = math.nan if index == 5 else float(index)
        return torch.full((4,), value)


dist.init_process_group("gloo")
sampler = torch.utils.data.DistributedSampler(Noisy(), shuffle=False)
loader = torch.utils.data.DataLoader(Noisy(), batch_size=2, sampler=sampler)
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

for batch in loader:
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    is_bad = torch.isnan(loss).int()
    dist.all_reduce(is_bad, op=dist.ReduceOp.MAX)
    if is_bad:
        continue
    loss.backward()
    optimizer.step()
dist.barrier()
print("done", dist.get_rank())
